// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG190: which OpenMP runtime a program or library needs; two are one too
// many.

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

namespace {

struct Runtime {
  StringRef prefix, name, variable;
};

/// A library of a runtime, in the order in which the loader comes to it.
struct RuntimeUse {
  const Runtime *runtime;
  StringRef library;
  bool direct;                           ///< the file itself needs it
  const LoadedLibrary *loaded = nullptr; ///< null where only DT_NEEDED is known
};

} // namespace

/// LLVM's libomp and Intel's libiomp5 are one runtime under two names.
static constexpr Runtime runtimes[] = {
    {"libgomp.so", "GNU libgomp", "GOMP_CPU_AFFINITY"},
    {"libomp.so", "LLVM libomp", "KMP_AFFINITY"},
    {"libiomp5.so", "LLVM libomp", "KMP_AFFINITY"},
    {"libfjomp", "Fujitsu's OpenMP", "FLIB_CPU_AFFINITY"},
};

static const Runtime *findRuntime(StringRef library) {
  for (const Runtime &runtime : runtimes)
    if (library.starts_with(runtime.prefix))
      return &runtime;
  return nullptr;
}

static std::vector<RuntimeUse> findRuntimes(const Subject &subject) {
  std::vector<RuntimeUse> uses;
  const std::vector<StringRef> &needed = subject.image.dynamic().needed;
  if (!subject.closure) {
    for (StringRef name : needed)
      if (const Runtime *runtime = findRuntime(name))
        uses.push_back({runtime, name, true});
    return uses;
  }
  for (const LoadedLibrary &library : subject.closure->libraries)
    if (const Runtime *runtime = findRuntime(library.name))
      uses.push_back({runtime, library.name,
                      library.entry->askedBy == ClosureEntry::program,
                      &library});
  return uses;
}

static void addTwo(const Subject &subject, ArrayRef<RuntimeUse> uses,
                   const RuntimeUse &second, Findings &findings) {
  Finding &finding = findings.add(
      FindingId::mpg190, "two OpenMP runtimes: " + uses.front().runtime->name +
                             " and " + second.runtime->name);
  finding.sub = "two-runtimes";
  std::string names, ways;
  for (const RuntimeUse &use : uses) {
    names += (names.empty() ? "" : ", ") + use.library.str();
    if (!use.direct)
      ways += "; " + subject.closure->closure.pathTo(use.loaded->index);
  }
  finding.evidence = ways.empty() ? names + " in DT_NEEDED" : names + ways;
  const RuntimeUse &foreign = second.direct ? uses.front() : second;
  if (!foreign.direct)
    subject.closure->setVia(finding, *foreign.loaded);
  // Nothing of the user's own asks for either of them.
  bool system = all_of(uses, [](const RuntimeUse &use) {
    return !use.direct && use.loaded->isSystem;
  });
  if (system)
    finding.severity = std::min(finding.severity, Severity::note);
}

/// How the job binds the threads: "OMP_PROC_BIND=close"; "" if it does not.
static std::string bindingOf(const Subject &subject, const Runtime &runtime) {
  if (!subject.launch())
    return "";
  // Places alone make a runtime bind to them.
  for (StringRef name : {StringRef("OMP_PROC_BIND"), StringRef("OMP_PLACES"),
                         runtime.variable}) {
    const Variable *variable = subject.launch()->environment.find(name);
    if (!variable)
      continue;
    if (StringRef(variable->value).equals_insensitive("false"))
      return "";
    return name.str() + "=" + variable->value;
  }
  return "";
}

static void addOne(const Subject &subject, const RuntimeUse &use,
                   StringRef libraries, Findings &findings) {
  Finding &finding =
      findings.add(FindingId::mpg190, "OpenMP runtime: " + use.runtime->name);
  finding.sub = "runtime";
  finding.severity = Severity::note;
  finding.evidence = libraries.str() + " in DT_NEEDED";
  std::string binding = bindingOf(subject, *use.runtime);
  if (!binding.empty()) {
    finding.evidence += "; the job binds its threads: " + binding;
    finding.cost = "nothing";
    finding.setFix("");
    return;
  }
  finding.cost = "threads that are not bound leave the data that they "
                 "touched first behind";
  finding.setFix(("Bind the threads: OMP_PROC_BIND=close and "
                  "OMP_PLACES=cores, or " +
                  use.runtime->variable + ".")
                     .str());
}

void mpg::checkOpenMp(const Subject &subject, Findings &findings) {
  if (!subject.image.isLoadable())
    return;
  std::vector<RuntimeUse> uses = findRuntimes(subject);
  std::string direct;
  const RuntimeUse *first = nullptr;
  for (const RuntimeUse &use : uses) {
    if (use.runtime->name != uses.front().runtime->name)
      return addTwo(subject, uses, use, findings);
    if (!use.direct)
      continue;
    direct += (direct.empty() ? "" : ", ") + use.library.str();
    first = first ? first : &use;
  }
  // Who does not use OpenMP itself has no threads to bind.
  if (first)
    addOne(subject, *first, direct, findings);
}

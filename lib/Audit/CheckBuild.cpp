// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the program was built. MPG180: SVE code for one vector length, as the
// compiler's record of its command line says. MPG190: which OpenMP runtime a
// program or library needs; two are one too many.

#include "Audit/Checks.h"

using namespace llvm;
using namespace mpg;

/// The N of every -msve-vector-bits=N in the record, each once. "scalable" and
/// "N+" leave the length open.
static std::vector<unsigned> fixedLengths(StringRef record) {
  constexpr StringRef option = "-msve-vector-bits=";
  std::vector<unsigned> lengths;
  for (size_t at = record.find(option); at != StringRef::npos;
       at = record.find(option, at + 1)) {
    StringRef value = record.substr(at + option.size());
    unsigned bits = 0;
    if (value.consumeInteger(10, bits) || value.starts_with("+"))
      continue;
    if (!is_contained(lengths, bits))
      lengths.push_back(bits);
  }
  return lengths;
}

void mpg::checkVectorLength(const Subject &subject, Findings &findings) {
  // HW:a64fx-sve-bits, HW:monaka
  const unsigned machineBits = subject.settings.onMonaka ? 256 : 512;
  Image &image = subject.image;
  if (image.machine() != Machine::aarch64)
    return;
  const Section *record = image.findSection(".GCC.command.line");
  if (!record)
    return;
  for (unsigned bits : fixedLengths(image.sectionData(*record, 16 << 20))) {
    Finding &finding = findings.add(
        FindingId::mpg180, "code is compiled for SVE vectors of exactly " +
                               std::to_string(bits) + " bits");
    finding.where.section = ".GCC.command.line";
    finding.evidence = "-msve-vector-bits=" + std::to_string(bits);
    if (bits == machineBits)
      finding.severity = Severity::note;
    else if (subject.settings.onMonaka)
      finding.severity = Severity::warning;
  }
}

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
  std::string names, paths;
  for (const RuntimeUse &use : uses) {
    names += (names.empty() ? "" : ", ") + use.library.str();
    if (!use.direct)
      paths += "; " + subject.closure->closure.pathTo(use.loaded->index);
  }
  finding.evidence = paths.empty() ? names + " in DT_NEEDED" : names + paths;
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
static std::string getBinding(const Subject &subject, const Runtime &runtime) {
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
  std::string binding = getBinding(subject, *use.runtime);
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

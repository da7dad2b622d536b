// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG110 to MPG112: is a large page library loaded, can it be, and does it
// precede the C library? MPG113 and MPG114: who serves malloc, and is its
// behaviour changed?

#include "Audit/Checks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static void checkStatic(const Subject &subject, Findings &findings) {
  if (!findings.wants(FindingId::mpg112) || subject.carriesLibmpg())
    return;
  Finding &finding = findings.add(
      FindingId::mpg112,
      "the program is static: no large page library can be loaded into it");
  finding.evidence = "no PT_INTERP";
  if (subject.image.findSection(".go.buildinfo"))
    finding.setFix("Build it with the system's linker, and start it with "
                   "MPG_MMAP=thp:\n"
                   "  CGO_ENABLED=1 go build -ldflags=-linkmode=external");
}

/// All large page libraries are for the GNU C library.
static void checkStranger(const Subject &subject, const std::string &stranger,
                          Findings &findings) {
  if (!findings.wants(FindingId::mpg112))
    return;
  Finding &finding = findings.add(
      FindingId::mpg112, "the program " + stranger +
                             ": no large page library can be loaded into it");
  bool sanitizer = subject.image.needs("libtsan.so");
  finding.evidence = sanitizer
                         ? "libtsan.so in DT_NEEDED"
                         : "PT_INTERP is " + subject.image.interpreter()->str();
  finding.cost = "Heap, stack, .data and .bss stay on normal pages; LD_PRELOAD "
                 "of such a library ends the program";
  finding.setFix(sanitizer ? "Build without -fsanitize=thread."
                           : "Build for the GNU C library, and link with it.");
}

/// The table's remedy is for Fujitsu's library.
static void setFixForOurs(const Subject &subject, Finding &finding,
                          StringRef words) {
  if (subject.target != Target::mpg)
    return;
  std::string fix = words.str();
  for (StringRef compiler : {"gcc:  ", "clang:", "flang:"})
    fix += ("\n  " + compiler +
            " -L<prefix>/lib -Wl,-rpath,<prefix>/lib -Wl,--no-as-needed "
            "-lmpgrt")
               .str();
  finding.setFix(std::move(fix));
}

namespace {

struct SearchedLibrary {
  StringRef name;
  bool isLibmpg;
};

} // namespace

/// The libraries in the order in which the loader searches them for symbols,
/// as far as it is known.
static std::vector<SearchedLibrary> searchOrder(const Subject &subject) {
  std::vector<SearchedLibrary> order;
  if (!subject.closure)
    for (StringRef name : subject.image.dynamic().needed)
      order.push_back({name, isLibmpgName(name)});
  else
    for (const LoadedLibrary &library : subject.closure->libraries)
      order.push_back({library.name, library.isLibmpg()});
  return order;
}

/// A readable name for the library of \p name. Names the vendor where the name
/// alone would mislead.
static std::string libmpgTitle(const Subject &subject, StringRef name) {
  const LoadedLibrary *libmpg =
      subject.closure ? subject.closure->findLibmpg() : nullptr;
  bool disguised = libmpg && libmpg->name == name && libmpg->isOurs() &&
                   !name.starts_with("libmpgrt.so");
  return name.str() + (disguised ? " (of mpgtools)" : "");
}

static void checkOrder(const Subject &subject, Findings &findings) {
  const std::vector<StringRef> &needed = subject.image.dynamic().needed;
  StringRef before;
  for (auto [name, isLibmpg] : searchOrder(subject)) {
    if (name.starts_with("libc.so") || name.starts_with("libpthread.so")) {
      before = before.empty() ? name : before;
    } else if (isLibmpg && !before.empty()) {
      Finding &finding =
          findings.add(FindingId::mpg111, libmpgTitle(subject, name) +
                                              " is loaded after " + before);
      bool direct = is_contained(needed, name) && is_contained(needed, before);
      finding.evidence =
          (before + " precedes " + name +
           (direct ? " in DT_NEEDED" : " where the loader searches"))
              .str();
      setFixForOurs(subject, finding,
                    "Name the library in front of -lc and -lpthread:");
      if (!subject.closure || direct)
        return;
      const LoadedLibrary &libmpg = *subject.closure->findLibmpg();
      finding.title = libmpgTitle(subject, name) + ", which " +
                      subject.closure->closure.pathTo(libmpg.index) +
                      " brings, is loaded after " + before.str();
      subject.closure->setVia(finding, libmpg);
      return;
    }
  }
}

/// The first variable of Fujitsu's library that the launch sets; "" for none.
/// A job that switches large pages off expects none.
static StringRef firstLargePageVariable(const Launch *launch) {
  if (!launch || launch->environment.getValue("XOS_MMM_L_HPAGE_TYPE") == "none")
    return "";
  for (const auto &[name, variable] : launch->environment.all())
    if (StringRef(name).starts_with("XOS_MMM_L_"))
      return name;
  return "";
}

/// The system's own programs run in every job and are meant for normal pages.
static bool isSystemTool(StringRef path) {
  return is_contained(
      ArrayRef<StringRef>{"/bin", "/sbin", "/usr/bin", "/usr/sbin"},
      sys::path::parent_path(path));
}

static void checkPresence(const Subject &subject, Findings &findings) {
  StringRef variable = firstLargePageVariable(subject.launch());
  bool expected = subject.settings.expectLibmpg;
  if ((!expected && variable.empty()) ||
      (subject.launch() && subject.launch()->underMpgrun) ||
      any_of(searchOrder(subject),
             [](const SearchedLibrary &library) { return library.isLibmpg; }) ||
      subject.carriesLibmpg())
    return;
  if (!expected && isSystemTool(subject.image.path()))
    return;
  Finding &finding = findings.add(
      FindingId::mpg110, "the program does not load a large page library");
  finding.evidence =
      std::string("neither libmpg.so.1 nor libmpgrt.so.1 in ") +
      (subject.closure ? "DT_NEEDED, in what the libraries need, or in "
                         "LD_PRELOAD"
                       : "DT_NEEDED");
  setFixForOurs(subject, finding,
                "Start the program with mpgrun, or link the library:");
  if (expected)
    return;
  finding.title += (", and the job sets " + variable).str();
  finding.where.symbol = variable.str();
  // mpgrun brings our runtime without a word in the environment, and a module
  // may set LD_PRELOAD.
  if (subject.target != Target::fugaku ||
      subject.launch()->mayChange("LD_PRELOAD"))
    finding.severity = std::min(finding.severity, Severity::note);
}

void mpg::checkLibmpg(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  if (!image.isProgram())
    return;
  if (image.isStatic()) {
    checkStatic(subject, findings);
    return;
  }
  std::string stranger = findStranger(image);
  if (!stranger.empty()) {
    checkStranger(subject, stranger, findings);
    return;
  }
  if (findings.wants(FindingId::mpg111))
    checkOrder(subject, findings);
  if (findings.wants(FindingId::mpg110))
    checkPresence(subject, findings);
}

static void addOwnMalloc(Findings &findings) {
  Finding &finding =
      findings.add(FindingId::mpg113, "the program brings its own malloc");
  finding.evidence = "it exports malloc or calloc";
}

/// An allocator that the loader finds before the large page library; all of
/// them where there is none.
static void checkLoadedAllocators(const Subject &subject, Findings &findings) {
  const ProgramClosure &closure = *subject.closure;
  for (const LoadedLibrary &library : closure.libraries) {
    if (library.isLibmpg())
      return;
    bool exports = library.checks && library.checks->exportsMalloc;
    if (library.isCore() || (!exports && !isAllocatorName(library.name)))
      continue;
    Finding &finding =
        findings.add(FindingId::mpg113, "the program uses the allocator of " +
                                            closure.describe(library));
    finding.evidence =
        library.name.str() +
        (exports ? " exports malloc or calloc" : " is in DT_NEEDED");
    closure.setVia(finding, library);
    if (subject.target == Target::mpg && !subject.launch()) {
      finding.severity = Severity::note;
      finding.title += ", unless mpgrun starts it";
      finding.cost = "under mpgrun none: libmpg's malloc takes its place. Else "
                     "the heap is on normal pages, unless that allocator asks "
                     "for large ones itself";
      finding.setFix("Start the program with mpgrun, or leave the allocator "
                     "out of the link command.");
    }
    if (library.entry->askedBy == ClosureEntry::preload) {
      finding.where.symbol = "LD_PRELOAD";
      finding.setFix("Take it out of LD_PRELOAD, or set "
                     "XOS_MMM_L_HPAGE_TYPE=none in the job and let the "
                     "allocator ask for large pages itself.");
    }
    return;
  }
}

static void checkOwnMalloc(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  if (!image.isProgram() || image.isStatic())
    return;
  if (image.exportsSymbol("malloc") || image.exportsSymbol("calloc")) {
    if (!subject.carriesLibmpg()) // else it is libmpg's
      addOwnMalloc(findings);
    return;
  }
  if (subject.launch() && subject.launch()->underMpgrun)
    return;
  if (subject.closure)
    return checkLoadedAllocators(subject, findings);
  for (StringRef name : image.dynamic().needed)
    if (isAllocatorName(name)) {
      Finding &finding = findings.add(
          FindingId::mpg113, "the program uses the allocator of " + name);
      finding.evidence = (name + " is in DT_NEEDED").str();
      return;
    }
}

static void checkHooks(const Subject &subject, Findings &findings) {
  const KnownSymbolUse &symbols = subject.symbols();
  std::vector<StringRef> hooks = symbols.findImports(
      {KnownSymbol::__malloc_hook, KnownSymbol::__realloc_hook,
       KnownSymbol::__free_hook, KnownSymbol::__memalign_hook,
       KnownSymbol::__malloc_initialize_hook,
       KnownSymbol::__after_morecore_hook, KnownSymbol::__morecore});
  if (!hooks.empty()) {
    Finding &finding =
        findings.add(FindingId::mpg114, "the file relies on hooks of malloc");
    finding.sub = "hooks";
    finding.where.symbol = hooks.front().str();
    finding.evidence = "imports " + join(hooks, ", ");
    finding.cost = "up to glibc 2.33 a hook takes memory away from the large "
                   "page malloc; since 2.34 hooks are ignored, and code that "
                   "relies on them is dead";
    finding.setFix("Remove the hooks, or replace malloc as a whole.");
  } else if (symbols.imports(KnownSymbol::mallopt)) {
    Finding &finding = findings.add(
        FindingId::mpg114, "the file changes settings of malloc by mallopt");
    finding.sub = "mallopt";
    finding.where.symbol = "mallopt";
    finding.severity = Severity::note;
    finding.evidence = "imports mallopt";
    finding.cost = "mallopt can overrule MALLOC_MMAP_THRESHOLD_ and the other "
                   "variables that a job sets for large pages";
    finding.setFix("Check that the values given to mallopt fit the large page "
                   "settings of the job.");
  }
}

void mpg::checkAllocators(const Subject &subject, Findings &findings) {
  if (findings.wants(FindingId::mpg113))
    checkOwnMalloc(subject, findings);
  if (findings.wants(FindingId::mpg114))
    checkHooks(subject, findings);
}

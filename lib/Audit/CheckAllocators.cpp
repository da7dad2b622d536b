// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG113 and MPG114: who serves malloc, and is its behaviour changed?

#include "Audit/Checks.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

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
  std::vector<StringRef> hooks = symbols.importsOf(
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

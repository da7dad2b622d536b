// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PageMeans.h. Each means is a function that raises the answers of the
// regions it serves; docs/job-scripts.md has the table of them.

#include "Audit/PageMeans.h"
#include "Audit/ClosureFacts.h"
#include "Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::answerName(PageAnswer answer) {
  static constexpr StringLiteral names[] = {"absent", "no", "unknown", "some",
                                            "all"};
  return names[unsigned(answer)];
}

bool PageMeans::givesAny() const {
  return any_of(ArrayRef<PageAnswer>{data, heap, stacks, mapped},
                [](PageAnswer answer) { return answer >= PageAnswer::some; });
}

namespace {

/// The facts about one program that all means ask for.
struct MeansContext {
  const FileReport &report;
  const Launch *launch; ///< may be null
  std::optional<ProgramClosure> closure;

  StringRef getValue(StringRef name) const {
    return launch ? launch->environment.getValue(name) : "";
  }
  /// The first library whose name begins like that; null: none is loaded.
  const LoadedLibrary *library(StringRef start) const {
    if (closure)
      for (const LoadedLibrary &library : closure->libraries)
        if (library.name.starts_with(start))
          return &library;
    return nullptr;
  }
};

} // namespace

static void addName(PageMeans &means, StringRef name) {
  means.name += (means.name.empty() ? "" : " and ") + name.str();
}

static void raise(PageAnswer &answer, PageAnswer to) {
  answer = std::max(answer, to);
}

/// The reasons of \p region, each once in all.
static void addReasons(const Region *region, PageMeans &means) {
  if (region)
    for (FindingId id : region->because)
      if (!is_contained(means.because, id))
        means.because.push_back(id);
}

static PageAnswer dataAnswer(const MeansContext &context, bool isGiven,
                             PageMeans &means) {
  uint64_t bytes = context.report.dataBytes(),
           eligible = context.report.eligibleDataBytes();
  if (bytes < context.report.hugeBytes)
    return PageAnswer::absent;
  if (!isGiven)
    return PageAnswer::no;
  // The edges of an area do not matter: mpgrun --verify passes them, too.
  if (eligible >= bytes - bytes / 4)
    return PageAnswer::all;
  for (StringRef name : {"data", "bss"})
    addReasons(context.report.region(name), means);
  return eligible ? PageAnswer::some : PageAnswer::no;
}

/// A libmpg. The table of regions has the obstacles.
static void useLibmpg(const MeansContext &context, StringRef name,
                      PageMeans &means) {
  addName(means, name);
  means.data = dataAnswer(context, true, means);
  const Region *heap = context.report.region("heap");
  const Region *stack = context.report.region("stack");
  if (heap && heap->eligible)
    raise(means.heap, PageAnswer::all);
  if (stack && stack->eligible)
    raise(means.stacks, PageAnswer::all);
  addReasons(heap, means);
}

/// Finds our library or Fujitsu's. Of a static program, the file alone decides.
static void findLibmpg(const MeansContext &context, PageMeans &means) {
  const LoadedLibrary *loaded =
      context.closure ? context.closure->findLibmpg() : nullptr;
  bool isVendors =
      context.report.target == Target::fugaku && context.library("libmpg.so");
  // Fujitsu's library for another machine than the program's is not loaded.
  if (loaded && !loaded->isOurs() && loaded->name.starts_with("libmpg.so") &&
      !isVendors)
    loaded = nullptr;
  bool preloads = context.launch && context.launch->underMpgrun;
  // Of a program with threads or without: what --checks leaves out counts here.
  const Region *stack = context.report.region("stack");
  bool noneCanBeLoaded =
      stack && is_contained(stack->because, FindingId::mpg112);
  if (!loaded && !preloads && !context.report.carriesLibmpg)
    return;
  if (context.launch &&
      !wantsLargePages(*context.launch,
                       isVendors ? Target::fugaku : Target::mpg))
    means.obstacle = "the job switches large pages off";
  else if (noneCanBeLoaded && !context.report.carriesLibmpg)
    means.obstacle = "no library can be loaded into the program";
  else if (!loaded && context.report.closure && context.report.closure->secure)
    means.obstacle = "the loader preloads nothing into a program with special "
                     "rights";
  else {
    means.isMissing = loaded && !loaded->checks && !preloads;
    useLibmpg(context,
              preloads && !isVendors ? "mpgrun"
              : loaded               ? loaded->name
                                     : "the libmpg in it",
              means);
  }
}

static bool hasUnknownMap(const Launch &launch) {
  const Variable *map = launch.environment.find("HUGETLB_ELFMAP");
  return map && !map->known;
}

/// Why libhugetlbfs, which the program loads, brings nothing. \p asksForData:
/// there is too little of it.
static std::string idleReason(const Launch &launch, bool asksForData,
                              unsigned glibcMinor) {
  if (hasUnknownMap(launch))
    return "the value of HUGETLB_ELFMAP is not known";
  if (asksForMorecore(launch))
    return glibcMinor ? "it cannot serve malloc with glibc 2.34 or newer"
                      : "the program's glibc was not found";
  return asksForData ? "the program has less than a large page of data"
                     : "the job asks it for neither data (HUGETLB_ELFMAP) nor "
                       "heap (HUGETLB_MORECORE)";
}

static void findLibhugetlbfs(const MeansContext &context, PageMeans &means) {
  const LoadedLibrary *library = context.library("libhugetlbfs.so");
  if (!library || !context.launch)
    return;
  StringRef map = context.getValue("HUGETLB_ELFMAP");
  bool moves = !map.empty() && map != "no" && map != "R";
  bool grows =
      asksForMorecore(*context.launch) && context.closure->glibcMinor() == 33;
  if (moves)
    raise(means.data, dataAnswer(context, true, means));
  else if (hasUnknownMap(*context.launch) && means.data != PageAnswer::absent)
    means.data = PageAnswer::unknown;
  if (grows)
    raise(means.heap, PageAnswer::all);
  if (grows || (moves && means.data != PageAnswer::absent))
    addName(means, library->name);
  else
    means.idle =
        library->name.str() + " is loaded, but " +
        idleReason(*context.launch, moves, context.closure->glibcMinor());
}

static bool isOn(StringRef value) {
  return is_contained({"1", "on", "yes", "true", "ON", "YES", "TRUE"}, value);
}

/// Whether a library takes malloc from the C library.
static bool hasForeignMalloc(const MeansContext &context) {
  return context.closure &&
         any_of(context.closure->libraries, [](const LoadedLibrary &library) {
           return !library.isCore() &&
                  (isAllocatorName(library.name) ||
                   (library.checks && library.checks->exportsMalloc));
         });
}

/// glibc.malloc.hugetlb of GLIBC_TUNABLES, where the last one counts, or of the
/// whole system. Names in \p means what asks.
static void findTunable(const MeansContext &context, PageMeans &means) {
  constexpr StringLiteral name = "glibc.malloc.hugetlb";
  if (!context.closure || context.closure->glibcMinor() < 35 ||
      hasForeignMalloc(context))
    return;
  std::string value;
  StringRef source = "GLIBC_TUNABLES";
  for (StringRef part : split(context.getValue("GLIBC_TUNABLES"), ':'))
    if (part.consume_front(name) && part.consume_front("="))
      value = part.str();
  if (context.closure->glibcMinor() >= systemTunablesMinor)
    if (auto system = findSystemTunable(context.closure->closure.sysroot, name,
                                        context.report.path);
        system && (value.empty() || system->isFixed)) {
      value = system->value;
      source = systemTunablesFile;
    }
  if (value.empty() || value == "0")
    return;
  addName(means, source);
  raise(means.heap, PageAnswer::all);
}

bool mpg::hasText(const std::string &path, StringRef text) {
  auto file = readUnmapped(path);
  return file && (*file)->getBuffer().contains(text);
}

static void findAllocatorSettings(const MeansContext &context,
                                  PageMeans &means) {
  findTunable(context, means);
  if (context.library("libjemalloc") &&
      context.getValue("MALLOC_CONF").contains("thp:always")) {
    addName(means, "MALLOC_CONF");
    raise(means.heap, PageAnswer::all);
  }
  const LoadedLibrary *mimalloc = context.library("libmimalloc");
  if (mimalloc && (isOn(context.getValue("MIMALLOC_LARGE_OS_PAGES")) ||
                   (isOn(context.getValue("MIMALLOC_ALLOW_LARGE_OS_PAGES")) &&
                    hasText(mimalloc->entry->path, "allow_large_os_pages")))) {
    addName(means, "mimalloc's setting");
    raise(means.heap, PageAnswer::all);
  }
}

/// A list may hold more than the value that is needed.
static StringRef helpName(const MemoryOwner &owner) {
  if (owner.setting.empty() && owner.option.empty())
    return owner.id; // it does so by itself
  if (!owner.texts.empty())
    return owner.setting.split('=').first;
  return owner.option.empty() ? owner.setting : owner.option;
}

/// \p hasLibmpg: MPG_MMAP counts.
static void findMapped(const MeansContext &context, bool hasLibmpg,
                       PageMeans &means) {
  const MemoryUse &memory = context.report.memory;
  if (!memory.mapsItself())
    return;
  means.mapped = PageAnswer::no;
  if (memory.isHelped && memory.isHelpedAlone()) {
    addName(means, helpName(*memory.owner));
    means.mapped = PageAnswer::all;
  } else if (memory.isHelped &&
             (memory.needsLibmpg() ? hasLibmpg
                                   : means.heap >= PageAnswer::some)) {
    means.mapped = memory.owner && memory.owner->remark.empty()
                       ? PageAnswer::all
                       : PageAnswer::some;
  }
}

PageMeans mpg::findPageMeans(const FileReport &report, const Launch *launch) {
  MeansContext context = {report, launch, std::nullopt};
  if (report.closure)
    context.closure.emplace(*report.closure);
  PageMeans means;
  means.data = dataAnswer(context, false, means);
  findLibmpg(context, means);
  bool hasLibmpg = !means.name.empty();
  // libmpg's malloc comes before every other one.
  if (!hasLibmpg && means.obstacle.empty()) {
    findLibhugetlbfs(context, means);
    findAllocatorSettings(context, means);
  }
  // A static program has one heap: that of the malloc in it.
  if (isStatic(report.kind) && report.memory.isHelpedAlone())
    means.heap = PageAnswer::absent;
  findMapped(context, hasLibmpg, means);
  if (means.givesAny())
    means.obstacle.clear();
  return means;
}

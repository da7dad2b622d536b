// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the cost of start-up. MPG140 and MPG142: the memory that moving
// .data and .bss needs, and what they hold. MPG141: a large .bss that ends up
// in one core memory group. MPG200: a fork that takes longer than the period of
// a timer.

#include "Audit/Checks.h"
#include "Audit/Launch.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"

using namespace llvm;
using namespace mpg;

/// What 32 GiB of HBM leave for a job. HW:a64fx-node-memory
static constexpr uint64_t fugakuMemoryBytes = uint64_t(28) << 30;

/// One process per core memory group. HW:a64fx-cmgs
static constexpr unsigned usualRanks = 4;

/// Peak and limit are often close, and 1.04 GiB reads as "1 GiB".
static std::string inMebibytes(uint64_t bytes) {
  constexpr uint64_t mebibyte = 1 << 20;
  return std::to_string(bytes / mebibyte + (bytes % mebibyte != 0)) + " MiB";
}

/// The job's setting for .bss, for the libraries that read the variable.
static PagingState getPaging(const Subject &subject) {
  bool reads =
      subject.target == Target::fugaku || subject.target == Target::mpg;
  PagingState state =
      reads ? pagingState(subject.launch(), subject.target) : PagingState();
  state.policy.bssPrepaged |= subject.target == Target::mpg &&
                              subject.launch() &&
                              dealsBssAtStart(*subject.launch());
  return state;
}

static void checkPeak(const Subject &subject, Findings &findings) {
  std::optional<uint64_t> memory = subject.settings.memoryBytes;
  if (!memory && subject.target == Target::fugaku)
    memory = fugakuMemoryBytes;
  PagingState paging = getPaging(subject);
  if (!memory || paging.off)
    return;
  uint64_t moved = startupBytes(subject.image.loads(), subject.hugeBytes,
                                paging.policy.bssPrepaged);
  uint64_t peak = startupPeakBytes(subject.target, moved);
  if (peak <= *memory / usualRanks)
    return;
  bool dies = peak > *memory;
  // How many there are MPG226 knows better than "the usual four".
  if (!dies && subject.launch() && subject.launch()->ranksPerNode)
    return;
  Finding &finding = findings.add(
      FindingId::mpg140,
      "start-up needs " + inMebibytes(peak) +
          (dies ? ", a process has " + inMebibytes(*memory)
                : "; four processes do not fit into " + inMebibytes(*memory)));
  finding.sub = dies ? "one-process" : "four-processes";
  if (!dies)
    finding.severity = Severity(
        std::max(unsigned(finding.severity) - 1, unsigned(Severity::note)));
  finding.where.bytes = peak;
  finding.evidence =
      "writable segments, rounded out to large pages: " + formatBytes(moved);
  if (!paging.known) {
    finding.severity = std::min(finding.severity, Severity::note);
    finding.title += ", unless the job pages .bss in on demand";
    finding.evidence += "; XOS_MMM_L_PAGING_POLICY is known only when the job "
                        "runs";
  }
  if (subject.target == Target::fugaku && paging.policy.bssPrepaged)
    return;
  finding.cost = "the job is killed, or the data stays on normal pages";
  finding.setFix("Start fewer processes on a node, or allocate the largest "
                 "arrays at run time.");
}

static void checkWaste(const Subject &subject, Findings &findings) {
  constexpr uint64_t wasteful = 8;
  uint64_t rounded = roundedOutBytes(subject.image.loads(), subject.hugeBytes);
  uint64_t held = writableBytes(subject.image.loads());
  if (held == 0 || rounded <= wasteful * held)
    return;
  Finding &finding = findings.add(
      FindingId::mpg142, formatBytes(rounded) + " of large pages would hold " +
                             formatBytes(held) + " of data");
  finding.where.bytes = held;
}

void mpg::checkStartupMemory(const Subject &subject, Findings &findings) {
  if (!subject.image.isProgram())
    return;
  if (findings.wants(FindingId::mpg140))
    checkPeak(subject, findings);
  if (findings.wants(FindingId::mpg142))
    checkWaste(subject, findings);
}

/// Our libmpg pages .bss in by parts if that is asked for, and at the first
/// touch where a process may use several nodes and no policy is named.
static bool isBssPlacedByMpg(const Subject &subject, const Launch &launch) {
  return subject.target == Target::mpg &&
         (dealsBssAtStart(launch) || launch.mayChange("MPG_FIRST_TOUCH") ||
          !launch.environment.find("XOS_MMM_L_PAGING_POLICY"));
}

void mpg::checkBssPaging(const Subject &subject, Findings &findings) {
  constexpr uint64_t largeBytes = uint64_t(64) << 20;
  constexpr unsigned groupCores = 12; // HW:a64fx-cmgs
  Image &image = subject.image;
  const Launch *launch = subject.launch();
  if (!image.isProgram() || image.machine() != Machine::aarch64 || !launch ||
      launch->threads.value_or(0) <= groupCores ||
      isBssPlacedByMpg(subject, *launch))
    return;
  std::optional<PagingPolicy> policy = pagingPolicy(launch, subject.target);
  const Section *bss = image.findSection(".bss");
  if (!policy || !policy->bssPrepaged || !bss || bss->bytes < largeBytes)
    return;
  Finding &finding = findings.add(
      FindingId::mpg141, formatBytes(bss->bytes) +
                             " of .bss are paged in on one core memory group, "
                             "for " +
                             std::to_string(*launch->threads) + " threads");
  finding.where.section = ".bss";
  finding.where.bytes = bss->bytes;
  finding.where.symbol = "XOS_MMM_L_PAGING_POLICY";
  finding.evidence = "paging policy " + policy->text +
                     "; more than 12 threads are on more than one group";
  if (subject.target == Target::mpg)
    finding.setFix(
        "Let the threads write their own parts first, and page in then:\n"
        "  export XOS_MMM_L_PAGING_POLICY=demand:demand:demand\n"
        "Where one thread fills it, have libmpg deal it out over the groups:\n"
        "  export MPG_FIRST_TOUCH=start");
}

namespace {

/// One function of a group, and its caller.
struct Caller {
  StringRef symbol;
  std::string who;
  const LoadedLibrary *library = nullptr; ///< null: the program
};

} // namespace

/// The first object in the loader's order that imports one of \p symbols.
static std::optional<Caller> findCaller(const Subject &subject,
                                        ArrayRef<KnownSymbol> symbols) {
  if (std::vector<StringRef> own = subject.symbols().findImports(symbols);
      !own.empty())
    return Caller{own.front(), "the program"};
  if (!subject.closure)
    return std::nullopt;
  for (const LoadedLibrary &library : subject.closure->libraries) {
    if (!library.checks || library.isCore())
      continue;
    std::vector<StringRef> used = library.checks->symbols.findImports(symbols);
    if (!used.empty())
      return Caller{used.front(), subject.closure->describe(library), &library};
  }
  return std::nullopt;
}

void mpg::checkTimerFork(const Subject &subject, Findings &findings) {
  if (!subject.image.isProgram() || subject.image.isStatic())
    return;
  // Our own runtime is not in a program of which nothing is known.
  const Launch *launch = subject.launch();
  if (!launch && subject.target != Target::fugaku)
    return;
  std::optional<PagingPolicy> policy = pagingPolicy(launch, subject.target);
  if (!policy || !policy->heapPrepaged)
    return;
  std::optional<Caller> timer =
      findCaller(subject, {KnownSymbol::timer_create, KnownSymbol::setitimer});
  std::optional<Caller> fork =
      timer ? findCaller(subject,
                         {KnownSymbol::fork, KnownSymbol::vfork,
                          KnownSymbol::posix_spawn, KnownSymbol::posix_spawnp,
                          KnownSymbol::system, KnownSymbol::popen})
            : std::nullopt;
  if (!fork)
    return;
  Finding &finding = findings.add(
      FindingId::mpg200, timer->symbol + " and " + fork->symbol +
                             " meet memory that is paged in at the start");
  finding.where.symbol = fork->symbol.str();
  finding.evidence =
      (timer->symbol + " is called by " + timer->who + ", " + fork->symbol +
       " by " + fork->who + "; paging policy " + policy->text)
          .str();
  if (const LoadedLibrary *library =
          timer->library ? timer->library : fork->library)
    subject.closure->setVia(finding, *library);
  if (!launch)
    finding.severity = std::min(finding.severity, Severity::note);
}

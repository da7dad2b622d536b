// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG200: a timer that interrupts fork() over and over. With memory paged in at
// the start a fork takes longer than the timer's period and never ends.

#include "Audit/Checks.h"
#include "Audit/Paging.h"

using namespace llvm;
using namespace mpg;

namespace {

/// One function of a group, and who calls it.
struct Caller {
  StringRef symbol;
  std::string who;
  const LoadedLibrary *library = nullptr; ///< null: the program
};

} // namespace

/// The first object in the loader's order that imports one of \p symbols.
static std::optional<Caller> findCaller(const Subject &subject,
                                        ArrayRef<KnownSymbol> symbols) {
  if (std::vector<StringRef> own = subject.symbols().importsOf(symbols);
      !own.empty())
    return Caller{own.front(), "the program"};
  if (!subject.closure)
    return std::nullopt;
  for (const LoadedLibrary &library : subject.closure->libraries) {
    if (!library.checks || library.isCore())
      continue;
    std::vector<StringRef> used = library.checks->symbols.importsOf(symbols);
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
  std::optional<PagingPolicy> policy = pagingPolicy(launch);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG105: a thread that runs before the large page library is initialised. The
// library cannot move the process stack then, and that thread's own stack is
// where it is.

#include "Audit/Checks.h"
#include "Audit/ThreadStart.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

namespace {

/// The order in which glibc (2.35 or later) initialises the libraries of a
/// program: what a library needs before the library itself; else the last ones
/// in the order of search first.
class InitOrder {
public:
  explicit InitOrder(const Closure &closure)
      : closure(closure), visited(closure.libraries.size()) {
    for (size_t i = closure.libraries.size(); i-- > 0;)
      visit(unsigned(i));
    moveFirst();
  }
  std::vector<unsigned> order;

private:
  const Closure &closure;
  std::vector<bool> visited;

  void visit(unsigned index);
  void moveFirst();
};

} // namespace

/// Depth first, with a list in place of recursion: a chain of libraries can be
/// longer than a stack is deep.
void InitOrder::visit(unsigned index) {
  std::vector<std::pair<unsigned, size_t>> path; // and the next of its needs
  auto enter = [&](unsigned next) {
    if (visited[next])
      return;
    visited[next] = true;
    path.push_back({next, 0});
  };
  enter(index);
  while (!path.empty()) {
    auto &[current, need] = path.back();
    const std::vector<unsigned> &needs = closure.libraries[current].needs;
    if (need < needs.size()) {
      enter(needs[need++]);
      continue;
    }
    order.push_back(current);
    path.pop_back();
  }
}

/// Of the libraries with DF_1_INITFIRST the last one to be loaded is first.
void InitOrder::moveFirst() {
  constexpr uint64_t initFirst = 0x20; // DF_1_INITFIRST
  for (size_t i = closure.libraries.size(); i-- > 0;) {
    const LibraryFacts *facts = closure.libraries[i].facts;
    if (!facts || !(facts->flags1 & initFirst))
      continue;
    auto found = std::find(order.begin(), order.end(), unsigned(i));
    std::rotate(order.begin(), found, found + 1);
    return;
  }
}

/// The libraries that are initialised before \p libmpg.
static std::vector<const LoadedLibrary *>
initialisedBefore(const ProgramClosure &closure, const LoadedLibrary &libmpg) {
  std::vector<const LoadedLibrary *> before;
  for (unsigned index : InitOrder(closure.closure).order) {
    if (index == libmpg.index)
      break;
    before.push_back(&closure.libraries[index]);
  }
  return before;
}

/// OpenMP runtimes start their threads at the first parallel region, Fortran's
/// at the first asynchronous transfer.
static bool startsLater(const LoadedLibrary &library) {
  return library.isCore() || library.name.starts_with("libgomp.") ||
         library.name.starts_with("libomp.") ||
         library.name.starts_with("libiomp5.") ||
         library.name.starts_with("libgfortran.");
}

static ThreadStart readThreadStart(const LoadedLibrary &library) {
  ThreadStart start;
  // A file that went away meanwhile starts nothing that could be shown.
  consumeError(readImages(library.entry->path, [&](Image &image) {
    if (image.isLoadable())
      start = findThreadStart(image);
  }));
  return start;
}

void mpg::checkThreadStart(const Subject &subject, Findings &findings) {
  const LoadedLibrary *libmpg =
      subject.closure ? subject.closure->findLibmpg() : nullptr;
  if (!libmpg)
    return;
  const ProgramClosure &closure = *subject.closure;
  std::vector<std::string> possible;
  for (const LoadedLibrary *library : initialisedBefore(closure, *libmpg)) {
    if (!library->checks || startsLater(*library))
      continue;
    ThreadStart start = readThreadStart(*library);
    if (start.initialises && !start.reached)
      possible.push_back(closure.describe(*library));
    if (!start.reached)
      continue;
    Finding &finding =
        findings.add(FindingId::mpg105, closure.describe(*library) +
                                            " starts a thread before " +
                                            libmpg->name + " is initialised");
    finding.sub = "starts";
    finding.where.symbol = start.function;
    finding.evidence =
        "its initialisation leads to a call of " + start.function;
    closure.setVia(finding, *library);
  }
  if (possible.empty())
    return;
  Finding &finding = findings.add(
      FindingId::mpg105,
      std::to_string(possible.size()) +
          (possible.size() == 1 ? " library that is" : " libraries that are") +
          " initialised before " + libmpg->name + " can start threads");
  finding.sub = "possible";
  finding.severity = Severity::note;
  finding.evidence = join(possible, ", ") +
                     "; no direct call leads there from the initialisation";
}

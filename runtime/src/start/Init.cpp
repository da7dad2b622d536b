// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only constructor of libmpg; start reading here. It runs before main and,
// when the library is preloaded or comes first among the libraries, before the
// constructors of all others. What it does, in this order:
//
//   who           nothing in programs that are not meant, and nothing but a
//                 line beside Fujitsu's library
//   environment   into one Config, all of it checked
//   sectors       ways of the L2 cache, if the environment gives some
//   data          .data and .bss, because later steps write to them
//   stack         the process stack
//   threads       from here on new threads get large pages
//
// Each step is able to leave everything as it was, and none of them ends the
// program.

#include "a64fx/Sector.h"
#include "base/Env.h"
#include "base/Messages.h"
#include "fork/BasePages.h"
#include "fork/Fork.h"
#include "fork/StopThreads.h"
#include "heap/Heap.h"
#include "heap/HeapSpace.h"
#include "mpg/mpg.h"
#include "numa/NodeCpus.h"
#include "numa/Numa.h"
#include "pages/OwnMaps.h"
#include "pages/Pages.h"
#include "pages/PagesNuma.h"
#include "pages/Shortage.h"
#include "segments/Remap.h"
#include "stack/Stack.h"
#include "stack/ThreadStack.h"
#include "start/Vendor.h"
#include <errno.h>
#include <unistd.h>

using namespace mpg;

// The loader's; a static program has none, but `environ` from the start.
extern "C" void *__libc_stack_end __attribute__((weak));

namespace {

/// All mutable state of the runtime that lives longer than start-up.
struct State {
  Config config;
  Messages messages;
  bool isDecided = false;
  bool isOn = false; ///< this process is one of ours
};

} // namespace

static State state;

/// The environment of the process. Before libc's first constructor `environ` is
/// not set; then it is after the arguments, where the loader begins to read.
static const char *const *environment() {
  if (environ || !&__libc_stack_end || !__libc_stack_end)
    return environ;
  auto *words = static_cast<const char *const *>(__libc_stack_end);
  return words + 1 + *reinterpret_cast<const long *>(words) + 1;
}

/// Pages that are there before the program's threads are lie on the node of the
/// thread that starts. Where several nodes may be used, and nobody has set a
/// policy of any kind, they come at the first touch, if that is sure to find
/// them.
static void choosePaging(Config &config) {
  if (config.pagingGiven || allowedNodes().count() < 2 ||
      !mayRunOnSeveralNodes() || hasMemoryPolicy() ||
      (config.mode != Mode::thp && reservationMayFailAtStart(config.hugeBytes)))
    return;
  config.pagingByNodes = true;
  config.bssPaging = config.mmapPaging = Paging::demand;
}

/// Who is meant, and the settings. False: there is nothing to do.
static bool decide() {
  state.isDecided = true;
  rememberStandardError();
  const char *const *variables = environment();
  readAudience(variables, state.config);
  const Config &config = state.config;
  readSectorSettings(variables, state.config.sectors);
  startSectors(config.sectors, nullptr);
  if (!config.isTarget && !programIsLinkedWithUs())
    return false;
  state.messages.setStyle(config.quiet, config.vendorCodes);
  state.messages.start(config.speaks, config.stateFd, config.statePid);
  if (vendorIsLoaded()) {
    state.messages.setMode(unsigned(Mode::none));
    sayStandDown(state.messages);
    return false;
  }
  readSettings(variables, state.config, state.messages);
  startSectors(config.sectors, &state.messages);
  state.messages.setMode(unsigned(config.mode));
  state.isOn = true;
  if (config.mode == Mode::none)
    return false;
  probePages(config.forceCopyBack);
  choosePaging(state.config);
  return true;
}

bool mpg::decideHeap() {
  return decide() && startHeap(state.config, state.messages);
}

/// Ends early where there is nothing to do; see the file head.
static void run() {
  heapIsOurs(); // decides, if no call of malloc has done so
  if (!state.isDecided)
    decide();
  const Config &config = state.config;
  if (!state.isOn)
    return;
  if (config.printEnv && config.speaks)
    printEnv(config, environ);
  writeInitialWays();
  startFirstTouch(config, heapIsOurs() ? heapSpace.range() : Range{},
                  state.messages);
  if (config.mode == Mode::none)
    return;
  startNuma(config);
  unsigned threads = countThreadsAtStart();
  startBasePages(config, state.messages);
  startReplicate(state.messages);
  watchForks(config, state.messages);
  startOwnMaps(config, state.messages);
  remapSegments(config, state.messages, threads);
  if (config.stacks) {
    remapStack(config, state.messages, threads);
    startThreadStacks(config, state.messages);
  }
}

/// The first of the program's constructors: lower numbers are the compiler's
/// own. The loader has set `environ` by now, in static programs too.
__attribute__((constructor(101))) static void startUp() {
  int saved = errno;
  run();
  errno = saved;
}

/// After the program's own destructors.
__attribute__((destructor(101))) static void atEnd() { state.messages.end(); }

const char *mpg_version() { return MPG_VERSION; }

void mpg_start() {}

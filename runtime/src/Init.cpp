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

#include "Env.h"
#include "FirstTouch.h"
#include "Messages.h"
#include "Numa.h"
#include "Pages.h"
#include "Remap.h"
#include "Sector.h"
#include "Stack.h"
#include "ThreadStack.h"
#include "Vendor.h"
#include "mpg/mpg.h"
#include <errno.h>
#include <unistd.h>

using namespace mpg;

namespace {

/// All mutable state of the runtime that lives longer than start-up.
struct State {
  Config config;
  Messages messages;
};

} // namespace

static State state;

/// Ends early where there is nothing to do; see the file head.
static void run() {
  readAudience(environ, state.config);
  const Config &config = state.config;
  readSectorSettings(environ, state.config.sectors);
  startSectors(config.sectors, nullptr);
  if (!config.isTarget && !programIsLinkedWithUs())
    return;
  state.messages.start(config.speaks, config.stateFd);
  if (vendorIsLoaded()) {
    state.messages.setMode(unsigned(Mode::none));
    sayStandDown(state.messages);
    return;
  }
  readSettings(environ, state.config, state.messages);
  startSectors(config.sectors, &state.messages);
  state.messages.setMode(unsigned(config.mode));
  if (config.printEnv && config.speaks)
    printEnv(config, environ);
  writeInitialWays();
  if (config.mode == Mode::none)
    return;
  probePages(config.forceCopyBack);
  startFirstTouch(config, state.messages);
  startNuma(config);
  remapSegments(config, state.messages);
  if (config.stacks) {
    remapStack(config, state.messages);
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

const char *mpg_version() { return MPG_VERSION; }

void mpg_start() {}

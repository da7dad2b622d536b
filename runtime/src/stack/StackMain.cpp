// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StackMain.h.

#include "stack/StackMain.h"

#include "base/StackSwitch.h"
#include "stack/Stack.h"

using namespace mpg;

namespace {

struct MainCall {
  Main *function;
  int argc;
  char **argv, **environment;
  int result;
};

} // namespace

static Main *programsMain;

static void *callMain(void *argument) {
  auto *call = static_cast<MainCall *>(argument);
  call->result = call->function(call->argc, call->argv, call->environment);
  return nullptr;
}

static int startMain(int argc, char **argv, char **environment) {
  MainCall call{programsMain, argc, argv, environment, 0};
  callBelow(mainBegins(), callMain, &call);
  return call.result;
}

Main *mpg::mainOnLargePages(Main *main) {
  programsMain = main;
  return startMain;
}

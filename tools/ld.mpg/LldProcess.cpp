// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LldProcess.h.

#include "LldProcess.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace mpg;

void mpg::becomeLld(ArrayRef<std::string> command) {
  std::vector<const char *> args;
  for (const std::string &arg : command)
    args.push_back(arg.c_str());
  outs().flush();
  bool linked = lld::elf::link(args, outs(), errs(), /*exitEarly=*/true,
                               /*disableOutput=*/false);
  outs().flush();
  errs().flush();
  sys::Process::Exit(linked ? 0 : 1, /*NoCleanup=*/true);
}

Expected<Child> mpg::startLld(ArrayRef<std::string> command, MemoryFile *out,
                              MemoryFile *err) {
  outs().flush();
  errs().flush();
  Expected<Child> child = Child::start([&] {
    if (out)
      out->replace(STDOUT_FILENO);
    if (err)
      err->replace(STDERR_FILENO);
    becomeLld(command);
  });
  if (!child)
    return createStringError(inconvertibleErrorCode(),
                             "cannot run lld: " + toString(child.takeError()));
  return child;
}

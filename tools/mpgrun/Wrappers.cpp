// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Wrappers.h.

#include "Wrappers.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

// Shells are not among them: what they run is not known.
static constexpr StringLiteral wrappers[] = {
    "chrt",    "env",     "gdb",     "ionice",  "ltrace",  "mpiexec",
    "mpirun",  "nice",    "nohup",   "numactl", "orterun", "perf",
    "prlimit", "setarch", "setsid",  "srun",    "stdbuf",  "strace",
    "taskset", "time",    "timeout", "valgrind"};

static StringRef nameOf(const std::vector<std::string> &command) {
  return sys::path::filename(command[0]);
}

std::string mpg::startsAnother(const std::vector<std::string> &command) {
  // Without arguments they show something of their own.
  if (command.size() < 2 || !is_contained(wrappers, nameOf(command)))
    return {};
  return nameOf(command).str();
}

bool mpg::asksForHelgrind(const std::vector<std::string> &command) {
  if (nameOf(command) != "valgrind")
    return false;
  for (const std::string &argument : ArrayRef(command).drop_front()) {
    if (argument.empty() || argument[0] != '-')
      return false; // the program that valgrind runs, and its arguments
    if (argument == "--tool=helgrind")
      return true;
  }
  return false;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg-block-names FILE ADDRESS...: prints the name that reports give to the
// block of the call that returns to each hexadecimal address of FILE. For
// programs of machines that cannot be profiled here.

#include "DebugInfo/BlockOrigin.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

int main(int argc, char **argv) {
  mpg::BlockNamer namer;
  for (int at = 2; at < argc; ++at)
    llvm::outs() << namer.origin({{argv[1], strtoull(argv[at], nullptr, 16)}})
                        .name()
                 << "\n";
}

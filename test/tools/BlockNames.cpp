// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg-block-names FILE ADDRESS...: prints the name that reports give to the
// block of the call that returns to each hexadecimal address of FILE; of a
// comma list, of the calls from the inside out. For programs of machines that
// cannot be profiled here.

#include "DebugInfo/BlockOrigin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

int main(int argc, char **argv) {
  mpg::BlockNamer namer;
  for (int at = 2; at < argc; ++at) {
    std::vector<mpg::CallAddress> calls;
    for (llvm::StringRef word : llvm::split(argv[at], ','))
      calls.push_back({argv[1], strtoull(word.str().c_str(), nullptr, 16)});
    llvm::outs() << namer.origin(calls).name() << "\n";
  }
}

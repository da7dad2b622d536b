// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model without its AVX-512 code, against its naive twin: 20 random
// programs, or the number in the argument.

#include "ModelPrograms.h"
#include <cstdio>
#include <cstdlib>

using namespace mpg::sim;

int main(int argc, char **argv) {
  uint64_t programs = argc > 1 ? strtoull(argv[1], nullptr, 10) : 20;
  uint64_t accesses = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    std::string difference = compareModels(seed, 4000, accesses);
    if (!difference.empty()) {
      printf("seed %llu: %s\n", (unsigned long long)seed, difference.c_str());
      return 1;
    }
  }
  printf("%llu random programs, %llu accesses: every counter the same\n",
         (unsigned long long)programs, (unsigned long long)accesses);
}

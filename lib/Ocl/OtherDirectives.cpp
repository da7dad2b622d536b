// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OtherDirectives.h. Flang 22 acts on the directives named here.

#include "Ocl/OtherDirectives.h"

using namespace llvm;

static constexpr struct {
  const char *name, *flang;
} equivalents[] = {
    {"UNROLL", "UNROLL n"},
    {"NOUNROLL", "NOUNROLL"},
    {"UNROLL_AND_JAM", "UNROLL_AND_JAM n"},
    {"NOUNROLL_AND_JAM", "NOUNROLL_AND_JAM"},
    {"SIMD", "VECTOR ALWAYS"},
    {"NOSIMD", "NOVECTOR"},
    {"NORECURRENCE", "IVDEP"},
    {"NOVREC", "IVDEP"},
    {"PREFETCH_READ", "PREFETCH a(i)"},
    {"PREFETCH_WRITE", "PREFETCH a(i)"},
};

std::string mpg::otherDirectiveRemark(StringRef name) {
  std::string upper = name.upper();
  for (auto [known, flang] : equivalents)
    if (upper == known)
      return upper + " has no effect; '!DIR$ " + flang +
             "' asks flang for the same";
  return upper + " has no effect: flang has nothing that does the same";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the ways that a program asks for to those that are written into the
// register: arithmetic only.
//
// A register value of 0 ways does not keep a sector out of the cache: measured
// by others, the cache is then not divided at all (HW:sector-zero). So nothing
// here writes a 0 in the hope of going past the cache; a request that leaves
// sector 0 or all others without ways becomes the machine's own state,
// undivided.

#ifndef MPG_RUNTIME_WAYBUDGET_H
#define MPG_RUNTIME_WAYBUDGET_H

#include "a64fx/A64fxRegisters.h"

namespace mpg {

/// Ways of L2 that programs may divide: all of them where no assistant core is
/// (48 CPUs, FX700) and the register does not say otherwise, else 14.
/// \p registerL2: its value before anybody changed it.
unsigned budgetOfL2(unsigned possibleCpus, uint64_t registerL2);

constexpr uint8_t keepWays = 255; // MPG_WAYS_KEEP of <mpg/pass.h>

/// What is asked for, and what is to be written instead of \p now.
/// Sector 0 gets what the others leave of \p budget when the sum would be
/// larger, or when it is kept and has none. A number above \p budget counts as
/// \p budget. False, and \p out is as \p now, when the sectors but 0 ask for
/// more than \p budget together.
bool resolveWaysL1(const uint8_t (&asked)[sectorsL1], uint64_t now,
                   uint64_t &out);
bool resolveWaysL2(const uint8_t (&asked)[sectorsL2], uint64_t now,
                   unsigned budget, uint64_t &out);

} // namespace mpg

#endif // MPG_RUNTIME_WAYBUDGET_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See A64fxRegisters.h: which ways are written.

#include "a64fx/A64fxRegisters.h"

using namespace mpg;

/// \p ways holds the present numbers and receives the new ones. False if there
/// are too many. \p divided: whether sector 0, which serves all accesses
/// without a tag, and at least one other sector have ways.
static bool resolve(const uint8_t *asked, uint8_t *ways, unsigned sectors,
                    unsigned budget, bool &divided) {
  unsigned others = 0;
  for (unsigned sector = 0; sector < sectors; ++sector) {
    if (asked[sector] != keepWays)
      ways[sector] = uint8_t(asked[sector] < budget ? asked[sector] : budget);
    if (sector > 0)
      others += ways[sector];
  }
  if (others > budget)
    return false;
  bool isLeftOver = asked[0] == keepWays && ways[0] == 0 && others > 0;
  if (isLeftOver || (asked[0] != allWays && ways[0] + others > budget))
    ways[0] = uint8_t(budget - others);
  divided = ways[0] > 0 && others > 0;
  return true;
}

bool mpg::resolveWaysL1(const uint8_t (&asked)[sectorsL1], uint64_t now,
                        uint64_t &out) {
  uint8_t ways[sectorsL1] = {};
  bool divided = false;
  out = now;
  unpackWaysL1(now, ways);
  if (!resolve(asked, ways, sectorsL1, waysOfL1, divided))
    return false;
  out = divided ? packWaysL1(ways) : 0;
  return true;
}

bool mpg::resolveWaysL2(const uint8_t (&asked)[sectorsL2], uint64_t now,
                        unsigned budget, uint64_t &out) {
  uint8_t ways[sectorsL2] = {};
  bool divided = false;
  out = now;
  unpackWaysL2(now, ways);
  if (!resolve(asked, ways, sectorsL2, budget, divided))
    return false;
  // As McKernel writes it, and as users read it back on a node of Fugaku
  // (read); the undivided L1 has 0.
  const uint8_t undivided[sectorsL2] = {uint8_t(budget), 0};
  out = packWaysL2(divided ? ways : undivided);
  return true;
}

unsigned mpg::budgetOfL2(unsigned possibleCpus, uint64_t registerL2) {
  uint8_t ways[sectorsL2] = {};
  unpackWaysL2(registerL2, ways);
  constexpr unsigned cpusWithoutAssistants = 48; // HW:a64fx-job-cpus
  bool isReduced = ways[0] > 0 && ways[0] < waysOfL2;
  return possibleCpus == cpusWithoutAssistants && !isReduced ? waysOfL2
                                                             : waysOfL2InJobs;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of A64FX that a program may be allowed to use: their encodings,
// their fields, and the range of each field. This file holds everything taken
// from Fujitsu's specification; the rest of the runtime deals in ways, bytes
// and lines.
//
// Pure arithmetic, so it is tested on any machine. Whether the kernel lets a
// program at a register is Missing.cpp's question.

#pragma once

#include "base/Check.h"
#include <stdint.h>

namespace mpg {

// Names

constexpr unsigned injectionEntries = 8; // Extension, pages 20-29: read
/// Of a CPU on the 6 barriers of its group (Extension, section 1.4: read).
constexpr unsigned barrierWindows = 4;

enum class Register : uint8_t {
  sectorL1,          ///< IMP_SCCR_L1_EL0
  sectorL2,          ///< IMP_SCCR_VSCCR_L2_EL0, window on the group's register
  streamDetect,      ///< IMP_PF_STREAM_DETECT_CTRL_EL0
  injectionControl0, ///< IMP_PF_INJECTION_CTRL0_EL0 and seven more
  injectionDistance0 = injectionControl0 + injectionEntries,
  ///< IMP_PF_INJECTION_DISTANCE0_EL0 and seven more
  barrierWindow0 = injectionDistance0 + injectionEntries,
  ///< IMP_BARRIER_BST_SYNC_W0_EL0 (written), LBSY_SYNC (read), and three more
  count = barrierWindow0 + barrierWindows
};

/// The \p index-th register of a row that begins with \p first.
constexpr Register registerAt(Register first, unsigned index) {
  return Register(unsigned(first) + index);
}

/// S3_<op1>_C<crn>_C<crm>_<op2>
struct RegisterName {
  unsigned op1, crn, crm, op2;
};

/// HW:sector-registers, HW:prefetch-registers, HW:barrier-window
constexpr RegisterName getName(Register which) {
  unsigned number = unsigned(which);
  if (which == Register::sectorL1)
    return {3, 11, 8, 2};
  if (which == Register::sectorL2)
    return {3, 15, 8, 2};
  if (which == Register::streamDetect)
    return {3, 11, 4, 0};
  if (which < Register::injectionDistance0)
    return {3, 11, 6, number - unsigned(Register::injectionControl0)};
  if (which < Register::barrierWindow0)
    return {3, 11, 7, number - unsigned(Register::injectionDistance0)};
  return {3, 15, 15, number - unsigned(Register::barrierWindow0)};
}

// Sector cache

constexpr unsigned sectorsL1 = 4;
constexpr unsigned sectorsL2 = 2; // of the 4, those that user level reaches
constexpr unsigned waysOfL1 = 4;  // HW:a64fx-l1d-way
constexpr unsigned waysOfL2 = 16; // HW:a64fx-l2-way
constexpr unsigned waysOfL2InJobs = 14; // HW:a64fx-l2-ways-job

/// Four fields of 3 bits in half bytes, sector 0 lowest. HW:sector-fields
/// pre: no number is above 7.
constexpr uint64_t packWaysL1(const uint8_t (&ways)[sectorsL1]) {
  uint64_t value = 0;
  for (unsigned sector = 0; sector < sectorsL1; ++sector) {
    MPG_CHECK(ways[sector] <= 7);
    value |= uint64_t(ways[sector] & 7) << 4 * sector;
  }
  return value;
}

constexpr void unpackWaysL1(uint64_t value, uint8_t (&ways)[sectorsL1]) {
  for (unsigned sector = 0; sector < sectorsL1; ++sector)
    ways[sector] = value >> 4 * sector & 7;
}

/// Two fields of 5 bits in bytes, sector 0 lowest. HW:sector-fields
/// pre: no number is above 31.
constexpr uint64_t packWaysL2(const uint8_t (&ways)[sectorsL2]) {
  MPG_CHECK(ways[0] <= 31 && ways[1] <= 31);
  return (ways[0] & 31u) | (ways[1] & 31u) << 8;
}

constexpr void unpackWaysL2(uint64_t value, uint8_t (&ways)[sectorsL2]) {
  ways[0] = value & 31;
  ways[1] = value >> 8 & 31;
}

// Hardware prefetch

constexpr int cacheLineBytes = 256; // HW:a64fx-l1d-way

/// How the hardware prefetches streams that it finds itself.
struct StreamDetect {
  bool used = false; ///< V; false: the built-in defaults
  bool offL1 = false, offL2 = false;
  bool weakL1 = false, weakL2 = false;
  int64_t distanceL1Bytes = 0; ///< 1 to 15 lines; 0: default
  int64_t distanceL2Bytes = 0; ///< 1 to 15 times 4 lines; 0: default
};

/// \p bytes as a number of \p unitBytes in 4 bits; false if it is not one.
constexpr bool packUnits(int64_t bytes, int unitBytes, uint64_t &units) {
  if (bytes < 0 || bytes % unitBytes != 0 || bytes / unitBytes > 15)
    return false;
  units = uint64_t(bytes / unitBytes);
  return true;
}

/// By the Extension, page 27 (read): a distance of 0 is the machine's own. A
/// program can write exactly 0x8CC000000F0F0000 (users of Fugaku: read). False
/// if a distance cannot be expressed.
constexpr bool packStreamDetect(const StreamDetect &fields, uint64_t &value) {
  uint64_t unitsL1 = 0, unitsL2 = 0;
  if (!packUnits(fields.distanceL1Bytes, cacheLineBytes, unitsL1) ||
      !packUnits(fields.distanceL2Bytes, 4 * cacheLineBytes, unitsL2))
    return false;
  value = uint64_t(fields.used) << 63 | uint64_t(fields.offL1) << 59 |
          uint64_t(fields.offL2) << 58 | uint64_t(fields.weakL1) << 55 |
          uint64_t(fields.weakL2) << 54 | unitsL1 << 24 | unitsL2 << 16;
  return true;
}

/// One entry of prefetch injection (pf_func 8 to 15 of the tag).
struct Injection {
  bool used = false;     ///< V; false: no hardware prefetch for such accesses
  bool allocate = false; ///< A; follow a stride, else prefetch at each access
  bool forStore = false; ///< T
  bool weakL1 = false, weakL2 = false, weakSoftware = false;
  int64_t offsetBytes = 0;     ///< the stride, with allocate
  int64_t distanceL1Bytes = 0; ///< 0: none into this level
  int64_t distanceL2Bytes = 0;
};

/// A signed number of bytes in bits 24 to 2, in steps of 4: -16 MiB to
/// 16 MiB - 4. False if it cannot be expressed.
constexpr bool packSignedBytes(int64_t bytes, uint64_t &field) {
  constexpr int64_t limit = int64_t(1) << 24;
  if (bytes % 4 != 0 || bytes < -limit || bytes >= limit)
    return false;
  field = uint64_t(bytes) & 0x1FFFFFC;
  return true;
}

/// The two registers of an entry (Extension, pages 20-29: read; the places of
/// the fields inferred, they agree with the Manual, page 76). False if a number
/// cannot be expressed.
constexpr bool packInjection(const Injection &fields, uint64_t &control,
                             uint64_t &distance) {
  uint64_t offset = 0, distanceL1 = 0, distanceL2 = 0;
  if (!packSignedBytes(fields.offsetBytes, offset) ||
      !packSignedBytes(fields.distanceL1Bytes, distanceL1) ||
      !packSignedBytes(fields.distanceL2Bytes, distanceL2))
    return false;
  control = uint64_t(fields.used) << 63 | uint64_t(fields.weakL1) << 62 |
            uint64_t(fields.weakL2) << 61 | uint64_t(fields.allocate) << 60 |
            uint64_t(fields.forStore) << 59 |
            uint64_t(fields.weakSoftware) << 58 | offset;
  distance = distanceL1 << 32 | distanceL2;
  return true;
}

// Ways. Converts the ways that a program asks for to those that go into the
// register: arithmetic only.
//
// A register value of 0 ways does not keep a sector out of the cache: measured
// by others, the cache is then not divided at all (HW:sector-zero). So nothing
// here writes a 0 in the hope of going past the cache; a request that leaves
// sector 0 or all others without ways becomes the machine's own state,
// undivided.

/// Ways of L2 that programs may divide: all of them where no assistant core is
/// (48 CPUs, FX700) and the register does not say otherwise, else 14.
/// \p registerL2: its value before anybody changed it.
unsigned budgetOfL2(unsigned possibleCpus, uint64_t registerL2);

// MPG_WAYS_KEEP and MPG_WAYS_ALL of <mpg/pass.h>
constexpr uint8_t keepWays = 255, allWays = 254;

/// Computes the value to write instead of \p now from the requested ways.
/// Sector 0 gets the remainder of \p budget when the sum would be larger, or
/// when it is kept and has none. A number above \p budget counts as \p budget.
/// False, with \p out equal to \p now, when the sectors other than 0 ask for
/// more than \p budget together.
bool resolveWaysL1(const uint8_t (&asked)[sectorsL1], uint64_t now,
                   uint64_t &out);
bool resolveWaysL2(const uint8_t (&asked)[sectorsL2], uint64_t now,
                   unsigned budget, uint64_t &out);

} // namespace mpg

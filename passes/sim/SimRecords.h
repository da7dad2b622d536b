// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates the code that writes records (mpg/sim.h). The accesses of a block
// between two calls are written together, after the last one, with one check of
// the cursor.
#pragma once

#include "base/LLVM.h"
#include "mpg/sim.h"

namespace mpg {

class SimTable;

struct SimRecord {
  Value *value; ///< a pointer or a number of at most 64 bits
  mpg_sim_kind kind;
  unsigned number;
  bool isPlace;            ///< number: of a place of the module
  Value *onlyIf = nullptr; ///< an i1; null: always
  /// Of an access: the instruction's address; null: not known. The record is
  /// `offset` bytes after it.
  const SCEV *address = nullptr;
  int64_t offset = 0;
  uint64_t more = 0; ///< other bits of the word
  /// Two addresses, this one and `second`, in the place of a record.
  bool isPair = false;
  Value *second = nullptr;
};

/// Records that follow each other in one chunk.
using SimRecords = SmallVector<SimRecord, 8>;

/// More have to be written in parts.
constexpr unsigned maxSimRecords = 2048;

/// Writes \p records before \p place, unless recording is off when the program
/// gets there. Before a terminator the block is split. In the middle it is not,
/// because that would tear apart what the code generator combines within one
/// block, such as a multiplication and a sum. \p firstPlace is SimTable's.
void writeSimRecords(const SimRecords &records, Instruction &place,
                     GlobalVariable &firstPlace);

/// \p records, in which accesses that follow each other are one record, with
/// one address for all that lie at fixed distances from it (MPG_SIM_BUNDLE):
/// the body of a loop that was unrolled writes, and mpgsim reads, much less.
/// \p checks: each access is recorded as well, as MPG_SIM_CHECKED.
SimRecords bundleUp(const SimRecords &records, SimTable &table,
                    ScalarEvolution &scev, bool checks);

} // namespace mpg

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a record of mpg/sim.h says.

#ifndef MPG_SIMRUN_SIMRECORD_H
#define MPG_SIMRUN_SIMRECORD_H

#include "mpg/sim.h"

namespace mpg::sim {

constexpr unsigned recordsOfChunk =
    MPG_SIM_CHUNK_BYTES / sizeof(mpg_sim_record);

inline uint64_t kindOf(const mpg_sim_record &record) {
  return record.word >> MPG_SIM_KIND_SHIFT;
}
inline unsigned numberOf(const mpg_sim_record &record) {
  return unsigned(record.word);
}
/// Of a bundle.
inline unsigned accessesOf(const mpg_sim_record &record) {
  return record.word >> MPG_SIM_ACCESSES_SHIFT & MPG_SIM_BUNDLE_MOST;
}
inline unsigned addressesOf(const mpg_sim_record &record) {
  return record.word >> MPG_SIM_ADDRESSES_SHIFT & MPG_SIM_BUNDLE_MOST;
}
/// That a bundle takes: behind the first one lie two addresses in each.
inline unsigned recordsOfBundle(const mpg_sim_record &record) {
  return 1 + addressesOf(record) / 2;
}

} // namespace mpg::sim

#endif // MPG_SIMRUN_SIMRECORD_H

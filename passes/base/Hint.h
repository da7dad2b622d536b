// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user asks for one variable or function, and the tag byte that says it
// to the machine. <mpg/hints.h> has the bits.

#ifndef MPG_PASSES_HINT_H
#define MPG_PASSES_HINT_H

#include <cstdint>
#include <optional>
#include <string>

namespace mpg {

/// Hints for data. Nothing set: nothing asked.
struct Hint {
  std::optional<unsigned> sector;    ///< 0 to 3
  std::optional<unsigned> injection; ///< entry 0 to 7
  bool noL1Prefetch = false;
  bool noL2Prefetch = false;
  bool weakPrefetch = false;
  bool off = false; ///< no tag, whatever else says so

  /// pf_func << 4 | sector; 0 is what an address without a tag means.
  uint8_t tagByte() const;

  /// Adds \p other. Returns what the two contradict each other in, "" if they
  /// do not; then nothing was added.
  std::string add(const Hint &other);

  /// Why the hint contradicts itself, "" if it does not.
  std::string contradiction() const;
};

/// Ways of the caches that sector 1 shall have; sector 0 gets the others.
struct Ways {
  std::optional<unsigned> l1; ///< 0 to 4
  std::optional<unsigned> l2; ///< 0 to 14
};

/// Whether first touch may care for the memory of an array.
enum class TouchChoice {
  none, ///< nothing said: where it is proven safe and useful
  off,  ///< never
  on    ///< it is fresh and will be used wholly, also where that is not proven
};

// HW:sector-ways. 14 of 16 in L2: the assistant core has two.
constexpr unsigned l1Ways = 4;
constexpr unsigned l2Ways = 14;

/// "0x41: sector 1, no L1 hardware prefetch"
std::string describeTag(uint8_t tag);

} // namespace mpg

#endif // MPG_PASSES_HINT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of A64FX that more than one pass needs.

#pragma once

#include <cstdint>

namespace mpg::a64fx {

/// Bytes of a line of every cache. HW:a64fx-l1d-way
constexpr int64_t lineBytes = 256;
/// Bytes of the L1 data cache. HW:a64fx-l1d-way
constexpr uint64_t l1Bytes = 64 << 10;
/// Bytes of the L2 of a core memory group. HW:a64fx-l2-way
constexpr uint64_t l2Bytes = 8 << 20;
/// Cores that share an L2 and run a program's threads. HW:a64fx-cmgs
constexpr uint64_t threadsOfL2 = 12;

} // namespace mpg::a64fx

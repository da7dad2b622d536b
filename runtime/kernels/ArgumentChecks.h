// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about arguments that the kernels share. A failed one leaves
// its sentence for mpg_kernel_error.

#pragma once

#include "KernelTable.h"
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

namespace mpg {

/// 0, or -EINVAL if [begin, end) is not a range of elements.
inline int checkElements(int64_t begin, int64_t end) {
  if (begin < 0)
    return kernelError(EINVAL, "begin is %" PRId64 "; it must not be negative",
                       begin);
  if (begin > end)
    return kernelError(EINVAL, "begin is %" PRId64 ", after end, %" PRId64,
                       begin, end);
  return 0;
}

/// The address without a tag: pointers that differ in it alone are the same.
inline uintptr_t getAddress(const void *pointer) {
  uintptr_t address = uintptr_t(pointer);
#if defined(__aarch64__)
  address = address << 8 >> 8; // HW:hpc-tag
#endif
  return address;
}

/// Returns 0, -EINVAL if \p array is null, or -EOVERFLOW if element number \p
/// last has no address.
inline int checkReach(const char *name, const void *array, uint64_t last,
                      size_t elementBytes) {
  if (!array)
    return kernelError(EINVAL, "%s is a null pointer", name);
  uintptr_t address = getAddress(array);
  // No program has memory in the upper half. HW:user-address-bits
  constexpr uint64_t max = uint64_t(INTPTR_MAX);
  if (address > max || last >= (max - address) / elementBytes)
    return kernelError(EOVERFLOW,
                       "%s[%" PRIu64 "] is outside of the address space", name,
                       last);
  return 0;
}

} // namespace mpg

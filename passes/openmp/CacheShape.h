// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What remarks need to know of the processor that a function is compiled for.

#ifndef MPG_PASSES_CACHESHAPE_H
#define MPG_PASSES_CACHESHAPE_H

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
}

namespace mpg {

struct CacheShape {
  uint64_t lineBytes;
  /// Addresses that are equal modulo this lie in one set of the L1 data cache.
  uint64_t wayBytes;
  unsigned ways; ///< of the L1 data cache
  /// Threads that a team has unless the program says otherwise.
  std::optional<unsigned> cores;
};

/// By the attribute "target-cpu" of \p function.
CacheShape cacheShapeFor(const llvm::Function &function);

} // namespace mpg

#endif // MPG_PASSES_CACHESHAPE_H

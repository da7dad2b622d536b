// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A user's hint for one variable or function, the tag byte that encodes it for
// the machine (<mpg/hints.h> has the bits), and the mark that carries the
// decision about an access from the source to the end of the optimiser.
//
// A mark is !mmra !{"mpg", "<tag byte, two hex digits>"}. The vectoriser would
// drop metadata of a new kind; this kind survives the vectoriser, unrolling,
// inlining and LTO, and does not change the optimiser's decisions.
//
// Where a loop's access becomes one before it and one after it, the optimiser
// copies only the metadata of alias analysis. So the mark is written a second
// time, as an alias scope that no access refers to; it counts where the first
// is lost.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/Instruction.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mpg {

/// Hints for data. Nothing set: no request.
struct Hint {
  std::optional<unsigned> sector;    ///< 0 to 3
  std::optional<unsigned> injection; ///< entry 0 to 7
  bool noL1Prefetch = false;
  bool noL2Prefetch = false;
  bool weakPrefetch = false;
  bool off = false; ///< no tag, whatever else says so

  /// pf_func << 4 | sector; 0 is what an address without a tag means.
  uint8_t tagByte() const;

  /// Adds \p other. If the two conflict, adds nothing and returns the conflict,
  /// else "".
  std::string add(const Hint &other);

  /// The contradiction within the hint, "" if there is none.
  std::string contradiction() const;
};

/// Ways of the caches for sector 1; sector 0 gets the others.
struct Ways {
  std::optional<unsigned> l1; ///< 0 to 4
  std::optional<unsigned> l2; ///< 0 to 14

  /// As Hint::add().
  std::string add(const Ways &other);
};

/// Whether first touch may place the memory of an array.
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

struct Mark {
  enum Kind {
    none,
    one,     ///< tag is valid
    conflict ///< accesses with different marks were merged into this one
  } kind = none;
  uint8_t tag = 0;
};

Mark readMark(const Instruction &access);

/// Puts a mark on \p access; keeps marks of others (!mmra has many users).
void writeMark(Instruction &access, uint8_t tag);

/// Prefetches \p address for \p access into the cache of \p level, with the
/// mark of \p access: the line goes into its sector.
void writePrefetch(const Instruction &access, bool isWritten, unsigned level,
                   Value *address, IRBuilderBase &builder);

/// Takes our marks off again.
void eraseMark(Instruction &access);

/// Records that all accesses of \p function through \p base have \p tag, for
/// accesses that lose their own mark. Does nothing for bases that cannot carry
/// it (arguments, loads and most calls can).
void writeBaseMark(Value &base, Function &function, uint8_t tag);

/// The same for global variables: all of a function at once.
void writeGlobalMarks(Function &function,
                      ArrayRef<std::pair<GlobalVariable *, uint8_t>> marks);

/// Reads both.
class BaseMarks {
public:
  explicit BaseMarks(const Function &function);
  Mark of(const Value &base) const;

private:
  const Function &function;
  DenseMap<const Value *, Mark> globals;
};

/// Whether anything in \p module may carry a mark; quick.
bool hasMarks(const Module &module);
void noteThatThereAreMarks(Module &module);

} // namespace mpg

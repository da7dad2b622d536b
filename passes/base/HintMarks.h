// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decision about an access, on its way from the source to the end of the
// optimiser: !mmra !{"mpg", "<tag byte, two hex digits>"}. Metadata of our own
// kind would be lost in the vectoriser; this kind survives it, unrolling,
// inlining and LTO, and changes nothing in what the optimiser does.
//
// Where a loop's access becomes one before it and one after it, only what
// alias analysis looks at is handed on. So the mark is written a second time,
// as an alias scope that nothing is said about; it counts where the first is
// lost.

#ifndef MPG_PASSES_HINTMARKS_H
#define MPG_PASSES_HINTMARKS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instruction.h"
#include <cstdint>

namespace mpg {

/// What an instruction carries.
struct Mark {
  enum Kind {
    none,
    one,     ///< tag is valid
    conflict ///< accesses with different marks were merged into this one
  } kind = none;
  uint8_t tag = 0;
};

Mark readMark(const llvm::Instruction &access);

/// Puts a mark on \p access; marks of others (!mmra has many users) stay.
void writeMark(llvm::Instruction &access, uint8_t tag);

/// Takes our marks off again.
void eraseMark(llvm::Instruction &access);

/// Says that all accesses of \p function through \p base have \p tag; nothing
/// for bases that cannot carry it (arguments, loads and most calls can). For
/// accesses whose own mark is lost.
void writeBaseMark(llvm::Value &base, llvm::Function &function, uint8_t tag);

/// The same for global variables: all of a function at once.
void writeGlobalMarks(
    llvm::Function &function,
    llvm::ArrayRef<std::pair<llvm::GlobalVariable *, uint8_t>> marks);

/// Reads both.
class BaseMarks {
public:
  explicit BaseMarks(const llvm::Function &function);
  Mark of(const llvm::Value &base) const;

private:
  const llvm::Function &function;
  llvm::DenseMap<const llvm::Value *, Mark> globals;
};

/// Whether anything in \p module may carry a mark; quick.
bool hasMarks(const llvm::Module &module);
void noteThatThereAreMarks(llvm::Module &module);

} // namespace mpg

#endif // MPG_PASSES_HINTMARKS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Advice of the makers of databases, of Java and of systems about large pages,
// with the source, and whether this node follows it. Their advice
// differs, and one node has one setting.

#ifndef MPG_NODE_PRODUCTADVICE_H
#define MPG_NODE_PRODUCTADVICE_H

#include "Node/HugePages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

struct ProductAdvice {
  llvm::StringRef name, title;
  /// Words of transparent_hugepage/enabled that it is content with, with
  /// blanks between them, the best first.
  llvm::StringRef transparent;
  llvm::StringRef why, pool, source;
};

llvm::ArrayRef<ProductAdvice> allProductAdvice();
/// Null: there is none for \p name.
const ProductAdvice *findProductAdvice(llvm::StringRef name);

/// False if the node's setting is another one. One that is not known is no
/// other.
bool writeProductAdvice(llvm::raw_ostream &out, const ProductAdvice &advice,
                        const TransparentFacts &facts);

} // namespace mpg

#endif // MPG_NODE_PRODUCTADVICE_H

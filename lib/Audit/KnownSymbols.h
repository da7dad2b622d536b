// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of the symbols that matter to us a file imports or defines. One pass
// over a symbol table answers all checks.

#ifndef MPG_AUDIT_KNOWNSYMBOLS_H
#define MPG_AUDIT_KNOWNSYMBOLS_H

#include "Elf/Image.h"
#include <bitset>

namespace mpg {

enum class KnownSymbol : uint8_t {
#define MPG_SYMBOL(name) name,
#include "Audit/KnownSymbols.def"
};
constexpr unsigned knownSymbolCount = 0
#define MPG_SYMBOL(name) +1
#include "Audit/KnownSymbols.def"
    ;

llvm::StringRef symbolName(KnownSymbol symbol);

struct KnownSymbolUse {
  std::bitset<knownSymbolCount> imported, defined;

  bool imports(KnownSymbol symbol) const { return imported[unsigned(symbol)]; }
  /// Only of findStaticSymbols(): defined in the symbol table.
  bool defines(KnownSymbol symbol) const { return defined[unsigned(symbol)]; }
  /// Names of those of \p candidates that are imported, in their order.
  std::vector<llvm::StringRef>
  importsOf(llvm::ArrayRef<KnownSymbol> candidates) const;
};

/// Imports: of programs and libraries by their dynamic symbols, of objects by
/// their symbol table.
KnownSymbolUse findKnownSymbols(Image &image);

/// Every name through which a program moves the program break.
llvm::ArrayRef<KnownSymbol> brkSymbols();

/// Symbols of .symtab that a stripped or dynamic program does not show:
/// whether a static program has the C library's malloc.
KnownSymbolUse findStaticSymbols(Image &image);

} // namespace mpg

#endif // MPG_AUDIT_KNOWNSYMBOLS_H

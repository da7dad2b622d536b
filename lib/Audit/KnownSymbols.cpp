// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KnownSymbols.h.

#include "Audit/KnownSymbols.h"
#include <algorithm>
#include <array>
#include <elf.h>

using namespace llvm;
using namespace mpg;

static constexpr const char *const names[knownSymbolCount] = {
#define MPG_SYMBOL(name) #name,
#include "Audit/KnownSymbols.def"
};

StringRef mpg::symbolName(KnownSymbol symbol) {
  return names[unsigned(symbol)];
}

/// The position of \p name in the table. Most symbols of a C++ library begin
/// with "_Z", so two characters turn away nearly all of them.
static std::optional<unsigned> findName(StringRef name) {
  static const auto starts = [] {
    std::array<uint64_t, 1024> bits = {};
    for (const char *known : names) {
      unsigned start = uint8_t(known[0]) << 8 | uint8_t(known[1]);
      bits[start / 64] |= uint64_t(1) << start % 64;
    }
    return bits;
  }();
  if (name.size() < 2)
    return std::nullopt;
  unsigned start = uint8_t(name[0]) << 8 | uint8_t(name[1]);
  if (!(starts[start / 64] >> start % 64 & 1))
    return std::nullopt;
  const auto *found = std::lower_bound(
      std::begin(names), std::end(names), name,
      [](const char *known, StringRef wanted) { return wanted > known; });
  if (found == std::end(names) || name != *found)
    return std::nullopt;
  return unsigned(found - std::begin(names));
}

static void noteSymbol(const Symbol &symbol, KnownSymbolUse &use) {
  if (std::optional<unsigned> index = findName(symbol.name))
    (symbol.defined() ? use.defined : use.imported).set(*index);
}

KnownSymbolUse mpg::findKnownSymbols(Image &image) {
  KnownSymbolUse use;
  auto visit = [&](const Symbol &symbol) {
    if (symbol.binding != STB_LOCAL)
      noteSymbol(symbol, use);
  };
  if (image.isLoadable())
    image.forEachImport(visit);
  else
    image.forEachSymbol(visit);
  return use;
}

KnownSymbolUse mpg::findStaticSymbols(Image &image) {
  KnownSymbolUse use;
  // Local ones too: in a static PIE the whole C library is local.
  image.forEachSymbol([&](const Symbol &symbol) { noteSymbol(symbol, use); });
  return use;
}

ArrayRef<KnownSymbol> mpg::brkSymbols() {
  static constexpr KnownSymbol symbols[] = {
      KnownSymbol::__brk, KnownSymbol::__curbrk, KnownSymbol::__sbrk,
      KnownSymbol::brk, KnownSymbol::sbrk};
  return symbols;
}

std::vector<StringRef>
KnownSymbolUse::importsOf(ArrayRef<KnownSymbol> candidates) const {
  std::vector<StringRef> found;
  for (KnownSymbol candidate : candidates)
    if (imports(candidate))
      found.push_back(symbolName(candidate));
  return found;
}

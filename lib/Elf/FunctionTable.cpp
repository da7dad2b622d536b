// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elf/FunctionTable.h"
#include "Elf/Image.h"
#include "Support/StableSort.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;

FunctionTable::FunctionTable(const std::string &path) {
  Error error = readImages(path, [this](Image &image) {
    if (!image.isLoadable() || image.loads().empty())
      return;
    first = alignDown(image.loads().front().address, 4096);
    image.forEachDefinition([this](const Symbol &symbol) {
      uint64_t end = symbol.value + symbol.bytes;
      if (symbol.type == STT_FUNC && end > symbol.value)
        functions.push_back({symbol.value, end, symbol.name.str()});
    });
  });
  consumeError(std::move(error));
  stableSort(functions, [](const Function &a, const Function &b) {
    return a.start < b.start;
  });
}

const FunctionTable::Function *FunctionTable::find(uint64_t address) const {
  auto next = std::partition_point(
      functions.begin(), functions.end(),
      [&](const Function &one) { return one.start <= address; });
  if (next == functions.begin() || std::prev(next)->end <= address)
    return nullptr;
  return &*std::prev(next);
}

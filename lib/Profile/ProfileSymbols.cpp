// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Profile.h.

#include "Elf/Image.h"
#include "Profile/Profile.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

ProfileSymbols::ProfileSymbols(const std::vector<MappedArea> &areas,
                               std::string program)
    : program(std::move(program)) {
  for (const MappedArea &area : areas) {
    if (!area.isFile)
      continue;
    if (files.empty() || files.back().path != area.name) {
      files.emplace_back();
      files.back().path = area.name;
      files.back().start = area.start;
    }
    files.back().end = area.end;
    files.back().hasCode |= area.executable;
  }
}

std::string ProfileSymbols::getName(const File &file) const {
  return printable(sys::path::filename(file.path));
}

/// Where the first segment begins, down to a page; 0: it cannot be read.
static uint64_t findFirstAddress(Image &image) {
  return image.loads().empty() ? 0
                               : alignDown(image.loads().front().address, 4096);
}

CallAddress ProfileSymbols::call(uint64_t address) {
  for (File &file : files) {
    if (!file.hasCode || address < file.start || address >= file.end)
      continue;
    if (!file.first) {
      file.first = 0;
      consumeError(readImages(file.path, [&](Image &image) {
        file.first = findFirstAddress(image);
      }));
    }
    return {file.path, address - file.start + *file.first};
  }
  return {"", address};
}

/// Whether the bytes are not in the file.
static bool isOfBss(Image &image, const Symbol &symbol) {
  for (const Segment &load : image.loads())
    if (symbol.value >= load.address && symbol.value < load.end())
      return symbol.value >= load.address + load.fileBytes;
  return false;
}

void ProfileSymbols::addData(const File &file, uint64_t min,
                             std::vector<DataName> &result) const {
  Error error = readImages(file.path, [&](Image &image) {
    if (!image.isLoadable() || image.loads().empty())
      return;
    uint64_t bias = file.start - findFirstAddress(image);
    image.forEachDefinition([&](const Symbol &symbol) {
      uint64_t start = symbol.value + bias;
      if (symbol.type == STT_OBJECT &&
          symbol.bytes >= std::max<uint64_t>(min, 1) &&
          start + symbol.bytes > start)
        result.push_back({printable(demangle(symbol.name)), getName(file),
                          start, start + symbol.bytes, file.path == program,
                          isOfBss(image, symbol)});
    });
  });
  consumeError(std::move(error)); // deleted meanwhile: no names
}

std::vector<DataName> ProfileSymbols::data(uint64_t min) {
  std::vector<DataName> result;
  for (const File &file : files)
    if (file.hasCode)
      addData(file, min, result);
  sortBy(result, &DataName::start);
  // Of two names for one place the first; what overlaps is damage.
  std::vector<DataName> apart;
  for (DataName &name : result)
    if (apart.empty() || name.start >= apart.back().end)
      apart.push_back(std::move(name));
  return apart;
}

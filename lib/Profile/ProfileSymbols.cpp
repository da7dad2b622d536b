// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Profile.h. The functions of a file are read when the first address
// in it is asked for: while data is looked up the program stands still.

#include "Elf/Image.h"
#include "Profile/Profile.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <elf.h>

using namespace llvm;
using namespace mpg;

std::string mpg::describeCode(const CodeName &name, uint64_t address) {
  if (name.file.empty())
    return formatHex(address);
  return (name.function.empty() ? name.file : name.function) + "+" +
         formatHex(name.offset);
}

/// "std::vector<int, std::allocator<int>>::resize": without arguments and, of a
/// template, what it returns, which would come in front.
static std::string functionName(const std::string &symbol) {
  ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(symbol.c_str()) || !demangler.isFunction())
    return demangle(symbol);
  char *name = demangler.getFunctionName(nullptr, nullptr);
  std::string text = name ? name : symbol;
  free(name);
  return text;
}

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

std::string ProfileSymbols::nameOf(const File &file) const {
  return printable(sys::path::filename(file.path));
}

CodeName ProfileSymbols::code(uint64_t address) {
  CodeName name;
  for (File &file : files) {
    if (!file.hasCode || address < file.start || address >= file.end)
      continue;
    if (!file.functions)
      file.functions = FunctionTable(file.path);
    name.file = nameOf(file);
    name.offset = address - file.start;
    uint64_t inFile = name.offset + file.functions->firstAddress();
    if (auto *function = file.functions->find(inFile)) {
      name.function = printable(functionName(function->name));
      name.offset = inFile - function->start;
    }
  }
  return name;
}

/// Whether the bytes are not in the file.
static bool isOfBss(Image &image, const Symbol &symbol) {
  for (const Segment &load : image.loads())
    if (symbol.value >= load.address && symbol.value < load.end())
      return symbol.value >= load.address + load.fileBytes;
  return false;
}

void ProfileSymbols::addData(const File &file, uint64_t least,
                             std::vector<DataName> &result) const {
  Error error = readImages(file.path, [&](Image &image) {
    if (!image.isLoadable() || image.loads().empty())
      return;
    uint64_t bias = file.start - alignDown(image.loads().front().address, 4096);
    image.forEachDefinition([&](const Symbol &symbol) {
      uint64_t start = symbol.value + bias;
      if (symbol.type == STT_OBJECT &&
          symbol.bytes >= std::max<uint64_t>(least, 1) &&
          start + symbol.bytes > start)
        result.push_back({printable(demangle(symbol.name)), nameOf(file), start,
                          start + symbol.bytes, file.path == program,
                          isOfBss(image, symbol)});
    });
  });
  consumeError(std::move(error)); // deleted meanwhile: no names
}

std::vector<DataName> ProfileSymbols::data(uint64_t least) {
  std::vector<DataName> result;
  for (const File &file : files)
    if (file.hasCode)
      addData(file, least, result);
  stableSort(result, [](const DataName &a, const DataName &b) {
    return a.start < b.start;
  });
  // Of two names for one place the first; what overlaps is damage.
  std::vector<DataName> apart;
  for (DataName &name : result)
    if (apart.empty() || name.start >= apart.back().end)
      apart.push_back(std::move(name));
  return apart;
}

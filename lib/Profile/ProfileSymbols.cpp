// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProfileSymbols.h. The functions of a file are read when the first address
// in it is asked for: while data is looked up the program stands still.

#include "Profile/ProfileSymbols.h"
#include "Elf/Image.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

std::string mpg::describeCode(const CodeName &name, uint64_t address) {
  if (name.file.empty())
    return formatHex(address);
  return (name.function.empty() ? name.file : name.function) + "+" +
         formatHex(name.offset);
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

/// Calls \p visit for each symbol of the file at \p path, which the process has
/// from \p start on, with its first address there.
static void
forEachSymbolOf(const std::string &path, uint64_t start,
                function_ref<void(Image &, const Symbol &, uint64_t)> visit) {
  Error error = readImages(path, [&](Image &image) {
    if (!image.isLoadable() || image.loads().empty())
      return;
    uint64_t bias = start - alignDown(image.loads().front().address, 4096);
    image.forEachDefinition([&](const Symbol &symbol) {
      if (symbol.bytes && symbol.value + symbol.bytes > symbol.value)
        visit(image, symbol, symbol.value + bias);
    });
  });
  consumeError(std::move(error)); // deleted meanwhile: no names
}

void ProfileSymbols::readFunctions(File &file) const {
  if (file.functions)
    return;
  std::vector<Function> functions;
  forEachSymbolOf(file.path, file.start,
                  [&](Image &, const Symbol &symbol, uint64_t start) {
                    if (symbol.type == STT_FUNC)
                      functions.push_back(
                          {start, start + symbol.bytes, symbol.name.str()});
                  });
  stableSort(functions, [](const Function &a, const Function &b) {
    return a.start < b.start;
  });
  file.functions = std::move(functions);
}

CodeName ProfileSymbols::code(uint64_t address) {
  CodeName name;
  for (File &file : files) {
    if (!file.hasCode || address < file.start || address >= file.end)
      continue;
    readFunctions(file);
    name.file = nameOf(file);
    name.offset = address - file.start;
    auto next = std::partition_point(
        file.functions->begin(), file.functions->end(),
        [&](const Function &one) { return one.start <= address; });
    if (next == file.functions->begin() || std::prev(next)->end <= address)
      continue;
    name.function = printable(demangle(std::prev(next)->name));
    name.offset = address - std::prev(next)->start;
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
  forEachSymbolOf(file.path, file.start,
                  [&](Image &image, const Symbol &symbol, uint64_t start) {
                    if (symbol.type == STT_OBJECT && symbol.bytes >= least)
                      result.push_back(
                          {printable(demangle(symbol.name)), nameOf(file),
                           start, start + symbol.bytes, file.path == program,
                           isOfBss(image, symbol)});
                  });
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

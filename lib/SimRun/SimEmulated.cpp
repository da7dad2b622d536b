// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines, which MpgQemu.so writes (numbers are decimal):
//
//   X address bytes offset path   a part of a file with code is mapped
//   J from to                     a branch to an address before it
//   M address bytes block|heap    memory that the system gives; without a word:
//                                 that it takes, or of a file
//   E sve                         SVE accesses come, and no records of them

#include "SimRun/SimEmulated.h"
#include "Elf/Image.h"
#include "Support/Format.h"
#include "mpg/sim.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;
using namespace mpg::sim;

/// More blocks than this are one array: a program that maps as often does not
/// keep what it maps.
static constexpr unsigned maxBlocks = 1000;

static uint64_t parseDecimal(StringRef word) {
  uint64_t value = 0;
  return word.getAsInteger(10, value) ? 0 : value;
}

void SimEmulated::read(StringRef text, SimArrays &arrays) {
  for (StringRef line : split(text, '\n')) {
    SmallVector<StringRef, 5> words;
    line.split(words, '\t');
    if (words[0] == "X" && words.size() == 5) {
      uint64_t begin = parseDecimal(words[1]);
      addImage({begin, begin + parseDecimal(words[2]), 0, words[4].str()},
               parseDecimal(words[3]), arrays);
    } else if (words[0] == "J" && words.size() == 3) {
      jumps[parseDecimal(words[1])] = parseDecimal(words[2]);
    } else if (words[0] == "M" && words.size() == 4) {
      addMemory(parseDecimal(words[1]), parseDecimal(words[2]), words[3],
                arrays);
    } else if (words[0] == "E") {
      unseenSve = true;
    }
  }
}

/// With the variables of the whole file, when it is the first part of it.
void SimEmulated::addImage(const Image &part, uint64_t offset,
                           SimArrays &arrays) {
  for (const Image &one : images)
    if (one.begin == part.begin && one.path == part.path)
      return;
  images.push_back(part);
  Error error = readImages(part.path, [&](mpg::Image &file) {
    for (const Segment &load : file.loads())
      if (offset >= alignDown(load.offset, 4096) &&
          offset < load.offset + load.fileBytes)
        images.back().bias = part.begin - (load.address + offset - load.offset);
    uint64_t bias = images.back().bias;
    for (size_t at = 0; at + 1 < images.size(); ++at)
      if (images[at].path == part.path && images[at].bias == bias)
        return;
    file.forEachDefinition([&](const Symbol &symbol) {
      if (symbol.type != STT_OBJECT || !symbol.bytes)
        return;
      SimArray array;
      array.kind = SimArray::global;
      array.name = symbol.name.str();
      arrays.add(array, symbol.value + bias, symbol.bytes);
    });
  });
  consumeError(std::move(error)); // deleted meanwhile: no names
}

void SimEmulated::addMemory(uint64_t begin, uint64_t bytes, StringRef name,
                            SimArrays &arrays) {
  SimArray array;
  if (name == "heap") {
    array.name = "heap below 128 KiB";
    if (!heap)
      heap = arrays.add(array, 0, 0);
    return arrays.addBlock(heap, begin, bytes);
  }
  if (name != "block" || blocks.size() >= maxBlocks)
    return arrays.addBlock(0, begin, bytes);
  auto [block, isNew] = blocks.try_emplace({begin, bytes}, 0);
  if (isNew) {
    array.name =
        "block " + std::to_string(blocks.size()) + ", " + formatBytes(bytes);
    block->second = arrays.add(array, 0, 0);
  }
  arrays.addBlock(block->second, begin, bytes);
}

static uint64_t parseAddress(uint64_t word) {
  return (word & ((uint64_t(1) << MPG_SIM_STORES_SHIFT) - 1)) * 4;
}

unsigned SimEmulated::findPlace(uint64_t word, SimPlaces &places) {
  auto [place, isNew] = known.try_emplace(word, 0);
  if (!isNew)
    return place->second;
  auto [code, isNewCode] = codes.try_emplace(parseAddress(word), 0);
  if (isNewCode)
    code->second = places.addCode();
  SimPlace access;
  access.kind = SimPlace::access;
  access.store = word >> MPG_SIM_STORES_SHIFT & 1;
  access.bytes = std::min(64u, 1u << (word >> MPG_SIM_LOG_BYTES_SHIFT & 7));
  access.code = code->second;
  return place->second = places.add(access);
}

SimSource SimEmulated::source(uint64_t address, SimSourceOf getSource) const {
  SimSource found;
  for (const Image &image : images) {
    if (address < image.begin || address >= image.end)
      continue;
    found = getSource(image.path, address - image.bias);
    if (found.functionAt)
      found.functionAt += image.bias;
    if (!found.line)
      found.file = image.path;
    break;
  }
  return found;
}

/// Branches back within a function.
class SimEmulated::Loops {
public:
  struct Loop {
    uint64_t from, to;
    SimSource source;
  };
  Loops(const SimEmulated &program, SimSourceOf getSource) {
    for (auto [from, to] : program.jumps) {
      SimSource source = program.source(from, getSource);
      if (source.functionAt && source.functionAt <= to)
        loops.push_back({from, to, source});
    }
  }
  /// The innermost that \p address is in; null: none. Those that end after it
  /// in the same function come next in order.
  const Loop *find(uint64_t address) const {
    const Loop *best = nullptr;
    auto loop = std::lower_bound(
        loops.begin(), loops.end(), address,
        [](const Loop &one, uint64_t at) { return one.from < at; });
    for (; loop != loops.end() && loop->source.functionAt <= address; ++loop)
      if (loop->to <= address &&
          (!best || loop->from - loop->to < best->from - best->to))
        best = &*loop;
    return best;
  }

private:
  std::vector<Loop> loops; ///< by their end
};

void SimEmulated::nameAll(SimPlaces &places, SimSourceOf getSource) const {
  Loops loops(*this, getSource);
  for (auto [address, number] : codes) {
    const Loops::Loop *loop = loops.find(address);
    SimSource found = loop ? loop->source : source(address, getSource);
    SimCode code = {found.file, found.line, loop != nullptr, found.function};
    // Without lines, loops of one function differ by their first address.
    if (loop && !found.line)
      code.function += "+" + formatHex(loop->to - found.functionAt);
    places.nameCode(number, code);
  }
}

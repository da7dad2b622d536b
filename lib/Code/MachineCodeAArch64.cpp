// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds AArch64 instructions that name an address. Every word is compared with
// a few patterns, four words at a time:
//
// - branches hold the distance, so that distance plus position is a constant;
// - a slot is read by `adrp x, page; ldr y, [x, #low]`. The low part is in
//   the `ldr`, so that is searched for, and the page is then looked up in the
//   nearest earlier instruction that writes x. Compilers for -fpic share one
//   page for up to 32 KiB, so only the lowest 12 bits of the distance are
//   known;
// - `add y, x, #low` makes the address of a slot or of a stub in the same way;
// - `adr` and literal loads reach 1 MiB.
//
// With -fno-plt a call loads the slot and goes to the register.
//
// Two ways to name a slot are not seen: a page that was spilled to the stack in
// between, and a `ldr` that a linker moved far away as a workaround for erratum
// 843419 of the Cortex-A53. Both need code that reads the slot itself, which
// only -fno-plt and taken addresses cause; those are rare as they are.

#include "Code/MachineCode.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstring>
#include <optional>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

namespace {

class AArch64Code final : public MachineCode {
public:
  unsigned argumentRegister() const override { return 0; }     // x0
  uint32_t keptByCalls() const override { return 0x3ff80000; } // x19 to x29
  std::vector<Instruction> decode(CodePiece piece) const override;
  void search(const CodeMemory &memory, CodePiece piece,
              const WantedAddresses &wanted,
              function_ref<void(AddressUse)> found) const override;
  std::vector<uint64_t> stubEntries(const CodeMemory &memory, AddressUse use,
                                    bool known) const override;
  uint64_t callOfLoaded(CodePiece piece) const override;
  uint64_t slotOfStub(CodePiece piece) const override;
};

/// Words with the same bits under a mask.
struct WordPattern {
  uint32_t mask, value;
};

/// Words whose distance field leads into a span: (word + n * step - base) &
/// mask is below limit, where n counts the words of the piece.
struct DistancePattern {
  uint32_t step, base, mask, limit;
};

/// One search through one piece.
class WordSearch {
public:
  WordSearch(const CodeMemory &memory, CodePiece piece,
             const WantedAddresses &wanted,
             function_ref<void(AddressUse)> found);
  void search();

private:
  // The reach of conditional branches and adr; that of b and bl is larger.
  static constexpr int64_t nearBytes = 1 << 20;
  static constexpr uint64_t branchBytes = 96 << 20;

  const CodeMemory &memory;
  const WantedAddresses &wanted;
  function_ref<void(AddressUse)> found;
  uint64_t address; // of word 0
  const uint8_t *code;
  size_t words;
  std::vector<WordPattern> patterns;
  std::vector<DistancePattern> distances;

  uint32_t word(size_t index) const { return read32le(code + 4 * index); }
  bool isNear(uint64_t target) const;
  void addPatterns();
  void addDistances(AddressSpan span, bool withConditional);
  void addDistance(AddressSpan span, unsigned shift, unsigned bits);
  bool matches(size_t index) const;
  bool anyMatch(size_t index) const;
  void check(size_t index);
  void checkPage(size_t index, uint64_t target, uint32_t low);
};

} // namespace

// The address of the first whole word of a piece, whatever the file says.
static size_t firstWord(CodePiece piece) { return -piece.address & 3; }

static bool isAdr(uint32_t word) { return (word & 0x1f000000) == 0x10000000; }

/// What `adr` or `adrp` at \p address puts into its register.
static uint64_t valueOfAdr(uint32_t word, uint64_t address) {
  uint64_t field = uint64_t(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
  int64_t distance = int64_t(field << 43) >> 43;
  if (word >> 31)
    return (address & ~uint64_t(4095)) + (uint64_t(distance) << 12);
  return address + distance;
}

static bool isLoad64(uint32_t word) { return word >> 22 == 0xf9400000 >> 22; }

static uint32_t offsetOfLoad64(uint32_t word) {
  return (word >> 10 & 0xfff) << 3;
}

// How far in front of a load its page is looked for.
static constexpr size_t maxPageWords = 256;

/// Whether the base register of the last word of \p piece may hold \p page, a
/// value made by `adr` or `adrp`; nothing when the piece starts too late to
/// say.
static std::optional<bool> holdsPage(CodePiece piece, uint64_t page) {
  if (piece.bytes.size() < 8)
    return false;
  const uint8_t *code = piece.bytes.data() + firstWord(piece);
  uint64_t address = piece.address + firstWord(piece);
  size_t index = (piece.bytes.size() - firstWord(piece)) / 4 - 1;
  uint32_t base = read32le(code + 4 * index) >> 5 & 31;
  if (base == 31)
    return false;
  // A jump on the way separates blocks; beyond it any write may be the one that
  // counts, as this block is entered from elsewhere.
  bool separated = false;
  for (size_t back = 1; back <= std::min(index, maxPageWords); ++back) {
    uint32_t word = read32le(code + 4 * (index - back));
    uint64_t place = address + 4 * (index - back);
    Instruction earlier = decodeAArch64(word, place);
    separated |= earlier.flow == Flow::jump || earlier.flow == Flow::stop;
    if (earlier.flow == Flow::call && base < 19 && !separated)
      return false;
    if (!(earlier.writes >> base & 1))
      continue;
    if (isAdr(word) && valueOfAdr(word, place) == page)
      return true;
    if (!separated)
      return false;
  }
  if (index >= maxPageWords || piece.startsRange)
    return false;
  return std::nullopt;
}

WordSearch::WordSearch(const CodeMemory &memory, CodePiece piece,
                       const WantedAddresses &wanted,
                       function_ref<void(AddressUse)> found)
    : memory(memory), wanted(wanted), found(found),
      address(piece.address + firstWord(piece)),
      code(piece.bytes.data() + firstWord(piece)),
      words(piece.bytes.size() < 4
                ? 0
                : (piece.bytes.size() - firstWord(piece)) / 4) {
  addPatterns();
}

bool WordSearch::isNear(uint64_t target) const {
  return int64_t(address - target) < nearBytes &&
         int64_t(target - (address + 4 * words)) < nearBytes;
}

void WordSearch::addPatterns() {
  auto addLow = [&](uint64_t target) { // add x, x, #low
    uint32_t low = uint32_t(target & 4095);
    patterns.push_back({0xfffffc00, 0x91000000 | low << 10});
  };
  bool near = false;
  for (uint64_t slot : wanted.slots) {
    uint32_t low = uint32_t(slot >> 3 & 511);
    patterns.push_back(
        {0xffc7fc00, 0xf9400000 | low << 10}); // ldr x, [x, #low]
    addLow(slot);
    near |= isNear(slot);
  }
  // Only where branches do not reach far enough do linkers make the address.
  for (uint64_t stub : wanted.stubs)
    if (memory.spanBytes() > branchBytes)
      addLow(stub);
  std::vector<AddressSpan> spans;
  addSpans(spans, wanted.stubs);
  addSpans(spans, wanted.paths);
  for (AddressSpan span : spans) {
    bool spanIsNear = isNear(span.first) || isNear(span.last);
    addDistances(span, spanIsNear);
    near |= spanIsNear;
  }
  if (near) {
    patterns.push_back({0x9f000000, 0x10000000}); // adr
    patterns.push_back({0xff000000, 0x58000000}); // ldr x, literal
  }
}

void WordSearch::addDistances(AddressSpan span, bool withConditional) {
  addDistance(span, 0, 26); // b, bl
  if (!withConditional)
    return;
  addDistance(span, 5, 19); // b.cond, cbz, cbnz
  addDistance(span, 5, 14); // tbz, tbnz
}

void WordSearch::addDistance(AddressSpan span, unsigned shift, unsigned bits) {
  uint32_t mask = ((1U << bits) - 1) << shift;
  uint32_t base = uint32_t((span.first - address) >> 2) << shift;
  uint32_t limit = uint32_t((span.last - span.first) / 4 + 1) << shift;
  distances.push_back({1U << shift, base, mask, limit});
}

bool WordSearch::matches(size_t index) const {
  uint32_t value = word(index);
  for (const WordPattern &pattern : patterns)
    if ((value & pattern.mask) == pattern.value)
      return true;
  for (const DistancePattern &distance : distances) {
    uint32_t counted = value + uint32_t(index) * distance.step;
    if (((counted - distance.base) & distance.mask) < distance.limit)
      return true;
  }
  return false;
}

using Words4 = uint32_t __attribute__((vector_size(16)));
using Signed4 = int32_t __attribute__((vector_size(16)));

/// The same for 16 words at once, in whatever way the host offers.
bool WordSearch::anyMatch(size_t index) const {
  Words4 value[4], any = {};
  for (size_t i = 0; i < 4; ++i)
    std::memcpy(&value[i], code + 4 * index + 16 * i, 16);
  for (const WordPattern &pattern : patterns)
    for (const Words4 &four : value)
      any |= Words4((four & pattern.mask) == pattern.value);
  const Words4 lanes = {0, 1, 2, 3};
  for (const DistancePattern &distance : distances) {
    Words4 counted = (lanes + uint32_t(index)) * distance.step - distance.base;
    for (const Words4 &four : value) {
      // Masks leave the sign bit free, so a signed comparison will do.
      Signed4 field = Signed4((four + counted) & distance.mask);
      any |= Words4(field < int32_t(distance.limit));
      counted += 4 * distance.step;
    }
  }
  using Words2 = uint64_t __attribute__((vector_size(16)));
  Words2 halves = Words2(any);
  return (halves[0] | halves[1]) != 0;
}

void WordSearch::search() {
  constexpr size_t group = 16;
  size_t index = 0;
  for (; index + group <= words; index += group) {
    // The comparison is for hosts with the same byte order as the code.
    if (endianness::native == endianness::little && !anyMatch(index))
      continue;
    for (size_t i = index; i < index + group; ++i)
      if (matches(i))
        check(i);
  }
  for (; index < words; ++index)
    if (matches(index))
      check(index);
}

/// Word \p index fits a pattern; now what it says.
void WordSearch::check(size_t index) {
  uint32_t value = word(index);
  uint64_t place = address + 4 * index;
  Instruction instruction = decodeAArch64(value, place);
  if (instruction.target) {
    if (containsAddress(wanted.paths, instruction.target) ||
        containsAddress(wanted.stubs, instruction.target))
      found({place, instruction.target});
    return;
  }
  bool literal = value >> 24 == 0x58;
  if (literal || isAdr(value)) {
    int64_t offset = int64_t(uint64_t(value >> 5 & 0x7ffff) << 45) >> 43;
    uint64_t named = literal ? place + offset : valueOfAdr(value, place);
    if (containsAddress(wanted.slots, named) ||
        containsAddress(wanted.stubs, named))
      found({place, named});
    return;
  }
  uint32_t low = isLoad64(value) ? offsetOfLoad64(value) : value >> 10 & 0xfff;
  for (uint64_t slot : wanted.slots)
    checkPage(index, slot, low);
  if (!isLoad64(value))
    for (uint64_t stub : wanted.stubs)
      checkPage(index, stub, low);
}

/// Word \p index adds \p low to a base register; whether that may make
/// \p target.
void WordSearch::checkPage(size_t index, uint64_t target, uint32_t low) {
  if (((target - low) & 4095) != 0)
    return;
  uint64_t place = address + 4 * index;
  std::optional<bool> page = holdsPage(
      {address, ArrayRef<uint8_t>(code, 4 * index + 4)}, target - low);
  if (!page) {
    uint8_t buffer[4 * maxPageWords + 4];
    CodePiece more = memory.around(place, 4 * maxPageWords, 4, buffer);
    page = holdsPage(more, target - low);
  }
  if (page.value_or(false))
    found({place, target});
}

void AArch64Code::search(const CodeMemory &memory, CodePiece piece,
                         const WantedAddresses &wanted,
                         function_ref<void(AddressUse)> found) const {
  WordSearch(memory, piece, wanted, found).search();
}

std::vector<Instruction> AArch64Code::decode(CodePiece piece) const {
  std::vector<Instruction> result;
  result.reserve(piece.bytes.size() / 4);
  for (size_t at = firstWord(piece); at + 4 <= piece.bytes.size(); at += 4)
    result.push_back(
        decodeAArch64(read32le(piece.bytes.data() + at), piece.address + at));
  return result;
}

/// The address in memory from which `adrp x16; ldr x17, [x16]; ...; br x17` at
/// the start of \p code takes where it goes, or 0. Linkers write this and
/// nothing else: x16 and x17 belong to them between functions.
static uint64_t slotOfSequence(ArrayRef<uint8_t> code, uint64_t address) {
  if (code.size() < 12)
    return 0;
  uint32_t page = read32le(code.data()), load = read32le(code.data() + 4);
  if (!isAdr(page) || (page & 31) != 16 || !isLoad64(load) ||
      (load & 0x3ff) != (16 << 5 | 17))
    return 0;
  // In between stand the address of the slot for the loader, and a check of the
  // pointer where it is signed.
  for (size_t at = 8; at + 4 <= code.size() && at <= 16; at += 4) {
    uint32_t word = read32le(code.data() + at);
    if (word == 0xd61f0220) // br x17
      return valueOfAdr(page, address) + offsetOfLoad64(load);
  }
  return 0;
}

static bool isBti(uint32_t word) { return (word & 0xffffff3f) == 0xd503241f; }

std::vector<uint64_t> AArch64Code::stubEntries(const CodeMemory &memory,
                                               AddressUse use, bool) const {
  // The use is the ldr, or the add after it.
  for (uint64_t back : {4, 8}) {
    uint8_t buffer[32];
    CodePiece piece = memory.around(use.address, 12, 20, buffer);
    uint64_t entry = use.address - back;
    if (use.address < piece.address + back ||
        slotOfSequence(piece.bytes.drop_front(entry - piece.address), entry) !=
            use.target)
      continue;
    size_t at = entry - piece.address;
    if (at >= 4 && isBti(read32le(piece.bytes.data() + at - 4)))
      return {entry - 4, entry};
    return {entry};
  }
  return {};
}

/// Whether \p word may read or write general register \p which: any field that
/// could hold a register counts.
static bool mayName(uint32_t word, uint32_t which) {
  return (word & 31) == which || (word >> 5 & 31) == which ||
         (word >> 10 & 31) == which || (word >> 16 & 31) == which;
}

uint64_t AArch64Code::callOfLoaded(CodePiece piece) const {
  constexpr size_t maxWords = 64;
  size_t words = std::min(piece.bytes.size() / 4, maxWords);
  uint32_t load = words ? read32le(piece.bytes.data()) : 0;
  uint32_t loaded = load & 31;
  // A register that calls keep may be called once more further on.
  if (!isLoad64(load) || keptByCalls() >> loaded & 1)
    return 0;
  for (size_t index = 1; index < words; ++index) {
    uint32_t word = read32le(piece.bytes.data() + 4 * index);
    uint64_t place = piece.address + 4 * index;
    bool goes = (word & 0xffdffc1f) == 0xd61f0000; // br, blr
    if (goes && (word >> 5 & 31) == loaded)
      return place;
    if (decodeAArch64(word, place).flow != Flow::next || mayName(word, loaded))
      return 0;
  }
  return 0;
}

uint64_t AArch64Code::slotOfStub(CodePiece piece) const {
  ArrayRef<uint8_t> code = piece.bytes;
  if (code.size() < 4)
    return 0;
  size_t at = isBti(read32le(code.data())) ? 4 : 0;
  return slotOfSequence(code.drop_front(at), piece.address + at);
}

std::unique_ptr<MachineCode> mpg::makeAArch64Code() {
  return std::make_unique<AArch64Code>();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds x86-64 instructions that name an address, without decoding what does
// not: nearly all of them hold the distance to it in 4 bytes, so every position
// of the code is tried as such a field.
//
// While the position moves over 512 bytes, the third byte of a field that names
// one address stays the same, but for a carry now and then, and the second byte
// is one of a few neighbouring values. Comparing these two at 16 positions at a
// time leaves few candidates, fewer than the two upper bytes would: those are
// the same for all calls of library functions. The bytes in front of a
// candidate then tell whether a call, a jump or an operand can be there.
// Absolute addresses are not searched for: the caller knows from the symbol and
// relocation tables whether there can be any.

#include "Code/MachineCode.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cassert>
#include <cstring>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

namespace {

class X86Code final : public MachineCode {
public:
  unsigned argumentRegister() const override { return 7; } // rdi
  // rbx, rsp, rbp, r12 to r15
  uint32_t keptByCalls() const override { return 0xf038; }
  std::vector<Instruction> decode(CodePiece piece) const override;
  void search(const CodeMemory &memory, CodePiece piece,
              const WantedAddresses &wanted,
              function_ref<void(AddressUse)> found) const override;
  std::vector<uint64_t> stubEntries(const CodeMemory &memory, AddressUse use,
                                    bool known) const override;
  uint64_t slotOfStub(CodePiece piece) const override;
};

/// One search through one piece.
class FieldSearch {
public:
  FieldSearch(CodePiece piece, const WantedAddresses &wanted,
              function_ref<void(AddressUse)> found)
      : piece(piece), wanted(wanted), found(found) {}
  void search();

private:
  // Up to 4 bytes of immediate operand lie between the field and the end of the
  // instruction, from which the distance counts.
  static constexpr uint64_t fieldBytes = 4, maxImmediateBytes = 4;
  static constexpr size_t blockBytes = 512;

  const CodePiece piece;
  const WantedAddresses &wanted;
  function_ref<void(AddressUse)> found;

  /// The middle bytes of fields that name something in a span: a value of
  /// `second` or little more, by how much `mask` lets through, and `third`.
  struct Needle {
    uint8_t second, mask, third;
  };
  template <typename Bytes, size_t... indices> class Needles;

  std::vector<AddressSpan> spans;
  std::vector<Needle> needles;

  void collectNeedles(size_t block, size_t blockEnd);
  template <typename Bytes> void searchBlock(size_t block, size_t blockEnd);
  void searchWide(size_t block, size_t blockEnd);
  template <typename Bytes, size_t... indices>
  void findNeedles(const Needle *some, size_t start, size_t end);
  void check(size_t position);
  void checkBranch(size_t position, uint64_t target);
  void checkOperand(size_t position, uint64_t target);
};

} // namespace

// As many bytes at a time as the host offers: 16, with AVX2 32. What is inlined
// is compiled for either.
#define MPG_INLINE __attribute__((always_inline)) inline
using Bytes16 = uint8_t __attribute__((vector_size(16)));
using Bytes32 = uint8_t __attribute__((vector_size(32)));

/// Calls \p visit with the number of each byte of \p bytes that is not 0.
template <typename Bytes, typename Visit>
static MPG_INLINE void forEachByte(const Bytes &bytes, Visit visit) {
  uint64_t words[sizeof bytes / 8];
  std::memcpy(words, &bytes, sizeof words);
  for (size_t i = 0; i < std::size(words); ++i)
    for (uint64_t word = words[i]; word != 0;) {
      unsigned byte = unsigned(countr_zero(word)) / 8;
      visit(8 * i + byte);
      word &= ~(uint64_t(0xff) << 8 * byte);
    }
}

template <typename Bytes> static MPG_INLINE bool isZero(const Bytes &bytes) {
  uint64_t words[sizeof bytes / 8], all = 0;
  std::memcpy(words, &bytes, sizeof words);
  for (uint64_t word : words)
    all |= word;
  return all == 0;
}

/// Compares sizeof(Bytes) fields at a time.
template <typename Bytes, size_t... indices> class FieldSearch::Needles {
public:
  MPG_INLINE explicit Needles(const Needle *some)
      : second{(Bytes{} + some[indices].second)...},
        mask{(Bytes{} + some[indices].mask)...},
        third{(Bytes{} + some[indices].third)...} {}

  /// Marks in \p hits the fields that start at the bytes from \p fields on.
  /// (GCC returns no vector of 32 bytes from a function that is not for AVX.)
  MPG_INLINE void find(const uint8_t *fields, Bytes &hits) const {
    Bytes nextBytes, thirds;
    std::memcpy(&nextBytes, fields + 1, sizeof nextBytes);
    std::memcpy(&thirds, fields + 2, sizeof thirds);
    hits = ((Bytes(((nextBytes - second[indices]) & mask[indices]) == 0) &
             Bytes(thirds == third[indices])) |
            ...);
  }

private:
  Bytes second[sizeof...(indices)], mask[sizeof...(indices)],
      third[sizeof...(indices)];
};

static bool hasWideBytes() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

void FieldSearch::search() {
  if (piece.bytes.size() < fieldBytes)
    return;
  // The window before has covered the overlap.
  size_t start = piece.startsRange ? 1 : CodeMemory::overlapBytes / 2;
  size_t end = piece.bytes.size() - fieldBytes + 1;
  addSpans(spans, wanted.paths);
  addSpans(spans, wanted.stubs);
  addSpans(spans, wanted.slots);
  for (size_t block = start; block < end; block += blockBytes) {
    size_t blockEnd = std::min(block + blockBytes, end);
    collectNeedles(block, blockEnd);
    if (hasWideBytes())
      searchWide(block, blockEnd);
    else
      searchBlock<Bytes16>(block, blockEnd);
  }
}

template <typename Bytes>
MPG_INLINE void FieldSearch::searchBlock(size_t block, size_t blockEnd) {
  for (size_t i = 0; i < needles.size(); i += 3) {
    const Needle *some = needles.data() + i;
    if (needles.size() - i == 1)
      findNeedles<Bytes, 0>(some, block, blockEnd);
    else if (needles.size() - i == 2)
      findNeedles<Bytes, 0, 1>(some, block, blockEnd);
    else
      findNeedles<Bytes, 0, 1, 2>(some, block, blockEnd);
  }
}

/// Finds out what the middle bytes of a field between two positions are if it
/// names something in `spans`.
void FieldSearch::collectNeedles(size_t block, size_t blockEnd) {
  needles.clear();
  for (AddressSpan span : spans) {
    uint64_t first = span.first - fieldBytes - maxImmediateBytes;
    uint64_t last = span.last - fieldBytes;
    int64_t low = int64_t(first - (piece.address + blockEnd - 1)) >> 8;
    int64_t high = int64_t(last - (piece.address + block)) >> 8;
    // The position moves through some values, and so does a long span.
    uint64_t seconds = bit_ceil(uint64_t(high - low + 1));
    assert(seconds <= 8);
    for (int64_t third = low >> 8; third <= high >> 8; ++third)
      needles.push_back(
          {uint8_t(low), uint8_t(~(seconds - 1)), uint8_t(third)});
  }
}

template <typename Bytes, size_t... indices>
MPG_INLINE void FieldSearch::findNeedles(const Needle *some, size_t start,
                                         size_t end) {
  const Needles<Bytes, indices...> needles(some);
  const uint8_t *code = piece.bytes.data();
  constexpr size_t step = sizeof(Bytes), steps = 4;
  size_t position = start;
  for (; position + steps * step <= end; position += steps * step) {
    Bytes hits[steps], any = {};
    for (size_t i = 0; i < steps; ++i) {
      needles.find(code + position + i * step, hits[i]);
      any |= hits[i];
    }
    if (isZero(any))
      continue;
    for (size_t i = 0; i < steps; ++i)
      forEachByte(hits[i],
                  [&](size_t byte) { check(position + i * step + byte); });
  }
  for (; position < end; ++position)
    check(position);
}

/// pre: hasWideBytes()
#if defined(__x86_64__)
__attribute__((target("avx2")))
#endif
void FieldSearch::searchWide(size_t block, size_t blockEnd) {
  searchBlock<Bytes32>(block, blockEnd);
}

/// The middle bytes of the field at \p position fit; now all of it.
void FieldSearch::check(size_t position) {
  const uint8_t *field = piece.bytes.data() + position;
  uint64_t fieldEnd = piece.address + position + fieldBytes;
  uint64_t target = fieldEnd + int64_t(int32_t(read32le(field)));
  bool fits = std::any_of(spans.begin(), spans.end(), [&](AddressSpan span) {
    uint64_t first = span.first - maxImmediateBytes;
    return target - first <= span.last - first;
  });
  if (!fits)
    return;
  uint8_t before = field[-1];
  bool jumps = before == 0xe8 || before == 0xe9; // call, jmp
  bool branches = position >= 2 && field[-2] == 0x0f && (before & 0xf0) == 0x80;
  if (jumps || branches)
    checkBranch(position, target);
  if ((before & 0xc7) == 0x05) // ModRM: relative to the next instruction
    checkOperand(position, target);
}

void FieldSearch::checkBranch(size_t position, uint64_t target) {
  if (containsAddress(wanted.stubs, target) ||
      containsAddress(wanted.paths, target))
    found({piece.address + position, target});
}

/// \p target is what the operand names if no immediate follows the field.
void FieldSearch::checkOperand(size_t position, uint64_t target) {
  for (uint64_t immediateBytes : {0, 1, 2, 4}) {
    uint64_t named = target + immediateBytes;
    if (containsAddress(wanted.slots, named) ||
        containsAddress(wanted.stubs, named) ||
        containsAddress(wanted.paths, named))
      found({piece.address + position, named});
  }
}

void X86Code::search(const CodeMemory &, CodePiece piece,
                     const WantedAddresses &wanted,
                     function_ref<void(AddressUse)> found) const {
  FieldSearch(piece, wanted, found).search();
}

/// How many bytes from \p at on are zeros between functions. Decoded as
/// instructions of two bytes each they would swallow the start of the next one.
static size_t countPadding(ArrayRef<uint8_t> bytes, size_t at,
                           bool behindFunction) {
  size_t end = at;
  while (end < bytes.size() && bytes[end] == 0)
    ++end;
  return end - at >= 2 || behindFunction ? end - at : 0;
}

std::vector<Instruction> X86Code::decode(CodePiece piece) const {
  std::vector<Instruction> result;
  result.reserve(piece.bytes.size() / 3);
  bool behindFunction = false;
  for (size_t at = 0; at < piece.bytes.size();) {
    at += countPadding(piece.bytes, at, behindFunction);
    Instruction instruction =
        decodeX86(piece.bytes.drop_front(at), piece.address + at);
    at += std::max<size_t>(instruction.bytes, 1);
    behindFunction =
        instruction.flow == Flow::stop || instruction.flow == Flow::jump;
    if (instruction.valid())
      result.push_back(instruction);
  }
  return result;
}

/// Whether code at \p from runs into the jump that ends at \p end.
static bool runsInto(CodePiece piece, uint64_t from, uint64_t end) {
  while (from < end) {
    Instruction instruction =
        decodeX86(piece.bytes.drop_front(from - piece.address), from);
    if (instruction.flow == Flow::jump && instruction.end() == end)
      return true;
    if (!instruction.valid() ||
        (instruction.flow != Flow::next && instruction.flow != Flow::entry))
      return false;
    from = instruction.end();
  }
  return false;
}

/// True if any stub is at \p address: endbr64 or not, then a jump through
/// memory.
static bool isStubAt(CodePiece piece, uint64_t address) {
  uint64_t offset = address - piece.address; // wraps when in front of it
  if (offset >= piece.bytes.size())
    return false;
  Instruction first = decodeX86(piece.bytes.drop_front(offset), address);
  if (first.valid() && first.flow == Flow::entry)
    first =
        decodeX86(piece.bytes.drop_front(offset + first.bytes), first.end());
  return first.valid() && first.flow == Flow::jump && first.memory != 0;
}

/// Whether the jump at \p jump looks like a linker's work. `jmp *slot(%rip)`
/// alone could be a function of the program: linkers put a relocation index
/// after it (lazy stubs) or in front of it (mold), or more stubs around it.
static bool looksLikeStub(CodePiece piece, uint64_t jump) {
  ArrayRef<uint8_t> bytes = piece.bytes;
  size_t at = jump - piece.address, end = at + 6;
  bool pushesIndex =
      end + 6 <= bytes.size() && bytes[end] == 0x68 && bytes[end + 5] == 0xe9;
  bool loadsIndex = at >= 6 && bytes[at - 6] == 0x41 && bytes[at - 5] == 0xbb;
  if (pushesIndex || loadsIndex)
    return true;
  static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  uint64_t entry = jump;
  if (at >= 1 && bytes[at - 1] == 0xf2)
    --entry;
  size_t entryAt = entry - piece.address;
  if (entryAt >= 4 &&
      std::equal(endbr64, endbr64 + 4, bytes.begin() + (entryAt - 4)))
    entry -= 4;
  return isStubAt(piece, entry - 16) || isStubAt(piece, entry + 16) ||
         isStubAt(piece, entry - 8) || isStubAt(piece, entry + 8);
}

std::vector<uint64_t> X86Code::stubEntries(const CodeMemory &memory,
                                           AddressUse use, bool known) const {
  std::vector<uint64_t> entries;
  uint8_t buffer[96];
  CodePiece piece = memory.around(use.address, 40, 56, buffer);
  if (use.address < piece.address + 2)
    return entries;
  uint64_t jump = use.address - 2;
  Instruction instruction =
      decodeX86(piece.bytes.drop_front(jump - piece.address), jump);
  if (instruction.flow != Flow::jump || instruction.memory != use.target)
    return entries;
  if (!known && !looksLikeStub(piece, jump))
    return entries;
  // Stubs have at most 16 bytes. All ways to enter one count, so that the list
  // of things that linkers put in front of the jump need not be complete.
  uint64_t first = std::max(jump - std::min<uint64_t>(jump, 16), piece.address);
  for (uint64_t entry = first; entry <= jump; ++entry)
    if (runsInto(piece, entry, instruction.end()))
      entries.push_back(entry);
  return entries;
}

uint64_t X86Code::slotOfStub(CodePiece piece) const {
  size_t at = 0;
  // endbr64, a register load, the jump
  for (unsigned count = 0; count < 3 && at < piece.bytes.size(); ++count) {
    Instruction instruction =
        decodeX86(piece.bytes.drop_front(at), piece.address + at);
    if (!instruction.valid())
      return 0;
    if (instruction.flow == Flow::jump)
      return instruction.memory;
    if (instruction.flow != Flow::next && instruction.flow != Flow::entry)
      return 0;
    at += instruction.bytes;
  }
  return 0;
}

std::unique_ptr<MachineCode> mpg::makeX86Code() {
  return std::make_unique<X86Code>();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReturnedValue.h. The instructions in front of the call are read, too, in
// the order of their addresses: compilers load the address of a store after the
// call there.

#include "DebugInfo/ReturnedValue.h"
#include "Code/MachineCode.h"
#include "DebugInfo/VectorHeld.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cstdlib>
#include <dwarf.h>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

namespace {
/// The differences between machines.
struct Convention {
  bool isX86;
  int stack, frame, argument;
  int64_t atEntry; ///< bytes from the stack to the frame's canonical address
  uint32_t keptByCalls, arguments;
};
constexpr unsigned resultRegister = 0; // rax, x0
constexpr Convention x86 = {true, 7, 6, 5, 8, 1 << 3 | 1 << 6 | 0xf000, 0x336};
constexpr Convention aarch64 = {false, 31, 29, 0, 0, 0x3ff80000, 0xff};

/// One instruction that moves 64 bits between a register and memory.
struct Move {
  bool isLoad;
  int value, base;
  int64_t offset;
  bool isAbsolute; ///< relative to the instruction, so known
};
} // namespace

/// DWARF's number of a register of x86-64, which Instruction counts otherwise.
static int getDwarfNumber(int number) {
  static constexpr int8_t first[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return number >= 0 && number < 8 ? first[number] : number;
}

static uint32_t getDwarfMask(uint32_t registers) {
  uint32_t mask = 0;
  for (int number = 0; number < 32; ++number)
    mask |= (registers >> number & 1) << getDwarfNumber(number);
  return mask;
}

/// \see Instruction; registers by DWARF's numbers.
static Instruction decodeNext(const Convention &machine, ArrayRef<uint8_t> code,
                              uint64_t address) {
  if (!machine.isX86)
    return code.size() < 4 ? Instruction()
                           : decodeAArch64(read32le(code.data()), address);
  Instruction next = decodeX86(code, address);
  if (next.writes != allRegisters)
    next.writes = getDwarfMask(next.writes);
  next.copyTo = int8_t(getDwarfNumber(next.copyTo));
  next.copyFrom = int8_t(getDwarfNumber(next.copyFrom));
  return next;
}

/// The memory that \p operand, the byte with the operands and what follows it,
/// names without an index, as of a store.
static std::optional<Move> decodeMemoryX86(ArrayRef<uint8_t> operand,
                                           bool hasHighBase, bool isRelative) {
  unsigned mode = operand[0] >> 6;
  Move move = {false, -1,
               getDwarfNumber((operand[0] & 7) | unsigned(hasHighBase) << 3), 0,
               isRelative};
  size_t at = 1;
  if ((operand[0] & 7) == 4) { // a second byte: rsp or r12 without an index
    if (operand.size() < 2 || (operand[1] & 0x3f) != 0x24)
      return std::nullopt;
    ++at;
  }
  if (mode == 1 && operand.size() > at)
    move.offset = SignExtend64<8>(operand[at]);
  else if (mode == 2 && operand.size() >= at + 4)
    move.offset = SignExtend64<32>(read32le(&operand[at]));
  return move;
}

/// mov with REX.W, 89 or 8b, or lea, 8d, as if it loaded from its address.
static std::optional<Move> decodeMoveX86(ArrayRef<uint8_t> code,
                                         bool isRelative) {
  if (code.size() < 3 || (code[0] & 0xf8) != 0x48 ||
      (code[1] != 0x89 && code[1] != 0x8b && code[1] != 0x8d) ||
      code[2] >> 6 == 3)
    return std::nullopt;
  std::optional<Move> move =
      decodeMemoryX86(code.drop_front(2), code[0] & 1, isRelative);
  if (move) {
    move->isLoad = code[1] != 0x89;
    move->value = getDwarfNumber((code[2] >> 3 & 7) | (code[0] & 4) << 1);
  }
  return move;
}

/// A constant that is added to a register, as a load from that address: lea, or
/// add with REX.W.
static std::optional<Move> decodeSumX86(ArrayRef<uint8_t> code,
                                        bool isRelative) {
  if (code.size() < 4 || (code[0] & 0xf8) != 0x48)
    return std::nullopt;
  if (code[1] == 0x8d)
    return decodeMoveX86(code, isRelative);
  if ((code[1] != 0x83 && code[1] != 0x81) || (code[2] & 0xf8) != 0xc0)
    return std::nullopt;
  int to = getDwarfNumber((code[2] & 7) | (code[0] & 1) << 3);
  if (code[1] == 0x83)
    return Move{true, to, to, SignExtend64<8>(code[3]), false};
  if (code.size() < 7)
    return std::nullopt;
  return Move{true, to, to, SignExtend64<32>(read32le(&code[3])), false};
}

/// add with a constant of 12 bits.
static std::optional<Move> decodeSumAArch64(uint32_t word) {
  if ((word & 0xff800000) != 0x91000000)
    return std::nullopt;
  int64_t offset = int64_t(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
  return Move{true, int(word & 31), int(word >> 5 & 31), offset, false};
}

/// The bytes that a load or store adds to its base: "ldp x8, x9, [x0, #16]!".
static std::optional<Move> decodeWriteBack(uint32_t word) {
  int base = word >> 5 & 31;
  if ((word & 0xffa00400) == 0xf8000400)
    return Move{true, base, base, SignExtend64<9>(word >> 12 & 0x1ff), false};
  if ((word & 0xfe800000) == 0xa8800000)
    return Move{true, base, base, SignExtend64<7>(word >> 15 & 0x7f) * 8,
                false};
  return std::nullopt;
}

/// ldr, ldur, ldp and the stores like them. Of a pair the register in \p held.
static std::optional<Move> decodeMoveAArch64(uint32_t word, uint32_t held) {
  int value = word & 31, base = word >> 5 & 31;
  bool isPost = false;
  int64_t offset;
  bool isLoad = word >> 22 & 1;
  if ((word & 0xff800000) == 0xf9000000) {
    offset = int64_t(word >> 10 & 0xfff) * 8;
  } else if ((word & 0xffa00000) == 0xf8000000) {
    isPost = (word >> 10 & 3) == 1;
    offset = SignExtend64<9>(word >> 12 & 0x1ff);
  } else if ((word & 0xfe000000) == 0xa8000000) {
    isPost = (word >> 23 & 3) == 1;
    offset = SignExtend64<7>(word >> 15 & 0x7f) * 8;
    if (!(held >> value & 1)) {
      value = word >> 10 & 31;
      offset += 8;
    }
  } else {
    return std::nullopt;
  }
  return Move{isLoad, value, base, isPost ? 0 : offset, false};
}

namespace {
/// Knowledge about registers while instructions are read in order.
class Registers {
public:
  /// \p isEntry: the first instruction is the first of the function.
  Registers(const Convention &machine, bool isEntry);

  /// Reads \p next, at the start of \p code. \returns where it stores the
  /// value; none: it does not.
  std::optional<MemoryPlace> step(ArrayRef<uint8_t> code,
                                  const Instruction &next);

  /// Whether the value is in a register, or in the stack for a while.
  bool hasValue() const {
    return held || !heldInStack.empty() || vectors.any();
  }
  /// What \p number points to before the instruction at \p address.
  MemoryPlace getPointed(int number, uint64_t address) const;
  void forgetPointers();

  uint32_t held = 0; ///< registers with the returned value

private:
  /// Registers and memory share it.
  struct Value {
    uint64_t address = 0;                  ///< 0: not known
    std::shared_ptr<MemoryPlace> readFrom; ///< or stored to
    std::optional<MemoryPlace> pointsTo;   ///< \see getPointed
    std::optional<MemoryPlace::FromEntry> fromEntry;
  };
  MemoryPlace makePlace(const Move &move, const Instruction &next) const;
  std::optional<int64_t> getFrameOffset(int base, int64_t offset) const;
  void makeFrame(ArrayRef<uint8_t> code, const Instruction &next);
  static std::shared_ptr<Value> computePage(uint32_t word,
                                            const Instruction &next);
  std::shared_ptr<Value> add(const Move &sum, const Instruction &next) const;
  void keep(const Move &store, const Instruction &next);
  std::shared_ptr<Value> read(const Move &load, const Instruction &next) const;
  bool storesValue(const Move &store);
  std::optional<MemoryPlace> storeVector(ArrayRef<uint8_t> code,
                                         const Instruction &next);
  void change(uint32_t changed);

  const Convention &machine;
  std::array<std::shared_ptr<Value>, 32> values; ///< null: not known
  /// In the stack, by base and offset.
  std::map<std::pair<int, int64_t>, std::shared_ptr<Value>> spilled;
  std::set<std::pair<int, int64_t>> heldInStack; ///< with the returned value
  VectorHeld vectors;
  bool hasFrame = false;
  /// From the stack's register to the canonical address of the frame, and from
  /// the frame's; none: it points elsewhere.
  int64_t stackBytes;
  std::optional<int64_t> frameBytes;
};
} // namespace

Registers::Registers(const Convention &machine, bool isEntry)
    : machine(machine), stackBytes(machine.atEntry) {
  for (unsigned number = 0; isEntry && number < values.size(); ++number)
    if (machine.arguments >> number & 1) {
      values[number] = std::make_shared<Value>();
      values[number]->fromEntry = {int(number), 0};
    }
}

MemoryPlace Registers::makePlace(const Move &move,
                                 const Instruction &next) const {
  const Value *base = values[move.base].get();
  MemoryPlace place;
  place.at = next.address;
  if (move.isAbsolute)
    place.address = next.memory;
  else if (base && base->address)
    place.address = base->address + uint64_t(move.offset);
  if (place.address)
    return place;
  place.base = move.base;
  place.offset = move.offset;
  place.fromFrame = getFrameOffset(move.base, move.offset);
  place.baseFrom = base ? base->readFrom : nullptr;
  if (base && base->fromEntry)
    place.fromEntry = {base->fromEntry->number,
                       base->fromEntry->offset + move.offset};
  return place;
}

std::optional<int64_t> Registers::getFrameOffset(int base,
                                                 int64_t offset) const {
  if (base == machine.stack)
    return offset - stackBytes;
  if (base == machine.frame && frameBytes)
    return offset - *frameBytes;
  return std::nullopt;
}

/// The bytes by which \p code moves the stack down.
static int64_t countPushed(const Convention &machine, ArrayRef<uint8_t> code) {
  if (machine.isX86) {
    ArrayRef<uint8_t> push = code.drop_front((code[0] & 0xf0) == 0x40);
    if (!push.empty() && (push[0] & 0xf8) == 0x50)
      return 8;
    if (code.size() < 7 || code[0] != 0x48 || code[2] != 0xec) // sub rsp
      return 0;
    return code[1] == 0x83   ? SignExtend64<8>(code[3])
           : code[1] == 0x81 ? SignExtend64<32>(read32le(&code[3]))
                             : 0;
  }
  uint32_t word = read32le(code.data());
  if ((word & 0xff8003ff) == 0xd10003ff) // sub sp, sp
    return int64_t(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
  if ((word & 0x3f8003e0) == 0x298003e0) // stp [sp, #-n]!
    return -SignExtend64<7>(word >> 15 & 0x7f) * 8;
  if ((word & 0x3fe00fe0) == 0x38000fe0) // str [sp, #-n]!
    return -SignExtend64<9>(word >> 12 & 0x1ff);
  return 0;
}

/// The first instructions, up to the first that goes elsewhere, make the frame.
void Registers::makeFrame(ArrayRef<uint8_t> code, const Instruction &next) {
  hasFrame |= next.flow != Flow::next && next.flow != Flow::entry;
  if (hasFrame)
    return;
  stackBytes += countPushed(machine, code);
  uint32_t word = machine.isX86 ? 0 : read32le(code.data());
  if (machine.isX86 && next.copyTo == machine.frame &&
      next.copyFrom == machine.stack)
    frameBytes = stackBytes;
  else if ((word & 0xffc003ff) == 0x910003fd) // add x29, sp
    frameBytes = stackBytes - int64_t(word >> 10 & 0xfff);
}

/// By adrp; null: it is none.
std::shared_ptr<Registers::Value>
Registers::computePage(uint32_t word, const Instruction &next) {
  constexpr uint64_t pageMask = 4095;
  if ((word & 0x9f000000) != 0x90000000)
    return nullptr;
  auto result = std::make_shared<Value>();
  uint64_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
  result->address =
      (next.address & ~pageMask) + (uint64_t(SignExtend64<21>(pages)) << 12);
  return result;
}

/// The pointer that is \p sum.offset bytes further on.
std::shared_ptr<Registers::Value>
Registers::add(const Move &sum, const Instruction &next) const {
  auto result = std::make_shared<Value>();
  MemoryPlace place = makePlace(sum, next);
  if (const Value *base = values[sum.base].get();
      base && base->pointsTo && !place.fromFrame && !sum.isAbsolute) {
    place = *base->pointsTo;
    place.offset += sum.offset;
    if (place.fromEntry)
      place.fromEntry->offset += sum.offset;
    if (place.address)
      place.address += uint64_t(sum.offset);
    if (place.fromFrame)
      *place.fromFrame += sum.offset;
  }
  result->address = place.address;
  result->fromEntry = place.fromEntry;
  result->pointsTo = std::move(place);
  return result;
}

MemoryPlace Registers::getPointed(int number, uint64_t address) const {
  Instruction next;
  next.address = address;
  return *add({true, number, number, 0, false}, next)->pointsTo;
}

/// The value that \p store stores can be read there from now on.
void Registers::keep(const Move &store, const Instruction &next) {
  std::shared_ptr<Value> &value = values[store.value];
  if (!value)
    value = std::make_shared<Value>();
  if (!value->readFrom)
    value->readFrom = std::make_shared<MemoryPlace>(makePlace(store, next));
  if (getFrameOffset(store.base, store.offset))
    spilled[{store.base, store.offset}] = value;
}

std::shared_ptr<Registers::Value>
Registers::read(const Move &load, const Instruction &next) const {
  auto found = spilled.find({load.base, load.offset});
  auto value = std::make_shared<Value>();
  if (found != spilled.end()) {
    const MemoryPlace *first = found->second->readFrom.get();
    if (!first || first->base != load.base || first->offset != load.offset)
      return found->second;
    // A variable that was in a register may have its place there since.
    *value = *found->second;
  }
  value->readFrom = std::make_shared<MemoryPlace>(makePlace(load, next));
  return value;
}

void Registers::change(uint32_t changed) {
  held &= ~changed;
  for (unsigned number = 0; number < values.size(); ++number)
    if (changed >> number & 1)
      values[number] = nullptr;
}

void Registers::forgetPointers() {
  std::map<Value *, std::shared_ptr<Value>> changed; // others have them, too
  auto forget = [&](std::shared_ptr<Value> &value) {
    if (!value || !value->pointsTo)
      return;
    std::shared_ptr<Value> &its = changed[value.get()];
    if (!its) {
      its = std::make_shared<Value>(*value);
      its->pointsTo.reset();
    }
    value = its;
  };
  for (std::shared_ptr<Value> &value : values)
    forget(value);
  for (auto &[place, value] : spilled)
    forget(value);
}

/// Whether \p store puts the returned value elsewhere than into its own block.
bool Registers::storesValue(const Move &store) {
  if (!store.isAbsolute && held >> store.base & 1)
    return false;
  bool isStored = held >> store.value & 1;
  if (!isStored)
    heldInStack.erase({store.base, store.offset});
  else if (getFrameOffset(store.base, store.offset))
    heldInStack.insert({store.base, store.offset});
  return isStored;
}

std::optional<MemoryPlace> Registers::storeVector(ArrayRef<uint8_t> code,
                                                  const Instruction &next) {
  if (next.flow == Flow::call)
    vectors.forget();
  std::optional<VectorHeld::Store> store = vectors.step(code, held);
  if (!store)
    return std::nullopt;
  std::optional<Move> move = decodeMemoryX86(
      code.drop_front(store->operand), store->hasHighBase, next.memory != 0);
  if (!move || (!move->isAbsolute && held >> move->base & 1))
    return std::nullopt;
  move->offset += store->skipped;
  MemoryPlace place = makePlace(*move, next);
  if (move->isAbsolute)
    place.address += uint64_t(store->skipped);
  return place;
}

std::optional<MemoryPlace> Registers::step(ArrayRef<uint8_t> code,
                                           const Instruction &next) {
  makeFrame(code, next);
  uint32_t word = machine.isX86 ? 0 : read32le(code.data());
  std::optional<Move> sum = machine.isX86 ? decodeSumX86(code, next.memory != 0)
                                          : decodeSumAArch64(word);
  std::optional<Move> move;
  if (!sum)
    move = machine.isX86 ? decodeMoveX86(code, next.memory != 0)
                         : decodeMoveAArch64(word, held);
  std::shared_ptr<Value> value;
  int to = -1;
  bool isHeld = false;
  if (move && !move->isLoad) {
    if (storesValue(*move))
      return makePlace(*move, next);
    keep(*move, next);
  } else if (move) {
    to = move->value;
    isHeld = heldInStack.count({move->base, move->offset});
    value = read(*move, next);
  } else if (next.copyTo >= 0 && next.copyFrom >= 0) {
    to = uint8_t(next.copyTo);
    std::shared_ptr<Value> &from = values[next.copyFrom];
    if (!from)
      from = std::make_shared<Value>();
    if (!from->pointsTo)
      from->pointsTo = makePlace({true, to, next.copyFrom, 0, false}, next);
    value = from;
    isHeld = held >> next.copyFrom & 1;
  } else if (!machine.isX86 && (value = computePage(word, next))) {
    to = int(word & 31);
  } else if (machine.isX86 && (code[0] & 0xf8) == 0xb8 && code.size() > 4) {
    to = getDwarfNumber(code[0] & 7); // mov of 32 bits: an address below 4 GiB
    value = std::make_shared<Value>();
    value->address = read32le(&code[1]);
  } else if (sum) {
    to = sum->value;
    value = add(*sum, next);
  }
  std::optional<MemoryPlace> stored;
  if (machine.isX86 && hasValue())
    stored = storeVector(code, next);
  std::shared_ptr<Value> moved;
  std::optional<Move> back =
      machine.isX86 ? std::nullopt : decodeWriteBack(word);
  if (back)
    moved = add(*back, next);
  change(next.flow == Flow::call ? ~machine.keptByCalls : next.writes);
  if (back)
    values[back->base] = std::move(moved);
  if (to >= 0) {
    values[to] = std::move(value);
    held |= uint32_t(isHeld) << to;
  }
  return stored;
}

static const Convention *findConvention(Machine machine) {
  return machine == Machine::x86_64    ? &x86
         : machine == Machine::aarch64 ? &aarch64
                                       : nullptr;
}

/// Reads the code of a file from \p start on. Null: it cannot be read.
static const Convention *readCode(const std::string &path, uint64_t start,
                                  MutableArrayRef<uint8_t> code) {
  const Convention *machine = nullptr;
  Error error = readImages(path, [&](Image &image) {
    if (image.readMemory(start, code))
      machine = findConvention(image.machine());
  });
  consumeError(std::move(error));
  return machine;
}

namespace {
/// Code around a call.
struct FunctionPart {
  uint64_t start, end;
  bool isEntry; ///< it begins with the function
};
} // namespace

/// The code of the function around the call that returns to \p address, if it
/// does not begin far ahead; else some after the call.
static FunctionPart findRange(DwarfFile &dwarf, uint64_t address) {
  constexpr uint64_t maxBytes = 1 << 16, maxAfter = 1024;
  std::vector<Dwarf_Die> scopes = dwarf.findScopes(address - 1);
  Dwarf_Addr base, start, end, entry;
  ptrdiff_t at = 0;
  while (!scopes.empty() &&
         (at = dwarf_ranges(&scopes.back(), at, &base, &start, &end)) > 0)
    if (start < address && address <= end && address - start <= maxBytes)
      return {start, std::min(end, address + maxAfter),
              !dwarf_entrypc(&scopes.back(), &entry) && entry == start};
  return {address, address + soonAfterCall, false};
}

/// A jump ahead to what \p rest has.
static bool isShortJump(const Instruction &next, ArrayRef<uint8_t> rest) {
  return next.flow == Flow::jump && next.target > next.address &&
         next.target - next.address < rest.size();
}

namespace {
/// Registers where branches and jumps ahead lead; null: several lead there.
class Arrivals {
public:
  void add(const Instruction &next, const Registers &registers) {
    if ((next.flow != Flow::branch && next.flow != Flow::jump) ||
        next.target <= next.address)
      return;
    auto [place, isNew] = all.try_emplace(next.target, registers);
    if (!isNew)
      place->second.reset();
  }
  /// Keeps what is known at \p address on all ways. \p isNext: the instruction
  /// before is one of them. \returns whether there is one.
  bool meet(uint64_t address, bool isNext,
            std::optional<Registers> &registers) const {
    auto place = all.find(address);
    bool isTarget = place != all.end();
    if (isTarget && place->second && !isNext)
      registers.emplace(*place->second);
    else if (isTarget || !isNext)
      registers->forgetPointers();
    return isTarget;
  }

private:
  std::map<uint64_t, std::optional<Registers>> all;
};
} // namespace

/// An instruction that only fills the way to the next block.
static bool isPadding(const Convention &machine, ArrayRef<uint8_t> code) {
  if (!machine.isX86)
    return code.size() >= 4 && read32le(code.data()) == 0xd503201f;
  code = code.drop_while(
      [](uint8_t byte) { return byte == 0x66 || byte == 0x2e; });
  return code.size() >= 2 &&
         (code[0] == 0x90 || (code[0] == 0x0f && code[1] == 0x1f));
}

/// Stops where nothing has the value, or the way is lost.
static void follow(const Convention &machine, ArrayRef<uint8_t> rest,
                   uint64_t at, uint64_t address, bool isEntry,
                   ReturnedValue &result) {
  std::optional<Registers> registers(std::in_place, machine, isEntry);
  Arrivals arrivals;
  bool isNext = true; // the instruction before leads to the one at hand
  while (!rest.empty() && (at <= address || registers->hasValue())) {
    if (at == address)
      registers->held = 1U << resultRegister;
    bool isAfter = at >= address;
    if (isAfter)
      result.held.push_back({at, registers->held});
    Instruction next = decodeNext(machine, rest, at);
    if (!next.valid() || next.bytes > rest.size())
      return;
    if (next.flow == Flow::call && at + next.bytes == address)
      result.argument = registers->getPointed(machine.argument, at);
    if (std::optional<MemoryPlace> store = registers->step(rest, next))
      result.stores.push_back(std::move(*store));
    bool isJump = isAfter && isShortJump(next, rest);
    bool isEnd =
        next.flow == Flow::stop || (next.flow == Flow::jump && !isJump);
    if (isAfter && isEnd)
      return;
    isNext = !isEnd && (isNext || !isPadding(machine, rest));
    uint64_t bytes = isJump ? next.target - at : next.bytes;
    rest = rest.drop_front(bytes);
    at += bytes;
    if (at >= address)
      continue;
    if (next.target < address)
      arrivals.add(next, *registers);
    isNext |= arrivals.meet(at, isNext, registers);
  }
}

ReturnedValue mpg::followReturned(DwarfFile &dwarf, uint64_t address) {
  ReturnedValue result;
  FunctionPart range = findRange(dwarf, address);
  std::vector<uint8_t> code;
  const Convention *machine = nullptr;
  // The code may end before.
  for (uint64_t after = range.end - address; !machine && after; after /= 2) {
    code.resize(address - range.start + after);
    machine = readCode(dwarf.path, range.start, code);
  }
  if (!machine)
    return result;
  result.isKnown = true;
  follow(*machine, code, range.start, address, range.isEntry, result);
  if (!result.stores.empty()) {
    const MemoryPlace &first = result.stores.front();
    result.isKept = first.at < address + soonAfterCall &&
                    first.base != machine->stack && !first.fromFrame;
  }
  return result;
}

bool ReturnedValue::isHeld(uint64_t address, unsigned number) const {
  auto after = partition_point(
      held, [&](const auto &one) { return one.first <= address; });
  return after != held.begin() && after != held.end() &&
         std::prev(after)->second >> number & 1;
}

std::optional<size_t> DebugInfo::findKeeper(uint64_t returnAddress) {
  ReturnedValue value = followReturned(*dwarf, returnAddress);
  if (!value.isKept)
    return std::nullopt;
  size_t inner = frames(returnAddress - 1).size();
  size_t outer = frames(value.stores.front().at).size();
  if (!outer)
    return std::nullopt;
  return inner > outer ? inner - outer : 0;
}

//===----------------------------------------------------------------------===//
// The call before
//===----------------------------------------------------------------------===//

/// The end of the last call in \p code, which starts at \p address, but for one
/// at its very end; 0: there is none.
static uint64_t findLastCall(const Convention &machine, ArrayRef<uint8_t> code,
                             uint64_t address) {
  uint64_t end = address + code.size(), found = 0;
  while (!code.empty()) {
    Instruction next = decodeNext(machine, code, address);
    if (!next.valid() || next.bytes > code.size())
      return 0;
    address += next.bytes;
    code = code.drop_front(next.bytes);
    if (next.flow == Flow::call && address < end)
      found = address;
  }
  return found;
}

uint64_t DebugInfo::getPreviousReturn(uint64_t returnAddress) {
  constexpr uint64_t maxBytes = 1 << 20;
  const FunctionTable::Function *function =
      theFunctions.find(returnAddress - 1);
  if (!function || returnAddress - function->start > maxBytes)
    return returnAddress;
  std::vector<uint8_t> code(returnAddress - function->start);
  const Convention *machine = readCode(dwarf->path, function->start, code);
  uint64_t found = machine ? findLastCall(*machine, code, function->start) : 0;
  if (!found)
    return returnAddress;
  std::vector<SourceFrame> before = frames(found - 1);
  const std::vector<SourceFrame> &here = frames(returnAddress - 1);
  bool isSame = before.size() == here.size();
  for (size_t at = 0; isSame && at < here.size(); ++at)
    isSame = before[at].function == here[at].function &&
             before[at].file == here[at].file &&
             before[at].line == here[at].line;
  return isSame ? found : returnAddress;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReturnedValue.h. The instructions in front of the call are read, too, in
// the order of their addresses: compilers load the address of a store after the
// call there.

#include "DebugInfo/ReturnedValue.h"
#include "llvm/ADT/STLExtras.h"
#include <array>
#include <dwarf.h>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

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
  /// The register that an instruction writes, and its new value.
  struct Result {
    int to = -1; ///< below zero: in none, or not known
    std::shared_ptr<Value> value;
    bool isHeld = false; ///< it is the returned value
  };
  MemoryPlace makePlace(const Move &move, const Instruction &next) const;
  std::optional<int64_t> getFrameOffset(int base, int64_t offset) const;
  void makeFrame(const DataEffect &effect, const Instruction &next);
  Result compute(const DataEffect &effect, const Instruction &next);
  Result copy(const Instruction &next);
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
  place.validAt = place.at + (move.isLoad ? 0 : next.bytes);
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

/// The first instructions, up to the first that goes elsewhere, make the frame.
void Registers::makeFrame(const DataEffect &effect, const Instruction &next) {
  hasFrame |= next.flow != Flow::next && next.flow != Flow::entry;
  if (hasFrame)
    return;
  stackBytes += effect.pushed;
  if (effect.frame)
    frameBytes = stackBytes - *effect.frame;
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

/// Both registers point to the same from here on.
Registers::Result Registers::copy(const Instruction &next) {
  int to = uint8_t(next.copyTo);
  std::shared_ptr<Value> &from = values[next.copyFrom];
  if (!from)
    from = std::make_shared<Value>();
  if (!from->pointsTo)
    from->pointsTo = makePlace({true, to, next.copyFrom, 0, false}, next);
  return {to, from, bool(held >> next.copyFrom & 1)};
}

/// Except of stores.
Registers::Result Registers::compute(const DataEffect &effect,
                                     const Instruction &next) {
  if (const std::optional<Move> &load = effect.move)
    return {load->value, read(*load, next),
            heldInStack.count({load->base, load->offset}) != 0};
  if (next.copyTo >= 0 && next.copyFrom >= 0)
    return copy(next);
  if (effect.constant) {
    auto value = std::make_shared<Value>();
    value->address = effect.constant->address;
    return {effect.constant->to, std::move(value), false};
  }
  if (effect.sum)
    return {effect.sum->value, add(*effect.sum, next), false};
  return {};
}

std::optional<MemoryPlace> Registers::step(ArrayRef<uint8_t> code,
                                           const Instruction &next) {
  DataEffect effect = decodeEffect(machine, code, next, held);
  makeFrame(effect, next);
  bool isStore = effect.move && !effect.move->isLoad;
  std::optional<MemoryPlace> stored;
  Result result;
  if (isStore && storesValue(*effect.move))
    stored = makePlace(*effect.move, next);
  else if (isStore)
    keep(*effect.move, next);
  else
    result = compute(effect, next);
  if (machine.isX86 && !stored && hasValue())
    stored = storeVector(code, next);
  // By what is known before the base changes.
  std::shared_ptr<Value> movedBase;
  if (effect.writeBack)
    movedBase = add(*effect.writeBack, next);
  change(next.flow == Flow::call ? ~machine.keptByCalls : next.writes);
  if (effect.writeBack)
    values[effect.writeBack->base] = std::move(movedBase);
  if (result.to >= 0) {
    values[result.to] = std::move(result.value);
    held |= uint32_t(result.isHeld) << result.to;
  }
  return stored;
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
  bool isEntry;                        ///< it begins with the function
  const Convention *machine = nullptr; ///< null: the code cannot be read
  std::vector<uint8_t> code = {};
};
} // namespace

/// The range of the function around the call that returns to \p address, if it
/// does not begin far ahead; else some bytes after the call.
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

static FunctionPart readPart(DwarfFile &dwarf, uint64_t address) {
  FunctionPart part = findRange(dwarf, address);
  // The code may end before.
  for (uint64_t after = part.end - address; !part.machine && after;
       after /= 2) {
    part.code.resize(address - part.start + after);
    part.machine = readCode(dwarf.path, part.start, part.code);
  }
  return part;
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

/// Reads \p part, whose call returns to \p address. Stops where nothing has the
/// value, or the way is lost.
static void follow(const FunctionPart &part, uint64_t address,
                   ReturnedValue &result) {
  const Convention &machine = *part.machine;
  ArrayRef<uint8_t> rest = part.code;
  uint64_t at = part.start;
  std::optional<Registers> registers(std::in_place, machine, part.isEntry);
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
  FunctionPart part = readPart(dwarf, address);
  if (!part.machine)
    return result;
  result.isKnown = true;
  follow(part, address, result);
  // A register may be saved in the frame before.
  auto keeper = find_if(result.stores, [&](const MemoryPlace &store) {
    return store.base != part.machine->stack && !store.fromFrame;
  });
  if (keeper != result.stores.end() && keeper->at < address + soonAfterCall)
    result.keptAt = keeper->at;
  return result;
}

bool ReturnedValue::isHeld(uint64_t address, unsigned number) const {
  auto after = partition_point(
      held, [&](const auto &one) { return one.first <= address; });
  return after != held.begin() && after != held.end() &&
         std::prev(after)->second >> number & 1;
}

/// The number of the function that keeps what the call returns in a member or a
/// global variable; none: it is not known that one does.
std::optional<size_t> DebugInfo::findKeeper(uint64_t returnAddress) {
  ReturnedValue value = followReturned(*dwarf, returnAddress);
  if (!value.keptAt)
    return std::nullopt;
  size_t inner = frames(returnAddress - 1).size();
  size_t outer = frames(*value.keptAt).size();
  if (!outer)
    return std::nullopt;
  return inner > outer ? inner - outer : 0;
}

// The call before

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CodeScan.h. The uses of one function in four steps: find the stubs that
// jump through its slots; find everything that names a stub or a slot; trace
// the argument of each call found through its function; look for branches from
// elsewhere that land between the argument and the call.
//
// Code is read from its end to its start, because libraries are linked last and
// the calls with them: the search for branches then shares one pass with the
// search for calls, but for the part after the first call.
//
// Taken on trust: what compilers and linkers make keeps the calling convention,
// uses the slot of a JUMP_SLOT relocation for a stub alone, and comes into a
// function at its start, by a branch, or by the table of a switch in it.

#include "Code/CodeScan.h"
#include "Code/MachineCode.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace mpg;

void mpg::addSpans(std::vector<AddressSpan> &spans,
                   ArrayRef<uint64_t> addresses) {
  bool isFirst = true;
  for (uint64_t address : addresses) {
    if (!isFirst && address - spans.back().first <= AddressSpan::maxBytes)
      spans.back().last = address;
    else
      spans.push_back({address, address});
    isFirst = false;
  }
}

bool mpg::containsAddress(ArrayRef<uint64_t> sorted, uint64_t address) {
  return std::binary_search(sorted.begin(), sorted.end(), address);
}

namespace {

class CallSearch {
public:
  CallSearch(const MachineCode &machine, ArrayRef<CodeRange> code,
             CodeReader read, const CallTarget &target);
  CallArguments classify();

private:
  /// A call whose argument was traced.
  struct Site {
    uint64_t address;
    std::vector<uint64_t> path; // ascending
    uint64_t first, end;        // branches from in between were followed
  };
  // Where functions are not known: enough for the short branches around a call,
  // and for x86-64 code to be decoded from the right byte on after the first
  // few. Longer functions than this are not looked at.
  static constexpr uint64_t aroundBytes = 512, settleBytes = 64;
  static constexpr uint64_t maxFunctionBytes = 64 << 10;

  const MachineCode &machine;
  CodeMemory memory;
  CodeReader read;
  const CallTarget &target;
  NoReturn noReturn;
  FrameTable functions;
  WantedAddresses wanted;
  std::vector<uint64_t> stubUses; // ascending
  std::vector<Site> sites;

  bool findStubs();
  bool checkUses(uint64_t from);
  bool checkLandings();
  bool check(AddressUse use);
  CodePiece readFunction(uint64_t address, std::vector<uint8_t> &buffer) const;
  bool checkLoaded(const Instruction &load, CodePiece piece,
                   ArrayRef<Instruction> code);
  bool checkCall(const Instruction &call, CodePiece piece,
                 ArrayRef<Instruction> code);
  bool mayLand(AddressUse use, const Instruction &instruction) const;
};

} // namespace

static void sortUnique(std::vector<uint64_t> &addresses) {
  llvm::sort(addresses);
  addresses.erase(llvm::unique(addresses), addresses.end());
}

CallSearch::CallSearch(const MachineCode &machine, ArrayRef<CodeRange> code,
                       CodeReader read, const CallTarget &target)
    : machine(machine), memory(code, read), read(read), target(target),
      noReturn(machine, memory, target.noReturnSlots),
      functions(target.functionTable, read) {
  wanted.slots = target.gotSlots.vec();
  wanted.slots.insert(wanted.slots.end(), target.jumpSlots.begin(),
                      target.jumpSlots.end());
  sortUnique(wanted.slots);
}

/// Fills the stubs of `wanted`; false when a slot has another use where only
/// stubs should be.
bool CallSearch::findStubs() {
  bool known = !target.stubs.empty();
  CodeMemory sections(target.stubs, read);
  CodeMemory &searched = known ? sections : memory;
  const WantedAddresses slots = wanted;
  std::vector<uint64_t> stubSlots;
  bool onlyStubs = true;
  auto add = [&](AddressUse use) {
    std::vector<uint64_t> entries = machine.stubEntries(searched, use, known);
    if (entries.empty()) {
      onlyStubs &= !known;
      return;
    }
    stubUses.push_back(use.address);
    stubSlots.push_back(use.target);
    wanted.stubs.insert(wanted.stubs.end(), entries.begin(), entries.end());
  };
  auto walk = searched.forEachWindow(
      CodeMemory::Order::descending, [&](CodePiece piece) {
        machine.search(searched, piece, slots, add);
        return onlyStubs;
      });
  sortUnique(wanted.stubs);
  sortUnique(stubUses);
  // A slot that linkers make for a stub has no other use than this one.
  sortUnique(stubSlots);
  wanted.slots = target.gotSlots.vec();
  for (uint64_t slot : target.jumpSlots)
    if (!containsAddress(stubSlots, slot))
      wanted.slots.push_back(slot);
  sortUnique(wanted.slots);
  return walk == CodeMemory::Walk::done;
}

/// Checks everything that names a wanted address at \p from or above; false
/// when something may do harm.
bool CallSearch::checkUses(uint64_t from) {
  std::vector<AddressUse> uses;
  auto visit = [&](CodePiece piece) {
    uses.clear();
    machine.search(memory, piece, wanted,
                   [&](AddressUse use) { uses.push_back(use); });
    return std::all_of(uses.begin(), uses.end(),
                       [&](AddressUse use) { return check(use); });
  };
  return memory.forEachWindow(CodeMemory::Order::descending, visit, from) ==
         CodeMemory::Walk::done;
}

/// Searches the code that was read before the first call was known for branches
/// to the calls; false when there is one.
bool CallSearch::checkLandings() {
  uint64_t lowest = UINT64_MAX;
  for (const Site &site : sites)
    lowest = std::min(lowest, site.address);
  wanted.slots.clear();
  wanted.stubs.clear();
  return checkUses(lowest - std::min(lowest, CodeMemory::overlapBytes));
}

/// The code of the function around \p address, or what is near.
CodePiece CallSearch::readFunction(uint64_t address,
                                   std::vector<uint8_t> &buffer) const {
  std::optional<CodeRange> function = functions.functionAt(address);
  if (!function) {
    buffer.resize(2 * aroundBytes);
    return memory.around(address, aroundBytes, aroundBytes, buffer);
  }
  if (function->bytes > maxFunctionBytes)
    return {};
  buffer.resize(function->bytes);
  uint64_t before = address - function->address;
  CodePiece piece =
      memory.around(address, before, function->bytes - before, buffer);
  piece.startsRange |= piece.address == function->address;
  return piece;
}

/// Looks at what names a wanted address; false when that may do harm.
bool CallSearch::check(AddressUse use) {
  if (containsAddress(stubUses, use.address))
    return true;
  std::vector<uint8_t> buffer;
  CodePiece piece = readFunction(use.address, buffer);
  std::vector<Instruction> code = machine.decode(piece);
  auto next = std::upper_bound(
      code.begin(), code.end(), use.address,
      [](uint64_t a, const Instruction &b) { return a < b.address; });
  if (next == code.begin())
    return false;
  const Instruction &instruction = *--next;
  if (!containsAddress(wanted.slots, use.target) &&
      !containsAddress(wanted.stubs, use.target))
    return !mayLand(use, instruction);
  // Code that does something else with the address than to go there may call
  // the function later.
  bool direct = instruction.target == use.target;
  bool throughSlot =
      instruction.memory == use.target &&
      (instruction.flow == Flow::call || instruction.flow == Flow::jump);
  if (direct || throughSlot)
    return checkCall(instruction, piece, code);
  return checkLoaded(instruction, piece, code);
}

/// The same for the call of what \p load has read from a slot; false when that
/// may go anywhere else.
bool CallSearch::checkLoaded(const Instruction &load, CodePiece piece,
                             ArrayRef<Instruction> code) {
  uint64_t before = load.address - piece.address;
  uint64_t address =
      machine.callOfLoaded({load.address, piece.bytes.drop_front(before)});
  for (const Instruction &call : code)
    if (address && call.address == address)
      return checkCall(call, piece, code);
  return false;
}

/// Whether \p jump, after \p last, goes where a table says, as a switch does.
static bool isTableJump(const Instruction &last, const Instruction &jump) {
  if (jump.flow != Flow::jump || jump.target || jump.memory)
    return false;
  bool added =
      jump.copyFrom >= 0 && last.indexes && (last.writes >> jump.copyFrom & 1);
  return jump.indexes || added;
}

/// Whether the argument of \p call, in \p code, is 0 on every path that leads
/// there.
bool CallSearch::checkCall(const Instruction &call, CodePiece piece,
                           ArrayRef<Instruction> code) {
  for (const Site &site : sites)
    if (site.address == call.address)
      return true; // found in the overlap of two windows
  // A switch may lead to any place of its function.
  for (size_t i = 1; i < code.size(); ++i)
    if (isTableJump(code[i - 1], code[i]))
      return false;
  auto neverReturns = [&](const Instruction &other) {
    return noReturn.neverReturns(other);
  };
  RegisterTrace trace =
      traceZero(code, call.address, machine.argumentRegister(),
                {machine.keptByCalls(), neverReturns});
  if (!trace.isZero)
    return false;
  wanted.paths.insert(wanted.paths.end(), trace.path.begin(), trace.path.end());
  sortUnique(wanted.paths);
  uint64_t first = piece.address + (piece.startsRange ? 0 : settleBytes);
  sites.push_back(
      {call.address, std::move(trace.path), first, code.back().end()});
  return true;
}

/// Whether \p instruction, at \p use, is a path between an argument and
/// its call that the trace of that call did not see.
bool CallSearch::mayLand(AddressUse use, const Instruction &instruction) const {
  bool branches =
      instruction.target == use.target && instruction.flow != Flow::call;
  bool names =
      instruction.target == use.target || instruction.memory == use.target;
  for (const Site &site : sites) {
    bool followed =
        instruction.address >= site.first && instruction.address < site.end;
    if (names && !(branches && followed) &&
        containsAddress(site.path, use.target))
      return true;
  }
  return false;
}

CallArguments CallSearch::classify() {
  for (uint64_t slot : wanted.slots)
    if (slot % 8 != 0)
      return CallArguments::other;
  bool zero = findStubs() && checkUses(0) && !sites.empty() && checkLandings();
  return zero ? CallArguments::allZero : CallArguments::other;
}

CallArguments mpg::classifyCalls(Machine machine, ArrayRef<CodeRange> code,
                                 CodeReader read, const CallTarget &target) {
  if (target.addressTaken)
    return CallArguments::other;
  if (target.gotSlots.empty() && target.jumpSlots.empty())
    return CallArguments::noCall;
  std::unique_ptr<MachineCode> machineCode =
      machine == Machine::x86_64 ? makeX86Code() : makeAArch64Code();
  return CallSearch(*machineCode, code, read, target).classify();
}

// Calls that a function certainly makes

namespace {

class CallWalk {
public:
  CallWalk(Machine machine, ArrayRef<CodeRange> code, CodeReader read,
           const CallQuery &query)
      : machine(machine == Machine::x86_64 ? makeX86Code() : makeAArch64Code()),
        memory(code, read), functions(query.functionTable, read),
        slots(query.slots), waiting(query.starts),
        seen(waiting.begin(), waiting.end()) {}

  bool reaches();

private:
  static constexpr size_t maxFunctions = 1000;
  static constexpr uint64_t maxFunctionBytes = 64 << 10;
  static constexpr uint64_t unknownBytes = 4 << 10;

  std::unique_ptr<MachineCode> machine;
  CodeMemory memory;
  FrameTable functions;
  ArrayRef<uint64_t> slots;
  std::vector<uint64_t> waiting;
  std::set<uint64_t> seen;

  bool reachesFrom(uint64_t start);
  bool follow(const Instruction &transfer);
};

} // namespace

/// Whether \p transfer leads to what is looked for. If it goes to another
/// function, that one is looked at later.
bool CallWalk::follow(const Instruction &transfer) {
  if (!transfer.target)
    return transfer.memory && is_contained(slots, transfer.memory);
  uint8_t buffer[32];
  CodePiece start = memory.around(transfer.target, 0, sizeof buffer, buffer);
  if (uint64_t slot = machine->slotOfStub(start))
    return is_contained(slots, slot);
  if (seen.insert(transfer.target).second)
    waiting.push_back(transfer.target);
  return false;
}

bool CallWalk::reachesFrom(uint64_t start) {
  CodeRange function = {start, unknownBytes};
  std::optional<CodeRange> known = functions.functionAt(start);
  bool hasEnd =
      known && known->address == start && known->bytes <= maxFunctionBytes;
  if (hasEnd)
    function = *known;
  std::vector<uint8_t> buffer(function.bytes);
  CodePiece piece = memory.around(start, 0, function.bytes, buffer);
  uint64_t furthest = start; // to where this function's own branches go
  for (const Instruction &instruction : machine->decode(piece)) {
    bool jumps = instruction.flow == Flow::jump;
    bool inside = (jumps || instruction.flow == Flow::branch) &&
                  instruction.target - function.address < function.bytes;
    if (inside)
      furthest = std::max(furthest, instruction.target);
    bool leaves = !inside && (jumps || instruction.flow == Flow::call ||
                              instruction.flow == Flow::branch);
    if (leaves && follow(instruction))
      return true;
    // After it another function begins, if this one's end is not known.
    if (!hasEnd && (jumps || instruction.flow == Flow::stop) &&
        instruction.address >= furthest)
      break;
  }
  return false;
}

bool CallWalk::reaches() {
  for (size_t i = 0; i < waiting.size() && i < maxFunctions; ++i)
    if (reachesFrom(waiting[i]))
      return true;
  return false;
}

bool mpg::reachesCall(Machine machine, ArrayRef<CodeRange> code,
                      CodeReader read, const CallQuery &query) {
  if (query.slots.empty() || query.starts.empty())
    return false;
  return CallWalk(machine, code, read, query).reaches();
}

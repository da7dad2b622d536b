// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CodeScan.h.

#include "Code/CodeMemory.h"
#include "Code/CodeScan.h"
#include "Code/MachineCode.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace mpg;

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
  FunctionTable functions;
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function is followed from its start over all branches. Everything that is
// not understood counts as a way back to the caller.

#include "Code/NoReturn.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

bool NoReturn::isSlot(uint64_t address) const {
  return address != 0 &&
         std::find(slots.begin(), slots.end(), address) != slots.end();
}

/// Whether control does not come back from where \p transfer, a call or a jump,
/// leads.
bool NoReturn::endsIn(const Instruction &transfer, unsigned depth) const {
  if (!transfer.target)
    return isSlot(transfer.memory);
  uint8_t buffer[32];
  CodePiece start = memory.around(transfer.target, 0, sizeof buffer, buffer);
  if (uint64_t slot = machine.slotOfStub(start))
    return isSlot(slot);
  return depth > 0 && allWaysEnd(transfer.target, depth - 1);
}

/// Whether no way through \p function leads to a return.
bool NoReturn::allWaysEnd(uint64_t function, unsigned depth) const {
  uint8_t buffer[maxBytes];
  std::vector<Instruction> code =
      machine.decode(memory.around(function, 0, maxBytes, buffer));
  std::vector<uint64_t> ways = {function};
  for (size_t i = 0; i < ways.size(); ++i) {
    if (i == maxInstructions)
      return false;
    auto found = std::lower_bound(
        code.begin(), code.end(), ways[i],
        [](const Instruction &a, uint64_t b) { return a.address < b; });
    if (found == code.end() || found->address != ways[i])
      return false;
    auto follow = [&](uint64_t next) {
      if (std::find(ways.begin(), ways.end(), next) == ways.end())
        ways.push_back(next);
    };
    switch (found->flow) {
    case Flow::stop:
      return false;
    case Flow::call:
      if (!endsIn(*found, depth))
        follow(found->end());
      break;
    case Flow::jump:
      if (endsIn(*found, 0))
        break;
      if (!found->target)
        return false;
      follow(found->target);
      break;
    case Flow::branch:
      follow(found->target);
      follow(found->end());
      break;
    case Flow::next:
    case Flow::entry:
      follow(found->end());
      break;
    }
  }
  return true;
}

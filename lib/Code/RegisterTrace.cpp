// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk is a work list of pairs of address and register. A pair stands for
// the claim "just before this address is executed the register is 0"; loops end
// because each pair is examined once, and a claim that leads only to itself is
// not counted as proven.

#include "Code/MachineCode.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

namespace {

struct Claim {
  uint64_t address;
  unsigned which;
  bool operator==(const Claim &other) const {
    return address == other.address && which == other.which;
  }
};

class Tracer {
public:
  Tracer(ArrayRef<Instruction> code, CallRules rules)
      : code(code), rules(rules) {}
  RegisterTrace trace(Claim first);

private:
  // Real code needs fewer than ten; longer paths are not worth the time.
  static constexpr size_t maxClaims = 64;

  ArrayRef<Instruction> code;
  CallRules rules;
  std::vector<Claim> claims;
  size_t proven = 0;

  void add(Claim claim);
  bool addBranchesTo(Claim claim);
  bool examine(Claim claim);
  const Instruction *before(uint64_t address) const;
};

} // namespace

void Tracer::add(Claim claim) {
  if (std::find(claims.begin(), claims.end(), claim) == claims.end())
    claims.push_back(claim);
}

/// The instruction that ends at \p address.
const Instruction *Tracer::before(uint64_t address) const {
  const Instruction *found = std::lower_bound(
      code.begin(), code.end(), address,
      [](const Instruction &i, uint64_t value) { return i.address < value; });
  if (found == code.begin())
    return nullptr;
  --found;
  return found->valid() && found->end() == address ? found : nullptr;
}

/// Claims the register before each branch that lands on \p claim; whether one
/// of them is conditional.
bool Tracer::addBranchesTo(Claim claim) {
  bool conditional = false;
  for (const Instruction &instruction : code) {
    if (instruction.target != claim.address || instruction.flow == Flow::call)
      continue;
    conditional |= instruction.flow == Flow::branch;
    add({instruction.address, claim.which});
  }
  return conditional;
}

/// Adds what \p claim follows from; false when it cannot be proven.
bool Tracer::examine(Claim claim) {
  bool branchedTo = addBranchesTo(claim);
  const Instruction *last = before(claim.address);
  if (!last)
    return false;
  uint32_t bit = 1U << claim.which;
  switch (last->flow) {
  case Flow::entry:
    return false;
  case Flow::call:
    if (rules.neverReturns(*last))
      return branchedTo;
    if (!(rules.keptRegisters & bit))
      return false;
    add({last->address, claim.which});
    return true;
  case Flow::stop:
  case Flow::jump:
    // Control does not come on this path, so the branches decide. Without a
    // conditional one this can be the start of a function, which is called with
    // any value; jumps to it would be tail calls.
    return branchedTo;
  case Flow::next:
  case Flow::branch:
    break;
  }
  if (last->zeroes & bit) {
    ++proven;
    return true;
  }
  if (last->copyTo == int(claim.which)) {
    add({last->address, unsigned(last->copyFrom)});
    return true;
  }
  if (last->writes & bit)
    return false;
  add({last->address, claim.which});
  return true;
}

RegisterTrace Tracer::trace(Claim first) {
  add(first);
  RegisterTrace result;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (i == maxClaims || !examine(claims[i]))
      return result;
    result.path.push_back(claims[i].address);
  }
  llvm::sort(result.path);
  result.path.erase(llvm::unique(result.path), result.path.end());
  result.isZero = proven > 0;
  return result;
}

RegisterTrace mpg::traceZero(ArrayRef<Instruction> code, uint64_t address,
                             unsigned which, CallRules rules) {
  return Tracer(code, rules).trace({address, which});
}

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

/// Whether no path through \p function leads to a return.
bool NoReturn::allWaysEnd(uint64_t function, unsigned depth) const {
  uint8_t buffer[maxBytes];
  std::vector<Instruction> code =
      machine.decode(memory.around(function, 0, maxBytes, buffer));
  std::vector<uint64_t> paths = {function};
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i == maxInstructions)
      return false;
    auto found = std::lower_bound(
        code.begin(), code.end(), paths[i],
        [](const Instruction &a, uint64_t b) { return a.address < b; });
    if (found == code.end() || found->address != paths[i])
      return false;
    auto follow = [&](uint64_t next) {
      if (std::find(paths.begin(), paths.end(), next) == paths.end())
        paths.push_back(next);
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

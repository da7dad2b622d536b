// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk is a work list of pairs of address and register. A pair stands for
// the claim "just before this address is executed the register is 0"; loops end
// because each pair is examined once, and a claim that leads only to itself is
// not counted as proven.

#include "Code/RegisterTrace.h"
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
  // Real code needs fewer than ten; longer ways are not worth the time.
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
    // Control does not come this way, so the branches decide. Without a
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
  std::sort(result.path.begin(), result.path.end());
  result.path.erase(std::unique(result.path.begin(), result.path.end()),
                    result.path.end());
  result.isZero = proven > 0;
  return result;
}

RegisterTrace mpg::traceZero(ArrayRef<Instruction> code, uint64_t address,
                             unsigned which, CallRules rules) {
  return Tracer(code, rules).trace({address, which});
}

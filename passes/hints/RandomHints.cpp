// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AccessMarker.h. The option random-hints=SEED of the passes' own tests.

#include "base/Access.h"
#include "hints/AccessMarker.h"
#include "mpg/hints.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace mpg;

/// The variable behind \p address: the pointer variable it was loaded from, or
/// the object.
static const Value *findVariable(Value *address) {
  address = withoutSteps(address);
  auto *load = dyn_cast<LoadInst>(address);
  return load ? withoutSteps(load->getPointerOperand()) : address;
}

/// A stream of numbers that is the same on every machine.
static uint64_t mix(uint64_t seed, uint64_t number) {
  uint64_t bytes[] = {seed, number};
  return xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes), sizeof(bytes)));
}

/// Never 0, which would be no tag, nor bits 3 and 2.
static uint8_t tagFrom(uint64_t number, bool extended) {
  unsigned functions = extended ? 16 : 8;
  unsigned choice = 1 + number % (functions * 4 - 1);
  return (choice >> 2) << 4 | (choice & MPG_TAG_SECTOR_MASK);
}

void mpg::chooseRandomHints(Function &function, uint64_t seed, bool extended,
                            function_ref<void(Instruction &, uint8_t)> choose) {
  uint64_t functionSeed = mix(seed, xxh3_64bits(function.getName()));
  DenseMap<const Value *, unsigned> numbers;
  for (Instruction &instruction : instructions(function)) {
    const Use *address = taggableAddress(instruction);
    if (!address)
      continue;
    const Value *variable = findVariable(address->get());
    unsigned number =
        numbers.try_emplace(variable, numbers.size()).first->second;
    choose(instruction, tagFrom(mix(functionSeed, number), extended));
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapChecks.h.

#include "heap/HeapChecks.h"

#include "heap/HeapSmall.h"

#include <string.h>

using namespace mpg;

HeapChecks mpg::heapChecks;

static constexpr uint8_t pattern = 0x5a;
static constexpr size_t mostPattern = 4096; // of a large block's rest

void mpg::startChecks(const Config &config) {
  heapChecks.level = config.check;
  heapChecks.guards = config.checkGiven && config.check != 0;
  heapChecks.perturb = uint8_t(config.perturb);
}

static Range patternOf(Range block, size_t bytes) {
  Range rest{block.start + bytes, block.end - sizeof(uint64_t)};
  if (rest.bytes() > mostPattern)
    rest.end = rest.start + mostPattern;
  return rest;
}

/// Never the mark of a free object, which may be in the same place.
static uint64_t sealOf(Range block, size_t bytes) {
  return bytes ^ ~markOf(reinterpret_cast<void *>(block.start));
}

void mpg::setGuard(Range block, size_t bytes) {
  if (!heapChecks.guards)
    return;
  Range rest = patternOf(block, bytes);
  memset(reinterpret_cast<void *>(rest.start), pattern, rest.bytes());
  uint64_t seal = sealOf(block, bytes);
  memcpy(reinterpret_cast<void *>(block.end - sizeof seal), &seal, sizeof seal);
}

size_t mpg::readGuard(Range block, uintptr_t &wrongByte) {
  wrongByte = 0;
  if (!heapChecks.guards)
    return block.bytes();
  uint64_t seal;
  memcpy(&seal, reinterpret_cast<void *>(block.end - sizeof seal), sizeof seal);
  size_t bytes = sealOf(block, size_t(seal));
  if (bytes > block.bytes() - sizeof seal) {
    wrongByte = block.end - sizeof seal;
    return block.bytes();
  }
  Range rest = patternOf(block, bytes);
  for (uintptr_t at = rest.start; at < rest.end && !wrongByte; ++at)
    if (*reinterpret_cast<uint8_t *>(at) != pattern)
      wrongByte = at;
  return bytes;
}

void mpg::perturbNew(void *start, size_t bytes) {
  if (heapChecks.perturb)
    memset(start, heapChecks.perturb ^ 0xff, bytes);
}

void mpg::perturbFreed(void *start, size_t bytes) {
  if (heapChecks.perturb)
    memset(start, heapChecks.perturb, bytes);
}

void mpg::damage(HeapError error, const char *function, const void *pointer,
                 Range block, uintptr_t caller, uintptr_t wrongByte) {
  HeapDamage found;
  found.error = error;
  found.function = function;
  found.pointer = uintptr_t(pointer);
  found.block = block;
  found.caller = caller;
  found.wrongByte = wrongByte;
  reportHeapDamage(found, heapChecks.level);
}

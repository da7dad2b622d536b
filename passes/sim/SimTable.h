// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of a module that mpgsim needs beforehand: its loads and
// stores with their places, its allocations and calls, and its variables. It is
// stored in the module as one text, which is passed on before the first
// constructor runs.
//
// A line for each thing, words between tabs. Files, codes, variables and
// places are each numbered from 0 in the order of their lines:
//
//   mpgsim VERSION TARGET
//   F path                         a file
//   L file line loop|code function a loop, or a function's code outside of one
//   V file line name               a variable on the stack, where it is
//                                  declared
//   A l|s|z|p1|p2 bytes line code variable
//                                  place: an access, z: DC ZVA, p: prefetch
//                                  into L1 or L2, which have one byte here; the
//                                  last may be empty
//   B place (address offset)...    a bundle: from that place on, the address
//                                  and the bytes after it of each access
//   H file line name               place: an allocation; the last may be empty
//   H                              place: one of a library for others
//   C name                         place: a function that is not in the module
//   G name                         an object of the list, in its order
//   D name                         a function of the module that others call
//   P symbol name                  one that a region may be: its byte is next

#pragma once

#include "base/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugLoc.h"
#include <string>

namespace mpg {

/// The cache that \p instruction prefetches data into, 1 or 2; 0: it does not.
unsigned simPrefetchLevel(const Instruction &instruction);

class SimTable {
public:
  explicit SimTable(Module &module);

  /// The number that added to this is a place's in the running program: an i64.
  GlobalVariable *firstPlace() const { return first; }

  // Each returns a place. \p loop may be null.
  unsigned addAccess(const Instruction &instruction, const Value &address,
                     const Loop *loop, bool store, uint64_t bytes);
  /// Accesses whose places follow each other from \p place on: which of the
  /// bundle's addresses each has, and how many bytes after it.
  struct Member {
    unsigned address;
    int64_t offset;
  };
  void addBundle(unsigned place, ArrayRef<Member> members);
  /// \p isPart: of memory that may have another name, as a resource of
  /// std::pmr gives it. \p descriptor: Fortran's, if the call fills one.
  unsigned addAllocation(const CallBase &call, bool isPart,
                         const Value *descriptor);
  unsigned addCallee(StringRef name);

  /// A byte that is set if the user has named \p function.
  Value *addFunction(const Function &function);

  /// Puts the text into the module, and the constructor that hands it over.
  void write();

private:
  unsigned getFile(const DebugLoc &location, const Function &function);
  unsigned numberOfFile(StringRef path);
  std::string getLocal(const Value &address);
  unsigned getCode(const Instruction &instruction, const Loop *loop);
  unsigned getNumber(StringMap<unsigned> &numbers, const Twine &line);
  GlobalVariable *writeObjects(uint64_t &count);
  GlobalVariable *writeSampled();

  Module &module;
  GlobalVariable *first;
  GlobalVariable *sampled; ///< stands for the bytes until all are known
  unsigned functions = 0;
  std::string text;
  unsigned places = 0;
  StringMap<unsigned> files, codes, callees, locals;
  /// Words of what getLocal has found.
  DenseMap<const AllocaInst *, std::string> knownLocals;
};

} // namespace mpg

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three questions about machine code, answered without a disassembler: does
// every call of one imported function pass the constant 0, does the code make
// the brk system call itself, and does code that certainly runs, such as a
// library's initialisation, lead to a call of an imported function?
//
// The idea: a linker lets code reach an imported function only through the
// slots that the loader fills. Every instruction that names such a slot, or a
// linkage stub that jumps through one, is found by its address field; the few
// instructions before it are then decoded. An undecided call counts against the
// file: "all zero" is an answer one can build on, "other" also means "don't
// know".

#pragma once

#include "Elf/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace mpg {

/// Addresses of one file that hold code: a section, a segment or a function.
struct CodeRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

/// Copies the code at \p address into \p buffer; false when it cannot be read.
/// Text can be 100 MB, so it is read in windows of 64 KiB.
using CodeReader = llvm::function_ref<bool(
    uint64_t address, llvm::MutableArrayRef<uint8_t> buffer)>;

/// What is known about the calls of one function.
enum class CallArguments {
  noCall,  ///< the file has no slot to call it through
  allZero, ///< every use is a call whose first argument is the constant 0
  other,   ///< some use is not, or no use was understood
};

/// How a file can reach the function.
struct CallTarget {
  /// Where the loader puts its address. Linkers make a slot with a JUMP_SLOT
  /// relocation for a stub alone; one with GLOB_DAT is also read by code.
  llvm::ArrayRef<uint64_t> jumpSlots;
  llvm::ArrayRef<uint64_t> gotSlots;
  /// Its address is a value in the program: a data relocation names it, or its
  /// undefined dynamic symbol has a value, which is the address of a stub that
  /// stands for the function (non-PIE programs).
  bool addressTaken = false;
  /// The sections of linkage stubs (.plt, .plt.sec, .plt.got), when known; they
  /// may also be part of the code ranges. Without them all code is read twice,
  /// and a stub that stands alone may be taken for a function.
  llvm::ArrayRef<CodeRange> stubs = {};
  /// Slots of functions that never return, such as exit and abort. Without them
  /// code after such a call seems to be reached with any argument.
  llvm::ArrayRef<uint64_t> noReturnSlots = {};
  /// The PT_GNU_EH_FRAME segment, which tells where functions start; the reader
  /// is asked for it. Without it the surroundings of a call stand for its
  /// function, and a switch near to it spoils the proof.
  CodeRange functionTable = {};
};

/// Looks at every use of \p target in \p code, in ranges of any order, and
/// stops at the first one that is not a call with 0.
CallArguments classifyCalls(Machine machine, llvm::ArrayRef<CodeRange> code,
                            CodeReader read, const CallTarget &target);

/// The lowest address of a system call instruction that is brk: the number,
/// 12 on x86-64 and 214 on AArch64, is loaded just before it. Code that gets
/// the number from elsewhere, as syscall() of the C library does, is not found.
std::optional<uint64_t> findBrkSystemCall(Machine machine,
                                          llvm::ArrayRef<CodeRange> code,
                                          CodeReader read);

struct CallQuery {
  /// The functions from which calls are followed.
  std::vector<uint64_t> starts;
  /// Where the loader puts the address of the function that is looked for.
  std::vector<uint64_t> slots;
  /// As in CallTarget. Without it functions are followed for 4 KiB at most.
  CodeRange functionTable = {};
};

/// Looks at no more than 1,000 functions.
bool reachesCall(Machine machine, llvm::ArrayRef<CodeRange> code,
                 CodeReader read, const CallQuery &query);

} // namespace mpg

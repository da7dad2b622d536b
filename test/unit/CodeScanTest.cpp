// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verdicts on calls of sbrk and on brk system calls in small pieces of machine
// code. Each piece is a program that a compiler and a linker could make: stubs,
// a slot, some code. The worst error would be "all zero" for code that may move
// the program break, so most cases come in pairs: one that only asks and one
// with the smallest difference.

#include "Code/CodeScan.h"
#include "Code/MachineCode.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace mpg;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t stubBase = 0x10000, textBase = 0x20000, slot = 0x800000;
constexpr uint64_t exitSlot = slot + 8;
constexpr size_t stubBytes = 32; // one stub each, x86-64 ones padded

/// A program that is written instruction by instruction.
class Program {
public:
  explicit Program(Machine machine, size_t textBytes = 0x1000)
      : machine(machine) {
    memory[stubBase] = Bytes(2 * stubBytes, 0xcc);
    memory[textBase] = Bytes(textBytes, 0xcc);
    here = textBase;
  }

  /// Goes on at \p address.
  Program &at(uint64_t address) {
    here = address;
    return *this;
  }
  Program &emit(const Bytes &bytes) {
    auto area = std::prev(memory.upper_bound(here));
    std::copy(bytes.begin(), bytes.end(),
              area->second.begin() + (here - area->first));
    here += bytes.size();
    return *this;
  }
  /// \p opcode and the distance to \p target, with \p tail behind it.
  Program &relative(Bytes opcode, uint64_t target, const Bytes &tail = {}) {
    uint64_t end = here + opcode.size() + 4 + tail.size();
    uint32_t distance = uint32_t(target - end);
    for (unsigned shift = 0; shift < 32; shift += 8)
      opcode.push_back(uint8_t(distance >> shift));
    opcode.insert(opcode.end(), tail.begin(), tail.end());
    return emit(opcode);
  }
  /// AArch64 words.
  Program &words(std::initializer_list<uint32_t> all) {
    for (uint32_t word : all)
      emit({uint8_t(word), uint8_t(word >> 8), uint8_t(word >> 16),
            uint8_t(word >> 24)});
    return *this;
  }
  /// An AArch64 branch; \p opcode without its distance.
  Program &branch(uint32_t opcode, uint64_t target, unsigned bits = 26,
                  unsigned shift = 0) {
    uint32_t mask = (1U << bits) - 1;
    return words({opcode | (uint32_t(target - here) >> 2 & mask) << shift});
  }
  Program &adrp(unsigned reg, uint64_t target, int page = 0) {
    uint32_t pages = uint32_t((target >> 12) - (here >> 12) + page);
    return words(
        {0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5 | reg});
  }

  CallArguments classify() const {
    target.stubs = {};
    std::vector<CodeRange> stubs = {{stubBase, 2 * stubBytes}};
    if (knowsStubs)
      target.stubs = stubs;
    return classifyCalls(machine, ranges(), reader(), target);
  }
  std::optional<uint64_t> findBrk() const {
    return findBrkSystemCall(machine, ranges(), reader());
  }

  std::vector<uint64_t> jumpSlots = {slot}, gotSlots;
  mutable CallTarget target;
  bool knowsStubs = true;
  uint64_t here;
  std::map<uint64_t, Bytes> memory;
  mutable size_t largestRead = 0;

  std::vector<CodeRange> ranges() const {
    target.jumpSlots = jumpSlots;
    target.gotSlots = gotSlots;
    // The caller's order does not matter.
    return {{textBase, memory.at(textBase).size()}, {stubBase, 2 * stubBytes}};
  }

private:
  Machine machine;

  bool read(uint64_t address, MutableArrayRef<uint8_t> buffer) const {
    largestRead = std::max(largestRead, buffer.size());
    auto area = memory.upper_bound(address);
    if (area == memory.begin())
      return false;
    --area;
    uint64_t offset = address - area->first;
    if (offset > area->second.size() ||
        buffer.size() > area->second.size() - offset)
      return false;
    std::copy_n(area->second.begin() + offset, buffer.size(), buffer.begin());
    return true;
  }
  mutable std::function<bool(uint64_t, MutableArrayRef<uint8_t>)> hold;
  CodeReader reader() const {
    hold = [this](uint64_t address, MutableArrayRef<uint8_t> buffer) {
      return read(address, buffer);
    };
    return hold;
  }
};

const Bytes xorEdi = {0x31, 0xff}, ret = {0xc3};
const Bytes movEdiEbx = {0x89, 0xdf};

/// An x86-64 program with a stub for sbrk and one for exit.
Program x86(size_t textBytes = 0x1000) {
  Program program(Machine::x86_64, textBytes);
  program.at(stubBase).relative({0xff, 0x25}, slot);
  program.emit({0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0});
  program.at(stubBase + stubBytes).relative({0xff, 0x25}, exitSlot);
  program.emit({0x68, 1, 0, 0, 0, 0xe9, 0, 0, 0, 0});
  return program.at(textBase);
}

Program &callSbrk(Program &program) {
  return program.relative({0xe8}, stubBase);
}

/// A function that runs \p front and then calls sbrk.
CallArguments afterX86(const Bytes &front) {
  Program program = x86();
  program.emit({0x55}).emit(front);
  callSbrk(program).emit(ret);
  return program.classify();
}

const uint32_t movX0Zero = 0xd2800000, retWord = 0xd65f03c0,
               stpFrame = 0xa9bf7bfd;

/// The same for AArch64.
Program aarch64(size_t textBytes = 0x1000) {
  Program program(Machine::aarch64, textBytes);
  for (uint64_t number : {0, 1}) {
    program.at(stubBase + number * stubBytes).words({0xd503245f}); // bti c
    program.adrp(16, slot).words({0xf9400211 | uint32_t(number) << 10,
                                  0x91000210 | uint32_t(number) << 13,
                                  0xd61f0220});
  }
  return program.at(textBase);
}

Program &blSbrk(Program &program) {
  return program.branch(0x94000000, stubBase);
}

CallArguments afterAArch64(std::initializer_list<uint32_t> front) {
  Program program = aarch64();
  program.words({stpFrame}).words(front);
  blSbrk(program).words({retWord});
  return program.classify();
}

} // namespace

TEST(X86Calls, zeroInEveryUsualForm) {
  const Bytes forms[] = {
      {0x31, 0xff},                               // xor edi, edi
      {0x33, 0xff},                               // the other encoding
      {0x48, 0x31, 0xff},                         // xor rdi, rdi
      {0xbf, 0, 0, 0, 0},                         // mov edi, 0
      {0x48, 0xc7, 0xc7, 0, 0, 0, 0},             // mov rdi, 0
      {0x31, 0xff, 0x48, 0x89, 0x04, 0x24},       // ...; mov [rsp], rax
      {0x31, 0xff, 0x48, 0x8d, 0x35, 1, 2, 3, 4}, // ...; lea rsi, [rip + x]
      {0x31, 0xc0, 0x89, 0xc7},                   // xor eax, eax; mov edi, eax
  };
  for (const Bytes &form : forms)
    EXPECT_EQ(afterX86(form), CallArguments::allZero)
        << testing::PrintToString(form);
}

TEST(X86Calls, anythingElseInTheArgument) {
  const Bytes forms[] = {
      {},                                   // what the caller passed
      {0xbf, 0, 0x10, 0, 0},                // mov edi, 4096
      {0x48, 0x89, 0xdf},                   // mov rdi, rbx
      {0x66, 0xbf, 0, 0},                   // mov di, 0 leaves the rest
      {0x40, 0xb7, 0},                      // mov dil, 0 as well
      {0x31, 0xff, 0xff, 0xc7},             // ...; inc edi
      {0x31, 0xff, 0x48, 0x8d, 0x7b, 0x10}, // ...; lea rdi, [rbx + 16]
      {0x31, 0xff, 0x5f},                   // ...; pop rdi
      {0x31, 0xff, 0x48, 0xab},             // ...; stosq
      {0x31, 0xff, 0x0f, 0x44, 0xfb},       // ...; cmove edi, ebx
      {0x31, 0xdf},                         // xor edi, ebx
      {0x41, 0x31, 0xff},                   // xor r15d, edi
      {0x31, 0xff, 0x41, 0x89, 0xc7, 0x44, 0x89, 0xff}, // edi from eax
  };
  for (const Bytes &form : forms)
    EXPECT_EQ(afterX86(form), CallArguments::other)
        << testing::PrintToString(form);
}

TEST(X86Calls, zeroingBytesInsideAnotherInstruction) {
  // mov eax, 0xff31abcd and mov rax, [rip + 0xff31abcd] end with xor edi, edi.
  EXPECT_EQ(afterX86({0xb8, 0xcd, 0xab, 0x31, 0xff}), CallArguments::other);
  EXPECT_EQ(afterX86({0x48, 0x8b, 0x05, 0xcd, 0xab, 0x31, 0xff}),
            CallArguments::other);
  // mov rax, 0x000000bf........ ends with mov edi, 0.
  EXPECT_EQ(afterX86({0x48, 0xb8, 1, 2, 3, 0xbf, 0, 0, 0, 0}),
            CallArguments::other);
}

TEST(X86Calls, callsInBetween) {
  auto between = [](const Bytes &front, const Bytes &behind) {
    Program program = x86();
    program.emit({0x55}).emit(front).relative({0xe8}, textBase + 0x800);
    program.emit(behind);
    callSbrk(program).emit(ret);
    program.at(textBase + 0x800).emit(ret);
    return program.classify();
  };
  // rbx survives a call, edi and eax do not.
  EXPECT_EQ(between({0x31, 0xdb}, movEdiEbx), CallArguments::allZero);
  EXPECT_EQ(between({0x31, 0xc0}, {0x89, 0xc7}), CallArguments::other);
  EXPECT_EQ(between(xorEdi, {}), CallArguments::other);
  EXPECT_EQ(between({}, xorEdi), CallArguments::allZero);
}

TEST(X86Calls, shortBranchToTheCall) {
  // FRONT; test ebx, ebx; jne call; xor edi, edi; call: sbrk
  auto merge = [](const Bytes &front) {
    Program program = x86();
    program.emit(front).emit({0x85, 0xdb, 0x75, 0x02}).emit(xorEdi);
    callSbrk(program).emit(ret);
    return program.classify();
  };
  EXPECT_EQ(merge({0xbf, 0, 0x10, 0, 0}), CallArguments::other);
  EXPECT_EQ(merge(xorEdi), CallArguments::allZero);
  // A branch to the xor does no harm.
  Program program = x86();
  program.emit({0x85, 0xdb, 0x75, 0x00}).emit(xorEdi);
  callSbrk(program);
  EXPECT_EQ(program.classify(), CallArguments::allZero);
}

TEST(X86Calls, farJumpToTheCall) {
  // Cold code lies far away, in front or behind, and jumps back.
  constexpr size_t textBytes = 0x80000;
  constexpr uint64_t function = textBase + 0x40000;
  auto jump = [](uint64_t from, const Bytes &opcode, uint64_t to) {
    Program program = x86(textBytes);
    program.at(function).emit({0x55}).emit(xorEdi);
    callSbrk(program).emit(ret);
    program.at(from).emit(movEdiEbx).relative(opcode, to);
    return program.classify();
  };
  uint64_t zeroing = function + 1, call = function + 3;
  for (uint64_t from :
       {textBase, function - 0x10000, function + 0x10000,
        textBase + textBytes - 16, function - 0x400, function + 0x400})
    for (const Bytes &opcode : {Bytes{0xe9}, Bytes{0x0f, 0x84}}) {
      EXPECT_EQ(jump(from, opcode, call), CallArguments::other) << from;
      EXPECT_EQ(jump(from, opcode, zeroing), CallArguments::allZero) << from;
      EXPECT_EQ(jump(from, opcode, call + 5), CallArguments::allZero) << from;
    }
  // The call is a separate function that others call or point to.
  EXPECT_EQ(jump(textBase, {0xe8}, call), CallArguments::other);
  EXPECT_EQ(jump(textBase, {0x48, 0x8d, 0x05}, call), CallArguments::other);
}

TEST(X86Calls, blockBehindACallThatMayReturn) {
  // xor edi, edi; test ebx, ebx; je L; mov edi, 1; call TARGET; L: call sbrk
  auto behind = [](uint64_t called, bool knowsExit) {
    Program program = x86();
    program.emit({0x55}).emit(xorEdi).emit({0x85, 0xdb, 0x74, 0x0a});
    program.emit({0xbf, 1, 0, 0, 0}).relative({0xe8}, called);
    callSbrk(program).emit(ret);
    // One function that ends with exit on both ways, one that may return.
    program.at(textBase + 0x200).emit({0x85, 0xff, 0x74, 0x05});
    program.relative({0xe8}, stubBase + stubBytes);
    program.relative({0xe8}, stubBase + stubBytes);
    program.at(textBase + 0x300).emit({0x85, 0xff, 0x74, 0x05});
    program.relative({0xe8}, stubBase + stubBytes).emit(ret);
    std::vector<uint64_t> slots = {exitSlot};
    if (knowsExit)
      program.target.noReturnSlots = slots;
    return program.classify();
  };
  EXPECT_EQ(behind(stubBase + stubBytes, true), CallArguments::allZero);
  EXPECT_EQ(behind(textBase + 0x200, true), CallArguments::allZero);
  EXPECT_EQ(behind(textBase + 0x300, true), CallArguments::other);
  EXPECT_EQ(behind(stubBase + stubBytes, false), CallArguments::other);
  EXPECT_EQ(behind(stubBase, true), CallArguments::other);
}

TEST(X86Calls, functionsBehindEachOther) {
  // z: xor edi, edi; jmp w.  w: call sbrk, for any caller of w.
  Program program = x86();
  program.emit(xorEdi).emit({0xeb, 0x00});
  callSbrk(program).emit(ret);
  EXPECT_EQ(program.classify(), CallArguments::other);
}

TEST(X86Calls, loopThatProvesItself) {
  // L: call sbrk; jmp L, and no zero anywhere.
  Program program = x86();
  program.emit({0x75, 0x00});
  uint64_t loop = program.here;
  callSbrk(program).relative({0xe9}, loop);
  EXPECT_EQ(program.classify(), CallArguments::other);
}

TEST(X86Calls, tailCalls) {
  for (const Bytes &opcode : {Bytes{0xe9}, Bytes{0x0f, 0x84}})
    for (bool zero : {false, true}) {
      Program program = x86();
      program.emit(zero ? xorEdi : movEdiEbx).relative(opcode, stubBase);
      EXPECT_EQ(program.classify(),
                zero ? CallArguments::allZero : CallArguments::other);
    }
}

TEST(X86Calls, oneBadCallSpoilsAll) {
  Program program = x86();
  for (int i = 0; i < 5; ++i)
    callSbrk(program.emit(xorEdi));
  EXPECT_EQ(program.classify(), CallArguments::allZero);
  callSbrk(program.emit(movEdiEbx));
  EXPECT_EQ(program.classify(), CallArguments::other);
}

TEST(X86Calls, otherFunctionsDoNotMatter) {
  Program program = x86();
  callSbrk(program.emit(xorEdi));
  program.emit(movEdiEbx).relative({0xe8}, stubBase + stubBytes);
  EXPECT_EQ(program.classify(), CallArguments::allZero);
}

TEST(X86Calls, everyShapeOfStub) {
  const Bytes prefixes[] = {{},
                            {0xf3, 0x0f, 0x1e, 0xfa},       // endbr64
                            {0xf2},                         // bnd
                            {0xf3, 0x0f, 0x1e, 0xfa, 0xf2}, // both
                            {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 7, 0, 0, 0}};
  for (const Bytes &prefix : prefixes)
    for (bool zero : {false, true}) {
      Program program = x86();
      program.at(stubBase).emit(prefix).relative({0xff, 0x25}, slot);
      program.at(textBase).emit(zero ? xorEdi : movEdiEbx);
      callSbrk(program);
      EXPECT_EQ(program.classify(),
                zero ? CallArguments::allZero : CallArguments::other)
          << testing::PrintToString(prefix);
    }
}

TEST(X86Calls, stubsWithoutSections) {
  // The jump behind a lazy stub identifies it; one alone could be a function.
  Program program = x86();
  program.knowsStubs = false;
  callSbrk(program.emit(xorEdi));
  EXPECT_EQ(program.classify(), CallArguments::allZero);
  program.at(stubBase + 6).emit(Bytes(10, 0xcc));
  EXPECT_EQ(program.classify(), CallArguments::other);
  program.knowsStubs = true;
  EXPECT_EQ(program.classify(), CallArguments::allZero);
}

TEST(X86Calls, throughTheSlot) {
  auto use = [](const Bytes &front, const Bytes &opcode,
                const Bytes &tail = {}) {
    Program program = x86();
    program.jumpSlots.clear();
    program.gotSlots = {slot};
    program.at(stubBase).emit(Bytes(stubBytes, 0xcc)).at(textBase);
    program.emit(front).relative(opcode, slot, tail).emit(ret);
    return program.classify();
  };
  EXPECT_EQ(use(xorEdi, {0xff, 0x15}), CallArguments::allZero); // call
  EXPECT_EQ(use(xorEdi, {0xff, 0x25}), CallArguments::allZero); // jmp
  EXPECT_EQ(use(movEdiEbx, {0xff, 0x15}), CallArguments::other);
  // Its value goes elsewhere: a load, a store of what is behind it, compares
  // with immediate operands of 1 and 4 bytes, a push.
  EXPECT_EQ(use(xorEdi, {0x48, 0x8b, 0x05}), CallArguments::other);
  EXPECT_EQ(use(xorEdi, {0x4c, 0x8b, 0x1d}), CallArguments::other);
  EXPECT_EQ(use(xorEdi, {0x48, 0x83, 0x3d}, {0}), CallArguments::other);
  EXPECT_EQ(use(xorEdi, {0x48, 0x81, 0x3d}, {0, 0, 0, 0}),
            CallArguments::other);
  EXPECT_EQ(use(xorEdi, {0xff, 0x35}), CallArguments::other);
}

TEST(X86Calls, addressOfTheStub) {
  Program program = x86();
  callSbrk(program.emit(xorEdi));
  program.relative({0x48, 0x8d, 0x05}, stubBase); // lea rax, [stub]
  EXPECT_EQ(program.classify(), CallArguments::other);
}

TEST(X86Calls, switchNearTheCall) {
  // movslq (%rcx,%rax,4), %rax; add %rcx, %rax; jmp *%rax may land on the call.
  const Bytes dispatch = {0x48, 0x63, 0x04, 0x81, 0x48, 0x01, 0xc8, 0xff, 0xe0};
  for (bool far : {false, true}) {
    Program program = x86(0x4000);
    program.emit(dispatch).at(far ? textBase + 0x2000 : program.here);
    callSbrk(program.emit(xorEdi)).emit(ret);
    EXPECT_EQ(program.classify(),
              far ? CallArguments::allZero : CallArguments::other);
  }
  // A jump through a register that holds a pointer is a tail call.
  Program program = x86();
  program.emit({0x48, 0x8b, 0x07, 0xff, 0xe0}); // mov (%rdi), %rax; jmp *%rax
  callSbrk(program.emit(xorEdi)).emit(ret);
  EXPECT_EQ(program.classify(), CallArguments::allZero);
}

TEST(X86Calls, functionsKnownFromTheirTable) {
  // A switch in the function before does no harm, one in the same function far
  // in front does.
  constexpr uint64_t header = 0x700000, function = textBase + 0x100;
  const Bytes dispatch = {0x48, 0x63, 0x04, 0x81, 0x48, 0x01, 0xc8, 0xff, 0xe0};
  auto classify = [&](uint64_t dispatchAt, uint64_t callAt) {
    Program program = x86(0x4000);
    Bytes table = {1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 3, 0, 0, 0};
    for (uint64_t start : {textBase, function, textBase + 0x3000}) {
      uint32_t offset = uint32_t(start - header);
      for (unsigned shift = 0; shift < 32; shift += 8)
        table.push_back(uint8_t(offset >> shift));
      table.insert(table.end(), 4, 0);
    }
    program.memory[header] = table;
    program.target.functionTable = {header, table.size()};
    program.at(dispatchAt).emit(dispatch).at(callAt).emit(xorEdi);
    callSbrk(program).emit(ret);
    return program.classify();
  };
  EXPECT_EQ(classify(textBase + 0x80, function), CallArguments::allZero);
  EXPECT_EQ(classify(function, function + 0x2000), CallArguments::other);
}

TEST(X86Calls, whereWindowsMeet) {
  // Code is read 64 KiB at a time; nothing may be lost at the seams.
  constexpr uint64_t seam = 0x30000;
  for (uint64_t address = seam - 40; address < seam + 40; ++address)
    for (bool zero : {false, true}) {
      Program program = x86(0x20000);
      program.at(address).emit(zero ? xorEdi : movEdiEbx);
      callSbrk(program);
      // A first call, so that missing this one shows as "all zero".
      program.at(textBase + 0x100).emit(xorEdi);
      callSbrk(program);
      EXPECT_EQ(program.classify(),
                zero ? CallArguments::allZero : CallArguments::other)
          << address;
      EXPECT_LE(program.largestRead, size_t(128 << 10));
    }
}

TEST(X86Calls, zerosBetweenFunctions) {
  // Linkers fill with zeros, which decode as instructions of two bytes.
  for (size_t zeros = 0; zeros < 40; ++zeros) {
    Program program = x86();
    program.emit(ret).emit(Bytes(zeros, 0)).emit({0x48, 0x83, 0xec, 0x08});
    callSbrk(program.emit(xorEdi)).emit(ret);
    EXPECT_EQ(program.classify(), CallArguments::allZero) << zeros;
  }
}

TEST(AArch64Calls, zeroInEveryUsualForm) {
  const std::initializer_list<uint32_t> forms[] = {
      {0xd2800000},             // mov x0, #0
      {0x52800000},             // mov w0, #0
      {0xaa1f03e0},             // mov x0, xzr
      {0x2a1f03e0},             // mov w0, wzr
      {0xd2800000, 0xf90007e1}, // ...; str x1, [sp, #8]
      {0xd2800000, 0xa90153f3}, // ...; stp x19, x20, [sp, #16]
      {0xd2800000, 0x4f000400}, // ...; movi v0.4s, #0
      {0xd2800013, 0xaa1303e0}, // mov x19, #0; mov x0, x19
  };
  for (const auto &form : forms)
    EXPECT_EQ(afterAArch64(form), CallArguments::allZero)
        << std::hex << *(form.end() - 1);
}

TEST(AArch64Calls, anythingElseInTheArgument) {
  const std::initializer_list<uint32_t> forms[] = {
      {},                       // what the caller passed
      {0xd2820000},             // mov x0, #4096
      {0xaa1303e0},             // mov x0, x19
      {0xd2800001},             // mov x1, #0
      {0xf2800000},             // movk x0, #0
      {0xd2800000, 0xf94007e0}, // ...; ldr x0, [sp, #8]
      {0xd2800000, 0x91004000}, // ...; add x0, x0, #16
      {0xd2800000, 0xa8c103e1}, // ...; ldp x1, x0, [sp], #16
      {0xd2800000, 0xf8408401}, // ...; ldr x1, [x0], #8
      {0xd2800000, 0x9e660000}, // ...; fmov x0, d0
      {0xd2800000, 0x9a810000}, // ...; csel x0, x0, x1, eq
      {0xd2800000, 0xd4000001}, // ...; svc #0
  };
  for (const auto &form : forms)
    EXPECT_EQ(afterAArch64(form), CallArguments::other)
        << std::hex << (form.size() ? *(form.end() - 1) : 0);
}

TEST(AArch64Calls, tailCall) {
  for (uint32_t front : {movX0Zero, 0xaa1303e0U}) {
    Program program = aarch64();
    program.words({front}).branch(0x14000000, stubBase);
    EXPECT_EQ(program.classify(), front == movX0Zero ? CallArguments::allZero
                                                     : CallArguments::other);
  }
}

TEST(AArch64Calls, resultOfACallIsTheArgumentOfTheNext) {
  // mov x0, #0; cbz x1, L; mov w0, #1; bl TARGET; L: bl sbrk
  auto behind = [](uint64_t called) {
    Program program = aarch64();
    program.words({stpFrame, movX0Zero, 0xb4000061, 0x52800020});
    program.branch(0x94000000, called);
    blSbrk(program).words({retWord});
    program.at(textBase + 0x200).words({retWord});
    std::vector<uint64_t> slots = {exitSlot};
    program.target.noReturnSlots = slots;
    return program.classify();
  };
  EXPECT_EQ(behind(textBase + 0x200), CallArguments::other);
  EXPECT_EQ(behind(stubBase + stubBytes), CallArguments::allZero);
}

TEST(AArch64Calls, branchesToTheCall) {
  constexpr uint64_t function = textBase + 0x100000;
  struct {
    uint32_t opcode;
    unsigned bits, shift;
    int64_t from;
  } const cases[] = {
      {0x54000000, 19, 5, -8},       // b.eq, near
      {0x54000000, 19, 5, -0xf0000}, // b.eq, far
      {0xb4000000, 19, 5, 0x9000},   // cbz
      {0x36000000, 14, 5, -0x4000},  // tbz
      {0x14000000, 26, 0, -0xf8000}, // b
      {0x14000000, 26, 0, 0x20000},  // b
      {0x94000000, 26, 0, 0x20000},  // bl: the call is a function
  };
  for (const auto &test : cases)
    for (bool onCall : {false, true}) {
      Program program = aarch64(0x180000);
      program.at(function).words({movX0Zero});
      blSbrk(program).words({retWord});
      program.at(function + test.from)
          .branch(test.opcode, function + (onCall ? 4 : 0), test.bits,
                  test.shift);
      EXPECT_EQ(program.classify(),
                onCall ? CallArguments::other : CallArguments::allZero)
          << std::hex << test.opcode << " at " << test.from;
    }
}

TEST(AArch64Calls, readingTheSlot) {
  auto use = [](unsigned base, std::function<void(Program &)> code) {
    Program program = aarch64();
    program.gotSlots = {slot + 0x7f8};
    blSbrk(program.words({stpFrame, movX0Zero}));
    program.adrp(base, slot);
    code(program);
    return program.classify();
  };
  uint32_t load = 0xf943fc01; // ldr x1, [x0, #0x7f8]
  auto x3 = [](uint32_t word) { return word | 3 << 5; };
  EXPECT_EQ(use(0, [&](Program &p) { p.words({load}); }), CallArguments::other);
  EXPECT_EQ(use(3, [&](Program &p) { p.words({0xd503201f, x3(load)}); }),
            CallArguments::other);
  // add x1, x0, #0x7f8: the address of the slot
  EXPECT_EQ(use(0, [&](Program &p) { p.words({0x911fe001}); }),
            CallArguments::other);
  // Another slot, another page, another register.
  EXPECT_EQ(use(0, [&](Program &p) { p.words({0xf943f801}); }),
            CallArguments::allZero);
  EXPECT_EQ(use(0, [&](Program &p) { p.adrp(0, slot, 1).words({load}); }),
            CallArguments::allZero);
  EXPECT_EQ(use(0, [&](Program &p) { p.words({x3(load)}); }),
            CallArguments::allZero);
}

TEST(AArch64Calls, slotFarFromItsPage) {
  // -fpic: one page for the whole table, offsets up to 32 KiB.
  Program program = aarch64();
  program.gotSlots = {slot + 0x3008};
  blSbrk(program.words({stpFrame, movX0Zero}));
  program.adrp(2, slot).words({0xf9580441}); // ldr x1, [x2, #0x3008]
  EXPECT_EQ(program.classify(), CallArguments::other);
}

TEST(AArch64Calls, pageBeforeTheSeamOfWindows) {
  constexpr uint64_t seam = 0x30000;
  for (unsigned between = 0; between < 64; between += 7) {
    Program program = aarch64(0x20000);
    program.gotSlots = {slot + 0x7f8};
    blSbrk(program.words({stpFrame, movX0Zero}));
    program.at(seam - 4 * between).adrp(2, slot);
    for (unsigned i = 0; i < between; ++i)
      program.words({0xd503201f});
    program.words({0xf943fc41}); // ldr x1, [x2, #0x7f8]
    EXPECT_EQ(program.classify(), CallArguments::other) << between;
  }
}

TEST(AArch64Calls, stubsWithoutSections) {
  Program program = aarch64();
  program.knowsStubs = false;
  blSbrk(program.words({stpFrame, movX0Zero}));
  EXPECT_EQ(program.classify(), CallArguments::allZero);
}

TEST(Calls, nothingToCallThrough) {
  Program program = x86();
  program.jumpSlots.clear();
  EXPECT_EQ(program.classify(), CallArguments::noCall);
}

TEST(Calls, unknownIsNotHarmless) {
  // An unused slot, an address that is data, code that is missing.
  EXPECT_EQ(x86().classify(), CallArguments::other);
  EXPECT_EQ(aarch64().classify(), CallArguments::other);
  Program program = x86();
  callSbrk(program.emit(xorEdi));
  EXPECT_EQ(program.classify(), CallArguments::allZero);
  program.target.addressTaken = true;
  EXPECT_EQ(program.classify(), CallArguments::other);

  auto fails = [](uint64_t, MutableArrayRef<uint8_t>) { return false; };
  uint64_t slots[] = {slot};
  CallTarget target;
  target.jumpSlots = slots;
  for (Machine machine : {Machine::x86_64, Machine::aarch64})
    for (CodeRange range :
         {CodeRange{textBase, 100}, CodeRange{textBase, UINT64_MAX},
          CodeRange{UINT64_MAX - 3, 100}, CodeRange{0, 0}}) {
      EXPECT_EQ(classifyCalls(machine, range, fails, target),
                CallArguments::other);
      EXPECT_EQ(findBrkSystemCall(machine, range, fails), std::nullopt);
    }
}

TEST(Calls, randomCodeIsSurvived) {
  std::mt19937 random(20);
  for (int round = 0; round < 150; ++round) {
    bool isX86 = round % 2 == 0;
    Program program = isX86 ? x86(0x11000 + round) : aarch64(0x11000 + round);
    for (auto &area : program.memory)
      for (uint8_t &byte : area.second)
        if (area.first == textBase || random() % 8 == 0)
          byte = uint8_t(random());
    for (uint64_t place = textBase + 256; place < textBase + 0x10000;
         place += 512)
      if (isX86)
        callSbrk(program.at(place));
      else
        blSbrk(program.at(place));
    program.gotSlots = {slot + 16};
    program.target.noReturnSlots = program.gotSlots;
    program.target.functionTable = {textBase, 0x1000};
    EXPECT_NE(program.classify(), CallArguments::noCall);
    program.findBrk();
  }
}

TEST(BrkSystemCall, x86) {
  const Bytes found[] = {
      {0xb8, 12, 0, 0, 0, 0x0f, 0x05},                   // mov eax, 12
      {0x48, 0xc7, 0xc0, 12, 0, 0, 0, 0x0f, 0x05},       // mov rax, 12
      {0x6a, 12, 0x58, 0x0f, 0x05},                      // push 12; pop rax
      {0xb8, 12, 0, 0, 0, 0x48, 0x89, 0xdf, 0x0f, 0x05}, // ...; mov rdi, rbx
  };
  const Bytes notFound[] = {
      {0xb8, 13, 0, 0, 0, 0x0f, 0x05},             // another number
      {0xb8, 12, 0, 0, 0},                         // no system call
      {0xb8, 12, 0, 0, 0, 0x31, 0xc0, 0x0f, 0x05}, // ...; xor eax, eax
      {0xbf, 12, 0, 0, 0, 0x0f, 0x05},             // in another register
      {0xb8, 12, 0, 0, 0, 0xc3, 0x0f, 0x05},       // a function in between
  };
  for (const Bytes &code : found) {
    Program program = x86();
    program.emit(code);
    EXPECT_EQ(program.findBrk(), program.here - 2)
        << testing::PrintToString(code);
  }
  for (const Bytes &code : notFound)
    EXPECT_EQ(x86().emit(code).findBrk(), std::nullopt)
        << testing::PrintToString(code);
}

TEST(BrkSystemCall, aarch64) {
  const uint32_t number = 0xd2801ac8, svc = 0xd4000001; // mov x8, #214; svc #0
  EXPECT_EQ(aarch64().words({number, svc}).findBrk(), textBase + 4);
  EXPECT_EQ(aarch64().words({0x52801ac8, movX0Zero, svc}).findBrk(),
            textBase + 8);
  EXPECT_EQ(aarch64().words({0xd2801ae8, svc}).findBrk(), std::nullopt);
  EXPECT_EQ(aarch64().words({number, 0xd2800008, svc}).findBrk(), std::nullopt);
  EXPECT_EQ(aarch64().words({number, retWord, svc}).findBrk(), std::nullopt);
  EXPECT_EQ(aarch64().words({number, number}).findBrk(), std::nullopt);
}

TEST(BrkSystemCall, theLowestOneAndAcrossWindows) {
  const Bytes code = {0xb8, 12, 0, 0, 0, 0x0f, 0x05};
  Program program = x86(0x40000);
  for (uint64_t address : {textBase + 0x30000, textBase + 0x500})
    program.at(address).emit(code);
  EXPECT_EQ(program.findBrk(), textBase + 0x505);
  constexpr uint64_t seam = 0x30000;
  for (uint64_t address = seam - 12; address < seam + 12; ++address)
    EXPECT_EQ(x86(0x20000).at(address).emit(code).findBrk(), address + 5);
}

TEST(Instruction, x86Lengths) {
  // The assembler's answer for one of each form.
  const Bytes instructions[] = {
      {0x90},
      {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
      {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
      {0x66, 0x81, 0x3f, 1, 2},                      // cmpw $x, (%rdi)
      {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},          // movabs
      {0x48, 0xa3, 1, 2, 3, 4, 5, 6, 7, 8},          // movabs to memory
      {0xf6, 0x45, 0, 1},                            // testb $1, 0(%rbp)
      {0xf7, 0xd8},                                  // neg %eax
      {0xf7, 0x04, 0x25, 1, 2, 3, 4, 5, 6, 7, 8},    // testl $x, abs
      {0xc8, 1, 2, 3},                               // enter
      {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8},             // palignr
      {0xf3, 0x0f, 0x38, 0xf6, 0xc1},                // adox
      {0xc5, 0xf8, 0x77},                            // vzeroupper
      {0xc5, 0xf9, 0x70, 0xc0, 0xee},                // vpshufd
      {0xc4, 0xe3, 0x7d, 0x19, 0xc1, 1},             // vextractf128
      {0xc4, 0xe2, 0x7d, 0x18, 0x04, 0x24},          // vbroadcastss
      {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x44, 0x24, 1}, // vmovdqu64
      {0x62, 0xf3, 0xfd, 0x48, 0x3b, 0xc1, 1},       // vextracti64x4
      {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, // mov %fs:0x28, %rax
      {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0},          // call, padded for TLS
      {0xc7, 0x84, 0x24, 1, 2, 3, 4, 5, 6, 7, 8},    // movl $x, y(%rsp)
      {0x69, 0x05, 1, 2, 3, 4, 5, 6, 7, 8},          // imul $x, y(%rip)
  };
  for (const Bytes &code : instructions) {
    Bytes padded = code;
    padded.resize(20, 0x90);
    EXPECT_EQ(decodeX86(padded, 0).bytes, code.size())
        << testing::PrintToString(code);
    // One byte less is not an instruction, and nothing behind it is read.
    Bytes shorter(code.begin(), code.end() - 1);
    EXPECT_FALSE(decodeX86(shorter, 0).valid()) << testing::PrintToString(code);
  }
  Bytes prefixes(20, 0x66);
  EXPECT_FALSE(decodeX86(prefixes, 0).valid());
}

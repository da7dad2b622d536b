// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapReport.h. The line is built on the stack and written by one system
// call. The caller's place is given as file and address in that file, the way
// addr2line takes it, from the memory map alone: dladdr and dl_iterate_phdr
// take the loader's lock, which another thread may hold while it waits for us.

#include "heap/HeapReport.h"

#include "base/Messages.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

using namespace mpg;

//===----------------------------------------------------------------------===//
// Where the call came from
//===----------------------------------------------------------------------===//

/// How far the file whose first page is \p head was moved by the loader; for a
/// program at fixed addresses nothing. False if that page is no ELF header.
static bool loadBias(Range head, uintptr_t &bias) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(head.start);
  if (head.bytes() < sizeof *header ||
      memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phoff > head.bytes() ||
      header->e_phnum * sizeof(Elf64_Phdr) > head.bytes() - header->e_phoff)
    return false;
  auto *segments =
      reinterpret_cast<const Elf64_Phdr *>(head.start + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD)
      continue;
    bias = head.start - (segments[i].p_vaddr - segments[i].p_offset);
    return true;
  }
  return false;
}

/// The file offset in a line of the map: behind range and rights.
static uint64_t offsetIn(const char *line) {
  uint64_t offset = 0;
  for (int fields = 0; line && fields < 2; ++fields) {
    line = strchr(line, ' ');
    line = line ? line + 1 : nullptr;
  }
  if (line)
    parseNumber(line, 16, offset);
  return offset;
}

/// The end of a path is what tells libraries apart.
static void addPath(LineBuffer &line, const char *path) {
  constexpr size_t mostBytes = 200;
  size_t length = strlen(path);
  if (length > mostBytes) {
    line.add("...");
    path += length - mostBytes;
    length = mostBytes;
  }
  line.add(path, length);
}

/// Adds " (/path/app+0x1e12)" for the call that returns to \p address; nothing
/// for code that is in no file.
static void addPlace(LineBuffer &line, uintptr_t address) {
  LineReader lines("/proc/self/maps");
  Mapping mapping, first = {};
  while (const char *text = lines.next()) {
    if (!parseMapping(text, mapping))
      continue;
    bool isFile = mapping.name[0] == '/';
    // The loader maps a file from its first page on, in one piece.
    if (isFile && offsetIn(text) == 0)
      first = mapping;
    // The byte before: a call that never returns may be a function's last.
    if (!mapping.range.contains(address - 1))
      continue;
    if (!isFile)
      return;
    uintptr_t bias;
    line.add(" (");
    addPath(line, strchr(text, '/'));
    if (strcmp(first.name, mapping.name) == 0 && first.readable &&
        loadBias(first.range, bias))
      line.add("+").addHex(address - bias);
    line.add(")");
    return;
  }
}

//===----------------------------------------------------------------------===//
// The line
//===----------------------------------------------------------------------===//

static void addBlock(LineBuffer &line, const HeapDamage &damage) {
  if (damage.block.empty())
    return;
  line.add(" (").addNumber(damage.block.bytes()).add(" bytes");
  if (damage.block.start) // else one of that size, it is not known which
    line.add(" at ").addHex(damage.block.start);
  if (damage.error == HeapError::writtenAround)
    line.add(", first wrong byte at ").addHex(damage.wrongByte);
  line.add(")");
}

static const char *whatOf(const HeapDamage &damage) {
  switch (damage.error) {
  case HeapError::freedBefore:
    return "block was freed before";
  case HeapError::insideBlock:
    return "points into a block, not at its start";
  case HeapError::notOurs:
    return "not from this heap";
  case HeapError::writtenAround:
    return damage.wrongByte < damage.block.start ? "written before its start"
                                                 : "written past its end";
  case HeapError::writtenAfterFree:
    return "block was written to after it was freed";
  }
  return "";
}

static const char *fixOf(HeapError error) {
  switch (error) {
  case HeapError::freedBefore:
    return "free each block once";
  case HeapError::insideBlock:
    return "give the address that malloc returned";
  case HeapError::notOurs:
    return "give only what malloc and its relatives returned";
  case HeapError::writtenAround:
    return "write to nothing but what was asked for; a build with "
           "-fsanitize=address names the line that does";
  case HeapError::writtenAfterFree:
    return "do not use a block after free; a build with -fsanitize=address "
           "names the line that does";
  }
  return "";
}

static void print(const HeapDamage &damage, bool brief) {
  LineBuffer line;
  line.add("mpg: heap: ").add(damage.function).add("(");
  if (damage.pointer)
    line.addHex(damage.pointer);
  line.add("): ").add(whatOf(damage));
  addBlock(line, damage);
  if (!brief && damage.caller) {
    line.add("; called from ").addHex(damage.caller);
    addPlace(line, damage.caller);
  }
  if (!brief)
    line.add("; fix: ").add(fixOf(damage.error));
  line.print();
}

//===----------------------------------------------------------------------===//
// One thread at a time
//===----------------------------------------------------------------------===//

/// Process and thread that is in here, or 0. Both, because a child that was
/// forked meanwhile has the number but not the thread.
static uint64_t reporter;

static uint64_t thisThread() {
  auto process = uint64_t(rawCall(SYS_getpid));
  return process << 32 | uint64_t(rawCall(SYS_gettid));
}

/// True if no other thread of this process is in here, and this one is now.
static bool tryEnter(uint64_t self) {
  uint64_t holder = 0;
  for (;;) {
    if (__atomic_compare_exchange_n(&reporter, &holder, self, /*weak=*/false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return true;
    if (holder == self) // in the handler of the signal that ends the process
      return true;
    if (holder >> 32 == self >> 32)
      return false;
    // Another process has it: the parent had when it made this one.
  }
}

static void enter(uint64_t self) {
  // A handler of SIGABRT may leave by longjmp and keep the place for ever. Five
  // seconds are enough for one that writes a trace; whoever has waited so long
  // goes on as well.
  constexpr unsigned mostTurns = 500;
  timespec pause = {0, 10 * 1000 * 1000};
  for (unsigned turn = 0; turn < mostTurns && !tryEnter(self); ++turn)
    rawCall(SYS_nanosleep, long(&pause), 0);
}

/// Leaves, also for the call whose signal handler this one was made from.
static void leave(uint64_t self) {
  __atomic_compare_exchange_n(&reporter, &self, 0, /*weak=*/false,
                              __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void mpg::reportHeapDamage(const HeapDamage &damage, unsigned check) {
  constexpr unsigned prints = 1, ends = 2, isBrief = 4;
  if (!(check & (prints | ends)))
    return;
  uint64_t self = thisThread();
  enter(self);
  if (check & prints)
    print(damage, check & isBrief);
  if (check & ends)
    abort();
  leave(self);
}

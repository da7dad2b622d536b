// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initialisers stand in DT_INIT and in the array of DT_INIT_ARRAY, whose
// entries the loader fills in: the file has them as relocations.

#include "Audit/ThreadStart.h"
#include "Code/CallReach.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;
using support::endian::read64le;

namespace {

struct Initialisers {
  uint64_t function = 0; ///< DT_INIT
  uint64_t array = 0, arrayBytes = 0;
};

} // namespace

static Initialisers findInitialisers(Image &image) {
  Initialisers found;
  const Segment *segment = image.findSegment(PT_DYNAMIC);
  uint8_t entry[sizeof(Elf64_Dyn)];
  for (uint64_t at = 0; segment && at + sizeof entry <= segment->fileBytes;
       at += sizeof entry) {
    if (!image.readMemory(segment->address + at, entry))
      break;
    uint64_t tag = read64le(entry), value = read64le(entry + 8);
    if (tag == DT_NULL)
      break;
    if (tag == DT_INIT)
      found.function = value;
    else if (tag == DT_INIT_ARRAY)
      found.array = value;
    else if (tag == DT_INIT_ARRAYSZ)
      found.arrayBytes = value;
  }
  return found;
}

static uint64_t symbolValue(Image &image, uint64_t index) {
  uint8_t symbol[sizeof(Elf64_Sym)];
  bool known = image.readMemory(
      image.dynamic().symbolTable + index * sizeof symbol, symbol);
  return known ? read64le(symbol + offsetof(Elf64_Sym, st_value)) : 0;
}

/// What the loader writes for \p relocation, an Elf64_Rela: an address in this
/// file, or 0.
static uint64_t relocatedValue(Image &image, const uint8_t *relocation) {
  bool x86 = image.machine() == Machine::x86_64;
  uint32_t type = read32le(relocation + 8), symbol = read32le(relocation + 12);
  uint64_t addend = read64le(relocation + 16);
  if (type == (x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE))
    return addend;
  if (type != (x86 ? R_X86_64_64 : R_AARCH64_ABS64))
    return 0;
  uint64_t value = symbolValue(image, symbol);
  return value ? value + addend : 0;
}

static void addRelocated(Image &image, const Initialisers &initialisers,
                         std::vector<uint64_t> &functions) {
  constexpr uint64_t entryBytes = sizeof(Elf64_Rela), chunk = 512;
  const Dynamic &dynamic = image.dynamic();
  uint64_t count = dynamic.relaBytes / entryBytes;
  std::vector<uint8_t> buffer(chunk * entryBytes);
  for (uint64_t first = 0; first < count; first += chunk) {
    uint64_t here = std::min(chunk, count - first);
    if (!image.readMemory(
            dynamic.rela + first * entryBytes,
            MutableArrayRef<uint8_t>(buffer).take_front(here * entryBytes)))
      return;
    for (uint64_t i = 0; i < here; ++i) {
      const uint8_t *relocation = buffer.data() + i * entryBytes;
      if (read64le(relocation) - initialisers.array >= initialisers.arrayBytes)
        continue;
      if (uint64_t value = relocatedValue(image, relocation))
        functions.push_back(value);
    }
  }
}

/// The functions that the loader calls, in no order.
static std::vector<uint64_t> initialisingFunctions(Image &image) {
  constexpr uint64_t maxEntries = 10000; // more is damage
  Initialisers initialisers = findInitialisers(image);
  initialisers.arrayBytes =
      std::min(initialisers.arrayBytes, maxEntries * sizeof(uint64_t));
  std::vector<uint64_t> functions;
  if (initialisers.function)
    functions.push_back(initialisers.function);
  addRelocated(image, initialisers, functions);
  // With packed relocations (DT_RELR) the array itself holds the addresses.
  uint8_t entry[8];
  for (uint64_t at = 0; at + 8 <= initialisers.arrayBytes; at += 8)
    if (image.readMemory(initialisers.array + at, entry) &&
        read64le(entry) != 0)
      functions.push_back(read64le(entry));
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()),
                  functions.end());
  return functions;
}

/// std::thread starts its thread inside libstdc++.
static bool startsThread(StringRef name) {
  return name == "pthread_create" || name == "thrd_create" || name == "clone" ||
         name.starts_with("_ZNSt6thread15_M_start_thread");
}

ThreadStart mpg::findThreadStart(Image &image) {
  ThreadStart start;
  CallQuestion question;
  auto wanted = [](const Symbol &symbol) { return startsThread(symbol.name); };
  for (const Relocation &relocation : image.findRelocations(wanted)) {
    start.function = relocation.name.starts_with("_Z") ? "std::thread"
                                                       : relocation.name.str();
    question.slots.push_back(relocation.address);
  }
  if (question.slots.empty())
    return start;
  question.starts = initialisingFunctions(image);
  // Compilers put two into every library, which start nothing.
  constexpr size_t compilersOwn = 2;
  start.initialises = question.starts.size() > compilersOwn;
  if (const Segment *table = image.findSegment(PT_GNU_EH_FRAME))
    question.functionTable = {table->address, table->fileBytes};
  std::vector<CodeRange> code;
  for (const Segment &load : image.loads())
    if (load.executable())
      code.push_back({load.address, load.fileBytes});
  auto read = [&](uint64_t address, MutableArrayRef<uint8_t> buffer) {
    return image.readMemory(address, buffer);
  };
  start.reached = reachesCall(image.machine(), code, read, question);
  return start;
}

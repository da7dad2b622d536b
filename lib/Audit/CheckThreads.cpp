// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG104: a thread stack whose address the program chooses cannot be moved.
// MPG105: a library that starts a thread while the loader initialises it,
// before the large page library is initialised: the process stack cannot be
// moved then, and that thread's own stack is where it is. Whether one does is
// read from the code of its initialisers.

#include "Audit/Checks.h"
#include "Code/CodeScan.h"
#include "Elf/Image.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;
using support::endian::read64le;

void mpg::checkThreadStack(const Subject &subject, Findings &findings) {
  std::vector<StringRef> used =
      subject.symbols().findImports({KnownSymbol::pthread_attr_setstack,
                                     KnownSymbol::pthread_attr_setstackaddr});
  if (used.empty() || subject.carriesLibmpg()) // it is libmpg that does
    return;
  Finding &finding =
      findings.add(FindingId::mpg104, "the address of a thread stack is set "
                                      "by the program");
  finding.where.symbol = used.front().str();
  finding.evidence = "imports " + join(used, ", ");
}

namespace {

struct ThreadStart {
  std::string function;     ///< "pthread_create"; "" if it starts none
  bool initialises = false; ///< it has code that runs before main
  bool reached = false;     ///< such code leads to the call
};

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

/// The value that the loader writes for \p relocation, an Elf64_Rela: an
/// address in this file, or 0.
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
  llvm::sort(functions);
  functions.erase(llvm::unique(functions), functions.end());
  return functions;
}

/// std::thread starts its thread inside libstdc++.
static bool startsThread(StringRef name) {
  return name == "pthread_create" || name == "thrd_create" || name == "clone" ||
         name.starts_with("_ZNSt6thread15_M_start_thread");
}

/// pre: image.isLoadable(). Reads the initialisers' code.
static ThreadStart findThreadStart(Image &image) {
  ThreadStart start;
  CallQuery query;
  auto wanted = [](const Symbol &symbol) { return startsThread(symbol.name); };
  for (const Relocation &relocation : image.findRelocations(wanted)) {
    start.function = relocation.name.starts_with("_Z") ? "std::thread"
                                                       : relocation.name.str();
    query.slots.push_back(relocation.address);
  }
  if (query.slots.empty())
    return start;
  query.starts = initialisingFunctions(image);
  // Compilers put two into every library, which start nothing.
  constexpr size_t compilersOwn = 2;
  start.initialises = query.starts.size() > compilersOwn;
  if (const Segment *table = image.findSegment(PT_GNU_EH_FRAME))
    query.functionTable = {table->address, table->fileBytes};
  std::vector<CodeRange> code;
  for (const Segment &load : image.loads())
    if (load.executable())
      code.push_back({load.address, load.fileBytes});
  auto read = [&](uint64_t address, MutableArrayRef<uint8_t> buffer) {
    return image.readMemory(address, buffer);
  };
  start.reached = reachesCall(image.machine(), code, read, query);
  return start;
}

namespace {

/// The order in which glibc (2.35 or later) initialises the libraries of a
/// program: what a library needs before the library itself; else the last ones
/// in the order of search first.
class InitOrder {
public:
  explicit InitOrder(const Closure &closure)
      : closure(closure), visited(closure.libraries.size()) {
    for (size_t i = closure.libraries.size(); i-- > 0;)
      visit(unsigned(i));
    moveFirst();
  }
  std::vector<unsigned> order;

private:
  const Closure &closure;
  std::vector<bool> visited;

  void visit(unsigned index);
  void moveFirst();
};

} // namespace

/// Depth first, with a list in place of recursion: a chain of libraries can be
/// longer than a stack is deep.
void InitOrder::visit(unsigned index) {
  std::vector<std::pair<unsigned, size_t>> path; // and the next of its needs
  auto enter = [&](unsigned next) {
    if (visited[next])
      return;
    visited[next] = true;
    path.push_back({next, 0});
  };
  enter(index);
  while (!path.empty()) {
    auto &[current, need] = path.back();
    const std::vector<unsigned> &needs = closure.libraries[current].needs;
    if (need < needs.size()) {
      enter(needs[need++]);
      continue;
    }
    order.push_back(current);
    path.pop_back();
  }
}

/// Moves the library with DF_1_INITFIRST to the front; if several have it, the
/// one that is loaded last.
void InitOrder::moveFirst() {
  constexpr uint64_t initFirst = 0x20; // DF_1_INITFIRST
  for (size_t i = closure.libraries.size(); i-- > 0;) {
    const LibraryFacts *facts = closure.libraries[i].facts;
    if (!facts || !(facts->flags1 & initFirst))
      continue;
    auto found = std::find(order.begin(), order.end(), unsigned(i));
    std::rotate(order.begin(), found, found + 1);
    return;
  }
}

/// The libraries that are initialised before \p libmpg.
static std::vector<const LoadedLibrary *>
initialisedBefore(const ProgramClosure &closure, const LoadedLibrary &libmpg) {
  std::vector<const LoadedLibrary *> before;
  for (unsigned index : InitOrder(closure.closure).order) {
    if (index == libmpg.index)
      break;
    before.push_back(&closure.libraries[index]);
  }
  return before;
}

/// OpenMP runtimes start their threads at the first parallel region, Fortran's
/// at the first asynchronous transfer.
static bool startsLater(const LoadedLibrary &library) {
  return library.isCore() || library.name.starts_with("libgomp.") ||
         library.name.starts_with("libomp.") ||
         library.name.starts_with("libiomp5.") ||
         library.name.starts_with("libgfortran.");
}

static ThreadStart readThreadStart(const LoadedLibrary &library) {
  ThreadStart start;
  // A file that went away meanwhile starts nothing that could be shown.
  consumeError(readImages(library.entry->path, [&](Image &image) {
    if (image.isLoadable())
      start = findThreadStart(image);
  }));
  return start;
}

void mpg::checkThreadStart(const Subject &subject, Findings &findings) {
  const LoadedLibrary *libmpg =
      subject.closure ? subject.closure->findLibmpg() : nullptr;
  if (!libmpg)
    return;
  const ProgramClosure &closure = *subject.closure;
  std::vector<std::string> possible;
  for (const LoadedLibrary *library : initialisedBefore(closure, *libmpg)) {
    if (!library->checks || startsLater(*library))
      continue;
    ThreadStart start = readThreadStart(*library);
    if (start.initialises && !start.reached)
      possible.push_back(closure.describe(*library));
    if (!start.reached)
      continue;
    Finding &finding =
        findings.add(FindingId::mpg105, closure.describe(*library) +
                                            " starts a thread before " +
                                            libmpg->name + " is initialised");
    finding.sub = "starts";
    finding.where.symbol = start.function;
    finding.evidence =
        "its initialisation leads to a call of " + start.function;
    closure.setVia(finding, *library);
  }
  if (possible.empty())
    return;
  Finding &finding = findings.add(
      FindingId::mpg105,
      std::to_string(possible.size()) +
          (possible.size() == 1 ? " library that is" : " libraries that are") +
          " initialised before " + libmpg->name + " can start threads");
  finding.sub = "possible";
  finding.severity = Severity::note;
  finding.evidence = join(possible, ", ") +
                     "; no direct call leads there from the initialisation";
}

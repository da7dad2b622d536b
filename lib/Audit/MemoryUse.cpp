// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Audit.h. The runtimes are rows of MemoryOwners.def.

#include "Audit/Audit.h"
#include "Audit/Checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <optional>

using namespace llvm;
using namespace mpg;

static constexpr MemoryOwner owners[] = {
#define MPG_OWNER(id, what, libraries, symbol, section, setting, option,       \
                  remark)                                                      \
  {#id, what, libraries, symbol, section, setting, option, remark, ""},
#define MPG_OWN_MALLOC(id, what, texts, setting)                               \
  {#id, what, "", "", "", setting, "", "", texts},
#include "Audit/MemoryOwners.def"
};

ArrayRef<MemoryOwner> mpg::allMemoryOwners() { return owners; }

/// The setting that asks for large pages for all mapped memory.
static constexpr StringLiteral mapSetting = "MPG_MMAP=thp";

/// The owner of a part: the rest is malloc's.
static constexpr StringLiteral windowsId = "windows";

static constexpr StringLiteral pythonId = "python";

/// The allocator that asks for large pages by itself.
static constexpr StringLiteral asksItselfId = "mimalloc";

/// The same for Java, which has two ways.
static constexpr StringLiteral poolOption = "-XX:+UseLargePages";

bool mpg::isMemoryOption(StringRef word) {
  return word == poolOption || any_of(owners, [&](const MemoryOwner &owner) {
           return !owner.option.empty() && word == owner.option;
         });
}

bool MemoryUse::needsLibmpg() const {
  return !owner || owner->setting == mapSetting;
}

bool MemoryUse::isHelpedAlone() const {
  return owner && (!owner->option.empty() || !owner->texts.empty() ||
                   owner->setting == "USE_ZEND_ALLOC_HUGE_PAGES=1");
}

bool MemoryUse::ownsMost() const { return owner && owner->id != windowsId; }

StringRef MemoryUse::setting() const {
  if (isHelped || !mapsItself() || (needsLibmpg() && !isReachable))
    return "";
  if (owner)
    return owner->setting;
  return programMaps ? StringRef(mapSetting) : "";
}

StringRef MemoryUse::option() const {
  return isHelped || !owner ? "" : owner->option;
}

StringRef MemoryUse::help() const {
  return option().empty() ? setting() : option();
}

std::string MemoryUse::what() const {
  if (owner)
    return owner->what.str();
  constexpr size_t shown = 2;
  std::string text = "what ";
  for (size_t i = 0; i < std::min(mappers.size(), shown); ++i)
    text += (i == 0 ? "" : " and ") + mappers[i];
  if (mappers.size() > shown)
    text += " and " + std::to_string(mappers.size() - shown) + " more";
  return text + (mappers.size() == 1 ? " maps itself" : " map themselves");
}

static bool startsWithAny(StringRef name, StringRef starts) {
  SmallVector<StringRef, 4> words;
  starts.split(words, ' ', -1, /*KeepEmpty=*/false);
  return any_of(words, [&](StringRef word) { return name.starts_with(word); });
}

/// From C, or from a module of Fortran by the names of Open MPI and MPICH.
static bool makesWindows(const KnownSymbolUse &symbols) {
  constexpr KnownSymbol names[] = {
      KnownSymbol::MPI_Win_allocate,
      KnownSymbol::MPI_Win_allocate_c,
      KnownSymbol::MPI_Win_allocate_shared,
      KnownSymbol::MPI_Win_allocate_shared_c,
      KnownSymbol::mpi_win_allocate_,
      KnownSymbol::mpi_win_allocate_cptr_,
      KnownSymbol::mpi_win_allocate_f08_,
      KnownSymbol::mpi_win_allocate_f08_large_,
      KnownSymbol::mpi_win_allocate_shared_,
      KnownSymbol::mpi_win_allocate_shared_cptr_,
      KnownSymbol::mpi_win_allocate_shared_f08_,
      KnownSymbol::mpi_win_allocate_shared_f08_large_};
  return any_of(names,
                [&](KnownSymbol symbol) { return symbols.imports(symbol); });
}

/// A program that calls exec is taken for one that only starts another if it
/// has little code: clisp has 2 KiB, erlexec 24 KiB. One that has libmpg is
/// meant to have large pages itself.
static StringRef findReplacement(const Subject &subject) {
  constexpr uint64_t launcherBytes = 64 << 10;
  constexpr KnownSymbol names[] = {KnownSymbol::execl,  KnownSymbol::execle,
                                   KnownSymbol::execlp, KnownSymbol::execv,
                                   KnownSymbol::execve, KnownSymbol::execvp,
                                   KnownSymbol::execvpe};
  std::vector<StringRef> found = subject.symbols().findImports(names);
  if (found.empty() || subject.image.needs("libmpg") ||
      subject.carriesLibmpg() ||
      findFileMemory(subject.image, subject.hugeBytes, /*code=*/true).bytes >=
          launcherBytes)
    return "";
  return found[0];
}

static bool importsMap(const KnownSymbolUse &symbols) {
  return symbols.imports(KnownSymbol::mmap) ||
         symbols.imports(KnownSymbol::mmap64);
}

/// Whether \p data has \p text with a NUL behind it and, if it is not at the
/// start, in front of it.
static bool hasString(StringRef data, StringRef text) {
  // memmem() is quicker than find().
  while (const void *found =
             memmem(data.data(), data.size(), text.data(), text.size())) {
    size_t at = size_t(static_cast<const char *>(found) - data.data());
    size_t end = at + text.size();
    if (end < data.size() && !data[end] && (at == 0 || !data[at - 1]))
      return true;
    data = data.drop_front(at + 1);
  }
  return false;
}

/// The constants of a program that has its own malloc.
static StringRef allocatorStrings(const Subject &subject) {
  constexpr uint64_t limitBytes = uint64_t(64) << 20;
  Image &image = subject.image;
  if (!image.isStatic() && !image.exportsSymbol("malloc"))
    return "";
  const Section *constants = image.findSection(".rodata");
  return constants ? image.sectionData(*constants, limitBytes) : "";
}

static bool hasStrings(StringRef data, StringRef texts) {
  return all_of(split(texts, '|'),
                [&](StringRef text) { return hasString(data, text); });
}

static bool isOwner(const MemoryOwner &owner, const Subject &subject) {
  Image &image = subject.image;
  if (owner.id == windowsId)
    return makesWindows(subject.symbols());
  if (!owner.section.empty() && image.findSection(owner.section))
    return true;
  if (!owner.symbol.empty() && image.exportsSymbol(owner.symbol))
    return true;
  // Python within a library serves a program that has its own memory.
  if (subject.closure && owner.id != pythonId)
    return any_of(subject.closure->libraries,
                  [&](const LoadedLibrary &library) {
                    return startsWithAny(library.name, owner.libraries);
                  });
  return any_of(image.dynamic().needed, [&](StringRef name) {
    return startsWithAny(name, owner.libraries);
  });
}

static void findMappers(const Subject &subject, MemoryUse &use) {
  use.heapOnly = subject.closure && !subject.image.isStatic();
  use.programMaps = importsMap(subject.symbols());
  if (use.programMaps)
    use.mappers.push_back("the program");
  if (!subject.closure)
    return;
  for (const LoadedLibrary &library : subject.closure->libraries) {
    // These map the heap.
    if (library.isCore() || isAllocatorName(library.name) ||
        library.name.starts_with("libhugetlbfs.so"))
      continue;
    if (!library.checks)
      use.heapOnly = false; // what it does is not known
    else if (importsMap(library.checks->symbols))
      use.mappers.push_back(library.name.str());
  }
}

/// Whether \p launch has \p setting, NAME=VALUE.
static bool sets(const Launch &launch, StringRef setting) {
  auto [name, value] = setting.split('=');
  return !setting.empty() && launch.environment.getValue(name) == value;
}

/// The same of a variable that holds a list: thp:always, or hugetlb=1, of which
/// each value but 0 asks for large pages.
static bool hasInList(const Launch &launch, StringRef setting) {
  auto [name, value] = setting.split('=');
  StringRef found = launch.environment.getValue(name);
  auto [key, number] = value.rsplit('=');
  if (number.empty())
    return !value.empty() && found.contains(value);
  return found.contains((key + "=").str()) &&
         !found.contains((key + "=0").str());
}

static bool isHelped(const MemoryUse &use, const Launch &launch) {
  if (!use.owner)
    return sets(launch, mapSetting);
  const MemoryOwner &owner = *use.owner;
  if (owner.id == asksItselfId)
    return launch.environment.getValue("MIMALLOC_ALLOW_THP") != "0";
  if (owner.texts.empty() ? sets(launch, owner.setting)
                          : hasInList(launch, owner.setting))
    return true;
  if (owner.option.empty())
    return false;
  StringRef java = launch.environment.getValue("JAVA_TOOL_OPTIONS");
  return !launch.memoryOption.empty() || java.contains(owner.option) ||
         java.contains(poolOption);
}

MemoryUse mpg::findMemoryUse(const Subject &subject) {
  MemoryUse use;
  if (!subject.image.isProgram() || !subject.image.fullyRead())
    return use;
  std::optional<StringRef> strings; // read where no other row fits
  for (const MemoryOwner &owner : owners) {
    if (!owner.texts.empty() && !strings)
      strings = allocatorStrings(subject);
    if (owner.texts.empty() ? isOwner(owner, subject)
                            : hasStrings(*strings, owner.texts)) {
      use.owner = &owner;
      break;
    }
  }
  // Runtimes that call the kernel themselves (Go) do not import it.
  use.isReachable =
      !subject.image.isStatic() && (!use.owner || use.owner->section.empty() ||
                                    importsMap(subject.symbols()));
  if (!use.owner) {
    findMappers(subject, use);
    use.replacedBy = findReplacement(subject);
    use.callsPrctl = subject.symbols().imports(KnownSymbol::prctl);
  }
  use.heapOnly &= !use.mapsItself() && use.replacedBy.empty();
  use.isHelped =
      use.mapsItself() && subject.launch() && isHelped(use, *subject.launch());
  return use;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ClosureFacts.h. Recognises libraries by their names (libmpg, other
// allocators, the C library's own parts) and symbols by a table.

#include "Audit/ClosureFacts.h"
#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Elf/Image.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace llvm;
using namespace mpg;

static bool startsWithAny(StringRef name, ArrayRef<StringRef> prefixes) {
  return any_of(prefixes,
                [&](StringRef prefix) { return name.starts_with(prefix); });
}

bool mpg::isLibmpgName(StringRef name) {
  return name.starts_with("libmpg.so") || name.starts_with("libmpgrt.so");
}

bool mpg::isAllocatorName(StringRef name) {
  return startsWithAny(
      name, {"libjemalloc", "libtcmalloc", "libmimalloc", "libtbbmalloc"});
}

bool LoadedLibrary::isLibmpg() const { return isLibmpgName(name) || isOurs(); }

bool LoadedLibrary::isCore() const {
  return isLibmpg() ||
         startsWithAny(name,
                       {"libc.so", "libc.musl", "ld-", "libm.so", "libmvec.so",
                        "libpthread.so", "librt.so", "libdl.so", "libutil.so",
                        "libresolv.so", "libnsl.so", "libanl.so", "libgcc_s.so",
                        "libstdc++.so"});
}

static bool isSystemPath(StringRef path, StringRef sysroot) {
  path.consume_front(sysroot);
  return startsWithAny(path, {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"});
}

ProgramClosure::ProgramClosure(const Closure &closure) : closure(closure) {
  libraries.reserve(closure.libraries.size());
  for (size_t i = 0; i < closure.libraries.size(); ++i) {
    const ClosureEntry &entry = closure.libraries[i];
    StringRef name = entry.facts && entry.facts->soname
                         ? StringRef(*entry.facts->soname)
                         : sys::path::filename(entry.name);
    libraries.push_back({&entry, i, name,
                         entry.facts ? entry.facts->checkFacts.get() : nullptr,
                         isSystemPath(entry.path, closure.sysroot)});
  }
}

const LoadedLibrary *ProgramClosure::findLibmpg() const {
  for (const LoadedLibrary &library : libraries)
    if (library.isLibmpg())
      return &library;
  return nullptr;
}

unsigned ProgramClosure::glibcMinor() const {
  for (const LoadedLibrary &library : libraries)
    if (library.checks && library.checks->glibcMinor)
      return library.checks->glibcMinor;
  return 0;
}

std::string ProgramClosure::describe(const LoadedLibrary &library) const {
  std::string name = library.name.str();
  int by = library.entry->askedBy;
  if (by == ClosureEntry::preload)
    return name + " (preloaded)";
  return by < 0 ? name : name + " (via " + closure.pathTo(unsigned(by)) + ")";
}

void ProgramClosure::setVia(Finding &finding,
                            const LoadedLibrary &library) const {
  finding.via = closure.pathTo(library.index);
}

/// The checks of single files whose answer about a library matters to every
/// program that loads it.
static FindingSet libraryChecks() {
  FindingSet checks;
  for (FindingId id : {FindingId::mpg104, FindingId::mpg130, FindingId::mpg143,
                       FindingId::mpg160, FindingId::mpg170, FindingId::mpg171})
    checks.insert(id);
  return checks;
}

/// The settings that skip the least. Severities are lowered to those of the
/// program's target later. Code is not limited, because a library is searched
/// once for all programs.
static AuditSettings strictest(const AuditSettings &asked) {
  AuditSettings settings;
  settings.target = Target::fugaku;
  settings.minBytes = asked.minBytes;
  settings.hugeBytes = asked.hugeBytes;
  settings.checks = libraryChecks();
  settings.named.insert(FindingId::mpg153); // off for that target
  return settings;
}

/// The number in "GNU C Library ... release version 2.36."; 0: it is not there.
static unsigned readReleaseMinor(Image &image) {
  constexpr uint64_t limitBytes = 4 << 20;
  const Section *constants = image.findSection(".rodata");
  if (!constants)
    return 0;
  constexpr StringRef words = "release version 2.";
  StringRef data = image.sectionData(*constants, limitBytes);
  const void *found =
      memmem(data.data(), data.size(), words.data(), words.size());
  if (!found)
    return 0;
  StringRef rest = data.drop_front(
      size_t(static_cast<const char *>(found) - data.data()) + words.size());
  unsigned minor = 0;
  return rest.consumeInteger(10, minor) ? 0 : minor;
}

/// Told from functions that came with a release, then from the file's words.
static unsigned findGlibcMinor(Image &image) {
  std::optional<StringRef> name = image.dynamic().soname;
  if (!name || *name != "libc.so.6" || !image.exportsSymbol("malloc"))
    return 0;
  constexpr unsigned pwait2Minor = 35;
  if (image.exportsSymbol("epoll_pwait2"))
    return std::max(pwait2Minor, readReleaseMinor(image));
  return image.exportsSymbol("_Fork") ? 34 : 33;
}

static std::shared_ptr<const LibraryCheckFacts>
collectChecks(Image &image, const AuditSettings &settings) {
  auto facts = std::make_shared<LibraryCheckFacts>();
  Subject subject(image, settings, Target::fugaku,
                  usualPageBytes(Target::fugaku), settings.hugeBytes);
  Findings findings(subject, facts->findings);
  checkThreadStack(subject, findings);
  checkBrk(subject, findings);
  checkLibraryData(subject, findings);
  checkCode(subject, findings);
  checkHygiene(subject, findings);
  if (image.machine() == Machine::aarch64) {
    checkHints(subject, findings);
    facts->hints = subject.notes().hints;
    facts->topByteUsers = findTopByteUsers(image);
  }
  facts->symbols = subject.symbols();
  facts->exportsMalloc =
      image.exportsSymbol("malloc") || image.exportsSymbol("calloc");
  facts->isOurs = image.exportsSymbol("mpg_version");
  facts->glibcMinor = findGlibcMinor(image);
  return facts;
}

LibraryStore::Collector mpg::makeCollector(const AuditSettings &asked) {
  auto settings = std::make_shared<const AuditSettings>(strictest(asked));
  return [settings](Image &image) { return collectChecks(image, *settings); };
}

// Known symbols

static constexpr const char *const names[knownSymbolCount] = {
#define MPG_SYMBOL(name) #name,
#include "Audit/KnownSymbols.def"
};

/// The position of \p name in the table.
static std::optional<unsigned> findName(StringRef name) {
  const auto *found = std::lower_bound(
      std::begin(names), std::end(names), name,
      [](const char *known, StringRef wanted) { return wanted > known; });
  if (found == std::end(names) || name != *found)
    return std::nullopt;
  return unsigned(found - std::begin(names));
}

/// Most symbols begin with none of them.
static const NameStarts &knownStarts() {
  static const NameStarts starts(names);
  return starts;
}

static void noteSymbol(const Symbol &symbol, KnownSymbolUse &use) {
  if (std::optional<unsigned> index = findName(symbol.name))
    (symbol.defined() ? use.defined : use.imported).set(*index);
}

KnownSymbolUse mpg::findKnownSymbols(Image &image) {
  KnownSymbolUse use;
  auto visit = [&](const Symbol &symbol) {
    if (symbol.binding != STB_LOCAL)
      noteSymbol(symbol, use);
  };
  if (image.isLoadable())
    image.forEachImport(knownStarts(), visit);
  else
    image.forEachSymbol(knownStarts(), visit);
  return use;
}

KnownSymbolUse mpg::findStaticSymbols(Image &image) {
  KnownSymbolUse use;
  // Local ones too: in a static PIE the whole C library is local.
  image.forEachSymbol(knownStarts(),
                      [&](const Symbol &symbol) { noteSymbol(symbol, use); });
  return use;
}

ArrayRef<KnownSymbol> mpg::brkSymbols() {
  static constexpr KnownSymbol symbols[] = {
      KnownSymbol::__brk, KnownSymbol::__curbrk, KnownSymbol::__sbrk,
      KnownSymbol::brk, KnownSymbol::sbrk};
  return symbols;
}

std::vector<StringRef>
KnownSymbolUse::findImports(ArrayRef<KnownSymbol> candidates) const {
  std::vector<StringRef> found;
  for (KnownSymbol candidate : candidates)
    if (imports(candidate))
      found.push_back(names[unsigned(candidate)]);
  return found;
}

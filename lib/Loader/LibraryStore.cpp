// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The store of the libraries that were read, each by the thread that asks
// first; others wait for it. See Closure.h.

#include "Loader/LoaderSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <elf.h>
#include <sys/stat.h>

using namespace llvm;
using namespace mpg;

LibraryStore::LibraryStore(Collector collector)
    : state(std::make_unique<State>()) {
  state->collector = std::move(collector);
}

LibraryStore::~LibraryStore() = default;

const LoaderSystem &LibraryStore::State::getSystem(const std::string &sysroot,
                                                   Machine machine) {
  std::lock_guard<std::mutex> lock(mutex);
  auto key = std::make_pair(sysroot, machine);
  auto found = systems.find(key);
  if (found == systems.end())
    found = systems.try_emplace(key, sysroot, machine).first;
  return found->second;
}

/// The number behind "release version 2." in a loader, or that of ld-2.31.so,
/// as it was called before 2.34; 0: it says none.
static unsigned readGlibcMinor(const std::string &loader) {
  constexpr uint64_t maxBytes = 4 << 20;
  unsigned minor = 0;
  StringRef name = sys::path::filename(loader);
  if (name.consume_front("ld-2.") && !name.consumeInteger(10, minor))
    return minor;
  std::string bytes = readWholeFile(loader, maxBytes).value_or("");
  constexpr StringRef words = "release version 2.";
  size_t at = bytes.find(words);
  if (at == std::string::npos)
    return 0;
  StringRef rest = StringRef(bytes).substr(at + words.size());
  return rest.consumeInteger(10, minor) ? 0 : minor;
}

/// \p known of \p key, or what \p find returns, which may take time.
template <typename Value, typename Find>
Value LibraryStore::State::remember(
    std::unordered_map<std::string, Value> &known, const std::string &key,
    Find find) {
  std::unique_lock<std::mutex> lock(mutex);
  auto before = known.find(key);
  if (before != known.end())
    return before->second;
  lock.unlock();
  Value value = find();
  lock.lock();
  known.emplace(key, value);
  return value;
}

unsigned LibraryStore::State::glibcMinor(const std::string &loader,
                                         const std::string &sysroot) {
  return remember(minors, loader, [&] {
    std::string file = followLinks(loader, sysroot);
    SmallString<256> real;
    return readGlibcMinor(sys::fs::real_path(file, real) ? file
                                                         : real.str().str());
  });
}

bool LibraryStore::State::folderExists(const std::string &path,
                                       const std::string &sysroot) {
  return remember(folders, path, [&] {
    struct stat status;
    return stat(followLinks(path, sysroot).c_str(), &status) == 0 &&
           S_ISDIR(status.st_mode);
  });
}

CachedLibrary LibraryStore::State::findInCache(const LoaderSystem &system,
                                               StringRef name, Machine machine,
                                               uint64_t legacyMask) {
  std::unique_lock<std::mutex> lock(mutex);
  // Most names are asked for by many programs.
  auto [known, isNew] = cached[{&system, legacyMask}].try_emplace(name);
  CachedLibrary &library = known->second;
  if (isNew)
    library.path = system.cache.find(name, machine, system.hwcaps, legacyMask)
                       .value_or("");
  if (library.file || library.path.empty())
    return library;
  CachedLibrary found = library;
  lock.unlock();
  found.file = find(found.path.str(), "");
  lock.lock();
  library.file = found.file;
  return found;
}

const LibraryFile *LibraryStore::State::find(const std::string &path,
                                             const std::string &sysroot) {
  std::unique_lock<std::mutex> lock(mutex);
  auto known = paths.find(path);
  LibraryFile *file = known == paths.end() ? nullptr : known->second;
  if (!file && known != paths.end())
    return nullptr;
  std::string opened = path;
  if (!file) {
    lock.unlock();
    opened = followLinks(path, sysroot);
    struct stat status;
    bool exists = stat(opened.c_str(), &status) == 0;
    lock.lock();
    if (exists) {
      auto [place, isNew] = files.try_emplace({status.st_dev, status.st_ino});
      file = &place->second;
      // A second path to the file: another thread may be reading it.
      if (isNew)
        file->mode = status.st_mode;
    }
    paths.emplace(path, file);
    if (!exists)
      return nullptr;
  }
  lock.unlock();
  // A second thread waits here until the first has read it.
  std::call_once(file->read, [&] { read(*file, opened); });
  return file;
}

static bool isFirstDefect(const Image &image, StringRef field) {
  return !image.defects().empty() &&
         StringRef(image.defects()[0].field).starts_with(field);
}

/// Why the loader stops at a file, in its words; "" if it does not.
static std::string findRefusal(Image &image) {
  switch (image.kind()) {
  case ElfKind::library:
    return "";
  case ElfKind::pie:
    // Without the flag, the loader cannot tell it from a library.
    return image.dynamic().flags1 & DF_1_PIE
               ? "cannot dynamically load position-independent executable"
               : "";
  case ElfKind::staticPie:
    return "cannot dynamically load position-independent executable";
  case ElfKind::exec:
  case ElfKind::staticExec:
    return "cannot dynamically load executable";
  case ElfKind::object:
  case ElfKind::core:
    return "only ET_DYN and ET_EXEC can be loaded";
  case ElfKind::archiveMember:
    return "invalid ELF header";
  case ElfKind::notElf:
    return image.fileBytes() < sizeof(Elf64_Ehdr) ? "file too short"
                                                  : "invalid ELF header";
  case ElfKind::malformed:
    if (image.fileBytes() < sizeof(Elf64_Ehdr))
      return "file too short";
    if (isFirstDefect(image, "e_type"))
      return "only ET_DYN and ET_EXEC can be loaded";
    if (isFirstDefect(image, "ar_"))
      return "invalid ELF header";
    return image.defects().empty() ? "is damaged"
                                   : "is damaged: " + image.defects()[0].field +
                                         ": " + image.defects()[0].reason;
  default:
    return ("is not a library but a file of kind " + kindName(image.kind()))
        .str();
  }
}

static bool hasAlignedSegments(const Image &image) {
  return all_of(image.loads(), [](const Segment &load) {
    return load.align < 2 ||
           ((load.address - load.offset) & (load.align - 1)) == 0;
  });
}

/// Names in a damaged file may be anything; one that no path can hold finds
/// nothing, whatever its end is.
static std::string boundedName(StringRef name) {
  return name.take_front(maxPathBytes + 1).str();
}

/// The folders of a list are bounded elsewhere; its text is here.
static std::optional<std::string> boundedList(std::optional<StringRef> list) {
  if (!list)
    return std::nullopt;
  return list->take_front(1 << 20).str();
}

void LibraryStore::State::readFacts(LibraryFile &file, Image &image) {
  // No program comes near; each of them would be looked for.
  constexpr size_t maxNeeded = 4096;
  const Dynamic &dynamic = image.dynamic();
  LibraryFacts &facts = file.facts;
  facts.machine = image.machine();
  if (dynamic.soname)
    facts.soname = boundedName(*dynamic.soname);
  for (StringRef name : ArrayRef(dynamic.needed).take_front(maxNeeded))
    facts.needed.push_back(boundedName(name));
  facts.runpath = boundedList(dynamic.runpath);
  if (!facts.runpath)
    facts.rpath = boundedList(dynamic.rpath);
  for (const Filtee &filtee : ArrayRef(dynamic.filtees).take_front(maxNeeded))
    facts.filtees.push_back({boundedName(filtee.name), filtee.optional});
  auto isRelative = [](StringRef name) { return name.contains('$'); };
  facts.namesFolders =
      facts.rpath || facts.runpath || any_of(facts.needed, isRelative) ||
      any_of(dynamic.filtees,
             [&](const Filtee &filtee) { return isRelative(filtee.name); });
  facts.isAligned = hasAlignedSegments(image);
  facts.flags = dynamic.flags;
  facts.flags1 = dynamic.flags1;
  if (collector)
    facts.checkFacts = collector(image);
}

void LibraryStore::State::read(LibraryFile &file, const std::string &path) {
  file.facts.path = path;
  if (!S_ISREG(file.mode)) {
    file.verdict = PathVerdict::refused;
    file.reason = path + (S_ISDIR(file.mode)
                              ? ": cannot read file data: Error 21 (a folder)"
                              : " is not a regular file");
    return;
  }
  file.facts.setUid = (file.mode & S_ISUID) != 0;
  bool first = true;
  Error error = readImages(path, [&](Image &image) {
    // The second member of an archive: the file was not a library.
    if (!first)
      return;
    first = false;
    if (image.kind() == ElfKind::otherMachine) {
      file.verdict = PathVerdict::otherMachine;
      file.reason = path + " is for another machine: " + image.machineName();
      return;
    }
    std::string refusal = findRefusal(image);
    if (!refusal.empty()) {
      file.verdict = PathVerdict::refused;
      file.reason = path + ": " + refusal;
      return;
    }
    file.verdict = PathVerdict::library;
    readFacts(file, image);
  });
  if (error)
    file.reason = path + " cannot be read: " + toString(std::move(error));
}

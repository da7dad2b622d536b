// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Closure.h. Each file is read once, by the thread that asks first; others
// wait for it.

#include "Loader/LoaderSearch.h"
#include "Loader/SearchPath.h"
#include <elf.h>
#include <sys/stat.h>

using namespace llvm;
using namespace mpg;

LibraryStore::LibraryStore(Collector collector)
    : state(std::make_unique<State>()) {
  state->collector = std::move(collector);
}

LibraryStore::~LibraryStore() = default;

const LibraryFacts *LibraryStore::find(const std::string &path,
                                       std::string &reason) {
  const LibraryFile *file = state->find(path, "");
  if (file && file->verdict == PathVerdict::library)
    return &file->facts;
  reason = file ? file->reason : "not found";
  return nullptr;
}

const LoaderSystem &LibraryStore::State::systemOf(const std::string &sysroot,
                                                  Machine machine) {
  std::lock_guard<std::mutex> lock(mutex);
  auto key = std::make_pair(sysroot, machine);
  auto found = systems.find(key);
  if (found == systems.end())
    found = systems.try_emplace(key, sysroot, machine).first;
  return found->second;
}

bool LibraryStore::State::folderExists(const std::string &path,
                                       const std::string &sysroot) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = folders.find(path);
    if (known != folders.end())
      return known->second;
  }
  struct stat status;
  bool exists = stat(followLinks(path, sysroot).c_str(), &status) == 0 &&
                S_ISDIR(status.st_mode);
  std::lock_guard<std::mutex> lock(mutex);
  folders.emplace(path, exists);
  return exists;
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
    if (exists)
      file = &files[{status.st_dev, status.st_ino}];
    paths.emplace(path, file);
    if (!exists)
      return nullptr;
  }
  lock.unlock();
  // A second thread waits here until the first has read it.
  std::call_once(file->read, [&] { read(*file, opened); });
  return file;
}

/// Why the loader refuses a file that is no library; "" if it does not.
static std::string refusalOf(Image &image) {
  switch (image.kind()) {
  case ElfKind::library:
    return "";
  case ElfKind::pie:
    // Without the flag, the loader cannot tell it from a library.
    return image.dynamic().flags1 & DF_1_PIE ? "is a program" : "";
  case ElfKind::exec:
  case ElfKind::staticExec:
  case ElfKind::staticPie:
    return "is a program";
  case ElfKind::notElf:
    return "is no ELF file: " + image.notElfReason().str();
  case ElfKind::malformed:
    return image.defects().empty() ? "is damaged"
                                   : "is damaged: " + image.defects()[0].field +
                                         ": " + image.defects()[0].reason;
  default:
    return ("is no library but a file of kind " + kindName(image.kind())).str();
  }
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
  facts.flags = dynamic.flags;
  facts.flags1 = dynamic.flags1;
  if (collector)
    facts.checkFacts = collector(image);
}

void LibraryStore::State::read(LibraryFile &file, const std::string &path) {
  file.facts.path = path;
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    file.verdict = PathVerdict::refused;
    file.reason = path + " is not a regular file";
    return;
  }
  file.facts.device = status.st_dev;
  file.facts.inode = status.st_ino;
  file.facts.setUid = (status.st_mode & S_ISUID) != 0;
  bool first = true;
  Error error = readImages(path, [&](Image &image) {
    // The second member of an archive: it is no library from the first on.
    if (!first)
      return;
    first = false;
    if (image.kind() == ElfKind::otherMachine) {
      file.verdict = PathVerdict::otherMachine;
      file.reason = path + " is for another machine: " + image.machineName();
      return;
    }
    std::string refusal = refusalOf(image);
    if (!refusal.empty()) {
      file.verdict = PathVerdict::refused;
      file.reason = path + " " + refusal;
      return;
    }
    file.verdict = PathVerdict::library;
    readFacts(file, image);
  });
  if (error)
    file.reason = path + " cannot be read: " + toString(std::move(error));
}

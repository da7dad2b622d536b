// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoaderSearch.h. How many files are looked for on behalf of one program is
// bounded.

#include "Loader/LoaderSearch.h"
#include "Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <climits>
#include <cstdlib>
#include <elf.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// So many files are looked for on behalf of one program; files made to ask for
/// more come to an end.
static constexpr unsigned maxTries = 1 << 18;

/// The folder that the program really lies in: the kernel tells the loader the
/// path without links.
static std::string resolveRealFolder(const std::string &path) {
  char real[PATH_MAX];
  return getFolder(realpath(path.c_str(), real) ? real : path).str();
}

LoaderSearch::LoaderSearch(Image &program, const LoaderSettings &settings,
                           const LoaderSystem &system,
                           LibraryStore::State &store)
    : program(program), settings(settings), system(system), store(store),
      triesLeft(maxTries) {
  std::optional<StringRef> interpreter = program.interpreter();
  musl = interpreter && interpreter->contains("/ld-musl-");
  const Dynamic &dynamic = program.dynamic();
  // Only paths that name it need the folder.
  bool asksForFolder =
      dynamic.rpath || dynamic.runpath ||
      StringRef(settings.libraryPath + settings.preload).contains('$') ||
      any_of(dynamic.needed, [](StringRef name) { return name.contains('$'); });
  programObject = makeObject(
      asksForFolder ? resolveRealFolder(program.path()) : "", dynamic.rpath,
      dynamic.runpath, dynamic.flags1, ClosureEntry::program);
  environmentFolders = splitFolders(settings.libraryPath, musl ? ":\n" : ":;",
                                    programObject.origin, system.words);
}

bool LoaderSearch::isMuslItself(StringRef name) const {
  if (!musl || !name.consume_front("lib"))
    return false;
  for (StringRef own : {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."})
    if (name.starts_with(own))
      return true;
  return false;
}

LoaderSearch::Object LoaderSearch::makeObject(std::string origin,
                                              std::optional<StringRef> rpath,
                                              std::optional<StringRef> runpath,
                                              uint64_t flags1,
                                              int asker) const {
  Object object;
  object.origin = std::move(origin);
  object.hasRunpath = runpath.has_value();
  object.noDefault = (flags1 & DF_1_NODEFLIB) != 0;
  object.asker = asker;
  // A RUNPATH makes the RPATH beside it void.
  if (runpath)
    object.runpath = splitFolders(*runpath, ":", object.origin, system.words);
  else if (rpath)
    object.rpath = splitFolders(*rpath, ":", object.origin, system.words);
  return object;
}

void LoaderSearch::addObject(const ClosureEntry &entry) {
  if (!entry.facts) {
    objects.emplace_back();
    return;
  }
  // A preloaded library was asked for by the program, as far as its paths go.
  int asker = std::max(entry.askedBy, ClosureEntry::program);
  std::string origin =
      entry.facts->namesFolders ? getFolder(entry.path).str() : "";
  objects.push_back(makeObject(std::move(origin), entry.facts->rpath,
                               entry.facts->runpath, entry.facts->flags1,
                               asker));
}

const LoaderSearch::Object &LoaderSearch::objectAt(int index) const {
  return index < 0 ? programObject : objects[size_t(index)];
}

SearchResult LoaderSearch::find(StringRef name, int asker) {
  SearchResult result;
  if (name.size() > maxPathBytes) {
    result.reason = "no path is that long";
    return result;
  }
  const Object &object = objectAt(asker);
  bool over = false;
  // With a slash it is a path and not searched for.
  if (name.contains('/')) {
    std::string path = expandPath(name, object.origin, system.words);
    over = !path.empty() && tryPath(path, result);
  } else {
    over = musl ? findByMusl(name, asker, result)
                : findByGlibc(name, asker, result);
  }
  if (!over && result.reason.empty())
    result.reason =
        triesLeft == 0 ? "not found: the search was given up" : "not found";
  return result;
}

bool LoaderSearch::findByGlibc(StringRef name, int asker,
                               SearchResult &result) {
  // The order of ld.so(8). For an asker with a RUNPATH no RPATH counts, not
  // even those of the objects that asked for it.
  const Object &object = objectAt(asker);
  if (!object.hasRunpath && findInRpaths(name, asker, result))
    return true;
  if (!secure && findInFolders(name, environmentFolders, result))
    return true;
  if (findInFolders(name, object.runpath, result) ||
      findInCache(name, object, result) ||
      findInFolders(name, system.configured, result))
    return true;
  return !object.noDefault && findInFolders(name, system.defaults, result);
}

bool LoaderSearch::findByMusl(StringRef name, int asker, SearchResult &result) {
  // LD_LIBRARY_PATH before any path of a file; RUNPATH and RPATH alike, of all
  // that asked.
  if (!secure && findInFolders(name, environmentFolders, result))
    return true;
  for (int at = asker;; at = objectAt(at).asker) {
    const Object &object = objectAt(at);
    if (findInFolders(name, object.runpath, result) ||
        findInFolders(name, object.rpath, result))
      return true;
    if (at < 0)
      break;
  }
  return findInFolders(name, system.muslFolders, result);
}

bool LoaderSearch::findInRpaths(StringRef name, int asker,
                                SearchResult &result) {
  for (int at = asker;; at = objectAt(at).asker) {
    if (findInFolders(name, objectAt(at).rpath, result))
      return true;
    if (at < 0)
      return false;
  }
}

bool LoaderSearch::isSystemFolder(StringRef path) const {
  return any_of(system.defaults, [&](const std::string &folder) {
    return path.starts_with(folder) &&
           path.drop_front(folder.size()).starts_with("/");
  });
}

bool LoaderSearch::findInCache(StringRef name, const Object &asker,
                               SearchResult &result) {
  if (trustedOnly)
    return false;
  CachedLibrary found = store.findInCache(system, name, program.machine(),
                                          isBefore(37) ? system.legacyMask : 0);
  // DF_1_NODEFLIB: not in the system's folders by way of the cache either.
  if (found.path.empty() || (asker.noDefault && isSystemFolder(found.path)))
    return false;
  return tryFile(found.file, found.path, result);
}

bool LoaderSearch::findInFolders(StringRef name, Folders folders,
                                 SearchResult &result) {
  for (const std::string &folder : folders) {
    if (!store.folderExists(folder, settings.sysroot))
      continue;
    std::string hwcapsFolder = folder + "/glibc-hwcaps";
    if (!musl && !system.hwcaps.empty() &&
        store.folderExists(hwcapsFolder, settings.sysroot) && !isBefore(33))
      for (const std::string &hwcap : system.hwcaps)
        if (tryPath(hwcapsFolder + "/" + hwcap + "/" + name.str(), result))
          return true;
    if (!musl && findInLegacyFolders(name, folder, result))
      return true;
    if (tryPath(folder + "/" + name.str(), result))
      return true;
  }
  return false;
}

/// Whether the loader is older than glibc 2.\p minor, as far as it says so.
bool LoaderSearch::isBefore(unsigned minor) {
  if (!glibcMinor)
    glibcMinor = store.glibcMinor(loader, settings.sysroot);
  return *glibcMinor && *glibcMinor < minor;
}

bool LoaderSearch::findInLegacyFolders(StringRef name,
                                       const std::string &folder,
                                       SearchResult &result) {
  for (const std::string &part : system.legacyFolders) {
    std::string inner = folder + "/" + part;
    if (store.folderExists(inner, settings.sysroot) && isBefore(37) &&
        tryPath(inner + "/" + name.str(), result))
      return true;
  }
  return false;
}

bool LoaderSearch::tryPath(const std::string &path, SearchResult &result) {
  return triesLeft != 0 &&
         tryFile(store.find(path, settings.sysroot), path, result);
}

/// True when the search ends here. Skips files for another machine, but
/// remembers one to name it when nothing else is found.
bool LoaderSearch::tryFile(const LibraryFile *file, StringRef path,
                           SearchResult &result) {
  if (triesLeft == 0)
    return false;
  --triesLeft;
  if (!file)
    return false;
  bool otherMachine = file->verdict == PathVerdict::otherMachine ||
                      (file->verdict == PathVerdict::library &&
                       file->facts.machine != program.machine());
  if (file->verdict == PathVerdict::library && !otherMachine) {
    if (trustedOnly && !file->facts.setUid)
      return false;
    if (!file->facts.isAligned && isBefore(35)) {
      result.reason =
          (path + ": ELF load command address/offset not properly aligned")
              .str();
      return true;
    }
    result.facts = &file->facts;
    result.path = path.str();
    result.reason.clear();
    return true;
  }
  if (otherMachine)
    result.reason = (path + " is for another machine").str();
  else
    result.reason = file->reason;
  return file->verdict == PathVerdict::refused;
}

/// A list that names more is damaged; every library would be looked for in
/// each of them.
static constexpr size_t maxFolders = 1024;

/// Whether \p text, after a dollar sign, is \p word or {word}, and how many
/// characters that takes; 0 if it is not. $ORIGINAL is not $ORIGIN.
static size_t matchWord(StringRef text, StringRef word) {
  if (text.consume_front("{"))
    return text.starts_with(word) && text.substr(word.size()).starts_with("}")
               ? word.size() + 2
               : 0;
  if (!text.starts_with(word))
    return 0;
  StringRef rest = text.substr(word.size());
  return rest.empty() || !(isAlnum(rest[0]) || rest[0] == '_') ? word.size()
                                                               : 0;
}

static std::string replaceWords(StringRef text, StringRef origin,
                                const PathWords &words) {
  std::pair<StringRef, StringRef> const table[] = {
      {"ORIGIN", origin}, {"LIB", words.lib}, {"PLATFORM", words.platform}};
  std::string result;
  while (!text.empty() && result.size() <= maxPathBytes) {
    size_t plain = std::min(text.find('$'), text.size());
    result += text.take_front(plain);
    text = text.drop_front(plain);
    if (text.empty())
      break;
    size_t taken = 0;
    for (auto [word, value] : table)
      if (size_t length = matchWord(text.drop_front(), word)) {
        result += value;
        taken = length + 1;
        break;
      }
    // The loader leaves a dollar sign before any other word as it is.
    if (taken == 0)
      result += '$';
    text = text.drop_front(std::max<size_t>(taken, 1));
  }
  return result;
}

std::string mpg::expandPath(StringRef path, StringRef origin,
                            const PathWords &words) {
  if (path.size() > maxPathBytes)
    return "";
  // The folder of a file is already one of this machine.
  bool ofOrigin =
      path.starts_with("$") && matchWord(path.drop_front(), "ORIGIN") != 0;
  std::string result =
      path.contains('$') ? replaceWords(path, origin, words) : path.str();
  if (result.size() > maxPathBytes)
    return "";
  if (StringRef(result).starts_with("/"))
    return ofOrigin ? result : words.sysroot + result;
  if (!words.sysroot.empty())
    return "";
  char current[maxPathBytes + 1];
  if (!getcwd(current, sizeof current))
    return "";
  return result.empty() || result == "." ? std::string(current)
                                         : std::string(current) + "/" + result;
}

std::vector<std::string> mpg::splitFolders(StringRef list, StringRef separators,
                                           StringRef origin,
                                           const PathWords &words) {
  std::vector<std::string> folders;
  if (list.empty())
    return folders;
  while (folders.size() < maxFolders) {
    size_t end = list.find_first_of(separators);
    std::string folder = expandPath(list.take_front(end), origin, words);
    folder.resize(StringRef(folder).rtrim('/').size());
    if ((!folder.empty() || list.starts_with("/")) &&
        !is_contained(folders, folder))
      folders.push_back(std::move(folder));
    if (end == StringRef::npos)
      break;
    list = list.substr(end + 1);
  }
  return folders;
}

StringRef mpg::getFolder(StringRef path) {
  size_t slash = path.rfind('/');
  if (slash == StringRef::npos)
    return ".";
  return path.take_front(std::max<size_t>(slash, 1));
}

/// As many as the kernel follows.
static constexpr unsigned maxLinks = 40;

std::string mpg::followLinks(const std::string &path,
                             const std::string &sysroot) {
  StringRef inside = path;
  if (sysroot.empty() || !inside.consume_front(sysroot) ||
      !inside.starts_with("/"))
    return path;
  std::string done, left = inside.str();
  unsigned links = 0;
  while (!left.empty()) {
    auto [part, rest] = StringRef(left).ltrim('/').split('/');
    std::string next = rest.str();
    if (part == "..") {
      done.resize(done.find_last_of('/') == std::string::npos
                      ? 0
                      : done.find_last_of('/'));
    } else if (!part.empty() && part != ".") {
      std::string here = done + "/" + part.str();
      std::string target = readLinkTarget(sysroot + here).value_or("");
      if (target.empty()) {
        done = std::move(here);
      } else {
        if (++links > maxLinks || target.size() + next.size() > maxPathBytes)
          return path;
        if (target[0] == '/')
          done.clear();
        next = target + "/" + next;
      }
    }
    left = std::move(next);
  }
  return sysroot + done;
}

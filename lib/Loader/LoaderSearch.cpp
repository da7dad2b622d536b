// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoaderSearch.h. How many files are looked for on behalf of one program is
// bounded.

#include "Loader/LoaderSearch.h"
#include "llvm/ADT/STLExtras.h"
#include <climits>
#include <cstdlib>
#include <elf.h>

using namespace llvm;
using namespace mpg;

/// So many files are looked for on behalf of one program; files made to ask for
/// more come to an end.
static constexpr unsigned maxTries = 1 << 18;

/// The folder that the program really lies in: the kernel tells the loader the
/// path without links.
static std::string realFolderOf(const std::string &path) {
  char real[PATH_MAX];
  return folderOf(realpath(path.c_str(), real) ? real : path).str();
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
  programObject = makeObject(asksForFolder ? realFolderOf(program.path()) : "",
                             dynamic.rpath, dynamic.runpath, dynamic.flags1,
                             ClosureEntry::program);
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
  objects.push_back(makeObject(folderOf(entry.path).str(), entry.facts->rpath,
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
  std::optional<StringRef> path =
      system.cache.find(name, program.machine(), system.hwcaps);
  if (!path || (asker.noDefault && isSystemFolder(*path)))
    return false;
  return tryPath(path->str(), result);
}

bool LoaderSearch::findInFolders(StringRef name, Folders folders,
                                 SearchResult &result) {
  for (const std::string &folder : folders) {
    if (!store.folderExists(folder, settings.sysroot))
      continue;
    std::string hwcapsFolder = folder + "/glibc-hwcaps";
    if (!musl && !system.hwcaps.empty() &&
        store.folderExists(hwcapsFolder, settings.sysroot))
      for (const std::string &hwcap : system.hwcaps)
        if (tryPath(hwcapsFolder + "/" + hwcap + "/" + name.str(), result))
          return true;
    if (tryPath(folder + "/" + name.str(), result))
      return true;
  }
  return false;
}

/// True when the search ends here. What is for another machine is passed over,
/// but named when nothing else is found.
bool LoaderSearch::tryPath(const std::string &path, SearchResult &result) {
  if (triesLeft == 0)
    return false;
  --triesLeft;
  const LibraryFile *file = store.find(path, settings.sysroot);
  if (!file)
    return false;
  bool otherMachine = file->verdict == PathVerdict::otherMachine ||
                      (file->verdict == PathVerdict::library &&
                       file->facts.machine != program.machine());
  if (file->verdict == PathVerdict::library && !otherMachine) {
    if (trustedOnly && !file->facts.setUid)
      return false;
    result.facts = &file->facts;
    result.path = path;
    result.reason.clear();
    return true;
  }
  if (otherMachine)
    result.reason = path + " is for another machine";
  else
    result.reason = file->reason;
  return file->verdict == PathVerdict::refused;
}

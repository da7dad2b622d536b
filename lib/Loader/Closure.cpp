// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over all that a program needs, object by object in the order in
// which the loader maps them. LoaderSearch looks for a name, LibraryStore reads
// what it finds.

#include "Loader/Closure.h"
#include "Loader/LoaderSearch.h"
#include "Support/Format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>

using namespace llvm;
using namespace mpg;

std::string Closure::pathTo(size_t index) const {
  std::string path;
  // A requester precedes what it requests, so this ends.
  for (int at = int(index); at >= 0; at = libraries[size_t(at)].askedBy) {
    path = path.empty() ? libraries[size_t(at)].name
                        : libraries[size_t(at)].name + " > " + path;
    if (libraries[size_t(at)].askedBy == ClosureEntry::preload)
      path = "LD_PRELOAD > " + path;
  }
  return path;
}

namespace mpg {

/// No program has as many libraries; files made to have them come to an end.
static constexpr size_t maxLibraries = 4096;

class LoaderWalk {
public:
  LoaderWalk(Image &program, const LoaderSettings &settings,
             LibraryStore::State &store);
  Closure run();

private:
  void addPreloads();
  void addPreload(const std::string &name, bool ofVariable);
  void addNeeded(int asker, const std::vector<std::string> &names,
                 std::vector<unsigned> &needs);
  std::optional<unsigned> add(const std::string &name, int askedBy,
                              int searcher);
  std::optional<unsigned> addInterpreter(int askedBy, const std::string &name);
  std::optional<unsigned> append(ClosureEntry entry);
  void walkOne(size_t &at);
  void addFiltees(unsigned index, size_t &at);
  bool isThere(const std::string &name, int asker);
  void sortByScope();
  void addNames(unsigned index, StringRef name);
  std::optional<unsigned> findKnown(StringRef name) const;
  void registerInterpreter();
  bool isSecure() const;

  Image &program;
  const LoaderSettings &settings;
  LibraryStore::State &store;
  const LoaderSystem &system;
  LoaderSearch search;
  Closure closure;
  /// The entries in the order of the scope: as in closure, but for filtees.
  std::vector<unsigned> scope;
  std::vector<bool> walked; ///< by entry
  /// Names by which the loader knows what it has mapped: those asked for and
  /// SONAMEs, but not paths. All live as long as the walk or the store.
  SmallDenseMap<StringRef, unsigned, 32> known;
  StringMap<unsigned> missing;
  SmallDenseMap<const LibraryFacts *, unsigned, 16> byFile;
  std::vector<std::string> preloads; ///< of the variable
  /// The program's own SONAME names the program.
  std::string programSoname;
  /// The loader is mapped before anything else, but its place in the order is
  /// where it is first needed.
  std::string interpreterPath, interpreterSoname;
  const LibraryFacts *interpreter = nullptr;
};

} // namespace mpg

LoaderWalk::LoaderWalk(Image &program, const LoaderSettings &settings,
                       LibraryStore::State &store)
    : program(program), settings(settings), store(store),
      system(store.getSystem(settings.sysroot, program.machine())),
      search(program, settings, system, store) {}

/// As the kernel decides it, for a user who is not the owner.
bool LoaderWalk::isSecure() const {
  if (!program.isProgram() || !settings.setsVariables)
    return false;
  constexpr mode_t groupBits = S_ISGID | S_IXGRP;
  return (program.fileMode() & S_ISUID) ||
         (program.fileMode() & groupBits) == groupBits ||
         getxattr(program.path().c_str(), "security.capability", nullptr, 0) >
             0;
}

void LoaderWalk::registerInterpreter() {
  std::optional<StringRef> named = program.interpreter();
  interpreterPath =
      named ? settings.sysroot + named->str() : system.interpreter;
  search.setLoader(interpreterPath);
  const LibraryFile *file = store.find(interpreterPath, settings.sysroot);
  if (!file || file->verdict != PathVerdict::library ||
      file->facts.machine != program.machine())
    return;
  interpreter = &file->facts;
  interpreterSoname = file->facts.soname.value_or("");
}

Closure LoaderWalk::run() {
  closure.sysroot = settings.sysroot;
  closure.foreign =
      settings.sysroot.empty() && !LoaderSystem::runsHere(program.machine());
  closure.secure = isSecure();
  search.setSecure(closure.secure);
  const Dynamic &dynamic = program.dynamic();
  if (dynamic.soname)
    programSoname = dynamic.soname->str();
  registerInterpreter();
  closure.libraries.reserve(16); // as many as most programs have
  addPreloads();
  std::vector<std::string> needed;
  for (StringRef name : dynamic.needed)
    needed.push_back(name.take_front(maxPathBytes + 1).str());
  addNeeded(ClosureEntry::program, needed, closure.programNeeds);
  // The list grows while it is walked.
  for (size_t at = 0; at < scope.size();)
    walkOne(at);
  sortByScope();
  return std::move(closure);
}

/// Adds the libraries that entry \p at of the scope asks for; sets \p at to the
/// one to walk next.
void LoaderWalk::walkOne(size_t &at) {
  unsigned index = scope[at++];
  const LibraryFacts *facts = closure.libraries[index].facts;
  if (!facts || walked[index])
    return;
  walked[index] = true;
  std::vector<unsigned> needs;
  addNeeded(int(index), facts->needed, needs);
  closure.libraries[index].needs = std::move(needs);
  if (!facts->filtees.empty())
    addFiltees(index, at);
}

/// Whether something with that name is mapped or would be found.
bool LoaderWalk::isThere(const std::string &name, int asker) {
  return findKnown(name) || search.find(name, asker).facts;
}

/// The loader puts the filtees of \p index, the entry before \p at, in front of
/// it, and walks them next. One that is in front already stays there.
void LoaderWalk::addFiltees(unsigned index, size_t &at) {
  size_t own = at - 1;
  for (const LibraryFacts::Filtee &filtee :
       closure.libraries[index].facts->filtees) {
    if (filtee.optional && !isThere(filtee.name, int(index)))
      continue;
    std::optional<unsigned> added = add(filtee.name, int(index), int(index));
    if (!added)
      continue;
    closure.libraries[index].needs.push_back(*added);
    auto found = std::find(scope.begin() + ptrdiff_t(own), scope.end(), *added);
    if (found == scope.end() || *added == index)
      continue;
    scope.erase(found);
    scope.insert(scope.begin() + ptrdiff_t(own), *added);
    at = std::min(at, own);
    ++own;
  }
}

/// Puts the entries in the order of the scope.
void LoaderWalk::sortByScope() {
  if (is_sorted(scope))
    return;
  std::vector<unsigned> placeByLibrary(scope.size());
  std::vector<ClosureEntry> sorted;
  for (size_t i = 0; i < scope.size(); ++i) {
    placeByLibrary[scope[i]] = unsigned(i);
    sorted.push_back(std::move(closure.libraries[scope[i]]));
  }
  auto moveAll = [&](std::vector<unsigned> &needs) {
    for (unsigned &need : needs)
      need = placeByLibrary[need];
  };
  for (ClosureEntry &entry : sorted) {
    if (entry.askedBy >= 0)
      entry.askedBy = int(placeByLibrary[size_t(entry.askedBy)]);
    moveAll(entry.needs);
  }
  moveAll(closure.programNeeds);
  closure.libraries = std::move(sorted);
}

void LoaderWalk::addPreloads() {
  preloads = splitNames(settings.preload, " :");
  for (const std::string &name : preloads)
    addPreload(name, true);
  // musl's loader has no such file.
  if (!search.isMusl())
    for (const std::string &name : system.preloads)
      addPreload(name, false);
}

/// A set-uid program gets only set-uid libraries that are found by their name,
/// and is silent about the others. ld.so.preload belongs to the administrator.
void LoaderWalk::addPreload(const std::string &name, bool ofVariable) {
  if (closure.secure && ofVariable) {
    if (StringRef(name).contains('/'))
      return;
    search.setTrustedOnly(true);
    SearchResult result = search.find(name, ClosureEntry::program);
    search.setTrustedOnly(false);
    if (!result.facts)
      return;
  }
  add(name, ClosureEntry::preload, ClosureEntry::program);
}

void LoaderWalk::addNeeded(int asker, const std::vector<std::string> &names,
                           std::vector<unsigned> &needs) {
  needs.reserve(names.size());
  for (const std::string &name : names)
    if (std::optional<unsigned> index = add(name, asker, asker))
      if (!is_contained(needs, *index))
        needs.push_back(*index);
}

std::optional<unsigned> LoaderWalk::append(ClosureEntry entry) {
  if (closure.libraries.size() >= maxLibraries)
    return std::nullopt;
  scope.push_back(unsigned(closure.libraries.size()));
  walked.push_back(false);
  closure.libraries.push_back(std::move(entry));
  search.addObject(closure.libraries.back());
  return scope.back();
}

/// The first object with a name keeps it.
void LoaderWalk::addNames(unsigned index, StringRef name) {
  const LibraryFacts *facts = closure.libraries[index].facts;
  known.try_emplace(name, index);
  if (facts->soname && *facts->soname != name)
    known.try_emplace(*facts->soname, index);
  byFile.try_emplace(facts, index);
}

std::optional<unsigned> LoaderWalk::findKnown(StringRef name) const {
  if (auto found = known.find(name); found != known.end())
    return found->second;
  // Few names are paths.
  for (unsigned i = 0; name.contains('/') && i < closure.libraries.size(); ++i)
    if (closure.libraries[i].facts && closure.libraries[i].path == name)
      return i;
  return std::nullopt;
}

std::optional<unsigned> LoaderWalk::addInterpreter(int askedBy,
                                                   const std::string &name) {
  ClosureEntry entry;
  entry.name = name;
  entry.path = interpreterPath;
  entry.askedBy = askedBy;
  entry.facts = interpreter;
  std::optional<unsigned> index = append(std::move(entry));
  if (index)
    addNames(*index, name);
  return index;
}

/// The entry for \p name, which is a new one if nothing that is mapped has
/// that name. Nothing if it is the program, or if there are too many.
std::optional<unsigned> LoaderWalk::add(const std::string &name, int askedBy,
                                        int searcher) {
  if (name.empty() || name == programSoname)
    return std::nullopt;
  if (std::optional<unsigned> already = findKnown(name))
    return already;
  if (interpreter && (name == interpreterSoname || name == interpreterPath ||
                      search.isMuslItself(name)))
    return addInterpreter(askedBy, name);
  SearchResult result = search.find(name, searcher);
  if (!result.facts) {
    auto before = missing.find(name);
    if (before != missing.end())
      return before->second;
    ClosureEntry entry;
    entry.name = name;
    entry.reason = result.reason;
    entry.askedBy = askedBy;
    std::optional<unsigned> index = append(std::move(entry));
    if (index)
      missing[name] = *index;
    return index;
  }
  auto same = byFile.find(result.facts);
  if (same != byFile.end()) {
    known.try_emplace(name, same->second);
    return same->second;
  }
  ClosureEntry entry;
  entry.name = name;
  entry.path = std::move(result.path);
  entry.askedBy = askedBy;
  entry.facts = result.facts;
  std::optional<unsigned> index = append(std::move(entry));
  if (index)
    addNames(*index, name);
  return index;
}

Closure mpg::resolveClosure(Image &program, const LoaderSettings &settings,
                            LibraryStore &store) {
  if (!program.isLoadable() || program.isStatic())
    return {};
  return LoaderWalk(program, settings, *store.state).run();
}

static void writeLine(raw_ostream &out, const ClosureEntry &entry,
                      unsigned depth, bool shownBefore) {
  // Chains that damaged files make may be thousands long; the eye is lost
  // before that.
  constexpr unsigned maxDepth = 40;
  out.indent(4 * std::min(depth, maxDepth)) << printable(entry.name) << " => ";
  if (entry.path.empty())
    out << "missing: " << printable(entry.reason);
  else
    out << printable(entry.path);
  if (entry.askedBy == ClosureEntry::preload && depth == 1)
    out << " (preloaded)";
  else if (shownBefore)
    out << " (shown above)";
  out << '\n';
}

void mpg::writeTree(raw_ostream &out, StringRef program,
                    const Closure &closure) {
  // Depth first, with a list of what is still to come instead of recursion.
  struct Line {
    unsigned library, depth;
  };
  std::vector<Line> left;
  auto push = [&](ArrayRef<unsigned> needs, unsigned depth) {
    for (size_t i = needs.size(); i-- > 0;)
      left.push_back({needs[i], depth});
  };
  push(closure.programNeeds, 1);
  std::vector<unsigned> preloaded;
  for (unsigned i = 0; i < closure.libraries.size(); ++i)
    if (closure.libraries[i].askedBy == ClosureEntry::preload)
      preloaded.push_back(i);
  push(preloaded, 1);

  out << printable(program) << '\n';
  std::vector<bool> shown(closure.libraries.size());
  while (!left.empty()) {
    auto [library, depth] = left.back();
    left.pop_back();
    const ClosureEntry &entry = closure.libraries[library];
    writeLine(out, entry, depth, shown[library]);
    if (!shown[library])
      push(entry.needs, depth + 1);
    shown[library] = true;
  }
}

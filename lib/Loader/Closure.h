// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The libraries that the loader would load for a program, in the order in which
// it would search them for symbols. Files are read, never run: a program for
// another machine has a closure too.
//
// The rules are glibc's: DT_RPATH of the object and of those that asked for it,
// unless the object has a DT_RUNPATH; LD_LIBRARY_PATH; DT_RUNPATH of the object
// alone; ld.so.cache; the default folders. $ORIGIN, $LIB and $PLATFORM are
// replaced; glibc-hwcaps folders come first, and before 2.37 those of old
// processors (tls, x86_64). The filtees of a library come before it.
// LoaderSearch.h says what is left out.

#pragma once

#include "Elf/Image.h"
#include "Elf/Machine.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// The facts of a library that the checks of programs keep; defined by them.
struct LibraryCheckFacts;

struct LibraryFacts {
  std::string path; ///< under which the file was first asked for
  Machine machine = Machine::x86_64;
  std::optional<std::string> soname;
  std::vector<std::string> needed; ///< DT_NEEDED, in order
  struct Filtee {
    std::string name;
    bool optional; ///< DT_AUXILIARY: the loader goes on without it
  };
  std::vector<Filtee> filtees; ///< DT_FILTER and DT_AUXILIARY
  /// Each segment has the address of its offset modulo p_align; of the page
  /// alone where this is false. Before 2.35 the loader asked for the first.
  bool isAligned = true;
  /// DT_RPATH is absent where DT_RUNPATH is present, as for the loader.
  std::optional<std::string> rpath, runpath;
  uint64_t flags = 0, flags1 = 0; ///< DT_FLAGS, DT_FLAGS_1
  /// Only such libraries can be preloaded into a set-uid program.
  bool setUid = false;
  bool namesFolders = false; ///< by a path of its own or a $ in a name
  /// The result of the store's collector; null without a collector.
  std::shared_ptr<const LibraryCheckFacts> checkFacts;
};

struct LoaderSettings {
  std::string sysroot;     ///< "": this machine; no slash at the end
  std::string libraryPath; ///< LD_LIBRARY_PATH
  std::string preload;     ///< LD_PRELOAD
  /// Either may be set, perhaps to what is not known; where not, the loader
  /// treats a set-uid program like any other.
  bool setsVariables = false;
};

/// One library.
struct ClosureEntry {
  std::string name;   ///< as DT_NEEDED or LD_PRELOAD has it
  std::string path;   ///< absolute, the sysroot in front; "" if there is none
  std::string reason; ///< why there is none: "not found", "for another machine"
  static constexpr int program = -1, preload = -2;
  /// Who asked for it first: an entry's position, the program, or LD_PRELOAD
  /// (/etc/ld.so.preload counts as that).
  int askedBy = program;
  /// The facts of its file; null if there is none. Lives as long as the store.
  const LibraryFacts *facts = nullptr;
  /// The entries that its DT_NEEDED name, in that order, missing ones too, and
  /// its filtees.
  std::vector<unsigned> needs;
};

struct Closure {
  /// Breadth first, as the loader's scope: preloaded ones, then those that the
  /// program needs, then those that they need. The program itself and the
  /// vDSO are not in it; the loader is, where something needs it.
  std::vector<ClosureEntry> libraries;
  /// The entries that the program's own DT_NEEDED name.
  std::vector<unsigned> programNeeds;
  /// The program's file is set-uid, set-gid or has capabilities: the loader
  /// ignores LD_LIBRARY_PATH and every LD_PRELOAD with a slash. Only looked at
  /// where LoaderSettings::setsVariables.
  bool secure = false;
  /// The program is for another machine than this one and no sysroot was
  /// named: that a library is missing says nothing.
  bool foreign = false;
  std::string sysroot; ///< LoaderSettings::sysroot

  /// "libmpi.so.40 > libopen-pal.so.40" for the entry at \p index: how the
  /// program comes to it. "LD_PRELOAD > libx.so" for a preloaded one.
  std::string pathTo(size_t index) const;
};

/// Reads each library once per run, however many need it. Thread-safe.
class LibraryStore {
public:
  /// Called once for each library, while its file is open. Calls for
  /// different libraries may run at the same time.
  using Collector =
      std::function<std::shared_ptr<const LibraryCheckFacts>(Image &)>;

  explicit LibraryStore(Collector collector = nullptr);
  ~LibraryStore();

  struct State;

private:
  friend Closure resolveClosure(Image &, const LoaderSettings &,
                                LibraryStore &);
  std::unique_ptr<State> state;
};

/// pre: program.isProgram() or a library; empty for a static program.
Closure resolveClosure(Image &program, const LoaderSettings &settings,
                       LibraryStore &store);

/// The closure as a tree, one line a library below the one that asked for it
/// first, with its path or the reason why there is none:
/// "libm.so.6 => /lib/libm.so.6". \p program is the first line.
void writeTree(llvm::raw_ostream &out, llvm::StringRef program,
               const Closure &closure);

} // namespace mpg

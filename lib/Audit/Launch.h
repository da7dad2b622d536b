// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a program will be started, as far as it is known: by a job script, by
// --env, by /proc of a running process. Checks ask this and never the auditor's
// own environment: the job runs elsewhere.

#pragma once

#include "Audit/Finding.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mpg {

/// One variable. A value that depends on something only the job knows is not
/// known: then checks stay silent about it.
struct Variable {
  std::string value;
  bool known = true;
  unsigned line = 0; ///< of the script that sets it; 0: from elsewhere
  /// The known folders, with colons, of a list that is not known as a whole.
  std::string knownFolders = {};

  friend bool operator==(const Variable &a, const Variable &b) {
    return a.value == b.value && a.known == b.known && a.line == b.line &&
           a.knownFolders == b.knownFolders;
  }
};

/// A value of OMP_NUM_THREADS; of "4,12" the outer level's. Absent if GNU's or
/// LLVM's OpenMP library refuses it: "+4" LLVM's, "4," GNU's.
std::optional<unsigned> readThreads(llvm::StringRef value);

/// The files in a value of LD_PRELOAD: glibc takes colons and blanks between
/// them.
llvm::SmallVector<llvm::StringRef> splitPreload(llvm::StringRef value);

class Environment {
public:
  void set(llvm::StringRef name, Variable variable);
  void unset(llvm::StringRef name);
  /// Null if it is not set.
  const Variable *find(llvm::StringRef name) const;
  /// The value; "" if it is not set or not known.
  llvm::StringRef getValue(llvm::StringRef name) const;
  /// readThreads() of OMP_NUM_THREADS.
  std::optional<unsigned> threads() const;
  const std::map<std::string, Variable> &all() const { return variables; }

private:
  std::map<std::string, Variable> variables;
};

/// Facts about a launch that checks need beside the file. Unknown ones are
/// absent.
struct Launch {
  Environment environment;
  std::optional<unsigned> threads;      ///< OpenMP threads of one process
  std::optional<unsigned> ranksPerNode; ///< processes on one node
  std::optional<uint64_t> stackBytes;   ///< ulimit -s; UINT64_MAX: unlimited
  /// The environment has LD_LIBRARY_PATH and LD_PRELOAD.
  std::string sysroot; ///< "": this machine's libraries
  /// From this line of the script on any variable may have any value, because
  /// of a command like "module load gcc". 0: no such line.
  unsigned unknownFromLine = 0;
  std::string unknownFrom;
  /// The word of the program's command line that brings memory which the
  /// program maps itself to large pages (isMemoryOption); "": none.
  std::string memoryOption;
  /// mpgrun preloads our runtime into the program, before any other library.
  bool underMpgrun = false;
  /// In a branch of the script, or perhaps another file of the same name: what
  /// is wrong with this program may not matter.
  bool uncertain = false;

  /// Whether the program may get a value of \p name that is not known here.
  bool mayChange(llvm::StringRef name) const;
};

/// Nothing that is known of them differs.
bool operator==(const Launch &a, const Launch &b);

struct PagingPolicy {
  bool bssPrepaged = true, stackPrepaged = false, heapPrepaged = true;
  /// As a report shows it: the setting, or the default.
  std::string text = "prepage:demand:prepage, the default";
};

/// HUGETLB_MORECORE asks libhugetlbfs for malloc on large pages.
bool asksForMorecore(const Launch &launch);

/// The policy in force, for \p launch null the default. Nothing if large pages
/// are switched off or the script gives a value that only the job knows. A
/// value that libmpg would refuse counts as the default, as it does there.
std::optional<PagingPolicy> pagingPolicy(const Launch *launch, Target target);

/// Whether libmpg, ours only, pages .bss in before main in parts on all nodes,
/// whatever the policy says: MPG_FIRST_TOUCH=start.
bool dealsBssAtStart(const Launch &launch);

/// The setting for paging in. Unknown after "module load".
struct PagingState {
  bool off = false;    ///< large pages are switched off
  bool known = true;   ///< policy is the one in force, else the default
  PagingPolicy policy; ///< means nothing if off
};
PagingState pagingState(const Launch *launch, Target target);

enum class PageSwitch : uint8_t {
  on,
  off,
  unknown ///< only the running job knows: MPG_MODE=$MODE
};

/// How the job sets large pages of \p target's library. Fujitsu's does not read
/// MPG_MODE; libraries other than the two libmpg read no such variable.
PageSwitch pageSwitch(const Launch &launch, Target target);

/// False if the job switches them off.
bool wantsLargePages(const Launch &launch, Target target);

} // namespace mpg

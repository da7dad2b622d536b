// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Ranks.h.

#include "Process/Ranks.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// The first of \p names that the environment has; null if none.
static const char *findFirst(ArrayRef<const char *> names) {
  for (const char *name : names)
    if (const char *value = getenv(name))
      return value;
  return nullptr;
}

/// The rank of this process on its node, where a launcher says it.
static const char *localRank() {
  static const char *const names[] = {
#define MPG_LOCAL_RANK(name) name,
#include "mpg/ranks.def"
  };
  return findFirst(names);
}

bool mpg::speaksForNode() {
  const char *rank = localRank();
  return !rank || StringRef(rank) == "0";
}

std::string mpg::worldRank() {
  static const char *const names[] = {
#define MPG_WORLD_RANK(name) name,
#include "mpg/ranks.def"
  };
  const char *rank = findFirst(names);
  // It becomes a part of a file's name.
  bool isNumber = rank && *rank && all_of(StringRef(rank), isDigit);
  return isNumber ? rank : "0";
}

/// How many ranks the job has; nothing if no launcher says it, or it does not
/// fit the rank.
static std::optional<uint32_t> worldSize() {
  static const char *const names[] = {
#define MPG_WORLD_SIZE(name) name,
#include "mpg/ranks.def"
  };
  const char *value = findFirst(names);
  int32_t ranks, rank;
  if (!value || StringRef(value).getAsInteger(10, ranks) ||
      StringRef(worldRank()).getAsInteger(10, rank) || rank >= ranks)
    return std::nullopt;
  return uint32_t(ranks);
}

RankPlace mpg::getRankPlace() { return {hostName(), worldRank(), worldSize()}; }

/// The batch system's id of the job, as a part of a file's name: other signs
/// than letters, digits, "-", "_" and "." are "_". "no-job" without one.
static std::string jobId() {
  static const char *const names[] = {
#define MPG_JOB_ID(name) name,
#include "mpg/ranks.def"
  };
  const char *id = findFirst(names);
  std::string name = id && *id ? id : "no-job";
  for (char &letter : name)
    if (!isAlnum(letter) && !StringRef("-_.").contains(letter))
      letter = '_';
  return name;
}

bool mpg::hasOtherRanks() { return localRank() != nullptr; }

std::string mpg::hostName() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return host;
}

std::string mpg::expandFileName(StringRef pattern, pid_t pid) {
  std::string name;
  for (size_t at = 0; at < pattern.size(); ++at) {
    char next = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (pattern[at] != '%' || !StringRef("hjrp%").contains(next)) {
      name += pattern[at];
      continue;
    }
    ++at;
    name += next == 'h'   ? hostName()
            : next == 'j' ? jobId()
            : next == 'r' ? worldRank()
            : next == 'p' ? std::to_string(pid)
                          : "%";
  }
  return name;
}

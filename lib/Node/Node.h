// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything mpginfo knows about a node, and how it is read, judged and
// written. Reading never fails: what is not known says so (Fact).

#pragma once

#include "Measure/MachineLoad.h"
#include "Node/HugePages.h"
#include "Node/NodeMachine.h"
#include "Node/Registers.h"
#include "Node/SysTree.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

// NodeLimits.cpp: the limits of this process. Its control groups: 2 MiB pages
// in use and reserved (hugetlb controller), memory as a whole, and whether
// large pages count as memory there; version 1 and 2, a limit of any group
// above counts. Its resource limits, which a program started from here
// inherits, or those of another process.

/// One file of limits and how much of it is used.
struct GroupLimit {
  std::string file; ///< as on the node
  Fact<uint64_t> limitBytes, usageBytes;
  bool isReservation = false; ///< counts reserved pages, not pages in use

  uint64_t leftBytes() const;
  /// A line for the shell that lifts it.
  std::string liftCommand() const;
};

/// The groups of one controller.
struct GroupLimits {
  unsigned version = 0; ///< 1 or 2; 0: no such controller here
  std::string folder;   ///< the group of this process, as on the node
  std::string unknown;  ///< why nothing could be read; empty if it could
  /// Only what limits or could not be read, innermost group first.
  std::vector<GroupLimit> limits;

  /// The one with the least left; null if nothing limits.
  const GroupLimit *tightest() const;
};

struct CgroupFacts {
  GroupLimits largePages, memory;
  /// Whether pages of the pool count in the memory of a group.
  Fact<bool> poolCountsAsMemory;
};

CgroupFacts readCgroupFacts(const SysTree &tree);

/// Soft limits in bytes; UINT64_MAX: unlimited.
struct ProcessLimits {
  Fact<uint64_t> lockedMemory, stack, addressSpace;
};

/// \p process: "self", or a process id.
ProcessLimits readProcessLimits(const SysTree &tree,
                                llvm::StringRef process = "self");

// Hints in pointers. Whether this node acts on the hints that a program carries
// in its pointers (HPC tags), and what is missing if it does not. A pure
// function of what was read and tried elsewhere.
//
// Nothing here is proof that tags are on: no program can see the override
// itself. Where the vendor's command is installed it is on by default
// (HW:fhetbo), and without the vendor's system nothing is known to set it.

enum class Ability : uint8_t { no, yes, unknown };
llvm::StringRef abilityName(Ability ability); ///< "no", "yes", "unknown"

struct TagSupport {
  Ability sector = Ability::no;    ///< ways and sectors of the caches
  Ability prefetch = Ability::no;  ///< hardware prefetch off or weak by tag
  Ability injection = Ability::no; ///< tags that name an injection entry
  Ability barrier = Ability::no;   ///< the hardware barrier; no tag is needed
  /// Reasons why a hint does not act, one sentence each.
  std::vector<std::string> missing;

  /// "yes: sector, prefetch; unknown: injection; no: barrier".
  std::string summary() const;
};

TagSupport judgeTags(const NodeMachine &machine, const RegisterReach &reach);

// All of a node

struct Node {
  NodeMachine machine;
  KernelFacts kernel;
  PageFacts pages;
  TransparentFacts transparent;
  Fact<MemoryStalls> stalls; ///< since the boot
  CgroupFacts cgroups;
  ProcessLimits limits;
  NumaFacts numa;
  RegisterReach registers;
  TagSupport tags;

  /// Large pages that fit into free memory of \p node, or of all nodes that
  /// this process may use.
  Fact<uint64_t> obtainable(std::optional<unsigned> node = std::nullopt) const;
};

Node readNode(const SysTree &tree);

/// The kernel's counts for the machine and for the control group of this
/// process (version 2); nothing: the kernel does not have them.
struct StallCounts {
  std::optional<MemoryStalls> machine, group;
};
StallCounts readStallCounts(const SysTree &tree);
StallCounts stallsBetween(const StallCounts &before, const StallCounts &after);

struct Verdict;
/// \p asRoot: the reader can do what only root may.
void writeNodeText(llvm::raw_ostream &out, const Node &node,
                   const Verdict &verdict, bool asRoot);
/// Schema mpginfo-1.
void writeNodeJson(llvm::raw_ostream &out, const Node &node,
                   const Verdict &verdict);
/// Prometheus' text format.
void writeNodePrometheus(llvm::raw_ostream &out, const Node &node,
                         const Verdict &verdict);

// The verdict (Verdict.cpp). The conclusion from the facts about a node: does a
// program that starts here now get pages of 2 MiB, how many, and which command
// improves it. Pure functions of the facts.

enum class VerdictStatus : uint8_t {
  pool,        ///< the pool gives pages, as many as are needed
  tooFew,      ///< it gives some, but fewer
  transparent, ///< transparent huge pages, never promised
  none,
  unknown, ///< the files that would tell could not be read
};
/// As in JSON: "pool", "too-few", ...
llvm::StringRef statusName(VerdictStatus status);

/// Something to know or to do.
struct NodeAdvice {
  bool isWarning = false;       ///< costs large pages or speed; else a note
  std::string what, cost;       ///< cost may be empty
  std::vector<std::string> fix; ///< lines for a root shell; may be empty
};

struct Verdict {
  VerdictStatus status = VerdictStatus::unknown;
  /// 2 MiB pages that a new program could have now.
  Fact<uint64_t> availablePages;
  uint64_t neededPages = 0; ///< 0: nothing was asked for
  std::string headline;
  std::vector<NodeAdvice> advice; ///< what decides the verdict first

  /// Pages of the pool if there is a need, else large pages of any kind.
  bool isGood() const {
    return status == VerdictStatus::pool ||
           (status == VerdictStatus::transparent && neededPages == 0);
  }
};

Verdict judgeNode(const Node &node, uint64_t neededPages);

/// Two lines for a root shell that enlarge the pool by \p morePages: now, and
/// at every boot. On the nodes for jobs if the machine has others as well.
std::vector<std::string> growCommands(const Node &node, uint64_t morePages);

// ProductAdvice.cpp: advice of the makers of databases, of Java and of systems
// about large pages, with the source, and whether this node follows it. Their
// advice differs, and one node has one setting.

struct ProductAdvice {
  llvm::StringRef name, title;
  /// Words of transparent_hugepage/enabled that it is content with, with
  /// blanks between them, the best first.
  llvm::StringRef transparent;
  llvm::StringRef why, pool, source;
};

llvm::ArrayRef<ProductAdvice> allProductAdvice();
/// Null: there is none for \p name.
const ProductAdvice *findProductAdvice(llvm::StringRef name);

/// False if the node's setting is another one. One that is not known is no
/// other.
bool writeProductAdvice(llvm::raw_ostream &out, const ProductAdvice &advice,
                        const TransparentFacts &facts);

} // namespace mpg

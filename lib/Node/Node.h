// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything mpginfo knows about a node, and how it is read, judged and
// written. Reading never fails: what is not known says so (Fact).

#ifndef MPG_NODE_NODE_H
#define MPG_NODE_NODE_H

#include "Measure/MachineLoad.h"
#include "Node/HugePages.h"
#include "Node/NodeLimits.h"
#include "Node/NodeMachine.h"
#include "Node/Registers.h"

namespace llvm {
class raw_ostream;
}

namespace mpg {

//===----------------------------------------------------------------------===//
// Hints in pointers
//===----------------------------------------------------------------------===//
//
// Whether this node acts on the hints that a program carries in its pointers
// (HPC tags), and what is missing if it does not. A pure function of what was
// read and tried elsewhere.
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
  /// What keeps a hint from acting, one sentence each.
  std::vector<std::string> missing;

  /// "yes: sector, prefetch; unknown: injection; no: barrier".
  std::string summary() const;
};

TagSupport judgeTags(const NodeMachine &machine, const RegisterReach &reach);

//===----------------------------------------------------------------------===//
// All of a node
//===----------------------------------------------------------------------===//

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

struct Verdict;
/// \p asRoot: the reader can do what only root may.
void writeNodeText(llvm::raw_ostream &out, const Node &node,
                   const Verdict &verdict, bool asRoot);
/// Schema mpginfo-1.
void writeNodeJson(llvm::raw_ostream &out, const Node &node,
                   const Verdict &verdict);

} // namespace mpg

#endif // MPG_NODE_NODE_H

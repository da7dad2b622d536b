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
#include "Node/TagSupport.h"

namespace llvm {
class raw_ostream;
}

namespace mpg {

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

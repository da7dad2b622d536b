// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether this node acts on the hints that a program carries in its pointers
// (HPC tags), and what is missing if it does not. A pure function of what was
// read and tried elsewhere.
//
// Nothing here is proof that tags are on: no program can see the override
// itself. Where the vendor's command is installed it is on by default
// (HW:fhetbo), and without the vendor's system nothing is known to set it.

#ifndef MPG_NODE_TAGSUPPORT_H
#define MPG_NODE_TAGSUPPORT_H

#include "Node/NodeMachine.h"
#include "Node/Registers.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_NODE_TAGSUPPORT_H

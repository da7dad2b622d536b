// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The single questions behind a verdict. Each looks at one thing and appends
// at most one piece of advice.

#ifndef MPG_NODE_ADVICE_H
#define MPG_NODE_ADVICE_H

#include "Node/Verdict.h"

namespace mpg {

void adviseTransparent(const Node &node, Verdict &verdict);
void adviseNodeBalance(const Node &node, Verdict &verdict);
void adviseDefaultSize(const Node &node, Verdict &verdict);
void adviseBalancing(const Node &node, Verdict &verdict);
void adviseAddressSpace(const Node &node, Verdict &verdict);
void adviseA64fx(const Node &node, Verdict &verdict);
void adviseVendorLibrary(const Node &node, Verdict &verdict);
void adviseTiming(const Node &node, Verdict &verdict);
void adviseAccounting(const Node &node, Verdict &verdict);

} // namespace mpg

#endif // MPG_NODE_ADVICE_H

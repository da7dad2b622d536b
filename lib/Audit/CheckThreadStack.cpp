// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG104: a thread stack whose address the program chooses cannot be moved.

#include "Audit/Checks.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

void mpg::checkThreadStack(const Subject &subject, Findings &findings) {
  std::vector<StringRef> used =
      subject.symbols().importsOf({KnownSymbol::pthread_attr_setstack,
                                   KnownSymbol::pthread_attr_setstackaddr});
  if (used.empty() || subject.carriesLibmpg()) // it is libmpg that does
    return;
  Finding &finding =
      findings.add(FindingId::mpg104, "the address of a thread stack is set "
                                      "by the program");
  finding.where.symbol = used.front().str();
  finding.evidence = "imports " + join(used, ", ");
}

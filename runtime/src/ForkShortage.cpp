// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ForkShortage.h.

#include "ForkShortage.h"

#include "Shortage.h"

#include <errno.h>

using namespace mpg;

ForkShortage::ForkShortage(uint64_t needBytes, size_t granuleBytes) {
  explainShortage(cause, Source::hugetlb, granuleBytes, needBytes, ENOMEM);
}

void ForkShortage::say(LineBuffer &line, bool isSafe,
                       Messages &messages) const {
  if (isSafe && messages.hasSaid(MPG_MSG_SHORTAGE))
    return;
  line.add("; cause: ").add(cause.text());
  messages.say(MPG_MSG_FORK, line);
}

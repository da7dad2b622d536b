// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mpg_replicate (<mpg/mpg.h>) needs to know from start-up.

#ifndef MPG_RUNTIME_REPLICATE_H
#define MPG_RUNTIME_REPLICATE_H

#include "base/Messages.h"

namespace mpg {

/// Without this call mpg_replicate does its work and says nothing.
void startReplicate(Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_REPLICATE_H

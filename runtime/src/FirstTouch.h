// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mpg_first_touch (<mpg/pass.h>) needs to know from start-up.

#ifndef MPG_RUNTIME_FIRSTTOUCH_H
#define MPG_RUNTIME_FIRSTTOUCH_H

#include "Env.h"
#include "Messages.h"

namespace mpg {

/// Without this call mpg_first_touch does its work and warns of nothing.
void startFirstTouch(const Config &config, Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_FIRSTTOUCH_H

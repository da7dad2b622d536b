// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mpg_first_touch (<mpg/pass.h>) needs to know from start-up.

#ifndef MPG_RUNTIME_FIRSTTOUCH_H
#define MPG_RUNTIME_FIRSTTOUCH_H

#include "base/Env.h"
#include "base/Messages.h"
#include "base/Range.h"

namespace mpg {

/// Without this call mpg_first_touch does its work and warns of nothing.
/// \p heap: addresses of libmpg's heap, if it serves malloc.
void startFirstTouch(const Config &config, Range heap, Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_FIRSTTOUCH_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .data and .bss of the program (and, on request, of its libraries) onto large
// pages, before main.

#ifndef MPG_RUNTIME_REMAP_H
#define MPG_RUNTIME_REMAP_H

#include "base/Env.h"
#include "base/Messages.h"

namespace mpg {

/// Moves every granule that lies wholly in a writable segment and outside of
/// RELRO; values, addresses and protection stay as they are. What could not be
/// moved stays on normal pages, and one line says how much and why.
/// pre: probePages() was called; may be called once.
void remapSegments(const Config &config, Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_REMAP_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is in this process besides the program: Fujitsu's libmpg.so.1, and on
// whose wish we are here. Two libraries that move the same memory would be one
// too many, so ours stands down beside Fujitsu's and says so.

#ifndef MPG_RUNTIME_VENDOR_H
#define MPG_RUNTIME_VENDOR_H

#include "base/Messages.h"

namespace mpg {

/// Whether a library of the SONAME libmpg.so.1 is loaded. Ours has another
/// one, whatever its file is called.
bool vendorIsLoaded();

/// Whether the program was linked with this library: it contains it, or needs
/// it by its SONAME. False when it came by LD_PRELOAD or dlopen() only.
bool programIsLinkedWithUs();

void sayStandDown(Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_VENDOR_H

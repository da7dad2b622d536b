// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether lld can load a pass plugin. lld would end the link if not, with an
// error for a plugin of another LLVM and with a crash for a damaged file.
//
// The plugin is loaded in a child (Child.h), as LLVM itself loads it. Nothing
// is run but its constructors and the function that tells its version. That
// takes a millisecond, a twentieth of the link of a small program: too much for
// links without bitcode.

#ifndef MPG_TOOLS_LDMPG_PLUGINCHECK_H
#define MPG_TOOLS_LDMPG_PLUGINCHECK_H

#include <string>

namespace mpg {

/// Why lld cannot load the plugin in file \p path, without the name of the file
/// in front; empty if it can.
/// pre: this process has one thread, and its streams are flushed.
std::string reasonNotToLoad(const std::string &path);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_PLUGINCHECK_H

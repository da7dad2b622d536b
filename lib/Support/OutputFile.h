// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of results: written whole or not at all. llvm::writeToOutput is not
// used: it puts its file in the place of devices and pipes, and ends the
// program when the disk is full.

#ifndef MPG_SUPPORT_OUTPUTFILE_H
#define MPG_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <system_error>

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// Whether \p name can be written, looked at before the work that fills it:
/// hours later would be too late. Nothing is changed.
std::error_code checkOutputFile(const std::string &name);

/// Fills \p name, which keeps its mode if it is there. After an error, and
/// until all of it is written, what was there before stays as it was. Links are
/// followed; devices and pipes are written to as they are.
/// pre: one thread.
std::error_code
writeOutputFile(const std::string &name,
                llvm::function_ref<void(llvm::raw_ostream &out)> write);

} // namespace mpg

#endif // MPG_SUPPORT_OUTPUTFILE_H

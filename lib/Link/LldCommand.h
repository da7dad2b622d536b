// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line that lld gets, the user's own and what ld.mpg adds to it,
// and the text of the file that it writes for --dependency-file. Pure
// functions.

#pragma once

#include "Link/DriverArgs.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mpg {

/// Arguments that ld.mpg adds to a link; empty strings add nothing.
struct Additions {
  std::string firstObject;
  std::string lastObject;
  std::string runtimeLibrary; ///< path of libmpgrt.so or libmpgrt.a
  /// Where the program finds libmpgrt.so at run time; empty for an archive and
  /// where the loader looks anyway.
  std::string runtimeFolder;
  /// Plugin for LTO. lld loads it only when it has bitcode to compile.
  std::string passPlugin;
  bool alignSegments = false; ///< the layout: -z max-page-size and the note
  bool alignText = false;     ///< --mpg-text: -z max-page-size, hot code first
  bool color = false; ///< lld prints into a file that is shown on a terminal
};

/// Whether the loader looks into \p folder without being told.
bool isLoaderFolder(llvm::StringRef folder);

/// The command line for lld. Order matters: the first object comes before
/// everything (its sections lead theirs), then the runtime (before the C
/// library in the loader's search order), and the last object after all. The
/// folder of the runtime comes before the user's folders for the loader: CMake
/// takes its own off the end when it installs a program, and would leave an
/// empty one, the current folder, in front of ours.
std::vector<std::string> lldCommand(const LinkRequest &request,
                                    const Additions &additions);

/// \p text of a dependency file or a trace without the inputs \p paths, which
/// exist only while ld.mpg runs: ninja would link again every time.
std::string withoutPaths(llvm::StringRef text,
                         llvm::ArrayRef<std::string> paths);

} // namespace mpg

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The containers of a Kubernetes manifest, as they are written there.

#ifndef MPG_JOBSCRIPT_MANIFEST_H
#define MPG_JOBSCRIPT_MANIFEST_H

#include "JobScript/JobScript.h"

namespace mpg {

struct ManifestText {
  std::string text;
  unsigned line;
};

struct ManifestVariable {
  std::string name;
  std::optional<std::string> value; ///< nothing: valueFrom
  unsigned line;
};

struct ManifestContainer {
  JobContainer facts;
  std::vector<ManifestText> command; ///< and args
  std::vector<ManifestVariable> variables;
  bool hasEnvFrom = false;
  std::string folder, image;
};

/// Whether \p text is meant to be YAML, by its name or its first line.
bool isManifest(llvm::StringRef text, llvm::StringRef path);

/// The containers of all pods, and of the templates of pods, in \p text. The
/// error's text is the reason alone.
llvm::Expected<std::vector<ManifestContainer>>
readManifest(llvm::StringRef text, const std::string &path);

} // namespace mpg

#endif // MPG_JOBSCRIPT_MANIFEST_H

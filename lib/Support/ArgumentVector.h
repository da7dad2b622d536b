// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strings as exec and posix_spawn take them.

#ifndef MPG_SUPPORT_ARGUMENTVECTOR_H
#define MPG_SUPPORT_ARGUMENTVECTOR_H

#include <string>
#include <vector>

namespace mpg {

/// Pointers to \p words, which must live as long, and a null one after them.
inline std::vector<char *>
argumentVector(const std::vector<std::string> &words) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace mpg

#endif // MPG_SUPPORT_ARGUMENTVECTOR_H

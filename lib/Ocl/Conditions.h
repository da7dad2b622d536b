// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lines of a source the C preprocessor leaves out: #if, #ifdef, #elif,
// #else, #endif, #define and #undef. Macros with arguments count as 0.

#ifndef MPG_OCL_CONDITIONS_H
#define MPG_OCL_CONDITIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mpg {

class Conditions {
public:
  void define(llvm::StringRef name, llvm::StringRef value);
  void undefine(llvm::StringRef name);

  /// \p text is a line without its '#'. Other lines and wrong directives change
  /// nothing: the compiler reports them.
  void addDirective(llvm::StringRef text);

  /// Whether the next line is part of the program.
  bool isActive() const { return groups.empty() || groups.back().active; }

private:
  struct Group {
    bool outerActive; ///< around the #if
    bool active;
    bool taken; ///< one of the branches was
  };

  void beginGroup(bool condition);
  void nextBranch(bool condition);
  bool isTrue(llvm::StringRef expression) const;

  llvm::StringMap<std::string> macros;
  std::vector<Group> groups;
};

} // namespace mpg

#endif // MPG_OCL_CONDITIONS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns for paths and symbols as a shell has them, with ** added: * and ?
// stay within one part of a path, ** crosses slashes. llvm::GlobPattern does
// not know the difference. Matching takes time in proportion to the two
// lengths, whatever the pattern: patterns come from files.

#ifndef MPG_POLICY_GLOB_H
#define MPG_POLICY_GLOB_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <bitset>
#include <vector>

namespace mpg {

/// * ? [a-z] [!a-z] **, and \ in front of a character that stands for itself.
/// "**/x" is x in any folder or in none; "x/**" is all that is in x.
class Glob {
public:
  /// The error's text is the reason alone.
  static llvm::Expected<Glob> parse(llvm::StringRef pattern);
  /// For absolute paths. A pattern that does not begin with a slash may begin
  /// at any part of one: "bin/app" is /home/me/project/bin/app as well.
  static llvm::Expected<Glob> parsePath(llvm::StringRef pattern);

  /// Whether all of \p text matches.
  bool match(llvm::StringRef text) const;
  /// It has no wildcard.
  bool isLiteral() const;

private:
  enum class Kind : uint8_t {
    oneOf,        ///< one character of the set
    star,         ///< any number of characters, but no slash
    doubleStar,   ///< any number of characters
    maybeFolders, ///< "**/": the next token, or the one after it
    inFolders,    ///< any number of characters; the last one is a slash
  };
  struct Token {
    Kind kind;
    std::bitset<256> set;
  };

  void add(Kind kind);
  void addCharacter(char character);
  void addFolders();
  std::string addSet(llvm::StringRef pattern, size_t &at);
  bool endsAlike(llvm::StringRef text) const;
  void enter(std::vector<bool> &states, size_t state) const;

  std::vector<Token> tokens;
  bool wild = false;
};

} // namespace mpg

#endif // MPG_POLICY_GLOB_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of a script as tokens, together with those of texts that the
// reader comes across in it: "$(command)", "bash -c TEXT". Tokens of a text are
// appended to those of the script, so that a function of one can be called in
// the other.

#ifndef MPG_JOBSCRIPT_SHELLSOURCE_H
#define MPG_JOBSCRIPT_SHELLSOURCE_H

#include "JobScript/ShellLexer.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <map>

namespace mpg {

/// Where in the tokens: [first, end).
struct ShellRange {
  size_t first, end;
  size_t size() const { return end - first; }
};

struct ShellFunction {
  ShellRange body;
  bool called = false;
  bool active = false; ///< it is being read
};

class ShellSource {
public:
  /// Adds texts of at most \p textBytes.
  ShellSource(ShellTokens read, ShellBlocks blocks, size_t textBytes)
      : tokens(std::move(read.tokens)), roles(std::move(blocks.roles)),
        next(std::move(blocks.next)), hidden(std::move(read.hidden)),
        budget(textBytes) {
    roles.resize(tokens.size());
    next.resize(tokens.size(), tokens.size());
  }

  size_t size() const { return tokens.size(); }
  const ShellToken &token(size_t at) const { return tokens[at]; }
  ShellRole role(size_t at) const { return roles[at]; }
  bool isKind(size_t at, size_t end, ShellTokenKind kind) const {
    return at < end && tokens[at].kind == kind;
  }
  bool isWord(size_t at, size_t end) const {
    return isKind(at, end, ShellTokenKind::word);
  }
  /// The next reserved word of the command; \p end if it has none before.
  size_t nextPart(size_t at, size_t end) const {
    return std::min(next[at], end);
  }
  /// The last reserved word of the command that begins at \p at.
  size_t endOfCompound(size_t at, size_t end) const;
  /// Redirections and here-documents of the tokens [first, last].
  std::vector<ShellHidden> hiddenAt(size_t first, size_t last) const;
  /// The last here-document of the command in \p range.
  std::optional<ShellHidden> findDocument(ShellRange range) const;

  /// Appends the tokens of \p text, which stays where it is. Absent if it is
  /// not a list of commands, or if the script has too many.
  std::optional<ShellRange> addText(llvm::StringRef text, unsigned line);
  /// A text that stays where it is.
  llvm::StringRef keep(std::string text);
  /// Whether a text of \p bytes may still be added.
  bool hasRoom(size_t bytes) const { return bytes <= budget; }
  /// \p text of `..` or of a here-document without the \ in front of ` $ and
  /// \. Absent if the script has too many of them.
  std::optional<llvm::StringRef> withoutQuotes(llvm::StringRef text);

  /// Those that the script has defined so far.
  llvm::StringMap<ShellFunction> functions;
  /// Text of a file: its lines are not the script's.
  const char *fileText = nullptr;

private:
  bool spend(size_t bytes);

  std::vector<ShellToken> tokens;
  std::vector<ShellRole> roles;
  std::vector<size_t> next;
  std::vector<ShellHidden> hidden;
  std::deque<std::string> texts; ///< that tokens point into
  std::map<std::pair<const char *, size_t>, ShellRange> added;
  size_t budget; ///< bytes of texts that are still read
};

/// Names of variables, and of JobState's own entries, that commands in \p range
/// may assign to: rather too many of them.
llvm::StringSet<> findAssigned(const ShellSource &source, ShellRange range);

} // namespace mpg

#endif // MPG_JOBSCRIPT_SHELLSOURCE_H

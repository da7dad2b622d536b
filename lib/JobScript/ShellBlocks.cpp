// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ShellLexer.h. A word is reserved only where a command begins: `echo
// done` ends no loop.

#include "JobScript/ShellLexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mpg;

namespace {

/// A block that is open at this point.
struct OpenBlock {
  ShellRole
      opener;   ///< ifWord, loopWord, forWord, caseWord, openBrace, subshell
  size_t first; ///< token of the opener
  size_t last;  ///< its latest reserved word: next[] is set from it
};

class BlockFinder {
public:
  BlockFinder(const std::vector<ShellToken> &tokens,
              std::vector<JobProblem> &problems)
      : tokens(tokens), problems(problems) {
    result.roles.assign(tokens.size(), ShellRole::none);
    result.next.assign(tokens.size(), tokens.size());
  }

  ShellBlocks run();

private:
  void visit(size_t i);
  void visitWord(size_t i);
  void visitReserved(size_t i, ShellRole role);
  ShellRole innermostLoop() const;
  void visitOpen(size_t i);
  void visitClose(size_t i);
  void visitPattern(size_t i);
  bool visitFunction(size_t i);
  void open(size_t i, ShellRole role);
  void link(size_t i, ShellRole role);
  void close(size_t i, ShellRole role, ShellRole opener);
  void reportOpen(const OpenBlock &block);
  bool isWord(size_t i, StringRef text) const {
    return i < tokens.size() && tokens[i].kind == ShellTokenKind::word &&
           tokens[i].text == text;
  }
  bool isKind(size_t i, ShellTokenKind kind) const {
    return i < tokens.size() && tokens[i].kind == kind;
  }
  bool isAssignment(size_t i) const {
    return isKind(i, ShellTokenKind::word) &&
           shellAssignmentLength(tokens[i].text);
  }
  unsigned &count(ShellRole opener) { return counts[size_t(opener)]; }

  const std::vector<ShellToken> &tokens;
  std::vector<JobProblem> &problems;
  ShellBlocks result;
  std::vector<OpenBlock> blocks;
  unsigned counts[size_t(ShellRole::function) + 1] = {};
  bool atCommand = true;  ///< a reserved word may come here
  bool inPattern = false; ///< between case .. in or ;; and the )
};

} // namespace

static ShellRole parseRole(StringRef word) {
  return StringSwitch<ShellRole>(word)
      .Case("if", ShellRole::ifWord)
      .Case("elif", ShellRole::elifWord)
      .Case("then", ShellRole::thenWord)
      .Case("else", ShellRole::elseWord)
      .Case("fi", ShellRole::fiWord)
      .Case("while", ShellRole::loopWord)
      .Case("until", ShellRole::loopWord)
      .Case("for", ShellRole::forWord)
      .Case("select", ShellRole::forWord)
      .Case("do", ShellRole::doWord)
      .Case("done", ShellRole::doneWord)
      .Case("case", ShellRole::caseWord)
      .Case("esac", ShellRole::esacWord)
      .Case("{", ShellRole::openBrace)
      .Case("}", ShellRole::closeBrace)
      .Case("!", ShellRole::prefix)
      .Case("function", ShellRole::function)
      .Default(ShellRole::none);
}

static StringRef getCloser(ShellRole opener) {
  switch (opener) {
  case ShellRole::ifWord:
    return "fi";
  case ShellRole::caseWord:
    return "esac";
  case ShellRole::openBrace:
    return "}";
  case ShellRole::subshell:
    return ")";
  default:
    return "done";
  }
}

void BlockFinder::reportOpen(const OpenBlock &block) {
  // One line for a script that forgets a thousand of them.
  if (count(block.opener)++ == 0)
    problems.push_back({tokens[block.first].line,
                        (tokens[block.first].text + " is not closed with " +
                         getCloser(block.opener))
                            .str()});
}

void BlockFinder::open(size_t i, ShellRole role) {
  result.roles[i] = role;
  blocks.push_back({role, i, i});
  ++count(role);
  atCommand = role != ShellRole::forWord && role != ShellRole::caseWord;
}

/// Token \p i goes on with the innermost block.
void BlockFinder::link(size_t i, ShellRole role) {
  OpenBlock &block = blocks.back();
  result.roles[i] = role;
  result.next[block.last] = i;
  block.last = i;
  atCommand = true;
}

/// Token \p i closes the innermost block that \p opener opened; blocks within
/// it which are still open end here, too.
void BlockFinder::close(size_t i, ShellRole role, ShellRole opener) {
  if (!count(opener)) {
    result.roles[i] = ShellRole::stray;
    problems.push_back(
        {tokens[i].line, (tokens[i].text + " closes nothing").str()});
    return;
  }
  while (blocks.back().opener != opener) {
    OpenBlock block = blocks.back();
    blocks.pop_back();
    result.next[block.last] = i;
    problems.push_back({tokens[block.first].line,
                        (tokens[block.first].text + " is not closed with " +
                         getCloser(block.opener))
                            .str()});
    --count(block.opener);
  }
  link(i, role);
  blocks.pop_back();
  --count(opener);
}

/// Whichever of the two kinds of loop was opened last.
ShellRole BlockFinder::innermostLoop() const {
  if (counts[size_t(ShellRole::forWord)])
    for (const OpenBlock &block : reverse(blocks))
      if (block.opener == ShellRole::loopWord ||
          block.opener == ShellRole::forWord)
        return block.opener;
  return ShellRole::loopWord;
}

void BlockFinder::visitReserved(size_t i, ShellRole role) {
  ShellRole opener = blocks.empty() ? ShellRole::none : blocks.back().opener;
  bool isLoop = opener == ShellRole::loopWord || opener == ShellRole::forWord;
  switch (role) {
  case ShellRole::ifWord:
  case ShellRole::loopWord:
  case ShellRole::forWord:
  case ShellRole::openBrace:
  case ShellRole::caseWord:
    return open(i, role);
  case ShellRole::elifWord:
  case ShellRole::thenWord:
  case ShellRole::elseWord:
    if (opener == ShellRole::ifWord)
      return link(i, role);
    break;
  case ShellRole::doWord:
    if (isLoop)
      return link(i, role);
    break;
  case ShellRole::fiWord:
    return close(i, role, ShellRole::ifWord);
  case ShellRole::esacWord:
    return close(i, role, ShellRole::caseWord);
  case ShellRole::closeBrace:
    return close(i, role, ShellRole::openBrace);
  case ShellRole::doneWord:
    return close(i, role, innermostLoop());
  default:
    break;
  }
  result.roles[i] = role == ShellRole::prefix ? role : ShellRole::stray;
}

/// "name () body" and "function name [()] body".
bool BlockFinder::visitFunction(size_t i) {
  size_t body = i + 1;
  if (isWord(i, "function")) {
    if (!isKind(i + 1, ShellTokenKind::word))
      return false;
    body = i + 2;
    if (isKind(body, ShellTokenKind::open) &&
        isKind(body + 1, ShellTokenKind::close))
      body += 2;
  } else {
    if (!isKind(body, ShellTokenKind::open) ||
        !isKind(body + 1, ShellTokenKind::close))
      return false;
    body += 2;
  }
  while (isKind(body, ShellTokenKind::newline))
    ++body;
  bool subshell = isKind(body, ShellTokenKind::open);
  if (!subshell && !isWord(body, "{"))
    return false;
  result.roles[i] = ShellRole::function;
  result.next[i] = body;
  return true;
}

void BlockFinder::visitWord(size_t i) {
  StringRef word = tokens[i].text;
  // The name after "function"; a reserved word may follow.
  if (i > 0 && result.roles[i - 1] == ShellRole::function &&
      isWord(i - 1, "function"))
    return;
  const OpenBlock *block = blocks.empty() ? nullptr : &blocks.back();
  if (block && block->opener == ShellRole::caseWord && word == "in" &&
      block->last == block->first && i > block->first + 1) {
    inPattern = true;
    return;
  }
  if (!atCommand) {
    // "for i do" has no ; before its do.
    if (block && block->opener == ShellRole::forWord && block->last + 2 == i &&
        word == "do")
      link(i, ShellRole::doWord);
    return;
  }
  if (visitFunction(i))
    return;
  // "coproc NAME { .. }", and "coproc command" without a name.
  if (i > 0 && result.roles[i] == ShellRole::prefix && isWord(i - 1, "coproc"))
    return;
  ShellRole role = parseRole(word);
  if (word == "time" &&
      (isKind(i + 1, ShellTokenKind::open) || isWord(i + 1, "{") ||
       isWord(i + 1, "for") || isAssignment(i + 1)))
    role = ShellRole::prefix;
  if (word == "coproc") {
    role = ShellRole::prefix;
    if (isWord(i + 2, "{") || isKind(i + 2, ShellTokenKind::open))
      result.roles[i + 1] = role;
  }
  if (role != ShellRole::none && role != ShellRole::function)
    return visitReserved(i, role);
  // After "A=b" no word is reserved, but a name may follow.
  atCommand = false;
}

void BlockFinder::visitOpen(size_t i) {
  // The () of a function was looked at with its name.
  bool ofFunction = isKind(i + 1, ShellTokenKind::close) && i > 0 &&
                    (result.roles[i - 1] == ShellRole::function ||
                     (i > 1 && result.roles[i - 2] == ShellRole::function));
  if (ofFunction)
    return;
  open(i, ShellRole::subshell);
}

void BlockFinder::visitClose(size_t i) {
  if (i > 0 && tokens[i - 1].kind == ShellTokenKind::open &&
      result.roles[i - 1] == ShellRole::none) {
    atCommand = true; // () of a function: its body follows
    return;
  }
  close(i, ShellRole::subshellEnd, ShellRole::subshell);
}

/// Between "case x in", or ;;, and the ) of the next clause.
void BlockFinder::visitPattern(size_t i) {
  if (tokens[i].kind == ShellTokenKind::close) {
    inPattern = false;
    link(i, ShellRole::patternEnd);
  } else if (isWord(i, "esac")) {
    inPattern = false;
    close(i, ShellRole::esacWord, ShellRole::caseWord);
  }
}

void BlockFinder::visit(size_t i) {
  if (inPattern)
    return visitPattern(i);
  switch (tokens[i].kind) {
  case ShellTokenKind::word:
    return visitWord(i);
  case ShellTokenKind::open:
    return visitOpen(i);
  case ShellTokenKind::close:
    return visitClose(i);
  case ShellTokenKind::caseEnd:
    if (!blocks.empty() && blocks.back().opener == ShellRole::caseWord) {
      link(i, ShellRole::clauseEnd);
      inPattern = true;
    }
    atCommand = true;
    return;
  default:
    atCommand = true;
  }
}

ShellBlocks BlockFinder::run() {
  for (size_t i = 0; i < tokens.size(); ++i)
    visit(i);
  for (unsigned &number : counts)
    number = 0;
  for (const OpenBlock &block : blocks)
    reportOpen(block);
  return std::move(result);
}

ShellBlocks mpg::findShellBlocks(const std::vector<ShellToken> &tokens,
                                 std::vector<JobProblem> &problems) {
  return BlockFinder(tokens, problems).run();
}

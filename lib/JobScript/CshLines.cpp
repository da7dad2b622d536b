// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads scripts of csh and tcsh line by line: setenv, set, limit, and the
// programs. Their if, foreach and switch are seen only as far as it takes to
// know which lines may not run.

#include "JobScript/JobReader.h"
#include "Support/Format.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mpg;

/// +1 if the line opens a block, -1 if it closes one.
static int blockChange(StringRef first, StringRef last) {
  return StringSwitch<int>(first)
      .Case("if", last == "then" ? 1 : 0)
      .Case("foreach", 1)
      .Case("while", 1)
      .Case("switch", 1)
      .Case("endif", -1)
      .Case("end", -1)
      .Case("endsw", -1)
      .Default(0);
}

/// Commands of csh itself that start nothing and change no environment.
static constexpr StringLiteral startsNothing =
    "bindkey breaksw case complete echotc exit filetest glob goto hashstat "
    "limit log ls-F notify onintr rehash sched settc stop telltc uncomplete "
    "unhash unlimit watchlog where";

/// Variables that a block may change are unknown after it.
void JobReader::readCshCommand(ShellRange range) {
  // "repeat 3 ./app", "nice +5 ./app"
  StringRef first = source.token(range.first).text;
  if (range.size() > 2 &&
      (first == "repeat" ||
       (first == "nice" &&
        source.token(range.first + 1).text.starts_with("+"))))
    range.first += 2;
  ShellCommand command = expand(range);
  StringRef name = command.name();
  if (name == "set" || name == "@") {
    // "set a = b" and "set a=b"; neither is exported.
    if (command.words.size() > 1) {
      StringRef word = command.words[1].text;
      variables.forget(word.take_front(shellNameLength(word)), command.line);
    }
    return record.addCommand(command);
  }
  if (name == "limit" && command.words.size() > 2 &&
      command.words[1].text == "stacksize")
    variables.setValue(JobState::stackLimitName, command.values[2],
                       command.line);
  // An exit is in a block, most of the time; a name with a colon is a label.
  if (hasWord(startsNothing, name) || name.ends_with(":"))
    return record.addCommand(command);
  runCommand(command);
}

/// After the condition of "if (..) command".
static size_t skipCondition(const ShellSource &source, size_t at, size_t end) {
  size_t close = ++at, parentheses = 0;
  for (; at < end; ++at) {
    parentheses += source.token(at).kind == ShellTokenKind::open;
    if (source.token(at).kind == ShellTokenKind::close && parentheses-- <= 1)
      return at + 1;
  }
  return close;
}

/// The commands of one line, apart from words that only make blocks.
void JobReader::readCshLine(ShellRange range) {
  size_t at = range.first;
  while (at < range.end) {
    size_t end = at;
    while (source.isWord(end, range.end))
      ++end;
    if (end > at)
      readCshCommand({at, end});
    at = end + 1;
  }
}

void JobReader::runCsh(ArrayRef<DirectiveVariable> fromDirectives) {
  addDirectives(fromDirectives);
  record.addProblem(
      1, "a csh script: setenv, limit and the programs it starts are read; "
         "blocks and variables of csh are not");
  unsigned open = 0;
  const size_t last = source.size();
  for (size_t at = 0, end; at < last; at = end + 1) {
    end = at;
    while (end < last && source.token(end).kind != ShellTokenKind::newline)
      ++end;
    if (end == at)
      continue;
    StringRef first = source.token(at).text;
    int change = blockChange(first, source.token(end - 1).text);
    if (change < 0 && open)
      --open;
    bool oneLine = first == "if" && change == 0;
    record.conditions = open + oneLine;
    ShellBranches branches(variables);
    if (oneLine)
      at = skipCondition(source, at, end);
    if (!change && first != "else")
      readCshLine({at, end});
    // Whether it ran is not known after it.
    if (record.conditions) {
      branches.endBranch(/*reached=*/true);
      branches.merge(/*complete=*/false);
    }
    ended = false;
    open += change > 0;
  }
}

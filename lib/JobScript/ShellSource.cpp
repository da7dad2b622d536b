// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobTexts.h.

#include "JobScript/JobState.h"
#include "JobScript/JobTexts.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace llvm;
using namespace mpg;

size_t ShellSource::endOfCompound(size_t at, size_t end) const {
  while (at < end && next[at] > at && next[at] < end)
    at = next[at];
  return at;
}

std::vector<ShellHidden> ShellSource::hiddenAt(size_t first,
                                               size_t last) const {
  auto begin = partition_point(hidden, [&](const ShellHidden &word) {
    return word.tokensBefore < first;
  });
  return {begin, std::find_if(begin, hidden.end(), [&](const ShellHidden &w) {
            return w.tokensBefore > last;
          })};
}

std::optional<ShellHidden> ShellSource::findDocument(ShellRange range) const {
  std::optional<ShellHidden> last;
  for (const ShellHidden &word : hiddenAt(range.first, range.end))
    if (word.kind != ShellHidden::redirection)
      last = word;
  return last;
}

bool ShellSource::spend(size_t bytes) {
  if (!hasRoom(bytes))
    return false;
  budget -= bytes;
  return true;
}

StringRef ShellSource::keep(std::string text) {
  texts.push_back(std::move(text));
  return texts.back();
}

std::optional<StringRef> ShellSource::withoutQuotes(StringRef text) {
  if (!spend(text.size()))
    return std::nullopt;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    bool quotes = text[i] == '\\' && i + 1 < text.size() &&
                  StringRef("`$\\").contains(text[i + 1]);
    plain += text[quotes ? ++i : i];
  }
  return keep(std::move(plain));
}

std::optional<ShellRange> ShellSource::addText(StringRef text, unsigned line) {
  auto known = added.find({text.data(), text.size()});
  if (known != added.end())
    return known->second;
  if (!spend(text.size()))
    return std::nullopt;
  std::vector<JobProblem> problems;
  ShellTokens read = lexShell(text, problems);
  ShellBlocks blocks = findShellBlocks(read.tokens, problems);
  if (!problems.empty())
    return std::nullopt;
  // No command of the text before it goes on in this one.
  tokens.push_back({ShellTokenKind::newline, line, ""});
  roles.push_back(ShellRole::none);
  next.push_back(tokens.size());
  size_t base = tokens.size();
  for (size_t i = 0; i < read.tokens.size(); ++i) {
    tokens.push_back(read.tokens[i]);
    tokens.back().line =
        text.data() == fileText ? line : tokens.back().line + line - 1;
    roles.push_back(blocks.roles[i]);
    next.push_back(base + blocks.next[i]);
  }
  for (ShellHidden word : read.hidden)
    hidden.push_back(
        {base + word.tokensBefore, word.text, word.line + line - 1, word.kind});
  return added[{text.data(), text.size()}] = {base, tokens.size()};
}

// Names that commands assign to

namespace {

class AssignedNames {
public:
  explicit AssignedNames(const ShellSource &source) : source(source) {}
  void collect(ShellRange range);
  StringSet<> names;

private:
  bool isPrefixAssignment(size_t at) const;
  void collectWord(size_t at, bool takesNames);

  const ShellSource &source;
  SmallPtrSet<const ShellFunction *, 8> seen;
};

} // namespace

/// "A=b command": the variable is the command's alone.
bool AssignedNames::isPrefixAssignment(size_t at) const {
  if (at > 0 && source.isWord(at - 1, at) &&
      source.role(at - 1) == ShellRole::none &&
      !shellAssignmentLength(source.token(at - 1).text))
    return false;
  while (source.isWord(at, source.size())) {
    if (!shellAssignmentLength(source.token(at).text))
      return true;
    ++at;
  }
  return false;
}

void AssignedNames::collectWord(size_t at, bool takesNames) {
  StringRef word = source.token(at).text;
  size_t length = shellNameLength(word);
  if (takesNames ? length > 0
                 : shellAssignmentLength(word) && !isPrefixAssignment(at)) {
    names.insert(word.take_front(length));
  } else if (word.starts_with("((") || word.contains(":=")) {
    for (size_t i = 0; i < word.size(); ++i)
      if (size_t size = shellNameLength(word.substr(i))) {
        names.insert(word.substr(i, size));
        i += size;
      }
  } else if (hasWord("cd pushd popd", word)) {
    names.insert("PWD");
    names.insert("OLDPWD");
    names.insert(JobState::folderName);
    if (word != "cd")
      names.insert(JobState::pushedName);
  } else if (word == "ulimit") {
    names.insert(JobState::stackLimitName);
  } else if (word == "set") {
    names.insert(JobState::exportAllName);
  } else if (hasWord("module ml spack source . conda", word)) {
    names.insert("PATH");
    names.insert("LD_LIBRARY_PATH");
  }
}

void AssignedNames::collect(ShellRange range) {
  static const StringRef namers[] = {
      "read",    "unset", "for",       "select", "let",    "declare", "typeset",
      "getopts", "local", "readarray", "printf", "export", "mapfile"};
  constexpr size_t maxFunctions = 16; // one calls the next
  bool takesNames = false;
  for (size_t i = range.first; i < range.end; ++i) {
    if (!source.isWord(i, range.end)) {
      takesNames = false;
      continue;
    }
    StringRef word = source.token(i).text;
    if (is_contained(namers, word))
      takesNames = true;
    else
      collectWord(i, takesNames);
    auto function = source.functions.find(word);
    if (function != source.functions.end() && seen.size() < maxFunctions &&
        seen.insert(&function->second).second)
      collect(function->second.body);
  }
}

StringSet<> mpg::findAssigned(const ShellSource &source, ShellRange range) {
  AssignedNames assigned(source);
  assigned.collect(range);
  return std::move(assigned.names);
}

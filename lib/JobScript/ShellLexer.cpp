// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ShellLexer.h. Nested quotes are skipped with a stack of their own, not
// with recursion: a script may nest them 100,000 deep.
//
// A search that fails goes to the end of the text. A script made of openings
// only would then take quadratic time; so after a few failures searches end
// with their line.

#include "JobScript/ShellLexer.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr unsigned longSearches = 8;

size_t mpg::shellNameLength(StringRef text) {
  if (text.empty() || !(isAlpha(text[0]) || text[0] == '_'))
    return 0;
  size_t length = 1;
  while (length < text.size() && (isAlnum(text[length]) || text[length] == '_'))
    ++length;
  return length;
}

size_t mpg::shellAssignmentLength(StringRef word) {
  size_t at = shellNameLength(word);
  if (!at)
    return 0;
  if (word.substr(at).starts_with("[")) {
    size_t close = word.find(']', at);
    if (close == StringRef::npos)
      return 0;
    at = close + 1;
  }
  if (word.substr(at).starts_with("+="))
    return at + 2;
  return word.substr(at).starts_with("=") ? at + 1 : 0;
}

namespace {

/// Skips quotes and expansions, one character or one opening at a time.
class QuoteSkipper {
public:
  QuoteSkipper(StringRef text, size_t at, bool inQuotes)
      : text(text), at(at), inQuotes(inQuotes) {}

  size_t skip();

private:
  void step();
  void stepDollar();
  void skipSingleQuotes(bool escapes);
  void enter(char what, size_t length) {
    open.push_back(what);
    at += length;
  }
  char innermost() const { return open.empty() ? '\0' : open.back(); }
  /// Where ' is a character like any other.
  bool isQuoted() const {
    return innermost() == '"' || innermost() == quotedBrace;
  }

  /// ${ within double quotes.
  static constexpr char quotedBrace = '[';
  StringRef text;
  size_t at;
  bool inQuotes;
  /// " ` ( { [ as they opened; ] is that of $[; ' if one is never closed.
  std::string open;
};

} // namespace

void QuoteSkipper::skipSingleQuotes(bool escapes) {
  for (size_t i = at; i < text.size(); ++i) {
    if (escapes && text[i] == '\\')
      ++i;
    else if (text[i] == '\'') {
      at = i + 1;
      return;
    }
  }
  enter('\'', text.size() - at);
}

void QuoteSkipper::stepDollar() {
  StringRef rest = text.substr(at);
  bool quoted = isQuoted() || (open.empty() && inQuotes);
  if (rest.starts_with("$("))
    return enter('(', 2);
  if (rest.starts_with("${"))
    return enter(quoted ? quotedBrace : '{', 2);
  if (rest.starts_with("$["))
    return enter(']', 2);
  bool ansi = rest.starts_with("$'") && !quoted;
  at += ansi ? 2 : 1;
  if (ansi)
    skipSingleQuotes(/*escapes=*/true);
}

void QuoteSkipper::step() {
  char c = text[at], inner = innermost();
  if (c == '\\') {
    at = std::min(at + 2, text.size());
  } else if (c == '\'' && !isQuoted()) {
    ++at;
    skipSingleQuotes(/*escapes=*/false);
  } else if (c == '$') {
    stepDollar();
  } else if (((c == '"' || c == '`') && inner == c) ||
             (c == ')' && inner == '(') || (c == ']' && inner == ']') ||
             (c == '}' && (inner == '{' || inner == quotedBrace))) {
    open.pop_back();
    ++at;
  } else if (c == '"' || c == '`' || (c == '(' && inner == '(')) {
    enter(c, 1);
  } else if (c == '[' && inner == ']') { // $[a[1] + 2]
    enter(']', 1);
  } else if (c == '#' && inner == '(' && isSpace(text[at - 1])) {
    // A comment within $( ): a quote in it opens nothing.
    at = std::min(text.find('\n', at), text.size());
  } else if (c == '#' && inner == '`' &&
             (text[at - 1] == '`' || isSpace(text[at - 1]))) {
    // The same within ` `, which also ends it.
    at = std::min(text.find_first_of("\n`", at), text.size());
  } else {
    ++at;
  }
}

size_t QuoteSkipper::skip() {
  if (text[at] == '(')
    enter('(', 1);
  else
    step();
  while (!open.empty() && at < text.size())
    step();
  return open.empty() ? at : StringRef::npos;
}

size_t mpg::skipShellQuotes(StringRef text, size_t at, bool inQuotes) {
  return QuoteSkipper(text, at, inQuotes).skip();
}

std::vector<ShellSubstitution> mpg::findSubstitutions(StringRef raw,
                                                      bool inQuotes) {
  std::vector<ShellSubstitution> found;
  bool always = inQuotes; // a here-document: " is a character like others
  for (size_t at = 0; at < raw.size();) {
    StringRef rest = raw.substr(at);
    bool isOld = rest[0] == '`';
    bool isProcess =
        !inQuotes && (rest.starts_with("<(") || rest.starts_with(">("));
    if (isOld || isProcess ||
        (rest.starts_with("$(") && !rest.starts_with("$(("))) {
      size_t end = skipShellQuotes(raw, at + isProcess, inQuotes);
      if (end == StringRef::npos)
        break; // each search goes to the end
      found.push_back({raw.slice(at + (isOld ? 1 : 2), end - 1), isOld});
      at = end;
    } else if (rest[0] == '\\') {
      at += 2;
    } else if (rest[0] == '\'' && !inQuotes) {
      at = std::min(raw.find('\'', at + 1), raw.size() - 1) + 1;
    } else {
      inQuotes ^= rest[0] == '"' && !always;
      ++at;
    }
  }
  return found;
}

namespace {

class Lexer {
public:
  Lexer(StringRef text, std::vector<JobProblem> &problems)
      : text(text), problems(problems) {}

  ShellTokens run();

private:
  struct HereDocument {
    std::string end;
    bool stripTabs;
    unsigned line;
    bool isText; ///< nothing in it is replaced
    size_t tokensBefore;
  };

  void readToken();
  bool readOperator();
  void readWord();
  void readRedirection();
  void readComment();
  void endLine();
  void skipHereDocument(const HereDocument &document);
  size_t endOfWord(size_t from);
  size_t skipQuotes(size_t from);
  size_t endOfTest(size_t from);
  size_t endOfArithmetic(size_t from);
  void skipBlanks();
  bool expectsCommand() const;
  void add(ShellTokenKind kind, size_t length);
  void problem(unsigned line, const Twine &what) {
    problems.push_back({line, what.str()});
  }
  StringRef rest() const { return text.substr(at); }
  size_t endOfLine(size_t from) const {
    return std::min(text.find('\n', from), text.size());
  }
  unsigned countLine(size_t position) const {
    return line + unsigned(text.slice(at, position).count('\n'));
  }

  StringRef text;
  std::vector<JobProblem> &problems;
  ShellTokens result;
  std::vector<HereDocument> documents; ///< that begin after this line
  size_t at = 0;
  unsigned line = 1;
  unsigned failures = 0;
  size_t noArithmeticBefore = 0;
  bool sawCommand = false;
};

} // namespace

void Lexer::add(ShellTokenKind kind, size_t length) {
  StringRef token = text.substr(at, length);
  result.tokens.push_back({kind, line, token});
  line += unsigned(token.count('\n'));
  at += length;
}

/// After \p from, where quotes or an expansion begin. An unclosed one ends with
/// its line, so that the lines after it are read.
size_t Lexer::skipQuotes(size_t from) {
  StringRef searched =
      failures < longSearches ? text : text.take_front(endOfLine(from));
  size_t end = skipShellQuotes(searched, from);
  if (end != StringRef::npos)
    return end;
  ++failures;
  size_t length = text[from] == '$' ? 2 : 1;
  problem(countLine(from), Twine(length == 2 ? "" : "quote ") +
                               text.substr(from, length) +
                               " is not closed; the line is read to its end");
  return endOfLine(from);
}

static bool endsWord(char c) { return StringRef(" \t\n;&|()<>").contains(c); }

size_t Lexer::endOfWord(size_t from) {
  size_t i = from;
  while (i < text.size() && !endsWord(text[i])) {
    char c = text[i];
    if (c == '\\') {
      i = std::min(i + 2, text.size());
    } else if (c == '"' || c == '\'' || c == '`' ||
               (c == '$' && i + 1 < text.size() &&
                StringRef("({['").contains(text[i + 1]))) {
      i = skipQuotes(i);
    } else {
      ++i;
      // An array: A=(1 2 3)
      if (c == '=' && i < text.size() && text[i] == '(' &&
          shellAssignmentLength(text.slice(from, i)) == i - from)
        i = skipQuotes(i);
    }
  }
  return i;
}

void Lexer::skipBlanks() {
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
    } else if (rest().starts_with("\\\n")) {
      at += 2;
      ++line;
    } else {
      return;
    }
  }
}

/// Whether the next word is the name of a command, as far as (( and [[ need to
/// know.
bool Lexer::expectsCommand() const {
  if (result.tokens.empty())
    return true;
  const ShellToken &last = result.tokens.back();
  if (last.kind == ShellTokenKind::close)
    return false;
  static const StringRef openers[] = {"if",    "then", "elif", "else", "while",
                                      "until", "do",   "for",  "!",    "{"};
  return last.kind != ShellTokenKind::word || is_contained(openers, last.text);
}

/// After the ]] of the [[ at \p from. && and || within it are its own, and so
/// are ( and <.
size_t Lexer::endOfTest(size_t from) {
  size_t i = from + 2;
  while (i < text.size()) {
    if (text.substr(i).starts_with("]]") && isSpace(text[i - 1]))
      return i + 2;
    if (text[i] == '\n') {
      StringRef before = text.slice(from, i).rtrim(" \t");
      if (!before.ends_with("&&") && !before.ends_with("||"))
        return i; // not closed; the shell would not run it either
    }
    i = endsWord(text[i]) ? i + 1 : endOfWord(i);
  }
  return text.size();
}

/// After the )) of the (( at \p from; npos if they are two subshells.
size_t Lexer::endOfArithmetic(size_t from) {
  constexpr size_t longest = 4096;
  if (from < noArithmeticBefore)
    return StringRef::npos;
  unsigned depth = 0;
  size_t stop = std::min(from + longest, text.size());
  for (size_t i = from; i < stop; ++i) {
    depth += text[i] == '(';
    if (text[i] != ')' || --depth)
      continue;
    if (text[i - 1] == ')')
      return i + 1;
    break;
  }
  // The same characters are not searched again for each ( of them.
  noArithmeticBefore = stop;
  return StringRef::npos;
}

void Lexer::readWord() {
  size_t end;
  if (rest().starts_with("[[") && expectsCommand())
    end = endOfTest(at);
  else
    end = endOfWord(at);
  // "2>file": the number belongs to the redirection.
  StringRef word = text.slice(at, end);
  if (end < text.size() && (text[end] == '<' || text[end] == '>') &&
      all_of(word, isDigit)) {
    at = end;
    return;
  }
  sawCommand = true;
  add(ShellTokenKind::word, std::max<size_t>(end - at, 1));
}

/// Leaves a redirection and its file out; keeps in mind a here-document.
void Lexer::readRedirection() {
  size_t length = rest().find_first_not_of("<>&|-");
  StringRef sign = rest().take_front(length);
  bool document = sign == "<<" || sign == "<<-";
  // <(command) is a word, and "<&-" has no file.
  if (sign.size() == 1 && rest().substr(1).starts_with("(")) {
    size_t end = skipQuotes(at + 1);
    add(ShellTokenKind::word, end - at);
    return;
  }
  at += sign.size();
  if (sign.ends_with("&-"))
    return;
  skipBlanks();
  size_t end = endOfWord(at);
  StringRef word = text.slice(at, end);
  if (word.empty() && !rest().starts_with("<(") && !rest().starts_with(">("))
    problem(line, "no file after " + sign +
                      ": a syntax error, at which the shell stops");
  if (document && !word.empty()) {
    std::string name;
    for (char c : word)
      if (c != '\'' && c != '"' && c != '\\')
        name += c;
    documents.push_back(
        {name, sign == "<<-", line, name != word, result.tokens.size()});
  } else if (!findSubstitutions(word).empty()) {
    result.hidden.push_back(
        {result.tokens.size(), word, line, ShellHidden::redirection});
  }
  line += unsigned(word.count('\n'));
  at = end;
}

void Lexer::readComment() {
  size_t end = endOfLine(at);
  if (at == 0 || text[at - 1] == '\n')
    result.comments.push_back({text.slice(at, end), line, sawCommand});
  at = end;
}

void Lexer::skipHereDocument(const HereDocument &document) {
  size_t begin = at;
  unsigned firstLine = line;
  while (at < text.size()) {
    size_t end = endOfLine(at);
    StringRef body = text.slice(at, end), all = text.slice(begin, at);
    at = std::min(end + 1, text.size());
    ++line;
    if ((document.stripTabs ? body.ltrim('\t') : body) != document.end)
      continue;
    result.hidden.push_back(
        {document.tokensBefore, all, firstLine,
         document.isText ? ShellHidden::plainDocument : ShellHidden::document});
    return;
  }
  problem(document.line, "here-document: no line is \"" + document.end +
                             "\"; the shell takes all that follows as its "
                             "text");
}

void Lexer::endLine() {
  add(ShellTokenKind::newline, 1);
  std::vector<HereDocument> waiting = std::move(documents);
  documents.clear();
  for (const HereDocument &document : waiting)
    skipHereDocument(document);
}

bool Lexer::readOperator() {
  static const struct {
    const char *text;
    ShellTokenKind kind;
  } operators[] = {
      {";;&", ShellTokenKind::caseEnd},  {";;", ShellTokenKind::caseEnd},
      {";&", ShellTokenKind::caseEnd},   {";", ShellTokenKind::semicolon},
      {"&&", ShellTokenKind::andIf},     {"||", ShellTokenKind::orIf},
      {"|&", ShellTokenKind::pipe},      {"|", ShellTokenKind::pipe},
      {"&", ShellTokenKind::background}, {"(", ShellTokenKind::open},
      {")", ShellTokenKind::close}};
  for (const auto &entry : operators)
    if (rest().starts_with(entry.text)) {
      add(entry.kind, StringRef(entry.text).size());
      return true;
    }
  return false;
}

void Lexer::readToken() {
  char c = text[at];
  if (c == '\n')
    return endLine();
  if (c == '#')
    return readComment();
  if (rest().starts_with("&>")) {
    ++at;
    return readRedirection();
  }
  if (c == '<' || c == '>')
    return readRedirection();
  if (rest().starts_with("((") && expectsCommand()) {
    size_t end = endOfArithmetic(at);
    if (end != StringRef::npos)
      return add(ShellTokenKind::word, end - at);
  }
  if (!readOperator())
    readWord();
}

ShellTokens Lexer::run() {
  while (true) {
    skipBlanks();
    if (at >= text.size())
      break;
    readToken();
  }
  for (const HereDocument &document : documents)
    skipHereDocument(document);
  sortBy(result.hidden, &ShellHidden::tokensBefore);
  return std::move(result);
}

ShellTokens mpg::lexShell(StringRef text, std::vector<JobProblem> &problems) {
  return Lexer(text, problems).run();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ShellExpand.h. Recursion is as deep as ${A:-${B:-..}} is nested, and
// bounded; the lengths of values are, too: ten lines of A=$A$A would otherwise
// make a thousand times the text.

#include "JobScript/ShellExpand.h"
#include "JobScript/ShellLexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t longestValue = 64 << 10;
static constexpr unsigned deepestDefault = 16;

bool mpg::isDynamicVariable(StringRef name) {
  static const StringRef names[] = {
      "RANDOM",        "SRANDOM",    "SECONDS",  "LINENO",   "EPOCHSECONDS",
      "EPOCHREALTIME", "PIPESTATUS", "FUNCNAME", "DIRSTACK", "GROUPS",
      "HISTCMD",       "UID",        "EUID",     "PPID",     "OPTARG",
      "OPTIND",        "SHELLOPTS",  "COLUMNS",  "LINES",    "_"};
  return name.starts_with("BASH") || is_contained(names, name);
}

namespace mpg {

class WordExpansion {
public:
  WordExpansion(ShellExpander &owner, unsigned line, bool split,
                unsigned depth = 0)
      : owner(owner), line(line), split(split), depth(depth) {}

  void expand(StringRef raw, bool quoted);
  void endField();
  ShellValue releaseValue() { return std::move(current); }

  std::vector<ShellValue> fields;

private:
  /// The known value of a parameter.
  struct Parameter {
    bool known = false; ///< whether it is set is known
    bool set = false;
    ShellValue value;
  };

  Parameter find(StringRef name) const;
  bool expandPwd(StringRef whole, bool quoted);
  Parameter findArguments(StringRef name) const;
  size_t expandDollar(StringRef raw, size_t at, bool quoted);
  size_t expandPlain(StringRef raw, size_t at, bool quoted);
  void expandBraces(StringRef whole, bool quoted);
  void expandLength(StringRef whole, StringRef name);
  bool expandDefault(StringRef whole, StringRef name, StringRef operation,
                     bool quoted);
  bool expandStripped(StringRef name, StringRef operation, bool quoted);
  void addAlternative(StringRef whole, StringRef name, StringRef word);
  void addAnsiQuoted(StringRef text);
  void addLiteral(StringRef text, bool quoted);
  void addUnknown(StringRef written);
  void addValue(const ShellValue &value, StringRef written, bool quoted);
  void addSplit(const ShellValue &value);
  bool startsTilde(StringRef raw, size_t at) const;
  bool fits(size_t bytes);

  ShellExpander &owner;
  unsigned line;
  bool split;
  unsigned depth;
  ShellValue current;
  bool inQuotes = false; ///< what is expanded now
  bool hasField = false; ///< "" is a word, nothing is none
  bool pattern = false;  ///< names of files would be put in its place
  bool bracket = false;
};

} // namespace mpg

void WordExpansion::endField() {
  if (!hasField)
    return;
  // Which files there are, only the job knows.
  owner.uncertain |= pattern;
  if (pattern)
    fields.push_back(ShellValue::notKnown(current.str()));
  else
    fields.push_back(std::move(current));
  current = ShellValue();
  hasField = pattern = bracket = false;
}

void WordExpansion::addLiteral(StringRef text, bool quoted) {
  current.add(text);
  hasField = true;
  if (quoted || !split)
    return;
  for (char c : text) {
    pattern |= c == '*' || c == '?' || (c == ']' && bracket);
    bracket |= c == '[';
  }
}

void WordExpansion::addUnknown(StringRef written) {
  current.addUnknown(written);
  hasField = true;
  owner.uncertain |= split && !inQuotes;
}

bool WordExpansion::fits(size_t bytes) {
  if (current.str().size() + bytes > longestValue || bytes > owner.budget)
    return false;
  owner.budget -= bytes;
  return true;
}

/// Adds the value of what is \p written in the script.
void WordExpansion::addValue(const ShellValue &value, StringRef written,
                             bool quoted) {
  if (!fits(value.str().size()))
    return addUnknown(written);
  if (quoted || !split) {
    current.add(value);
    hasField |= !value.str().empty();
    return;
  }
  // Split at other characters than usual.
  if (owner.variables.find("IFS") &&
      !(value.known() && all_of(value.str(), isAlnum)))
    return addUnknown(written);
  addSplit(value);
}

void WordExpansion::addSplit(const ShellValue &value) {
  StringRef text = value.str();
  for (size_t at = 0; at < text.size();) {
    size_t end = value.endOfUnknown(at);
    if (end > at) {
      current.add(value.slice(at, end));
      hasField = owner.uncertain = true;
    } else if (isSpace(text[at])) {
      endField();
      end = at + 1;
    } else {
      end = at + 1;
      addLiteral(text.slice(at, end), /*quoted=*/false);
    }
    at = end;
  }
}

WordExpansion::Parameter WordExpansion::findArguments(StringRef name) const {
  Parameter result;
  if (!owner.variables.arguments || name == "0")
    return result;
  const std::vector<ShellValue> &arguments = *owner.variables.arguments;
  size_t number = arguments.size();
  bool isNumber = !name.getAsInteger(10, number);
  result.known = owner.variables.certainArguments >= number;
  if (name == "#") {
    result.set = true;
    result.value = ShellValue(utostr(arguments.size()));
  } else if (name == "*" || name == "@") {
    // Only joined; "$@" as words of their own is expandWord's.
    result.known &= !owner.variables.find("IFS");
    result.set = !arguments.empty();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (i)
        result.value.add(" ");
      result.value.add(arguments[i]);
    }
  } else if (isNumber && number <= arguments.size()) {
    result.set = true;
    result.value = arguments[number - 1];
  }
  return result;
}

WordExpansion::Parameter WordExpansion::find(StringRef name) const {
  if (!shellNameLength(name)) {
    if (isDigit(name[0]) || StringRef("#*@").contains(name[0]))
      return findArguments(name);
    return {};
  }
  const ShellVariable *variable = owner.variables.find(name);
  if (!variable || !variable->certain || isDynamicVariable(name))
    return {};
  return {true, variable->set, variable->set ? variable->value : ShellValue()};
}

/// $NAME, $1, $? at \p at.
size_t WordExpansion::expandPlain(StringRef raw, size_t at, bool quoted) {
  StringRef rest = raw.substr(at + 1);
  size_t length = shellNameLength(rest);
  if (!length && !rest.empty() &&
      (isDigit(rest[0]) || StringRef("#*@?$!-").contains(rest[0])))
    length = 1;
  if (!length) {
    addLiteral("$", quoted);
    return at + 1;
  }
  Parameter parameter = find(rest.take_front(length));
  StringRef written = raw.substr(at, length + 1);
  if (expandPwd(written, quoted))
    return at + 1 + length;
  if (parameter.known)
    addValue(parameter.value, written, quoted);
  else
    addUnknown(written);
  return at + 1 + length;
}

/// $PWD, which in front of any cd is the folder that the job starts in, and is
/// written so; anywhere else it is "$(pwd)".
bool WordExpansion::expandPwd(StringRef whole, bool quoted) {
  if (whole != "$PWD" && whole != "${PWD}" && whole != "$(pwd)" &&
      whole != "`pwd`")
    return false;
  const ShellVariable *variable = owner.variables.find("PWD");
  if (!variable)
    addUnknown("$PWD");
  else if (!variable->certain || !variable->set)
    addUnknown("$(pwd)");
  else
    addValue(variable->value, whole, quoted);
  return true;
}

/// ${#NAME}
void WordExpansion::expandLength(StringRef whole, StringRef name) {
  Parameter parameter = find(name);
  // Characters are counted, not bytes.
  if (shellNameLength(name) != name.size() || !parameter.known ||
      !parameter.value.known() || !isASCII(parameter.value.str()))
    return addUnknown(whole);
  addLiteral(utostr(parameter.value.str().size()), /*quoted=*/true);
}

/// "${A:+:$A}" of an A that may be empty. In a list of folders it is the same
/// as ":$A" but for an empty last entry, and so the entries stay apart.
void WordExpansion::addAlternative(StringRef whole, StringRef name,
                                   StringRef word) {
  std::string plain = "$" + name.str(), braced = "${" + name.str() + "}";
  bool before = word.consume_front(":");
  bool after = !before && word.consume_back(":");
  if (!(before || after) || (word != plain && word != braced))
    return addUnknown(whole);
  if (before)
    addLiteral(":", true);
  addUnknown(word);
  if (after)
    addLiteral(":", true);
}

static bool mayBeEmpty(const ShellValue &value) {
  return value.endOfUnknown(0) == value.str().size();
}

/// ${A:-word} and its relatives - = + ?, with and without the colon.
bool WordExpansion::expandDefault(StringRef whole, StringRef name,
                                  StringRef operation, bool quoted) {
  bool colon = operation.consume_front(":");
  char kind = operation.empty() ? '\0' : operation[0];
  if (!kind || !StringRef("-=+?").contains(kind))
    return false;
  StringRef word = operation.drop_front();
  Parameter parameter = find(name);
  if (kind == '+' && !parameter.known) {
    addAlternative(whole, name, word);
    return true;
  }
  // Not known whether there is a value; or more quoting than is read here.
  bool nothing = !parameter.set || (colon && parameter.value.str().empty());
  if (!parameter.known || depth >= deepestDefault ||
      (!nothing && colon && mayBeEmpty(parameter.value)))
    return false;
  if (!nothing && kind != '+') {
    addValue(parameter.value, whole, quoted);
    return true;
  }
  if (nothing && kind == '+') {
    addValue(ShellValue(), whole, quoted);
    return true;
  }
  if (kind == '?' || word.find_first_of("\\\"'") != StringRef::npos)
    return false;
  WordExpansion inner(owner, line, /*split=*/false, depth + 1);
  inner.expand(word, quoted);
  ShellValue value = inner.releaseValue();
  if (kind == '=' && shellNameLength(name))
    owner.variables.setValue(name, value, line);
  addValue(value, whole, quoted);
  return true;
}

/// ${A%suffix} and ${A#prefix} without a pattern.
bool WordExpansion::expandStripped(StringRef name, StringRef operation,
                                   bool quoted) {
  char kind = operation.empty() ? '\0' : operation[0];
  if (kind != '%' && kind != '#')
    return false;
  StringRef word = operation.drop_front();
  word.consume_front(operation.take_front());
  Parameter parameter = find(name);
  if (!parameter.known || !parameter.value.known() ||
      word.find_first_of("*?[]\\\"'$`()~") != StringRef::npos)
    return false;
  StringRef value = parameter.value.str();
  if (kind == '%')
    value.consume_back(word);
  else
    value.consume_front(word);
  addValue(ShellValue(value), "", quoted);
  return true;
}

/// \p whole is "${..}".
void WordExpansion::expandBraces(StringRef whole, bool quoted) {
  StringRef inner = whole.drop_front(2).drop_back();
  if (inner.size() > 1 && inner[0] == '#')
    return expandLength(whole, inner.drop_front());
  size_t length = shellNameLength(inner);
  if (!length && !inner.empty())
    length = isDigit(inner[0])
                 ? std::min(inner.find_if_not(isDigit), inner.size())
                 : StringRef("#*@").contains(inner[0]);
  if (!length)
    return addUnknown(whole);
  StringRef name = inner.take_front(length);
  StringRef operation = inner.drop_front(length);
  if (operation.empty()) {
    Parameter parameter = find(name);
    return parameter.known ? addValue(parameter.value, whole, quoted)
                           : addUnknown(whole);
  }
  if (!expandDefault(whole, name, operation, quoted) &&
      !expandStripped(name, operation, quoted))
    addUnknown(whole);
}

/// The inside of $'..'.
void WordExpansion::addAnsiQuoted(StringRef text) {
  static const StringRef letters = "abefnrtv\\'\"?";
  static const char meanings[] = "\a\b\x1b\f\n\r\t\v\\'\"?";
  hasField = true;
  while (!text.empty()) {
    size_t plain = std::min(text.find('\\'), text.size());
    addLiteral(text.take_front(plain), /*quoted=*/true);
    text = text.drop_front(plain);
    if (text.size() < 2)
      return addLiteral(text, /*quoted=*/true);
    size_t letter = letters.find(text[1]);
    if (letter == StringRef::npos) // numbers of characters
      return addUnknown(text);
    addLiteral(StringRef(meanings + letter, 1), /*quoted=*/true);
    text = text.drop_front(2);
  }
}

/// The text inside $((..)) or bash's old $[..].
static std::optional<StringRef> arithmeticIn(StringRef whole) {
  bool old = whole.starts_with("$[");
  if (!old && (!whole.starts_with("$((") || !whole.ends_with("))")))
    return std::nullopt;
  StringRef inside =
      old ? whole.slice(2, whole.size() - 1) : whole.slice(3, whole.size() - 2);
  return inside.empty() ? std::nullopt : std::optional(inside);
}

/// The expansion at \p at, which is a $ or a `; the position after it.
size_t WordExpansion::expandDollar(StringRef raw, size_t at, bool quoted) {
  StringRef rest = raw.substr(at);
  bool ansi = rest.starts_with("$'") && !quoted;
  bool nested = rest[0] == '`' || rest.starts_with("$(") ||
                rest.starts_with("${") || rest.starts_with("$[") || ansi;
  if (!nested) {
    // $".." is translated text; in a job script, the text.
    if (rest.starts_with("$\"") && !quoted)
      return at + 1;
    return expandPlain(raw, at, quoted);
  }
  size_t end = skipShellQuotes(raw, at, quoted);
  if (end == StringRef::npos) {
    addUnknown(rest);
    return raw.size();
  }
  StringRef whole = raw.slice(at, end);
  if (expandPwd(whole, quoted)) {
    // done
  } else if (ansi) {
    addAnsiQuoted(whole.drop_front(2).drop_back());
  } else if (whole.starts_with("${")) {
    expandBraces(whole, quoted);
  } else if (std::optional<StringRef> sum = arithmeticIn(whole)) {
    auto number = evaluateShellArithmetic(*sum, owner.variables);
    if (number)
      addLiteral(itostr(*number), /*quoted=*/true);
    else
      addUnknown(whole);
  } else if (std::optional<ShellValue> text = owner.expandEcho(whole, line)) {
    addValue(*text, whole, quoted);
  } else {
    addUnknown(whole);
  }
  return end;
}

/// Whether the ~ at \p at stands for a home folder.
bool WordExpansion::startsTilde(StringRef raw, size_t at) const {
  return at == 0 || (!split && raw[at - 1] == ':');
}

static bool isBraceList(StringRef rest) {
  size_t end = rest.find_first_of(" \t\n}");
  StringRef inner = rest.take_front(end);
  return end != StringRef::npos && rest[end] == '}' &&
         (inner.contains(',') || inner.contains(".."));
}

void WordExpansion::expand(StringRef raw, bool quoted) {
  for (size_t at = 0; at < raw.size();) {
    char c = raw[at];
    if (c == '$' || c == '`') {
      inQuotes = quoted;
      at = expandDollar(raw, at, quoted);
    } else if (c == '"') {
      quoted = !quoted;
      hasField = true;
      ++at;
    } else if (c == '\'' && !quoted) {
      size_t end = std::min(raw.find('\'', at + 1), raw.size());
      addLiteral(raw.slice(at + 1, end), /*quoted=*/true);
      at = end + 1;
    } else if (c == '\\' && at + 1 < raw.size()) {
      char next = raw[at + 1];
      // Within "" it is a character like others but before these.
      if (quoted && !StringRef("$`\"\\\n").contains(next))
        addLiteral("\\", true);
      if (next != '\n')
        addLiteral(raw.substr(at + 1, 1), true);
      at += 2;
    } else if (c == '~' && !quoted && startsTilde(raw, at)) {
      inQuotes = true; // the name of a folder is not split
      size_t end = std::min(raw.find_first_of("/:", at), raw.size());
      addUnknown(raw.slice(at, end));
      at = end;
    } else {
      if (c == '{' && !quoted && split)
        pattern |= isBraceList(raw.substr(at));
      addLiteral(raw.substr(at, 1), quoted);
      ++at;
    }
  }
}

/// \p text as one word that stands for itself.
static std::string quotedForShell(StringRef text) {
  if (!text.empty() && all_of(text, [](char c) {
        return isAlnum(c) || StringRef("_-+./:,=@%").contains(c);
      }))
    return text.str();
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The array \p raw, "(./a -n $n $m)", as text that does not look like a value
/// and that gives its present words when it is read again: "('./a' '-n' '4'
/// "$m" )", with "" around unknown parts. Anything but a list of words stays as
/// it is written.
ShellValue ShellExpander::expandArray(StringRef raw, unsigned line) {
  ShellValue written = ShellValue::notKnown(raw);
  if (raw.size() > std::min(longestValue, budget))
    return written;
  budget -= raw.size();
  std::vector<JobProblem> problems;
  std::vector<ShellValue> words;
  bool plain = true, before = uncertain;
  for (const ShellToken &token : lexShell(raw, problems).tokens) {
    plain &= !token.text.starts_with("["); // ([3]=a)
    if (token.kind == ShellTokenKind::word && plain)
      expandWord(token.text, line, words);
  }
  uncertain = before; // the words are counted where they are used
  std::string text = "(";
  for (const ShellValue &word : words) {
    plain &=
        word.known() || word.str().find_first_of("\"\\") == StringRef::npos;
    text += word.known() ? quotedForShell(word.str())
                         : ("\"" + word.str() + "\"").str();
    text += ' ';
  }
  if (!plain || !problems.empty() || text.size() > longestValue)
    return written;
  return ShellValue::notKnown(text + ")");
}

/// What \p whole, "$(echo WORDS)", becomes, unless more than the words decides
/// it: options, other commands, files.
std::optional<ShellValue> ShellExpander::expandEcho(StringRef whole,
                                                    unsigned line) {
  constexpr unsigned maxDepth = 8;
  StringRef text = whole.drop_front(whole[0] == '`' ? 1 : 2).drop_back().trim();
  if (!text.consume_front("echo ") || echoDepth == maxDepth ||
      text.size() > budget || text.find_first_of("<>|&;#\\\n`") != text.npos)
    return std::nullopt;
  budget -= text.size();
  std::vector<JobProblem> problems;
  std::vector<ShellValue> words;
  bool before = std::exchange(uncertain, false);
  ++echoDepth;
  for (const ShellToken &token : lexShell(text, problems).tokens) {
    uncertain |= token.kind != ShellTokenKind::word;
    expandWord(token.text, line, words);
  }
  --echoDepth;
  bool isCertain = !std::exchange(uncertain, before) && problems.empty();
  if (!isCertain || (!words.empty() && words[0].str().starts_with("-") &&
                     words[0].str().find_first_not_of("-neE") == text.npos))
    return std::nullopt;
  ShellValue value;
  for (const ShellValue &word : words) {
    if (!value.str().empty())
      value.add(" ");
    value.add(word);
  }
  return value;
}

/// The array whose words \p raw, "${A[@]}" with or without quotes, becomes;
/// null if it is something else or they are not known.
const ShellVariable *ShellExpander::findArray(StringRef raw) const {
  if (raw.consume_front("\""))
    raw.consume_back("\"");
  if (!raw.consume_front("${") || !raw.consume_back("[@]}") ||
      shellNameLength(raw) != raw.size())
    return nullptr;
  const ShellVariable *array = variables.find(raw);
  if (!array || !array->certain || !array->set || array->value.known())
    return nullptr;
  StringRef text = array->value.str();
  while (text.consume_front("()")) { // A=(), then A+=(a)
  }
  // Not "([3]=a )", which is as it was written.
  bool isList =
      text.empty() || (text.starts_with("(") && text.ends_with(" )") &&
                       !text.contains("([") && !text.contains(" ["));
  return isList && array->value.str().size() <= budget ? array : nullptr;
}

/// The words of \p array, text that expandArray has made: "(a b )(c )" after
/// A+=(c).
void ShellExpander::addArray(const ShellVariable &array, unsigned line,
                             std::vector<ShellValue> &words) {
  std::string text = array.value.str().str();
  budget -= text.size();
  std::vector<JobProblem> none;
  WordExpansion expansion(*this, line, /*split=*/true);
  for (const ShellToken &token : lexShell(text, none).tokens) {
    if (token.kind != ShellTokenKind::word)
      continue;
    if (token.text.starts_with("\"")) { // one word, or some
      expansion.fields.push_back(ShellValue::notKnown(token.text.trim('"')));
      uncertain = true;
      continue;
    }
    expansion.expand(token.text, /*quoted=*/false);
    expansion.endField();
  }
  append_range(words, expansion.fields);
}

ShellValue ShellExpander::expandAssigned(StringRef raw, unsigned line) {
  if (raw.starts_with("("))
    return expandArray(raw, line);
  WordExpansion expansion(*this, line, /*split=*/false);
  expansion.expand(raw, /*quoted=*/false);
  return expansion.releaseValue();
}

void ShellExpander::expandWord(StringRef raw, unsigned line,
                               std::vector<ShellValue> &words) {
  // <(command)
  if (raw.starts_with("<") || raw.starts_with(">")) {
    words.push_back(ShellValue::notKnown(raw));
    return;
  }
  if ((raw == "\"$@\"" || raw == "\"${@}\"") && variables.arguments) {
    words.insert(words.end(), variables.arguments->begin(),
                 variables.arguments->end());
    return;
  }
  if (const ShellVariable *array = findArray(raw))
    return addArray(*array, line, words);
  WordExpansion expansion(*this, line, /*split=*/true);
  expansion.expand(raw, /*quoted=*/false);
  expansion.endField();
  for (ShellValue &field : expansion.fields)
    words.push_back(std::move(field));
}

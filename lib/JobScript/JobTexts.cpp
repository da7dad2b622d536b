// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands within words: "$(command)", "<(command)", eval TEXT, trap
// TEXT, bash -c TEXT. Their tokens are appended to those of the script, so that
// a function of one can be called in the other.

#include "JobScript/JobReader.h"
#include "JobScript/LauncherTable.h"
#include "JobScript/Launchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// Substitutions within substitutions.
static constexpr unsigned deepestText = 8;
static constexpr size_t shownBytes = 60; ///< of a text, in a message

/// Appends the tokens of \p text, which stays where it is. Absent if it is not
/// a list of commands, or if the script has too many.
std::optional<JobReader::Range> JobReader::addText(StringRef text,
                                                   unsigned line) {
  auto known = readTexts.find({text.data(), text.size()});
  if (known != readTexts.end())
    return known->second;
  if (text.size() > textBudget)
    return std::nullopt;
  textBudget -= text.size();
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
  Range range = {base, tokens.size()};
  readTexts[{text.data(), text.size()}] = range;
  return range;
}

/// Reads \p text, which stays where it is, as commands at this place of the
/// script. False if it is not read.
bool JobReader::readText(StringRef text, unsigned line) {
  std::optional<Range> range;
  if (nestedTexts < deepestText)
    range = addText(text, line);
  if (!range || range->end - range->first > callBudget)
    return false;
  callBudget -= range->end - range->first;
  ++nestedTexts;
  readList(*range);
  --nestedTexts;
  return true;
}

/// The same in a subshell, which leaves the variables as they are.
bool JobReader::readInOwnShell(StringRef text, unsigned line) {
  ShellVariables::Mark start = variables.mark();
  unsigned changes = variables.argumentChanges;
  bool outerEnded = std::exchange(ended, false), outerReturned = returned;
  bool isRead = readText(text, line);
  leaveOwnShell(start, changes);
  ended = outerEnded;
  returned = outerReturned;
  return isRead;
}

/// \p text of `..` without the \ in front of ` $ and \.
static std::string withoutQuotes(StringRef text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    bool quotes = text[i] == '\\' && i + 1 < text.size() &&
                  StringRef("`$\\").contains(text[i + 1]);
    plain += text[quotes ? ++i : i];
  }
  return plain;
}

/// Reads the commands in \p raw, which run before the command around it.
void JobReader::readSubstitutions(StringRef raw, unsigned line, bool inQuotes) {
  if (raw.find_first_of("`(") == StringRef::npos)
    return;
  ++substitutions;
  const char *seen = raw.data(); // `line` is that of this place
  for (const ShellSubstitution &found : findSubstitutions(raw, inQuotes)) {
    StringRef text = found.text;
    line += unsigned(StringRef(seen, size_t(text.data() - seen)).count('\n'));
    seen = text.data();
    if (text.trim().empty())
      continue;
    if (found.isOld && text.contains('\\') && text.size() <= textBudget) {
      textBudget -= text.size();
      texts.push_back(withoutQuotes(text));
      text = texts.back();
    }
    if (!readInOwnShell(text, line))
      notUnderstood(line, "the commands in " + text.take_front(shownBytes));
  }
  --substitutions;
}

/// The same of redirections and here-documents of the tokens [first, last].
void JobReader::readHidden(size_t first, size_t last) {
  auto at = partition_point(hidden, [&](const ShellHidden &word) {
    return word.tokensBefore < first;
  });
  for (size_t i = size_t(at - hidden.begin());
       i < hidden.size() && hidden[i].tokensBefore <= last; ++i) {
    ShellHidden word = hidden[i];
    if (word.kind != ShellHidden::plainDocument)
      readSubstitutions(word.text, word.line,
                        /*inQuotes=*/word.kind == ShellHidden::document);
  }
}

/// The last here-document of the command in \p range.
std::optional<ShellHidden> JobReader::findDocument(Range range) const {
  auto after = partition_point(hidden, [&](const ShellHidden &word) {
    return word.tokensBefore <= range.end;
  });
  while (after != hidden.begin() && (--after)->tokensBefore >= range.first)
    if (after->kind != ShellHidden::redirection)
      return *after;
  return std::nullopt;
}

/// "eval "$cmd"": known text is read as if it were written there.
void JobReader::runEval(const Command &command) {
  JobWord line;
  for (const JobWord &word : drop_begin(command.words)) {
    line.text += (line.text.empty() ? "" : " ") + word.text;
    if (line.known())
      line.unknown = word.unknown;
  }
  if (line.text.empty())
    return;
  // Text that no one knows: "$(conda shell.bash hook)" sets variables, most of
  // the time, "$cmd" may do anything.
  bool opaque = StringRef(line.text).starts_with("$") ||
                StringRef(line.text).starts_with("`");
  if (!line.known() && opaque) {
    bool isOutput = StringRef(line.text).starts_with("$(") ||
                    StringRef(line.text).starts_with("`");
    if (!isOutput)
      notUnderstood(command.line,
                    "eval " + StringRef(line.text).take_front(shownBytes));
    else
      noteProgramIn(line.text, command.line, "eval");
    return notRead(command);
  }
  texts.push_back(line.text);
  if (!readText(texts.back(), command.line)) {
    notUnderstood(command.line,
                  "eval " + StringRef(line.text).take_front(shownBytes));
    notRead(command);
  }
}

/// "trap TEXT EXIT": read at the end, when its functions are known.
void JobReader::runTrap(const Command &command) {
  size_t first = 1;
  if (command.words.size() > 1 && command.words[1].text == "--")
    ++first;
  if (command.words.size() < first + 2)
    return;
  const JobWord &text = command.words[first];
  if (text.text.empty() || StringRef(text.text).starts_with("-"))
    return;
  bool atExit =
      any_of(drop_begin(command.words, first + 1), [](const JobWord &word) {
        return word.text == "EXIT" || word.text == "0" || word.text == "exit";
      });
  traps.push_back({text.text, command.line, atExit && !isConditional()});
}

void JobReader::readTraps() {
  // A trap may set another one.
  for (size_t i = 0; i < traps.size() && i < maxPlaces; ++i) {
    Trap trap = traps[i];
    texts.push_back(trap.text);
    ended = false;
    conditions += !trap.atExit;
    if (!readInOwnShell(texts.back(), trap.line))
      notUnderstood(trap.line,
                    "the trap " + StringRef(trap.text).take_front(shownBytes));
    conditions -= !trap.atExit;
  }
}

/// As if \p words were in front of each command of \p text, which stays where
/// it is. \p name: for the user; "" if the text is part of the line around it.
bool JobReader::readBehind(ArrayRef<JobWord> words, StringRef text,
                           unsigned line, StringRef name) {
  constexpr size_t maxWords = 256;
  if (words.size() > maxWords)
    return false;
  auto outer = std::tuple(prefix, writtenIn, outerWords);
  prefix = words.vec();
  if (!name.empty())
    std::tie(writtenIn, outerWords) = std::pair(name.str(), words.size());
  bool isRead = readInOwnShell(text, line);
  std::tie(prefix, writtenIn, outerWords) = std::move(outer);
  return isRead;
}

/// Whether \p words, "bash -c TEXT", do the same as \p text without a shell.
static bool needsNoShell(ArrayRef<JobWord> words, StringRef text) {
  return text.find_first_of("\n;&|(){}") == StringRef::npos && !words.empty() &&
         (words[0].text == text || isShell(sys::path::filename(words[0].text)));
}

/// "bash -c TEXT"
void JobReader::readShellTexts(const LaunchParts &parts,
                               ArrayRef<JobWord> words, unsigned line) {
  for (const JobWord &text : parts.shellTexts) {
    bool opaque =
        !text.known() && StringRef(text.text).starts_with(text.unknown);
    size_t before = std::min(parts.textAt, words.size());
    bool isRead = false;
    if (!opaque && text.text.size() <= textBudget) {
      texts.push_back(text.text);
      isRead = readBehind(words.take_front(before), texts.back(), line,
                          needsNoShell(words.drop_front(before), text.text)
                              ? ""
                              : "the shell's text");
    }
    if (!isRead)
      notUnderstood(line, "the line for a shell: " +
                              StringRef(text.text).take_front(shownBytes));
  }
}

/// The place of the file that a shell with these words reads; their number if
/// it is standard input.
static size_t findFile(ArrayRef<JobWord> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef word = arguments[i].text;
    bool isOption = word.size() > 1 && (word[0] == '-' || word[0] == '+');
    if (!isOption)
      return word == "-" || word == "/dev/stdin" ? arguments.size() : i;
    if (!word.starts_with("--") && word.contains('s'))
      break;
    if (word == "-o" || word == "+o" || word == "-O" || word == "+O")
      ++i;
  }
  return arguments.size();
}

/// Whether a shell of Bourne's kind is started, other than with -c.
static bool startsShell(const LaunchParts &parts) {
  static constexpr StringLiteral shells[] = {"sh", "bash", "dash", "ksh",
                                             "zsh"};
  return parts.program && parts.shellTexts.empty() &&
         is_contained(shells, sys::path::filename(parts.program->text));
}

/// "ssh NODE" without a command starts the login shell.
static bool startsLogin(const LaunchParts &parts) {
  if (parts.program || !parts.shellTexts.empty() || parts.launchers.empty() ||
      parts.launchers.back().empty())
    return false;
  const LauncherRow *row =
      findLauncher(sys::path::filename(parts.launchers.back()[0].text));
  return row && row->key == Launcher::ssh;
}

/// "bash <<EOF", "ssh NODE <<EOF". False: \p parts is something else, or its
/// text is not read.
bool JobReader::readDocument(const Command &command, const LaunchParts &parts,
                             ArrayRef<JobWord> words) {
  bool isShell =
      startsShell(parts) && findFile(parts.arguments) == parts.arguments.size();
  if (!command.document || !(isShell || startsLogin(parts)))
    return false;
  StringRef text = command.document->text;
  // The outer shell replaces its variables in the document. The inner one sees
  // the same values, unless it assigns to them.
  if (command.document->kind == ShellHidden::document && text.contains('\\')) {
    if (text.size() > textBudget)
      return false;
    textBudget -= text.size();
    texts.push_back(withoutQuotes(text));
    text = texts.back();
  }
  size_t before = words.size() - (isShell ? parts.arguments.size() + 1 : 0);
  return readBehind(words.take_front(before), text, command.document->line,
                    "the here-document");
}

/// Another shell gets what is exported.
void JobReader::keepExported(unsigned line) {
  static constexpr StringLiteral ofReader[] = {
      stackLimitName, exportAllName, folderName, pushedName, unknownFromName};
  std::vector<std::string> own;
  for (const auto &entry : variables.all())
    if (entry.second.set && !entry.second.exported &&
        !is_contained(ofReader, entry.first()))
      own.push_back(entry.first().str());
  for (const std::string &name : own)
    unset(name, line);
}

/// "bash FILE": its commands are read as if they were in this line. False:
/// \p parts is something else, or the file is not here.
bool JobReader::readShellFile(const Command &command, const LaunchParts &parts,
                              ArrayRef<JobWord> words) {
  size_t at = startsShell(parts) && readFile ? findFile(parts.arguments)
                                             : parts.arguments.size();
  if (at == parts.arguments.size() || !parts.arguments[at].known())
    return false;
  JobLaunch file;
  file.program = parts.arguments[at];
  if (!StringRef(file.program.text).contains('/'))
    file.program.text.insert(0, "./");
  if (const ShellVariable *folder = variables.find(folderName))
    file.folder = folder->value.word();
  std::optional<std::string> text = readFile(file);
  if (!text || text->size() > textBudget)
    return false;
  texts.push_back(std::move(*text));
  std::vector<ShellValue> arguments;
  for (const JobWord &word : ArrayRef(parts.arguments).drop_front(at + 1))
    arguments.push_back(word.known() ? ShellValue(word.text)
                                     : ShellValue::notKnown(word.unknown));
  ShellVariables::Mark start = variables.mark();
  auto outerArguments = std::exchange(variables.arguments, arguments);
  const char *outerText = std::exchange(fileText, texts.back().data());
  keepExported(command.line);
  size_t before = words.size() - parts.arguments.size() - 1;
  bool isRead = readBehind(words.take_front(before), texts.back(), command.line,
                           parts.arguments[at].text);
  fileText = outerText;
  variables.arguments = std::move(outerArguments);
  variables.undo(start);
  return isRead;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobTexts.h.

#include "JobScript/JobTexts.h"
#include "JobScript/JobReader.h"
#include "JobScript/LauncherTable.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t shownBytes = 60; ///< of a text, in a message

void JobTexts::readSubstitutions(StringRef raw, unsigned line, bool inQuotes) {
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
    if (found.isOld && text.contains('\\'))
      text = source.withoutQuotes(text).value_or(text);
    if (!reader.readInOwnShell(text, line))
      record.addNotUnderstood(line,
                              "the commands in " + text.take_front(shownBytes));
  }
  --substitutions;
}

void JobTexts::readAround(ShellRange range) {
  for (size_t i = range.first; i < range.end; ++i)
    readSubstitutions(source.token(i).text, source.token(i).line);
  for (const ShellHidden &word : source.hiddenAt(range.first, range.end))
    if (word.kind != ShellHidden::plainDocument)
      readSubstitutions(word.text, word.line,
                        /*inQuotes=*/word.kind == ShellHidden::document);
}

void JobTexts::noteUnread(const ShellCommand &command) {
  if (command.words.size() < 2)
    return;
  state.forgetEnvironment(command);
  std::string what = command.name() == "eval" ? "eval " : "";
  what += command.words[1].text;
  record.addProblem(command.line,
                    "not read: " + what + "; what it sets is not known here");
  if (record.script.unread.empty())
    record.script.unread.push_back({command.line, what});
  if (command.name() != "eval")
    launches.noteProgramIn(command.words[1].text, command.line, command.name());
  // "srun bash -c 'source steps.sh'": it is what the job is for.
  if (!launches.place.words.empty())
    record.addNotUnderstood(command.line, command.name() + " " + what +
                                              ": the programs that it starts");
}

/// "eval "$cmd"": known text is read as if it were written there.
void JobTexts::runEval(const ShellCommand &command) {
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
      record.addNotUnderstood(
          command.line, "eval " + StringRef(line.text).take_front(shownBytes));
    else
      launches.noteProgramIn(line.text, command.line, "eval");
    return noteUnread(command);
  }
  if (!reader.readText(source.keep(line.text), command.line)) {
    record.addNotUnderstood(
        command.line, "eval " + StringRef(line.text).take_front(shownBytes));
    noteUnread(command);
  }
}

/// "trap TEXT EXIT": read at the end, when its functions are known.
void JobTexts::runTrap(const ShellCommand &command) {
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
  traps.push_back({text.text, command.line, atExit && !record.isConditional()});
}

void JobTexts::readTraps() {
  // A trap may set another one.
  for (size_t i = 0; i < traps.size() && i < JobRecord::maxPlaces; ++i) {
    Trap trap = traps[i];
    record.conditions += !trap.atExit;
    if (!reader.readInOwnShell(source.keep(trap.text), trap.line))
      record.addNotUnderstood(
          trap.line, "the trap " + StringRef(trap.text).take_front(shownBytes));
    record.conditions -= !trap.atExit;
  }
}

/// As if \p words were in front of each command of \p text, which stays where
/// it is. \p name: for the user; "" if the text is part of the line around it.
bool JobTexts::readBehind(ArrayRef<JobWord> words, StringRef text,
                          unsigned line, StringRef name) {
  constexpr size_t maxWords = 256;
  if (words.size() > maxWords)
    return false;
  TextPlace outer = launches.place;
  launches.place.words = words.vec();
  launches.place.start = state.variables.mark();
  if (!name.empty())
    std::tie(launches.place.writtenIn, launches.place.outerWords) =
        std::pair(name.str(), words.size());
  bool isRead = reader.readInOwnShell(text, line);
  launches.place = std::move(outer);
  return isRead;
}

/// Whether \p words, "bash -c TEXT", do the same as \p text without a shell.
static bool needsNoShell(ArrayRef<JobWord> words, StringRef text) {
  return text.find_first_of("\n;&|(){}") == StringRef::npos && !words.empty() &&
         (words[0].text == text || isShell(sys::path::filename(words[0].text)));
}

/// "bash -c TEXT"
void JobTexts::readShellTexts(const LaunchParts &parts, ArrayRef<JobWord> words,
                              unsigned line) {
  for (const JobWord &text : parts.shellTexts) {
    bool opaque =
        !text.known() && StringRef(text.text).starts_with(text.unknown);
    size_t before = std::min(parts.textAt, words.size());
    bool isRead = false;
    if (!opaque && source.hasRoom(text.text.size()))
      isRead =
          readBehind(words.take_front(before), source.keep(text.text), line,
                     needsNoShell(words.drop_front(before), text.text)
                         ? ""
                         : "the shell's text");
    if (!isRead)
      record.addNotUnderstood(line,
                              "the line for a shell: " +
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
  return parts.program && parts.shellTexts.empty() &&
         hasWord("sh bash dash ksh zsh",
                 sys::path::filename(parts.program->text));
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
bool JobTexts::readDocument(const ShellCommand &command,
                            const LaunchParts &parts, ArrayRef<JobWord> words) {
  bool isShell =
      startsShell(parts) && findFile(parts.arguments) == parts.arguments.size();
  if (!command.document || !(isShell || startsLogin(parts)))
    return false;
  StringRef text = command.document->text;
  // The outer shell replaces its variables in the document. The inner one sees
  // the same values, unless it assigns to them.
  if (command.document->kind == ShellHidden::document && text.contains('\\')) {
    std::optional<StringRef> plain = source.withoutQuotes(text);
    if (!plain)
      return false;
    text = *plain;
  }
  size_t before = words.size() - (isShell ? parts.arguments.size() + 1 : 0);
  return readBehind(words.take_front(before), text, command.document->line,
                    "the here-document");
}

/// "bash FILE": its commands are read as if they were in this line. False:
/// \p parts is something else, or the file is not here.
bool JobTexts::readShellFile(const ShellCommand &command,
                             const LaunchParts &parts,
                             ArrayRef<JobWord> words) {
  size_t at = startsShell(parts) && readFile ? findFile(parts.arguments)
                                             : parts.arguments.size();
  if (at == parts.arguments.size() || !parts.arguments[at].known())
    return false;
  JobLaunch file;
  file.program = parts.arguments[at];
  if (!StringRef(file.program.text).contains('/'))
    file.program.text.insert(0, "./");
  file.folder = state.folder();
  std::optional<std::string> text = readFile(file);
  if (!text || !source.hasRoom(text->size()))
    return false;
  StringRef kept = source.keep(std::move(*text));
  std::vector<ShellValue> arguments;
  for (const JobWord &word : ArrayRef(parts.arguments).drop_front(at + 1))
    arguments.push_back(word.known() ? ShellValue(word.text)
                                     : ShellValue::notKnown(word.unknown));
  ShellVariables::Mark start = state.variables.mark();
  auto outerArguments = std::exchange(state.variables.arguments, arguments);
  const char *outerText = std::exchange(source.fileText, kept.data());
  state.keepExported(command.line);
  size_t before = words.size() - parts.arguments.size() - 1;
  bool isRead = readBehind(words.take_front(before), kept, command.line,
                           parts.arguments[at].text);
  source.fileText = outerText;
  state.variables.arguments = std::move(outerArguments);
  state.variables.undo(start);
  return isRead;
}

// Programs

/// "python3 -c TEXT"
static bool isInterpretersText(const LaunchParts &parts) {
  if (!parts.launchers.empty() || !parts.program)
    return false;
  StringRef name = sys::path::filename(parts.program->text);
  return isInterpreter(name) && !isShell(name) && !parts.arguments.empty() &&
         StringRef(parts.arguments[0].text).starts_with("-");
}

bool JobTexts::startPrograms(const ShellCommand &command) {
  launches.noteSubmitted(command);
  bool ends = false;
  std::vector<JobWord> words = launches.place.words;
  words.insert(words.end(), command.words.begin(), command.words.end());
  for (LaunchParts &parts : findLaunches(words, launches.place.words.size())) {
    readShellTexts(parts, words, command.line);
    ends |=
        command.name() == "exec" && parts.program && !record.isConditional();
    if (!parts.notUnderstood.empty())
      record.addNotUnderstood(command.line, parts.notUnderstood);
    // "x=$(python3 -c TEXT)" computes a value for the script.
    if ((substitutions && isInterpretersText(parts)) ||
        readDocument(command, parts, words) ||
        readShellFile(command, parts, words))
      continue;
    launches.addOperands(command, parts);
    if (parts.isLaunched)
      launches.addLaunch(command, parts);
    else
      launches.noteBareName(command, parts);
  }
  return ends;
}

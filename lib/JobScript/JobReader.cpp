// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobReader.h. Blocks are read recursively, to a bounded depth; what lies
// deeper is only searched for names, which are not known after it.

#include "JobScript/JobReader.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr unsigned deepestBlock = 64;
static constexpr unsigned deepestCall = 8;
static constexpr unsigned deepestText = 8; ///< texts within texts

void JobReader::addDirectives(ArrayRef<DirectiveVariable> fromDirectives) {
  for (const DirectiveVariable &entry : fromDirectives) {
    ShellVariable variable;
    variable.value = ShellValue(entry.value);
    variable.exported = true;
    variable.line = entry.line;
    if (!entry.how.empty())
      record.addSetting(entry.name, variable.value.word(), entry.line,
                        entry.how);
    variables.store(entry.name, std::move(variable));
  }
}

void JobReader::run(ArrayRef<DirectiveVariable> fromDirectives, bool login) {
  if (login)
    state.forgetEnvironment(1, "a login shell");
  addDirectives(fromDirectives);
  for (const JobDirective &directive : record.script.directives)
    if (directive.scheduler == Scheduler::slurm &&
        (directive.option == "--chdir" || directive.option == "-D"))
      state.startIn(directive.value, directive.line);
  readList({0, source.size()});
  texts.readTraps();
  readUncalled();
}

/// Functions that nothing in the script calls: another script may, or a trap.
void JobReader::readUncalled() {
  ended = false;
  ++record.conditions;
  std::vector<std::pair<size_t, std::string>> uncalled;
  for (const auto &entry : source.functions)
    if (!entry.second.called)
      uncalled.push_back({entry.second.body.first, entry.first().str()});
  sort(uncalled);
  for (const auto &[first, name] : uncalled)
    callFunction(source.functions[name], ShellCommand());
  --record.conditions;
}

void JobReader::readList(ShellRange range) {
  if (depth >= deepestBlock) {
    if (!toldDepth && range.first < range.end)
      record.addProblem(
          source.token(range.first).line,
          "blocks are nested too deep; the commands in here are not read");
    toldDepth = true;
    forgetAssigned(range);
    return;
  }
  ++depth;
  size_t at = range.first;
  while (at < range.end && !ended)
    at = readAndOr(at, range.end);
  --depth;
}

/// Where it fails the job does nothing: "cd $PBS_O_WORKDIR && ./app".
static bool isSetUp(const ShellSource &source, size_t at, size_t end) {
  return source.isWord(at, end) &&
         hasWord("cd pushd mkdir", source.token(at).text);
}

void JobReader::leaveOwnShell(JobState::Place start) {
  state.leaveShell(start);
  ended = false;
}

/// "a && b || c", up to ; & or the end of the line. Each part but the first may
/// not run, unless only set-up precedes it.
size_t JobReader::readAndOr(size_t at, size_t end) {
  JobState::Place start = state.mark();
  bool happens = isSetUp(source, at, end);
  at = readPipeline(at, end);
  while (!ended && (source.isKind(at, end, ShellTokenKind::andIf) ||
                    source.isKind(at, end, ShellTokenKind::orIf))) {
    happens &= source.isKind(at, end, ShellTokenKind::andIf);
    ++at;
    while (source.isKind(at, end, ShellTokenKind::newline))
      ++at;
    if (happens) {
      happens = isSetUp(source, at, end);
      at = readPipeline(at, end);
      continue;
    }
    ++record.conditions;
    ShellBranches branches(variables);
    at = readPipeline(at, end);
    branches.endBranch(!ended);
    branches.merge(/*complete=*/false);
    ended = false;
    --record.conditions;
  }
  if (source.isKind(at, end, ShellTokenKind::background))
    leaveOwnShell(start);
  return at;
}

/// "a | b": every part runs in a subshell.
size_t JobReader::readPipeline(size_t at, size_t end) {
  JobState::Place start = state.mark();
  at = readCommand(at, end);
  while (source.isKind(at, end, ShellTokenKind::pipe)) {
    leaveOwnShell(start);
    ++at;
    while (source.isKind(at, end, ShellTokenKind::newline))
      ++at;
    at = readCommand(at, end);
    leaveOwnShell(start);
  }
  return at;
}

/// After the words from \p at on that are not reserved.
static size_t endOfWords(const ShellSource &source, size_t at, size_t end) {
  while (source.isWord(at, end) && source.role(at) == ShellRole::none)
    ++at;
  return at;
}

static bool isClosing(ShellRole role) {
  return role == ShellRole::fiWord || role == ShellRole::doneWord ||
         role == ShellRole::esacWord || role == ShellRole::closeBrace ||
         role == ShellRole::subshellEnd;
}

size_t JobReader::readCommand(size_t at, size_t end) {
  while (at < end && source.role(at) == ShellRole::prefix)
    ++at;
  if (at >= end)
    return end;
  switch (source.role(at)) {
  case ShellRole::none:
    return source.token(at).kind == ShellTokenKind::word ? readSimple(at, end)
                                                         : at + 1;
  case ShellRole::ifWord:
  case ShellRole::loopWord:
  case ShellRole::forWord:
  case ShellRole::caseWord:
  case ShellRole::openBrace:
  case ShellRole::subshell: {
    // Without its closing word a block goes to the end.
    size_t last = source.endOfCompound(at, end);
    bool closed = isClosing(source.role(last));
    readCompound(at, closed ? last : end, end);
    at = closed ? last + 1 : end;
    // Redirections may follow; of these only <(command) is a token.
    size_t after = endOfWords(source, at, end);
    texts.readAround({at, after});
    return after;
  }
  case ShellRole::function: {
    size_t body = source.nextPart(at, end);
    bool keyword = source.token(at).text == "function";
    StringRef name = source.token(keyword ? at + 1 : at).text;
    if (body >= end)
      return end;
    size_t last = std::min(source.endOfCompound(body, end) + 1, end);
    source.functions[name] = ShellFunction{{body, last}};
    return last;
  }
  default:
    return at + 1; // a closing word that closes nothing
  }
}

void JobReader::readCompound(size_t at, size_t last, size_t end) {
  switch (source.role(at)) {
  case ShellRole::ifWord:
    return readIf(at, std::min(last + 1, end));
  case ShellRole::loopWord:
  case ShellRole::forWord:
    return readLoop(at, std::min(last + 1, end));
  case ShellRole::caseWord:
    return readCase(at, std::min(last + 1, end));
  case ShellRole::subshell:
    return readSubshell(at + 1, last);
  default:
    return readList({at + 1, last});
  }
}

void JobReader::readSubshell(size_t at, size_t end) {
  ShellVariables::Mark start = variables.mark();
  auto arguments = variables.arguments;
  readList({at, end});
  variables.undo(start);
  variables.arguments = std::move(arguments);
  ended = false;
}

/// Reads \p range as one branch of several.
void JobReader::readBranch(ShellBranches &branches, ShellRange range) {
  ++record.conditions;
  readList(range);
  branches.endBranch(!ended);
  ended = false;
  --record.conditions;
}

void JobReader::readIf(size_t at, size_t end) {
  // The conditions first: they are run before any branch.
  size_t part = source.nextPart(at, end);
  readList({at + 1, part});
  if (ended)
    return;
  // Which of the later conditions are tried depends on the earlier ones.
  for (size_t i = part; i < end; i = source.nextPart(i, end))
    if (source.role(i) == ShellRole::elifWord)
      forgetAssigned({i + 1, source.nextPart(i, end)});
  ShellBranches branches(variables);
  bool complete = false;
  while (part < end && source.role(part) != ShellRole::fiWord) {
    size_t after = source.nextPart(part, end);
    if (source.role(part) == ShellRole::elifWord) {
      ++record.conditions;
      readSubshell(part + 1, after);
      --record.conditions;
    } else {
      complete |= source.role(part) == ShellRole::elseWord;
      readBranch(branches, {part + 1, after});
    }
    part = after;
  }
  branches.merge(complete);
}

/// "$(seq 4 10)", "{1..8}": words that only the shell makes, but at least one.
bool JobReader::countsUp(StringRef raw, unsigned line) {
  StringRef text = raw;
  if (text.starts_with("{") && text.ends_with("}"))
    return text.contains("..") || text.contains(',');
  bool isSeq = (text.consume_front("$(") && text.consume_back(")")) ||
               (text.consume_front("`") && text.consume_back("`"));
  if (!isSeq || !text.ltrim().consume_front("seq "))
    return false;
  std::vector<ShellValue> numbers;
  SmallVector<StringRef, 4> words;
  text.ltrim().drop_front(4).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    expander.expandWord(word, line, numbers);
  int64_t first = 1, last;
  if (numbers.empty() || numbers.size() > 3 ||
      any_of(numbers, [](const ShellValue &v) { return !v.known(); }) ||
      numbers.back().str().getAsInteger(10, last) ||
      (numbers.size() > 1 && numbers[0].str().getAsInteger(10, first)))
    return false;
  bool down = numbers.size() == 3 && numbers[1].str().starts_with("-");
  return down ? first >= last : first <= last;
}

/// "while true", "while :"
static bool isAlways(const ShellSource &source, size_t at, size_t doWord) {
  if (source.token(at).text != "while" || !source.isWord(at + 1, doWord) ||
      source.isWord(at + 2, doWord))
    return false;
  StringRef word = source.token(at + 1).text;
  return word == "true" || word == ":";
}

/// The words after "for NAME in", at \p at. \p runs: there is one at least.
std::vector<ShellValue> JobReader::expandLoopWords(size_t at, size_t end,
                                                   bool &runs) {
  std::vector<ShellValue> values;
  for (; source.isWord(at, end); ++at) {
    texts.readSubstitutions(source.token(at).text, source.token(at).line);
    runs |= countsUp(source.token(at).text, source.token(at).line);
    expander.expandWord(source.token(at).text, source.token(at).line, values);
  }
  runs |= any_of(values, [](const ShellValue &v) { return v.known(); });
  return values;
}

/// "for exe in ./a ./b": each round may start another program.
bool JobReader::runsEachRound(ShellRange body, ArrayRef<ShellValue> values) {
  constexpr size_t maxRounds = 16;
  size_t size = body.size() * values.size();
  if (values.size() < 2 || values.size() > maxRounds || size > callBudget ||
      any_of(values, [](const ShellValue &v) { return !v.known(); }) ||
      none_of(values, [&](const ShellValue &v) {
        return launches.namesProgram(v.word());
      }))
    return false;
  callBudget -= size;
  return true;
}

void JobReader::readLoop(size_t at, size_t end) {
  size_t doWord = source.nextPart(at, end);
  size_t done = doWord < end ? source.nextPart(doWord, end) : end;
  ShellRange body = {std::min(doWord + 1, done), done};
  ShellBranches branches(variables);
  // A later round sees the values that the rounds before it left.
  forgetAssigned({at, done});
  for (size_t i = at; i < done; ++i)
    if (source.token(i).text == "shift" || source.token(i).text == "set")
      variables.arguments.reset();
  bool runs = false; // over words that are there: at least once
  std::vector<ShellValue> values;
  StringRef name;
  if (source.role(at) != ShellRole::forWord) {
    readList({at + 1, doWord}); // tried once in any case
    runs = isAlways(source, at, doWord);
  } else if (source.isWord(at + 1, doWord)) {
    name = source.token(at + 1).text;
    values = expandLoopWords(at + 3, doWord, runs);
    if (shellNameLength(name) == name.size())
      variables.forget(name, source.token(at).line);
  }
  bool oneByOne =
      values.size() == 1 ? values[0].known() : runsEachRound(body, values);
  record.conditions += !runs;
  for (size_t round = 0; round < (oneByOne ? values.size() : 1); ++round) {
    if (oneByOne)
      variables.setValue(name, values[round], source.token(at).line);
    ended = false;
    readList(body);
  }
  record.conditions -= !runs;
  branches.endBranch(/*reached=*/true);
  branches.mergeAsUnknown();
  ended = false;
}

void JobReader::readCase(size_t at, size_t end) {
  ShellBranches branches(variables);
  bool complete = false, fallsThrough = false;
  size_t part = source.nextPart(at, end);
  if (source.isWord(at + 1, end))
    texts.readSubstitutions(source.token(at + 1).text,
                            source.token(at + 1).line);
  while (part < end && source.role(part) == ShellRole::patternEnd) {
    size_t after = source.nextPart(part, end);
    complete |= source.token(part - 1).text == "*";
    readBranch(branches, {part + 1, after});
    if (after >= end || source.role(after) != ShellRole::clauseEnd)
      break;
    fallsThrough |= source.token(after).text != ";;";
    part = source.nextPart(after, end);
  }
  if (fallsThrough)
    branches.mergeAsUnknown();
  else
    branches.merge(complete);
}

size_t JobReader::readSimple(size_t at, size_t end) {
  size_t last = endOfWords(source, at, end);
  // "foo (" is an error of the script; what follows is read again.
  ShellCommand command = expand({at, last});
  runCommand(command);
  return std::max(last, at + 1);
}

void JobReader::callFunction(ShellFunction &function,
                             const ShellCommand &command) {
  function.called = true;
  ShellRange body = function.body;
  size_t size = body.size();
  if (function.active || depth >= deepestBlock - deepestCall ||
      size > callBudget) {
    if (!toldCalls)
      record.addProblem(command.line,
                        "calls of functions go too deep, or are too many; "
                        "some are not followed");
    toldCalls = true;
    forgetAssigned(body);
    return;
  }
  callBudget -= size;
  std::optional<std::vector<ShellValue>> arguments;
  if (!command.values.empty())
    arguments.emplace(command.values.begin() + 1, command.values.end());
  std::swap(arguments, variables.arguments);
  size_t certain =
      std::exchange(variables.certainArguments,
                    JobState::certainFrom(command.certainWords, 1));
  std::vector<SavedVariable> own;
  std::vector<SavedVariable> *outerLocals =
      std::exchange(builtins.locals, &own);
  bool outerReturned = std::exchange(returned, false);
  function.active = true;
  readList(body);
  function.active = false;
  ended = false;
  // Which of the ways out it took is not known.
  if (returned)
    forgetAssigned(body);
  state.restore(own);
  returned = outerReturned;
  builtins.locals = outerLocals;
  variables.arguments = std::move(arguments);
  variables.certainArguments = certain;
}

void JobReader::forgetAssigned(ShellRange range) {
  if (range.first >= source.size())
    return;
  for (const auto &entry : findAssigned(source, range))
    variables.forget(entry.first(), source.token(range.first).line);
}

bool JobReader::readText(StringRef text, unsigned line) {
  std::optional<ShellRange> range;
  if (nestedTexts < deepestText)
    range = source.addText(text, line);
  if (!range || range->size() > callBudget)
    return false;
  callBudget -= range->size();
  ++nestedTexts;
  readList(*range);
  --nestedTexts;
  return true;
}

bool JobReader::readInOwnShell(StringRef text, unsigned line) {
  JobState::Place start = state.mark();
  bool outerEnded = std::exchange(ended, false), outerReturned = returned;
  bool isRead = readText(text, line);
  leaveOwnShell(start);
  ended = outerEnded;
  returned = outerReturned;
  return isRead;
}

// One command

void JobReader::expandInto(ShellCommand &command, StringRef raw,
                           bool declares) {
  size_t length = declares ? shellAssignmentLength(raw) : 0;
  if (!length)
    return expander.expandWord(raw, command.line, command.values);
  // "export A=$B": $B is not split, as in an assignment.
  ShellValue value(raw.take_front(length));
  value.add(expander.expandAssigned(raw.drop_front(length), command.line));
  command.values.push_back(std::move(value));
}

ShellCommand JobReader::expand(ShellRange range) {
  ShellCommand command;
  command.line = source.token(range.first).line;
  size_t at = range.first;
  while (at < range.end && shellAssignmentLength(source.token(at).text))
    ++at;
  bool declares = at < range.end && isDeclaration(source.token(at).text);
  texts.readAround(range);
  command.document = source.findDocument(range);
  expander.resetUncertain();
  for (size_t i = at; i < range.end; ++i) {
    size_t before = command.values.size();
    expandInto(command, source.token(i).text, declares);
    if (expander.resetUncertain())
      command.certainWords = std::min(command.certainWords, before);
  }
  // The words see the variables as they were before "A=b command".
  for (size_t i = range.first; i < at; ++i) {
    size_t length = shellAssignmentLength(source.token(i).text);
    command.assignments.push_back(
        {source.token(i).text.take_front(length).str(), ShellValue()});
    ShellValue &value = command.assignments.back().second;
    value = expander.expandAssigned(source.token(i).text.drop_front(length),
                                    command.line);
    // The next one may use it.
    StringRef name = source.token(i).text.take_front(length);
    if (at < range.end)
      command.saved.push_back(
          state.save(name.take_front(shellNameLength(name))));
    state.assign(name, value, command.line);
  }
  for (const ShellValue &value : command.values)
    command.words.push_back(value.word());
  return command;
}

/// Commands that decide what is read next.
bool JobReader::runFlow(const ShellCommand &command) {
  StringRef name = command.name();
  if (name == "eval") {
    texts.runEval(command);
  } else if (name == "trap") {
    texts.runTrap(command);
  } else if (name == "source" || name == ".") {
    texts.noteUnread(command);
  } else if (hasWord("exit return break continue", name)) {
    ended = true;
    returned |= name == "return";
  } else {
    return false;
  }
  return true;
}

/// Of "command export A=b" and "builtin cd x" what comes behind.
bool JobReader::runBuiltin(const ShellCommand &command) {
  size_t first = 0;
  while (first < command.words.size() && command.words[first].known() &&
         hasWord("command builtin", command.words[first].text))
    ++first;
  if (first == 0 || first == command.words.size())
    return runFlow(command) || builtins.run(command);
  ShellCommand inner = command;
  inner.words.erase(inner.words.begin(), inner.words.begin() + first);
  inner.values.erase(inner.values.begin(), inner.values.begin() + first);
  inner.certainWords = JobState::certainFrom(command.certainWords, first);
  return runFlow(inner) || builtins.run(inner);
}

void JobReader::runCommand(ShellCommand &command) {
  if (command.words.empty() && command.assignments.empty())
    return;
  record.addCommand(command);
  bool alone = command.words.empty();
  bool exports = !alone || state.exportsAll();
  for (const auto &[target, value] : command.assignments) {
    StringRef name = StringRef(target).take_front(shellNameLength(target));
    if (exports)
      state.exportVariable(name);
    const ShellVariable &now = *variables.find(name);
    record.addSetting(name, now.value.word(), command.line,
                      !alone         ? "command"
                      : now.exported ? "export"
                                     : "assignment");
  }
  if (alone)
    return;
  auto function = source.functions.find(command.name());
  if (function != source.functions.end())
    callFunction(function->second, command);
  else if (!runBuiltin(command))
    ended |= texts.startPrograms(command);
  state.restore(command.saved);
}

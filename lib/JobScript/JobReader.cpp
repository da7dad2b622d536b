// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobReader.h. Blocks are read recursively, to a bounded depth; what lies
// deeper is only searched for names, which are not known after it.

#include "JobScript/JobReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr unsigned deepestBlock = 64;
static constexpr unsigned deepestCall = 8;

void JobReader::addDirectives(ArrayRef<DirectiveVariable> fromDirectives) {
  for (const DirectiveVariable &entry : fromDirectives) {
    ShellVariable variable;
    variable.value = ShellValue(entry.value);
    variable.exported = true;
    variable.line = entry.line;
    if (!entry.how.empty())
      addSetting(entry.name, variable.value.word(), entry.line, entry.how);
    variables.store(entry.name, std::move(variable));
  }
}

void JobReader::run(ArrayRef<DirectiveVariable> fromDirectives, bool login) {
  if (login)
    forgetEnvironment(1, "a login shell");
  addDirectives(fromDirectives);
  for (const JobDirective &directive : script.directives)
    if (directive.scheduler == Scheduler::slurm &&
        (directive.option == "--chdir" || directive.option == "-D"))
      startIn(directive.value, directive.line);
  callBudget = 4 * tokens.size() + 10000;
  readList({0, tokens.size()});
  readTraps();
  readUncalled();
}

/// Functions that nothing in the script calls: another script may, or a trap.
void JobReader::readUncalled() {
  ended = false;
  ++conditions;
  std::vector<std::pair<size_t, std::string>> uncalled;
  for (const auto &entry : functions)
    if (!entry.second.called)
      uncalled.push_back({entry.second.body.first, entry.first().str()});
  sort(uncalled);
  for (const auto &[first, name] : uncalled)
    callFunction(functions[name], Command());
  --conditions;
}

void JobReader::readList(Range range) {
  if (depth >= deepestBlock) {
    if (!toldDepth && range.first < range.end)
      problem(tokens[range.first].line,
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
bool JobReader::isSetUp(size_t at, size_t end) const {
  return isKind(at, end, ShellTokenKind::word) &&
         (tokens[at].text == "cd" || tokens[at].text == "pushd" ||
          tokens[at].text == "mkdir");
}

/// "a && b || c", up to ; & or the end of the line. Each part but the first may
/// not run, unless only set-up precedes it.
size_t JobReader::readAndOr(size_t at, size_t end) {
  ShellVariables::Mark start = variables.mark();
  unsigned changes = variables.argumentChanges;
  bool happens = isSetUp(at, end);
  at = readPipeline(at, end);
  while (!ended && (isKind(at, end, ShellTokenKind::andIf) ||
                    isKind(at, end, ShellTokenKind::orIf))) {
    happens &= isKind(at, end, ShellTokenKind::andIf);
    ++at;
    while (isKind(at, end, ShellTokenKind::newline))
      ++at;
    if (happens) {
      happens = isSetUp(at, end);
      at = readPipeline(at, end);
      continue;
    }
    ++conditions;
    ShellBranches branches(variables);
    at = readPipeline(at, end);
    branches.endBranch(!ended);
    branches.merge(/*complete=*/false);
    ended = false;
    --conditions;
  }
  if (isKind(at, end, ShellTokenKind::background))
    leaveOwnShell(start, changes);
  return at;
}

/// Restores the variables as they were before a subshell.
void JobReader::leaveOwnShell(ShellVariables::Mark start,
                              unsigned argumentChanges) {
  variables.undo(start);
  // Copying $1, $2, ... for each command would take too long.
  if (variables.argumentChanges != argumentChanges)
    variables.arguments.reset();
  ended = false;
}

/// "a | b": every part runs in a subshell.
size_t JobReader::readPipeline(size_t at, size_t end) {
  ShellVariables::Mark start = variables.mark();
  unsigned changes = variables.argumentChanges;
  at = readCommand(at, end);
  while (isKind(at, end, ShellTokenKind::pipe)) {
    leaveOwnShell(start, changes);
    ++at;
    while (isKind(at, end, ShellTokenKind::newline))
      ++at;
    at = readCommand(at, end);
    leaveOwnShell(start, changes);
  }
  return at;
}

/// After the last reserved word of the command that begins at \p at.
size_t JobReader::endOfCompound(size_t at, size_t end) const {
  while (at < end && next[at] > at && next[at] < end)
    at = next[at];
  return at;
}

static bool isClosing(ShellRole role) {
  return role == ShellRole::fiWord || role == ShellRole::doneWord ||
         role == ShellRole::esacWord || role == ShellRole::closeBrace ||
         role == ShellRole::subshellEnd;
}

size_t JobReader::readCommand(size_t at, size_t end) {
  while (at < end && roles[at] == ShellRole::prefix)
    ++at;
  if (at >= end)
    return end;
  switch (roles[at]) {
  case ShellRole::none:
    return tokens[at].kind == ShellTokenKind::word ? readSimple(at, end)
                                                   : at + 1;
  case ShellRole::ifWord:
  case ShellRole::loopWord:
  case ShellRole::forWord:
  case ShellRole::caseWord:
  case ShellRole::openBrace:
  case ShellRole::subshell: {
    // Without its closing word a block goes to the end.
    size_t last = endOfCompound(at, end);
    bool closed = isClosing(roles[last]);
    readCompound(at, closed ? last : end, end);
    at = closed ? last + 1 : end;
    // Redirections may follow; of these only <(command) is a token.
    size_t after = at;
    for (;
         isKind(at, end, ShellTokenKind::word) && roles[at] == ShellRole::none;
         ++at)
      readSubstitutions(tokens[at].text, tokens[at].line);
    readHidden(after, at);
    return at;
  }
  case ShellRole::function: {
    size_t body = nextPart(at, end);
    bool keyword = tokens[at].text == "function";
    StringRef name = tokens[keyword ? at + 1 : at].text;
    if (body >= end)
      return end;
    size_t last = std::min(endOfCompound(body, end) + 1, end);
    functions[name] = Function{{body, last}};
    return last;
  }
  default:
    return at + 1; // a closing word that closes nothing
  }
}

void JobReader::readCompound(size_t at, size_t last, size_t end) {
  switch (roles[at]) {
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
void JobReader::readBranch(ShellBranches &branches, Range range) {
  ++conditions;
  readList(range);
  branches.endBranch(!ended);
  ended = false;
  --conditions;
}

void JobReader::readIf(size_t at, size_t end) {
  // The conditions first: they are run before any branch.
  size_t part = nextPart(at, end);
  readList({at + 1, part});
  if (ended)
    return;
  // Which of the later conditions are tried depends on the earlier ones.
  for (size_t i = part; i < end; i = nextPart(i, end))
    if (roles[i] == ShellRole::elifWord)
      forgetAssigned({i + 1, nextPart(i, end)});
  ShellBranches branches(variables);
  bool complete = false;
  while (part < end && roles[part] != ShellRole::fiWord) {
    size_t after = nextPart(part, end);
    if (roles[part] == ShellRole::elifWord) {
      ++conditions;
      readSubshell(part + 1, after);
      --conditions;
    } else {
      complete |= roles[part] == ShellRole::elseWord;
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
bool JobReader::isAlways(size_t at, size_t doWord) const {
  return tokens[at].text == "while" &&
         isKind(at + 1, doWord, ShellTokenKind::word) &&
         (tokens[at + 1].text == "true" || tokens[at + 1].text == ":") &&
         !isKind(at + 2, doWord, ShellTokenKind::word);
}

/// The words after "for NAME in", at \p at. \p runs: there is one at least.
std::vector<ShellValue> JobReader::expandLoopWords(size_t at, size_t end,
                                                   bool &runs) {
  std::vector<ShellValue> values;
  for (; isKind(at, end, ShellTokenKind::word); ++at) {
    readSubstitutions(tokens[at].text, tokens[at].line);
    runs |= countsUp(tokens[at].text, tokens[at].line);
    expander.expandWord(tokens[at].text, tokens[at].line, values);
  }
  runs |= any_of(values, [](const ShellValue &v) { return v.known(); });
  return values;
}

/// "for exe in ./a ./b": each round may start another program.
bool JobReader::runsEachRound(Range body, ArrayRef<ShellValue> values) {
  constexpr size_t maxRounds = 16;
  size_t size = (body.end - body.first) * values.size();
  if (values.size() < 2 || values.size() > maxRounds || size > callBudget ||
      any_of(values, [](const ShellValue &v) { return !v.known(); }) ||
      none_of(values,
              [&](const ShellValue &v) { return namesProgram(v.word()); }))
    return false;
  callBudget -= size;
  return true;
}

void JobReader::readLoop(size_t at, size_t end) {
  size_t doWord = nextPart(at, end);
  size_t done = doWord < end ? nextPart(doWord, end) : end;
  Range body = {std::min(doWord + 1, done), done};
  ShellBranches branches(variables);
  // A later round sees the values that the rounds before it left.
  forgetAssigned({at, done});
  for (size_t i = at; i < done; ++i)
    if (tokens[i].text == "shift" || tokens[i].text == "set")
      variables.arguments.reset();
  bool runs = false; // over words that are there: at least once
  std::vector<ShellValue> values;
  StringRef name;
  if (roles[at] != ShellRole::forWord) {
    readList({at + 1, doWord}); // tried once in any case
    runs = isAlways(at, doWord);
  } else if (isKind(at + 1, doWord, ShellTokenKind::word)) {
    name = tokens[at + 1].text;
    values = expandLoopWords(at + 3, doWord, runs);
    if (shellNameLength(name) == name.size())
      variables.forget(name, tokens[at].line);
  }
  bool oneByOne =
      values.size() == 1 ? values[0].known() : runsEachRound(body, values);
  conditions += !runs;
  for (size_t round = 0; round < (oneByOne ? values.size() : 1); ++round) {
    if (oneByOne)
      variables.setValue(name, values[round], tokens[at].line);
    ended = false;
    readList(body);
  }
  conditions -= !runs;
  branches.endBranch(/*reached=*/true);
  branches.mergeAsUnknown();
  ended = false;
}

void JobReader::readCase(size_t at, size_t end) {
  ShellBranches branches(variables);
  bool complete = false, fallsThrough = false;
  size_t part = nextPart(at, end);
  if (isKind(at + 1, end, ShellTokenKind::word))
    readSubstitutions(tokens[at + 1].text, tokens[at + 1].line);
  while (part < end && roles[part] == ShellRole::patternEnd) {
    size_t after = nextPart(part, end);
    complete |= tokens[part - 1].text == "*";
    readBranch(branches, {part + 1, after});
    if (after >= end || roles[after] != ShellRole::clauseEnd)
      break;
    fallsThrough |= tokens[after].text != ";;";
    part = nextPart(after, end);
  }
  if (fallsThrough)
    branches.mergeAsUnknown();
  else
    branches.merge(complete);
}

size_t JobReader::readSimple(size_t at, size_t end) {
  size_t last = at;
  while (isKind(last, end, ShellTokenKind::word) &&
         roles[last] == ShellRole::none)
    ++last;
  // "foo (" is an error of the script; what follows is read again.
  Command command = expand({at, last});
  runCommand(command);
  return std::max(last, at + 1);
}

JobReader::Saved JobReader::save(StringRef name) const {
  const ShellVariable *variable = variables.find(name);
  return {name.str(),
          variable ? std::optional<ShellVariable>(*variable) : std::nullopt};
}

void JobReader::restore(const std::vector<Saved> &saved) {
  for (const Saved &entry : reverse(saved))
    variables.restore(entry.first, entry.second);
}

void JobReader::callFunction(Function &function, const Command &command) {
  function.called = true;
  Range body = function.body;
  size_t size = body.end - body.first;
  if (function.active || depth >= deepestBlock - deepestCall ||
      size > callBudget) {
    if (!toldCalls)
      problem(command.line, "calls of functions go too deep, or are too many; "
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
  size_t certain = std::exchange(variables.certainArguments,
                                 certainFrom(command.certainWords, 1));
  std::vector<Saved> own;
  std::vector<Saved> *outerLocals = std::exchange(locals, &own);
  bool outerReturned = std::exchange(returned, false);
  function.active = true;
  readList(body);
  function.active = false;
  ended = false;
  // Which of the ways out it took is not known.
  if (returned)
    forgetAssigned(body);
  restore(own);
  returned = outerReturned;
  locals = outerLocals;
  variables.arguments = std::move(arguments);
  variables.certainArguments = certain;
}

void JobReader::forgetAssigned(Range range) {
  StringSet<> names;
  SmallPtrSet<const Function *, 8> seen;
  collectAssigned(range, names, seen);
  if (range.first >= tokens.size())
    return;
  for (const auto &entry : names)
    variables.forget(entry.first(), tokens[range.first].line);
}

/// "A=b command": the variable is the command's alone.
bool JobReader::isPrefixAssignment(size_t at) const {
  if (at > 0 && tokens[at - 1].kind == ShellTokenKind::word &&
      roles[at - 1] == ShellRole::none &&
      !shellAssignmentLength(tokens[at - 1].text))
    return false;
  while (isKind(at, tokens.size(), ShellTokenKind::word)) {
    if (!shellAssignmentLength(tokens[at].text))
      return true;
    ++at;
  }
  return false;
}

void JobReader::collectFromWord(size_t at, bool takesNames,
                                StringSet<> &names) const {
  StringRef word = tokens[at].text;
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
  } else if (word == "cd" || word == "pushd" || word == "popd") {
    names.insert("PWD");
    names.insert("OLDPWD");
    names.insert(folderName);
    if (word != "cd")
      names.insert(pushedName);
  } else if (word == "ulimit") {
    names.insert(stackLimitName);
  } else if (word == "set") {
    names.insert(exportAllName);
  } else if (word == "module" || word == "ml" || word == "spack" ||
             word == "source" || word == "." || word == "conda") {
    names.insert("PATH");
    names.insert("LD_LIBRARY_PATH");
  }
}

/// Names that commands in \p range may assign to: rather too many of them.
void JobReader::collectAssigned(Range range, StringSet<> &names,
                                SmallPtrSetImpl<const Function *> &seen) const {
  static const StringRef namers[] = {
      "read",    "unset", "for",       "select", "let",    "declare", "typeset",
      "getopts", "local", "readarray", "printf", "export", "mapfile"};
  constexpr size_t maxFunctions = 16; // one calls the next
  bool takesNames = false;
  for (size_t i = range.first; i < range.end; ++i) {
    if (tokens[i].kind != ShellTokenKind::word) {
      takesNames = false;
      continue;
    }
    StringRef word = tokens[i].text;
    if (is_contained(namers, word))
      takesNames = true;
    else
      collectFromWord(i, takesNames, names);
    auto function = functions.find(word);
    if (function != functions.end() && seen.size() < maxFunctions &&
        seen.insert(&function->second).second)
      collectAssigned(function->second.body, names, seen);
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CommandLine.h.

#include "CommandLine.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

/// Whether \p word is an option of \p table but for its value.
static bool needsValue(const OptTable &table, StringRef word) {
  if (!word.starts_with("--") || word.contains('='))
    return false;
  bool isKnown = false;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    StringRef name = table.getOption(id).getPrefixedName();
    if (name == word)
      return false; // "--report" stands alone, too
    isKnown |= name.size() == word.size() + 1 && name.starts_with(word) &&
               name.back() == '=';
  }
  return isKnown;
}

/// Whether the word after an option that needs a value is that.
static bool isValue(StringRef word) { return !word.starts_with("--"); }

SplitWords mpg::splitCommand(const OptTable &table, int argc, char **argv) {
  ArrayRef<const char *> words(argv + std::min(argc, 1), argv + argc);
  size_t count = 0;
  while (count < words.size()) {
    StringRef word = words[count];
    if (word.size() <= 1 || word[0] != '-' || word == "--")
      break;
    ++count;
    if (needsValue(table, word) && count < words.size() &&
        isValue(words[count]))
      ++count;
  }
  ArrayRef<const char *> own = words.take_front(count);
  ArrayRef<const char *> command = words.drop_front(own.size());
  if (!command.empty() && command.front() == StringRef("--"))
    command = command.drop_front();
  return {own, command};
}

/// \p words with "--json FILE" as "--json=FILE", which \p joined holds.
static std::vector<const char *> joinValues(const OptTable &table,
                                            ArrayRef<const char *> words,
                                            std::deque<std::string> &joined) {
  std::vector<const char *> plain;
  bool isOver = false;
  for (size_t at = 0; at < words.size(); ++at) {
    StringRef word = words[at];
    isOver |= word == "--";
    if (!isOver && needsValue(table, word) && at + 1 < words.size() &&
        isValue(words[at + 1])) {
      joined.push_back((word + "=" + words[++at]).str());
      plain.push_back(joined.back().c_str());
    } else {
      plain.push_back(words[at]);
    }
  }
  return plain;
}

CommandLine::CommandLine(const OptTable &table, const ProgramText &text,
                         ArrayRef<const char *> words)
    : table(table), text(text), words(words),
      plain(joinValues(table, words, joined)),
      parsed(table.ParseArgs(plain, missingIndex, missingCount)) {}

/// The error in \p arg, which is not in the table, and the option that was
/// probably meant.
static std::string describeUnknown(const OptTable &table, const Arg &arg,
                                   const ArgList &args) {
  std::string typed = arg.getAsString(args), nearest;
  std::string text = "unknown option '" + printable(typed) + "'";
  // Farther than this it is a guess and no help.
  if (table.findNearest(typed, nearest) <= 3)
    text += "; did you mean '" + nearest + "'?";
  return text;
}

/// "" when each word is an option with its value, or none.
std::string CommandLine::findProblem() const {
  // The parser passes over empty words: `mpgaudit "$app"` with a variable that
  // is not set would be clean as long as there is another file.
  if (is_contained(words, StringRef()))
    return "an argument is empty; is a variable not set?";
  const Arg *unknown = nullptr;
  for (const Arg *arg : parsed)
    if (arg->getOption().getKind() == Option::UnknownClass)
      unknown = arg;
  if (unknown && needsValue(table, unknown->getAsString(parsed)))
    return formatv(text.missingValue, unknown->getAsString(parsed));
  if (unknown)
    return describeUnknown(table, *unknown, parsed);
  if (missingCount)
    return formatv(text.missingValue, parsed.getArgString(missingIndex));
  return "";
}

bool CommandLine::isAnswered(OptSpecifier help, OptSpecifier version,
                             int &status) const {
  status = 0;
  StringRef first = words.empty() ? "" : words.front();
  if (words.size() == 1 && first.consume_front("--autocomplete=")) {
    outs() << completeOption(table, first);
    return true;
  }
  if (std::string problem = findProblem(); !problem.empty()) {
    usageError(problem, status);
    return true;
  }
  if (parsed.hasArg(help)) {
    table.printHelp(outs(), text.synopsis, text.purpose);
    outs() << text.ending;
  } else if (parsed.hasArg(version)) {
    outs() << text.name << " (mpgtools) " MPG_VERSION "\n";
  } else {
    return false;
  }
  if (endOutput(text.name, 0) != 0)
    status = text.usageStatus;
  return true;
}

std::nullopt_t CommandLine::usageError(const Twine &problem,
                                       int &status) const {
  errs() << text.name << ": error: " << problem << "\n"
         << text.name << " --help lists the " << text.listed << "\n";
  status = text.usageStatus;
  return std::nullopt;
}

void mpg::addCompletion(std::string &lines, const Twine &word, StringRef typed,
                        StringRef description) {
  std::string text = word.str();
  if (!StringRef(text).starts_with(typed))
    return;
  lines += text;
  if (!description.empty())
    lines += ("\t" + description).str();
  lines += "\n";
}

/// Help of several lines as one.
static std::string oneLine(StringRef text) {
  std::string line = text.str();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// FILE and N cannot be listed.
static void addListedValues(std::string &lines, const OptTable &table,
                            StringRef option, StringRef typed) {
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    const char *metavar = table.getOptionMetaVar(id);
    if (!metavar || table.getOption(id).getPrefixedName() != option)
      continue;
    if (StringRef(metavar).contains('|'))
      for (StringRef value : split(metavar, '|'))
        addCompletion(lines, option + value, typed, "");
  }
}

std::string mpg::completeOption(const OptTable &table, StringRef typed) {
  std::string lines;
  size_t sign = typed.find('=');
  if (!typed.starts_with("-"))
    return lines;
  if (sign != StringRef::npos) {
    addListedValues(lines, table, typed.take_front(sign + 1), typed);
    return lines;
  }
  // Options for shells and not for people have no help.
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (const char *help = table.getOptionHelpText(id))
      addCompletion(lines, table.getOption(id).getPrefixedName(), typed,
                    oneLine(help));
  return lines;
}

int mpg::endOutput(StringRef program, int status) {
  outs().flush();
  if (outs().has_error()) {
    errs() << program
           << ": error: cannot write the report: " << outs().error().message()
           << "\n";
    outs().clear_error();
    status = 2;
  }
  errs().clear_error();
  return status;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Completion.h"
#include "Audit/Finding.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

/// Options that this program has for shells and not for people have no help.
static bool isShown(const OptTable &table, unsigned id) {
  return table.getOptionHelpText(id) != nullptr;
}

static void addWord(std::string &lines, const Twine &word, StringRef typed,
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

static std::string withSign(StringRef code) {
  std::string text = code.str();
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

static void addOptions(std::string &lines, const OptTable &table,
                       StringRef typed) {
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (isShown(table, id))
      addWord(lines, table.getOption(id).getPrefixedName(), typed,
              oneLine(table.getOptionHelpText(id)));
}

/// "fugaku|mpg|auto" of the table: values that can be listed. FILE and N
/// cannot.
static void addListedValues(std::string &lines, const OptTable &table,
                            StringRef option, StringRef typed) {
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    const char *metavar = table.getOptionMetaVar(id);
    if (!metavar || table.getOption(id).getPrefixedName() != option)
      continue;
    SmallVector<StringRef, 8> values;
    StringRef(metavar).split(values, '|');
    if (values.size() > 1)
      for (StringRef value : values)
        addWord(lines, option + value, typed, "");
  }
}

/// \p start is what stands in front of the finding: "--suppress=".
static void addFindings(std::string &lines, StringRef start, StringRef typed) {
  for (const FindingInfo &info : allFindings())
    addWord(lines, start + idText(info.id), typed, info.summary);
}

/// Only the last of a list, behind its sign, is completed.
static void addChecks(std::string &lines, StringRef option, StringRef typed) {
  StringRef list = typed.drop_front(option.size());
  size_t begin = list.rfind(',') == StringRef::npos ? 0 : list.rfind(',') + 1;
  if (begin < list.size() && (list[begin] == '+' || list[begin] == '-'))
    ++begin;
  StringRef start = typed.take_front(option.size() + begin);
  for (unsigned i = 0; i <= unsigned(FindingGroup::malformed); ++i)
    addWord(lines, start + groupName(FindingGroup(i)), typed,
            "all findings of this group");
  addFindings(lines, start, typed);
}

std::string mpg::completionsFor(const OptTable &table, StringRef typed) {
  std::string lines;
  size_t sign = typed.find('=');
  StringRef option = typed.take_front(sign + 1); // npos + 1 is 0
  if (!typed.starts_with("-"))
    return lines;
  if (sign == StringRef::npos) {
    addOptions(lines, table, typed);
  } else if (option == "--checks=") {
    addChecks(lines, option, typed);
  } else if (option == "--suppress=") {
    addFindings(lines, option, typed);
  } else if (option == "--explain=") {
    addFindings(lines, option, typed);
    // --explain takes LPG-2003 too, which needs no quotes.
    for (const VendorCode &code : allVendorCodes())
      addWord(lines, option + withSign(code.code), typed, code.meaning);
  } else {
    addListedValues(lines, table, option, typed);
  }
  return lines;
}

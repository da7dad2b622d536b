// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OptionCompletion.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

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
    SmallVector<StringRef, 8> values;
    StringRef(metavar).split(values, '|');
    if (values.size() > 1)
      for (StringRef value : values)
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Completion.h"
#include "Audit/Finding.h"
#include "OptionCompletion.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static std::string withSign(StringRef code) {
  std::string text = code.str();
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

/// \p start is what stands in front of the finding: "--suppress=".
static void addFindings(std::string &lines, StringRef start, StringRef typed) {
  for (const FindingInfo &info : allFindings())
    addCompletion(lines, start + idText(info.id), typed, info.summary);
}

/// Only the last of a list, behind its sign, is completed.
static void addChecks(std::string &lines, StringRef option, StringRef typed) {
  StringRef list = typed.drop_front(option.size());
  size_t begin = list.rfind(',') == StringRef::npos ? 0 : list.rfind(',') + 1;
  if (begin < list.size() && (list[begin] == '+' || list[begin] == '-'))
    ++begin;
  StringRef start = typed.take_front(option.size() + begin);
  for (unsigned i = 0; i <= unsigned(FindingGroup::malformed); ++i)
    addCompletion(lines, start + groupName(FindingGroup(i)), typed,
                  "all findings of this group");
  addFindings(lines, start, typed);
}

std::string mpg::completionsFor(const OptTable &table, StringRef typed) {
  std::string lines;
  size_t sign = typed.find('=');
  StringRef option = typed.take_front(sign + 1); // npos + 1 is 0
  if (option == "--checks=") {
    addChecks(lines, option, typed);
  } else if (option == "--suppress=") {
    addFindings(lines, option, typed);
  } else if (option == "--explain=") {
    addFindings(lines, option, typed);
    // --explain takes LPG-2003 too, which needs no quotes.
    for (const VendorCode &code : allVendorCodes())
      addCompletion(lines, option + withSign(code.code), typed, code.meaning);
  } else {
    lines = completeOption(table, typed);
  }
  return lines;
}

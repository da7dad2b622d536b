// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --explain: the rows of Findings.def and VendorCodes.def as a page to read,
// offline.

#include "Audit/Finding.h"
#include "Audit/Report.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace mpg;

static void appendPart(std::string &page, StringRef label, StringRef text) {
  if (text.empty())
    return;
  page += "\n" + label.str() + ":\n  " + fillText(text, 2) + "\n";
}

static std::string explainFinding(const FindingInfo &info,
                                  const InstalledParts &parts) {
  std::string page = idText(info.id);
  if (!info.vendor.empty())
    page += (" (" + info.vendor + ")").str();
  page += (": " + info.summary + "\n\n").str();
  page += ("  group: " + groupName(info.group) + "\n").str();
  page += "  severity:";
  for (unsigned i = 0; i < targetCount; ++i)
    page += (Twine(i ? ", " : " ") + targetName(Target(i)) + " " +
             severityName(info.severity[i]))
                .str();
  page += "\n";
  appendPart(page, "rule", info.rule);
  appendPart(page, "cost", info.cost);
  appendPart(page, "remedy", withPaths(info.remedy, parts));
  appendPart(page, "source", info.source);
  return page;
}

static std::string explainVendorCode(const VendorCode &code,
                                     const InstalledParts &parts) {
  std::string page = (code.code + ", a message of Fujitsu's software\n").str();
  appendPart(page, "meaning", code.meaning);
  appendPart(page, "what to do", code.action);
  SmallVector<StringRef, 4> related;
  code.related.split(related, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef id : related) {
    unsigned number = 0;
    if (id.consume_front("MPG") && !id.getAsInteger(10, number))
      if (const FindingInfo *info = findInfo(number))
        page += "\n" + explainFinding(*info, parts);
  }
  if (related.empty())
    page += "\nmpgaudit has no finding for it: only a run can show it.\n";
  return page;
}

/// "lpg 2003", "LPG2003" and "LPG 2003" are the same number.
static std::string normalized(StringRef code) {
  std::string text;
  for (char c : code)
    if (c != ' ' && c != '-' && c != '_')
      text += toUpper(c);
  return text;
}

/// \p wanted is normalized.
static std::string explainCode(const std::string &wanted,
                               const InstalledParts &parts) {
  for (const VendorCode &vendor : allVendorCodes())
    if (normalized(vendor.code) == wanted)
      return explainVendorCode(vendor, parts);
  for (const FindingInfo &info : allFindings())
    if (idText(info.id) == wanted)
      return explainFinding(info, parts);
  return "";
}

/// "-Kzfill", "-Kcmodel=large", "!OCL NOVREC": what Fujitsu's compilers take.
static std::string explainFccWord(StringRef word) {
  static constexpr struct {
    const char *word, *kind, *answer;
  } table[] = {
#define MPG_FCC_WORD(word, kind, answer) {word, #kind, answer},
#include "Audit/FccWords.def"
  };
  word = word.trim();
  if (!word.consume_front_insensitive("!OCL"))
    word.consume_front_insensitive("#pragma statement");
  word = word.trim().take_until([](char c) { return strchr("=( ", c); });
  for (auto [known, kind, answer] : table)
    if (word.equals_insensitive(known))
      return std::string(known) + ", of Fujitsu's compilers: " +
             (StringRef(kind) == "not" ? "there is nothing for it" : kind) +
             "\n\n  " + fillText(answer, 2) + "\n";
#define MPG_ENV(name, type, values, deflt, needs, more, group, help)           \
  if (word == #name)                                                           \
    return #name ": ours, with the same name and values\n\n  " help "\n";
#include "mpg/env.def"
  return "";
}

/// The page of the first number in \p line that has one: a line of a report
/// or of a job's output, as people paste it.
static std::string explainLine(StringRef line, const InstalledParts &parts) {
  static const Regex number(
      "(^|[^[:alnum:]])((MPG|LPG|FHE)[ _-]?[0-9]+)($|[^[:alnum:]])",
      Regex::IgnoreCase);
  SmallVector<StringRef, 5> match;
  while (number.match(line, &match)) {
    std::string page = explainCode(normalized(match[2]), parts);
    if (!page.empty())
      return page;
    line = line.substr(size_t(match[2].end() - line.begin()));
  }
  return "";
}

std::string mpg::explain(StringRef code, const InstalledParts &parts) {
  StringRef digits = code.trim();
  if (!digits.empty() && all_of(digits, isDigit)) {
    for (StringRef series : {"MPG", "LPG", "FHE"})
      if (std::string page = explainCode((series + digits).str(), parts);
          !page.empty())
        return page;
    return "";
  }
  std::string page = explainCode(normalized(code), parts);
  if (page.empty())
    page = explainFccWord(code);
  return page.empty() ? explainLine(code, parts) : page;
}

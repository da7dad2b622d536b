// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SARIF 2.1.0: the form in which code scanning services and editors take
// results. A result on a program is about the whole file, so it is at line 1,
// which viewers insist on; properties have the place in the file. A result on a
// job script has the script's line.
//
// Braces and brackets in messages stay single, although the standard has a use
// for them: no viewer replaces anything in a message without arguments, and
// ${NAME} must stay what the user wrote.

#include "Audit/Finding.h"
#include "Policy/Policy.h"
#include "Render/Report.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace mpg;

/// "note", "warning" or "error"; off is none.
static StringRef sarifLevel(Severity severity) {
  return severity == Severity::off ? "none" : severityName(severity);
}

/// "Program is position independent (PIE)" as ProgramIsPositionIndependentPIE:
/// viewers want a name without blanks.
static std::string ruleName(StringRef summary) {
  std::string name;
  bool begins = true;
  for (char c : summary) {
    if (isAlnum(c))
      name += begins ? toUpper(c) : c;
    begins = !isAlnum(c) && c != '\'';
  }
  return name;
}

static Severity findHighest(const FindingInfo &info) {
  return *std::max_element(std::begin(info.severity), std::end(info.severity));
}

/// The table's text as Markdown: its command lines, which start with two
/// spaces, become blocks.
static std::string escapeMarkdown(StringRef text) {
  std::string result;
  bool inBlock = false;
  for (StringRef line : split(text, '\n')) {
    bool isCommand = line.consume_front("  ");
    if (isCommand != inBlock)
      result += isCommand ? "\n```\n" : "```\n";
    inBlock = isCommand;
    result += line.str() + "\n";
  }
  return result + (inBlock ? "```\n" : "");
}

static JsonObject helpItem(const FindingInfo &info,
                           const InstalledParts &parts) {
  const std::pair<const char *, std::string> chapters[] = {
      {"Rule", info.rule.str()},
      {"Cost", info.cost.str()},
      {"Remedy", withPaths(info.remedy, parts)},
      {"Source", info.source.str()}};
  std::string text, markdown;
  for (const auto &[title, words] : chapters) {
    text += std::string(text.empty() ? "" : "\n\n") + title + ":\n" + words;
    markdown += std::string(markdown.empty() ? "" : "\n") + "## " + title +
                "\n\n" + escapeMarkdown(words);
  }
  return {{"text", text}, {"markdown", markdown}};
}

static JsonObject ruleProperties(const FindingInfo &info) {
  JsonArray tags = {groupName(info.group)};
  if (!info.vendor.empty())
    tags.push_back(info.vendor);
  JsonObject severities;
  for (unsigned i = 0; i < targetCount; ++i)
    severities.push_back(
        {targetName(Target(i)).str(), severityName(info.severity[i])});
  // Code scanning services rank results other than security by it.
  Severity worst = findHighest(info);
  return {{"tags", tags},
          {"severity", severities},
          {"problem.severity", worst >= Severity::warning ? severityName(worst)
                                                          : "recommendation"}};
}

static JsonObject textItem(StringRef text) { return {{"text", text}}; }

/// One object for the array tool.driver.rules. The remedy names \p parts.
static JsonObject ruleItem(const FindingInfo &info,
                           const InstalledParts &parts) {
  Severity worst = findHighest(info);
  return {{"id", idText(info.id)},
          {"name", ruleName(info.summary)},
          {"shortDescription", textItem(info.summary)},
          {"fullDescription", textItem(info.rule)},
          {"help", helpItem(info, parts)},
          // Off by default is a note when it is asked for.
          {"defaultConfiguration",
           JsonObject{{"enabled", worst != Severity::off},
                      {"level", sarifLevel(std::max(worst, Severity::note))}}},
          {"properties", ruleProperties(info)}};
}

namespace {

/// The place of one finding, with the facts that results need.
struct Place {
  StringRef path; ///< as the report shows it
  bool isMember;  ///< "libx.a(y.o)"
  std::string target;
  const FixContext &fixContext;
};

class SarifWriter {
public:
  SarifWriter(raw_ostream &out, const RunResult &result)
      : out(out), result(result) {}
  void write();

private:
  void forEachFinding(
      function_ref<void(const Finding &finding, const Place &place)> visit);
  void collectRules();
  void shareLimit();
  JsonObject toolItem() const;
  JsonObject invocationItem() const;
  JsonObject resultItem(const Finding &finding, const Place &place);
  JsonObject locationItem(const Finding &finding, const Place &place) const;
  JsonItem fingerprintsItem(const Finding &finding, StringRef path);

  raw_ostream &out;
  const RunResult &result;
  std::vector<const FindingInfo *> rules;
  std::map<FindingId, unsigned> ruleIndex;
  /// How many results of each severity may still be written.
  unsigned quota[4] = {};
  unsigned leftOut = 0;
  /// How often a fingerprint has come: two conflicts of one file differ only
  /// in their addresses.
  std::map<std::string, unsigned> seen;
};

} // namespace

/// \p path as a URI: relative if it is, else with file://.
static std::string makeUri(StringRef path, StringRef folder) {
  if (!folder.empty() && path.starts_with(folder) &&
      path.substr(folder.size()).starts_with("/"))
    path = path.substr(folder.size()).ltrim('/');
  while (path.consume_front("./"))
    path = path.ltrim('/');
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (char c : path) {
    if (isAlnum(c) || StringRef("/-._~").contains(c))
      uri += c;
    else
      uri += "%" + toHex(StringRef(&c, 1));
  }
  return uri;
}

/// The file that holds \p path: "libx.a" for "libx.a(y.o)".
static StringRef getFile(const Place &place) {
  return place.isMember ? place.path.rsplit('(').first : place.path;
}

void SarifWriter::forEachFinding(
    function_ref<void(const Finding &, const Place &)> visit) {
  static const FixContext noContext;
  if (result.job)
    for (const Finding &finding : result.job->findings)
      visit(finding, {result.job->script.path, false, "", noContext});
  for (const FileReport &file : result.files)
    for (const Finding &finding : file.findings)
      visit(finding, {file.path,
                      file.kind == ElfKind::archiveMember &&
                          StringRef(file.path).ends_with(")"),
                      targetName(file.target).str(), file.fixContext});
}

void SarifWriter::collectRules() {
  std::set<FindingId> ids;
  forEachFinding(
      [&](const Finding &finding, const Place &) { ids.insert(finding.id); });
  for (FindingId id : ids) {
    ruleIndex[id] = unsigned(rules.size());
    rules.push_back(&getInfo(id));
  }
}

/// The worst come first: a thousand libraries with notes must not push out the
/// program that does not start.
void SarifWriter::shareLimit() {
  unsigned counts[4] = {}, left = sarifResultLimit;
  forEachFinding([&](const Finding &finding, const Place &) {
    ++counts[unsigned(finding.severity)];
  });
  for (int severity = 3; severity >= 0; --severity) {
    quota[severity] = std::min(counts[severity], left);
    left -= quota[severity];
    leftOut += counts[severity] - quota[severity];
  }
}

JsonObject SarifWriter::toolItem() const {
  static const InstalledParts noParts;
  const InstalledParts *parts = &noParts;
  for (const FileReport &file : result.files)
    if (file.fixContext.parts)
      parts = file.fixContext.parts.get();
  auto rule = [&](const FindingInfo *info) { return ruleItem(*info, *parts); };
  return {{"driver", JsonObject{{"name", "mpgaudit"},
                                {"version", MPG_VERSION},
                                {"semanticVersion", MPG_VERSION},
                                {"rules", jsonList(rules, rule)}}}};
}

JsonObject SarifWriter::invocationItem() const {
  JsonArray notes;
  auto add = [&](StringRef level, const Twine &text) {
    notes.push_back(
        JsonObject{{"level", level}, {"message", textItem(text.str())}});
  };
  for (const std::string &failure : result.failures)
    add("error", failure);
  if (leftOut)
    add("warning", Twine(leftOut) +
                       " results of the lowest severities are left out: a "
                       "report holds " +
                       Twine(sarifResultLimit) +
                       " at most. Audit fewer files at once, or look for less "
                       "with --checks.");
  return {{"executionSuccessful", result.failures.empty()},
          {"toolExecutionNotifications", listOrAbsent(std::move(notes))}};
}

/// Title, evidence, cost and fix as paragraphs; viewers show the first one in
/// lists.
static std::string makeMessage(const Finding &finding,
                               const FixContext &context) {
  std::string text = finding.title + ".";
  const std::pair<const char *, std::string> parts[] = {
      {"Why: ", finding.evidence},
      {"Cost: ", finding.cost},
      {"Fix: ", fixText(finding, context)}};
  for (const auto &[label, words] : parts)
    if (!words.empty())
      text += std::string("\n\n") + label + words;
  return text;
}

JsonObject SarifWriter::locationItem(const Finding &finding,
                                     const Place &place) const {
  std::string uri = makeUri(getFile(place), result.folder);
  bool isRelative = !StringRef(uri).starts_with("file:");
  StringRef name =
      place.isMember ? place.path : StringRef(finding.where.symbol);
  JsonArray logical;
  if (!name.empty())
    logical.push_back(
        JsonObject{{"fullyQualifiedName", name},
                   {"kind", place.isMember ? "module" : "variable"}});
  return {{"physicalLocation",
           JsonObject{
               {"artifactLocation",
                JsonObject{{"uri", uri},
                           {"uriBaseId",
                            textOrAbsent(isRelative ? "%SRCROOT%" : "")}}},
               {"region",
                JsonObject{{"startLine",
                            std::max(1u, finding.where.line.value_or(1))}}}}},
          {"logicalLocations", listOrAbsent(std::move(logical))}};
}

/// Ours for baselines of any tool; the second is what one large service uses to
/// follow a result over time, and makes up from source lines if it is missing.
JsonItem SarifWriter::fingerprintsItem(const Finding &finding, StringRef path) {
  std::string print = computeFingerprint(finding, path);
  if (print.empty())
    return JsonItem::absent();
  unsigned count = ++seen[print];
  return JsonObject{
      {"mpgaudit/v1", print},
      {"primaryLocationLineHash", print + ":" + std::to_string(count)}};
}

static JsonObject resultProperties(const Finding &finding, const Place &place) {
  const Where &where = finding.where;
  return {{"target", textOrAbsent(place.target)},
          {"vendor", textOrAbsent(getInfo(finding.id).vendor)},
          {"sub", textOrAbsent(finding.sub)},
          {"section", textOrAbsent(where.section)},
          {"symbol", textOrAbsent(where.symbol)},
          {"field", textOrAbsent(finding.field)},
          {"via", textOrAbsent(finding.via)},
          {"address", orAbsent(where.address)},
          {"size", orAbsent(where.bytes)},
          {"offset", orAbsent(finding.offset)},
          {"segments",
           listOrAbsent({where.segments.begin(), where.segments.end()})}};
}

JsonObject SarifWriter::resultItem(const Finding &finding, const Place &place) {
  return {{"ruleId", idText(finding.id)},
          {"ruleIndex", ruleIndex[finding.id]},
          {"level", sarifLevel(finding.severity)},
          {"message", textItem(makeMessage(finding, place.fixContext))},
          {"locations", JsonArray{locationItem(finding, place)}},
          {"partialFingerprints", fingerprintsItem(finding, place.path)},
          {"properties", resultProperties(finding, place)}};
}

void SarifWriter::write() {
  collectRules();
  shareLimit();
  JsonObject root = {
      {"description", textItem("the folder that mpgaudit was started in")}};
  JsonObject run = {{"tool", toolItem()},
                    {"invocations", JsonArray{invocationItem()}},
                    {"columnKind", "utf16CodeUnits"},
                    {"originalUriBaseIds", JsonObject{{"%SRCROOT%", root}}}};
  JsonArray results;
  forEachFinding([&](const Finding &finding, const Place &place) {
    unsigned &left = quota[unsigned(finding.severity)];
    if (!left)
      return;
    --left;
    results.push_back(resultItem(finding, place));
  });
  run.push_back({"results", std::move(results)});
  writeJson(
      out,
      JsonObject{{"$schema",
                  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                  "sarif-schema-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", JsonArray{run}}});
}

void mpg::writeSarif(raw_ostream &out, const RunResult &result) {
  SarifWriter(out, result).write();
  out << "\n";
}

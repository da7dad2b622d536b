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
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
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

static void writeHelp(json::OStream &json, const FindingInfo &info,
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
  json.attributeObject("help", [&] {
    json.attribute("text", json::fixUTF8(text));
    json.attribute("markdown", json::fixUTF8(markdown));
  });
}

static void writeProperties(json::OStream &json, const FindingInfo &info) {
  json.attributeObject("properties", [&] {
    json.attributeArray("tags", [&] {
      json.value(groupName(info.group));
      if (!info.vendor.empty())
        json.value(info.vendor);
    });
    json.attributeObject("severity", [&] {
      for (unsigned i = 0; i < targetCount; ++i)
        json.attribute(targetName(Target(i)), severityName(info.severity[i]));
    });
    // Code scanning services rank results other than security by it.
    Severity worst = findHighest(info);
    json.attribute("problem.severity", worst >= Severity::warning
                                           ? severityName(worst)
                                           : "recommendation");
  });
}

/// One object for the array tool.driver.rules. The remedy names \p parts.
static void writeSarifRule(json::OStream &json, const FindingInfo &info,
                           const InstalledParts &parts) {
  json.object([&] {
    json.attribute("id", idText(info.id));
    json.attribute("name", ruleName(info.summary));
    json.attributeObject("shortDescription",
                         [&] { json.attribute("text", info.summary); });
    json.attributeObject("fullDescription",
                         [&] { json.attribute("text", info.rule); });
    writeHelp(json, info, parts);
    Severity worst = findHighest(info);
    json.attributeObject("defaultConfiguration", [&] {
      // Off by default is a note when it is asked for.
      json.attribute("enabled", worst != Severity::off);
      json.attribute("level", sarifLevel(std::max(worst, Severity::note)));
    });
    writeProperties(json, info);
  });
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
      : json(out), result(result) {}
  void write();

private:
  void forEachFinding(
      function_ref<void(const Finding &finding, const Place &place)> visit);
  void collectRules();
  void shareLimit();
  void writeRun();
  void writeTool();
  void writeInvocation();
  void writeNotification(StringRef level, const Twine &text);
  void writeResults();
  void writeRoot();
  void writeResult(const Finding &finding, const Place &place);
  void writeLocation(const Finding &finding, const Place &place);
  void writeFingerprints(const Finding &finding, StringRef path);
  void writeProperties(const Finding &finding, const Place &place);

  json::OStream json;
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

void SarifWriter::writeTool() {
  static const InstalledParts noParts;
  const InstalledParts *parts = &noParts;
  for (const FileReport &file : result.files)
    if (file.fixContext.parts)
      parts = file.fixContext.parts.get();
  json.attributeObject("tool", [&] {
    json.attributeObject("driver", [&] {
      json.attribute("name", "mpgaudit");
      json.attribute("version", MPG_VERSION);
      json.attribute("semanticVersion", MPG_VERSION);
      json.attributeArray("rules", [&] {
        for (const FindingInfo *info : rules)
          writeSarifRule(json, *info, *parts);
      });
    });
  });
}

void SarifWriter::writeNotification(StringRef level, const Twine &text) {
  json.object([&] {
    json.attribute("level", level);
    json.attributeObject(
        "message", [&] { json.attribute("text", validUtf8(text.str())); });
  });
}

void SarifWriter::writeInvocation() {
  json.attributeArray("invocations", [&] {
    json.object([&] {
      json.attribute("executionSuccessful", result.failures.empty());
      if (result.failures.empty() && !leftOut)
        return;
      json.attributeArray("toolExecutionNotifications", [&] {
        for (const std::string &failure : result.failures)
          writeNotification("error", failure);
        if (leftOut)
          writeNotification(
              "warning", Twine(leftOut) +
                             " results of the lowest severities are left out: "
                             "a report holds " +
                             Twine(sarifResultLimit) +
                             " at most. Audit fewer files at once, or look for "
                             "less with --checks.");
      });
    });
  });
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

void SarifWriter::writeLocation(const Finding &finding, const Place &place) {
  json.object([&] {
    json.attributeObject("physicalLocation", [&] {
      json.attributeObject("artifactLocation", [&] {
        std::string uri = makeUri(getFile(place), result.folder);
        json.attribute("uri", uri);
        if (!StringRef(uri).starts_with("file:"))
          json.attribute("uriBaseId", "%SRCROOT%");
      });
      json.attributeObject("region", [&] {
        json.attribute("startLine",
                       std::max(1u, finding.where.line.value_or(1)));
      });
    });
    StringRef name =
        place.isMember ? place.path : StringRef(finding.where.symbol);
    if (name.empty())
      return;
    json.attributeArray("logicalLocations", [&] {
      json.object([&] {
        json.attribute("fullyQualifiedName", validUtf8(name));
        json.attribute("kind", place.isMember ? "module" : "variable");
      });
    });
  });
}

/// Ours for baselines of any tool; the second is what one large service uses to
/// follow a result over time, and makes up from source lines if it is missing.
void SarifWriter::writeFingerprints(const Finding &finding, StringRef path) {
  std::string print = computeFingerprint(finding, path);
  if (print.empty())
    return;
  unsigned count = ++seen[print];
  json.attributeObject("partialFingerprints", [&] {
    json.attribute("mpgaudit/v1", print);
    json.attribute("primaryLocationLineHash",
                   print + ":" + std::to_string(count));
  });
}

void SarifWriter::writeProperties(const Finding &finding, const Place &place) {
  const Where &where = finding.where;
  const std::pair<const char *, StringRef> words[] = {
      {"target", place.target}, {"vendor", getInfo(finding.id).vendor},
      {"sub", finding.sub},     {"section", where.section},
      {"symbol", where.symbol}, {"field", finding.field},
      {"via", finding.via}};
  const std::pair<const char *, std::optional<uint64_t>> numbers[] = {
      {"address", where.address},
      {"size", where.bytes},
      {"offset", finding.offset}};
  json.attributeObject("properties", [&] {
    for (const auto &[key, value] : words)
      if (!value.empty())
        json.attribute(key, validUtf8(value));
    for (const auto &[key, value] : numbers)
      if (value)
        json.attribute(key, *value);
    if (!where.segments.empty())
      json.attributeArray("segments", [&] {
        for (unsigned index : where.segments)
          json.value(index);
      });
  });
}

void SarifWriter::writeResult(const Finding &finding, const Place &place) {
  json.object([&] {
    json.attribute("ruleId", idText(finding.id));
    json.attribute("ruleIndex", ruleIndex[finding.id]);
    json.attribute("level", sarifLevel(finding.severity));
    json.attributeObject("message", [&] {
      json.attribute("text", validUtf8(makeMessage(finding, place.fixContext)));
    });
    json.attributeArray("locations", [&] { writeLocation(finding, place); });
    writeFingerprints(finding, place.path);
    writeProperties(finding, place);
  });
}

void SarifWriter::writeResults() {
  forEachFinding([&](const Finding &finding, const Place &place) {
    unsigned &left = quota[unsigned(finding.severity)];
    if (!left)
      return;
    --left;
    writeResult(finding, place);
  });
}

/// The base of relative paths.
void SarifWriter::writeRoot() {
  json.attributeObject("%SRCROOT%", [&] {
    json.attributeObject("description", [&] {
      json.attribute("text", "the folder that mpgaudit was started in");
    });
  });
}

void SarifWriter::writeRun() {
  writeTool();
  writeInvocation();
  json.attribute("columnKind", "utf16CodeUnits");
  json.attributeObject("originalUriBaseIds", [&] { writeRoot(); });
  json.attributeArray("results", [&] { writeResults(); });
}

void SarifWriter::write() {
  collectRules();
  shareLimit();
  json.object([&] {
    json.attribute("$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/"
                              "os/schemas/sarif-schema-2.1.0.json");
    json.attribute("version", "2.1.0");
    json.attributeArray("runs", [&] { json.object([&] { writeRun(); }); });
  });
}

void mpg::writeSarif(raw_ostream &out, const RunResult &result) {
  SarifWriter(out, result).write();
  out << "\n";
}

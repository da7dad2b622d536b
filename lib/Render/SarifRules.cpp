// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Render/SarifRules.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

StringRef mpg::sarifLevel(Severity severity) {
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

static Severity highestOf(const FindingInfo &info) {
  return *std::max_element(std::begin(info.severity), std::end(info.severity));
}

/// The table's text as Markdown: its command lines, which start with two
/// spaces, become blocks.
static std::string markdownOf(StringRef text) {
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
                "\n\n" + markdownOf(words);
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
    // How code scanning services rank what is no security problem.
    Severity worst = highestOf(info);
    json.attribute("problem.severity", worst >= Severity::warning
                                           ? severityName(worst)
                                           : "recommendation");
  });
}

void mpg::writeSarifRule(json::OStream &json, const FindingInfo &info,
                         const InstalledParts &parts) {
  json.object([&] {
    json.attribute("id", idText(info.id));
    json.attribute("name", ruleName(info.summary));
    json.attributeObject("shortDescription",
                         [&] { json.attribute("text", info.summary); });
    json.attributeObject("fullDescription",
                         [&] { json.attribute("text", info.rule); });
    writeHelp(json, info, parts);
    Severity worst = highestOf(info);
    json.attributeObject("defaultConfiguration", [&] {
      // Off by default is a note when it is asked for.
      json.attribute("enabled", worst != Severity::off);
      json.attribute("level", sarifLevel(std::max(worst, Severity::note)));
    });
    writeProperties(json, info);
  });
}

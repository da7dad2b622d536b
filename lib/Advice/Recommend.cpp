// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions in their order, and what came of them as shell script:
// everything but the export lines is a comment, also where a name from a file
// holds a line feed. And the same as JSON, schema mpgadvice-1
// (docs/schema/mpgadvice-1.schema.json).

#include "Advice/Recommend.h"
#include "Advice/RecommendRules.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::valueIn(const Advice &advice, StringRef name) {
  for (const Recommendation &setting : advice.settings)
    if (setting.name == name)
      return setting.value;
  return "";
}

Advice mpg::recommend(const FileReport &program, const JobScript *script,
                      const JobLaunch *launch,
                      std::optional<uint64_t> memoryBytes,
                      ArrayRef<const Measurement *> measured) {
  static constexpr void (*decisions[])(const AdviceContext &, Advice &) = {
      judgeTlb,           judgeLocality,
      advisePagingPolicy, adviseRefills,
      judgeMalloc,        judgeFaults,
      judgeThrashing,     judgeTheRest,
      adviseFallback,     adviseParallelMalloc,
      adviseColouring,    adviseLibraryData,
      adviseOtherTargets, adviseBinding,
      adviseLoading,      adviseRelink,
      advisePlacement,    adviseMemory,
      advisePadding,      adviseProfile,
      findContradictions,
  };
  AdviceContext context =
      collectContext(program, script, launch, memoryBytes, measured);
  Advice advice;
  advice.context = describe(context);
  advice.unknown = context.unknown;
  for (auto *decide : decisions)
    decide(context, advice);
  for (Recommendation &setting : advice.settings)
    setting.alreadySet = context.isSet(setting.name, setting.value);
  return advice;
}

/// \p text as comment lines of 78 columns; \p first stands in front of the
/// first one ("- "), as much space in front of the others. Lines that start
/// with two spaces keep their form.
static void writeComment(raw_ostream &out, StringRef first, StringRef text) {
  SmallVector<StringRef, 8> paragraphs;
  text.split(paragraphs, '\n');
  std::string safe;
  for (StringRef paragraph : paragraphs)
    safe += (safe.empty() ? "" : "\n") + printable(paragraph);
  unsigned indent = 2 + first.size();
  std::string filled = fillText(safe, indent);
  SmallVector<StringRef, 16> lines;
  StringRef(filled).split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = lines[i];
    if (i > 0)
      line = line.substr(std::min<size_t>(indent, line.size()));
    out << "# " << (i == 0 ? first.str() : std::string(first.size(), ' '))
        << line << "\n";
  }
}

/// "p.csv (perf stat), rule tlb: 1 walk ...".
static void writeVerdicts(raw_ostream &out, const Advice &advice) {
  for (const Verdict &verdict : advice.verdicts)
    writeComment(out, "",
                 verdict.file + " (" + verdict.tool + "), rule " +
                     verdict.rule + ": " + verdict.text);
}

static void writeSettings(raw_ostream &out, const Advice &advice) {
  for (const Recommendation &setting : advice.settings) {
    writeComment(out, "",
                 (setting.rule.empty() ? "" : "Rule " + setting.rule + ": ") +
                     setting.reason +
                     (setting.alreadySet ? " The job sets it already." : ""));
    out << "export " << setting.name << "=" << setting.value << "\n";
  }
}

static bool nothingToChange(const Advice &advice, bool brief) {
  const std::vector<std::string> &steps = brief ? advice.musts : advice.steps;
  return advice.contradictions.empty() && steps.empty() &&
         all_of(advice.settings, [](const Recommendation &setting) {
           return setting.alreadySet;
         });
}

/// One line, and what it rests on where that was a guess.
static void writeNothing(raw_ostream &out, const Advice &advice,
                         StringRef programPath) {
  writeVerdicts(out, advice);
  out << "# " << printable(programPath) << ": nothing to "
      << (advice.settings.empty() ? "set" : "change") << " ("
      << printable(advice.context);
  for (const std::string &unknown : advice.unknown)
    out << "; " << printable(unknown);
  out << ")\n";
}

/// What has to be there, one line a kind.
static void writeBrief(raw_ostream &out, const Advice &advice,
                       StringRef programPath) {
  out << "# " << printable(programPath) << ": " << printable(advice.context);
  for (const std::string &unknown : advice.unknown)
    out << "; " << printable(unknown);
  out << " (reasons: -v)\n";
  writeVerdicts(out, advice);
  const char *separator = "export ";
  for (const Recommendation &setting : advice.settings) {
    if (setting.alreadySet)
      continue;
    out << separator << setting.name << "=" << setting.value;
    separator = " ";
  }
  if (StringRef(separator) == " ")
    out << "\n";
  for (const std::string &must : advice.musts)
    out << "# " << printable(must) << "\n";
  if (!advice.contradictions.empty()) {
    const Contradiction &first = advice.contradictions.front();
    size_t more = advice.contradictions.size() - 1;
    out << "# in the way: "
        << (first.line ? "line " + std::to_string(first.line) + ": " : "")
        << printable(first.text)
        << (more ? "; and " + std::to_string(more) + " more" : "") << "\n";
  }
}

void mpg::writeAdvice(raw_ostream &out, const Advice &advice,
                      StringRef programPath, bool brief) {
  if (nothingToChange(advice, brief))
    return writeNothing(out, advice, programPath);
  if (brief)
    return writeBrief(out, advice, programPath);
  writeComment(out, "", printable(programPath) + ": " + advice.context);
  for (const std::string &unknown : advice.unknown)
    writeComment(out, "", unknown);
  writeVerdicts(out, advice);
  writeSettings(out, advice);
  if (!advice.contradictions.empty())
    out << "# In the way:\n";
  for (const Contradiction &contradiction : advice.contradictions)
    writeComment(out, "- ",
                 (contradiction.line
                      ? "line " + std::to_string(contradiction.line) + ": "
                      : "") +
                     contradiction.text);
  if (!advice.steps.empty())
    out << "# What else to do:\n";
  for (const std::string &step : advice.steps)
    writeComment(out, "- ", step);
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

static void writeTexts(json::OStream &json, StringRef key,
                       ArrayRef<std::string> texts) {
  json.attributeArray(key, [&] {
    for (const std::string &text : texts)
      json.value(validUtf8(text));
  });
}

static void writeVerdict(json::OStream &json, const Verdict &verdict) {
  json.object([&] {
    json.attribute("rule", verdict.rule);
    json.attribute("file", validUtf8(verdict.file));
    json.attribute("tool", validUtf8(verdict.tool));
    json.attribute("text", validUtf8(verdict.text));
  });
}

static void writeSetting(json::OStream &json, const Recommendation &setting) {
  json.object([&] {
    json.attribute("name", setting.name);
    json.attribute("value", validUtf8(setting.value));
    json.attribute("reason", validUtf8(setting.reason));
    json.attribute("rule", setting.rule);
    json.attribute("already_set", setting.alreadySet);
  });
}

void mpg::writeAdviceJson(raw_ostream &out, const Advice &advice,
                          StringRef programPath) {
  json::OStream json(out);
  json.object([&] {
    json.attribute("program", validUtf8(programPath));
    json.attribute("context", validUtf8(advice.context));
    writeTexts(json, "unknown", advice.unknown);
    json.attributeArray("measured", [&] {
      for (const Verdict &verdict : advice.verdicts)
        writeVerdict(json, verdict);
    });
    json.attributeArray("settings", [&] {
      for (const Recommendation &setting : advice.settings)
        writeSetting(json, setting);
    });
    json.attributeArray("in_the_way", [&] {
      for (const Contradiction &contradiction : advice.contradictions)
        json.object([&] {
          json.attribute("line", contradiction.line);
          json.attribute("text", validUtf8(contradiction.text));
        });
    });
    writeTexts(json, "steps", advice.steps);
  });
}

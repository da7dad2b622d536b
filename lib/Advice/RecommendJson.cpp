// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recommendations as JSON, schema mpgadvice-1
// (docs/schema/mpgadvice-1.schema.json).

#include "Advice/Recommend.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports for programs: the schema mpgaudit-1, in
// docs/schema/mpgaudit-1.schema.json. Keys that do not apply are absent; all
// numbers are integers.

#include "Render/Report.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static void writeText(json::OStream &json, StringRef key, StringRef value) {
  if (!value.empty())
    json.attribute(key, validUtf8(value));
}

static void writeOptional(json::OStream &json, StringRef key,
                          const std::optional<std::string> &value) {
  if (value)
    json.attribute(key, validUtf8(*value));
}

static void writeList(json::OStream &json, StringRef key,
                      const std::vector<std::string> &values) {
  json.attributeArray(key, [&] {
    for (const std::string &value : values)
      json.value(validUtf8(value));
  });
}

static void writeLayout(json::OStream &json, const LayoutFacts &facts) {
  json.attributeArray("load", [&] {
    unsigned index = 0;
    for (const Segment &load : facts.loads)
      json.object([&] {
        json.attribute("index", index++);
        json.attribute("vaddr", load.address);
        json.attribute("memsz", load.memoryBytes);
        json.attribute("filesz", load.fileBytes);
        json.attribute("flags", load.flags);
        json.attribute("align", load.align);
      });
  });
  json.attributeArray("overlap", [&] {
    for (OverlapPair pair : facts.overlaps)
      json.array([&] {
        json.value(pair.first);
        json.value(pair.second);
      });
  });
  json.attribute("writable_bytes", facts.writableBytes);
  json.attribute("huge_bytes", facts.hugeBytes);
  json.attribute("interior_bytes", facts.interiorBytes);
  json.attribute("startup_peak_bytes", facts.startupPeakBytes);
  json.attribute("max_page", facts.maxPageBytes);
  json.attribute("rwx", facts.writableCode);
  json.attribute("execstack", facts.executableStack);
}

static void writeFacts(json::OStream &json, const Facts &facts) {
  if (facts.pie)
    json.attribute("pie", *facts.pie);
  if (facts.layout)
    writeLayout(json, *facts.layout);
  if (facts.textrel)
    json.attribute("textrel", *facts.textrel);
  writeOptional(json, "interp", facts.interpreter);
  if (facts.dynamic) {
    writeList(json, "brk", facts.dynamic->brk);
    writeList(json, "needed", facts.dynamic->needed);
    writeOptional(json, "rpath", facts.dynamic->rpath);
    writeOptional(json, "runpath", facts.dynamic->runpath);
    writeOptional(json, "soname", facts.dynamic->soname);
  }
  if (facts.dataBytes)
    json.attribute("data_bytes", *facts.dataBytes);
  if (facts.bssBytes)
    json.attribute("bss_bytes", *facts.bssBytes);
}

static void writeRegions(json::OStream &json,
                         const std::vector<Region> &regions) {
  for (const Region &region : regions)
    json.object([&] {
      json.attribute("region", region.name);
      json.attribute("bytes", region.bytes);
      json.attribute("eligible_bytes", region.eligibleBytes);
      if (region.atRunTime)
        json.attribute("eligible", region.eligible);
      json.attributeArray("because", [&] {
        for (FindingId id : region.because)
          json.value(idText(id));
      });
    });
}

/// Who takes memory past malloc, and what helps that.
static void writeMemory(json::OStream &json, const MemoryUse &memory) {
  json.attribute("heap_only", memory.heapOnly);
  if (!memory.mapsItself())
    return;
  writeText(json, "owner", memory.owner ? memory.owner->id : "");
  writeText(json, "what", memory.what());
  json.attribute("helped", memory.isHelped);
  writeText(json, "setting", memory.setting());
  writeText(json, "option", memory.option());
  writeText(json, "remark", memory.owner ? memory.owner->remark : "");
}

static void writeLargest(json::OStream &json,
                         const std::vector<LargeSymbol> &symbols) {
  for (const LargeSymbol &symbol : symbols)
    json.object([&] {
      json.attribute("name", validUtf8(symbol.name));
      json.attribute("section", symbol.section);
      json.attribute("size", symbol.bytes);
    });
}

static void writeWhere(json::OStream &json, const Where &where) {
  if (where.address)
    json.attribute("address", *where.address);
  writeText(json, "section", where.section);
  if (where.bytes)
    json.attribute("size", *where.bytes);
  if (!where.segments.empty())
    json.attributeArray("segments", [&] {
      for (unsigned index : where.segments)
        json.value(index);
    });
  writeText(json, "symbol", where.symbol);
  if (where.line)
    json.attribute("line", *where.line);
}

static void writeFinding(json::OStream &json, const Finding &finding,
                         const FixContext &context) {
  const Where &where = finding.where;
  json.attribute("id", idText(finding.id));
  writeText(json, "sub", finding.sub);
  writeText(json, "vendor", getInfo(finding.id).vendor);
  json.attribute("severity", severityName(finding.severity));
  writeText(json, "title", finding.title);
  if (where.address || !where.section.empty() || where.bytes ||
      !where.segments.empty() || !where.symbol.empty() || where.line)
    json.attributeObject("where", [&] { writeWhere(json, where); });
  writeText(json, "field", finding.field);
  if (finding.offset)
    json.attribute("offset", *finding.offset);
  writeText(json, "evidence", finding.evidence);
  writeText(json, "cost", finding.cost);
  writeText(json, "fix", fixText(finding, context));
  writeText(json, "via", finding.via);
}

void mpg::writeJsonFindings(json::OStream &json, ArrayRef<Finding> findings,
                            const FixContext &context) {
  json.attributeArray("findings", [&] {
    for (const Finding &finding : findings)
      json.object([&] { writeFinding(json, finding, context); });
  });
}

static void writeClosure(json::OStream &json, const Closure &closure) {
  for (size_t i = 0; i < closure.libraries.size(); ++i)
    json.object([&] {
      const ClosureEntry &entry = closure.libraries[i];
      json.attribute("name", validUtf8(entry.name));
      json.attribute("path", entry.path.empty()
                                 ? json::Value(nullptr)
                                 : json::Value(validUtf8(entry.path)));
      writeText(json, "reason", entry.reason);
      json.attribute("via", validUtf8(closure.pathTo(i)));
    });
}

void mpg::writeJsonFile(raw_ostream &out, const FileReport &report) {
  json::OStream json(out);
  json.object([&] {
    json.attribute("path", validUtf8(report.path));
    if (!json::isUTF8(report.path))
      json.attribute("path_bytes", toHex(report.path, /*LowerCase=*/true));
    json.attribute("kind", kindName(report.kind));
    json.attribute("machine", report.machine);
    json.attribute("target", targetName(report.target));
    json.attribute("page", report.pageBytes);
    json.attributeObject("facts", [&] { writeFacts(json, report.facts); });
    json.attributeArray("regions", [&] { writeRegions(json, report.regions); });
    if (!report.regions.empty())
      json.attributeObject("memory", [&] { writeMemory(json, report.memory); });
    if (!report.largestSymbols.empty())
      json.attributeArray("largest",
                          [&] { writeLargest(json, report.largestSymbols); });
    if (report.closure)
      json.attributeArray("closure",
                          [&] { writeClosure(json, *report.closure); });
    writeJsonFindings(json, report.findings, report.fixContext);
  });
}

void mpg::writeJsonHead(raw_ostream &out, const AuditSettings &settings) {
  out << "{\"schema\":\"mpgaudit-1\",\"version\":\"" MPG_VERSION
      << "\",\"target\":\""
      << (settings.target ? targetName(*settings.target) : "auto")
      << "\",\"page\":"
      << settings.pageBytes.value_or(
             usualPageBytes(settings.target.value_or(Target::mpg)))
      << ",\"huge\":" << settings.hugeBytes << ",\"files\":[";
}

void mpg::writeJsonTail(raw_ostream &out,
                        ArrayRef<std::pair<StringRef, std::string>> more) {
  out << "\n]";
  for (const auto &[key, value] : more)
    out << ",\n\"" << key << "\":" << value;
  out << "}\n";
}

static void writeProgramVerdict(json::OStream &json,
                                const ProgramVerdict &verdict) {
  json.object([&] {
    const PageMeans &means = verdict.means;
    json.attribute("program", validUtf8(verdict.program));
    json.attribute("line", verdict.line);
    json.attribute("conditional", verdict.conditional);
    json.attribute("known", verdict.known);
    writeText(json, "means", means.name);
    json.attributeObject("large_pages", [&] {
      json.attribute("data", answerName(means.data));
      json.attribute("heap", answerName(means.heap));
      json.attribute("stacks", answerName(means.stacks));
      json.attribute("mapped", answerName(means.mapped));
    });
    writeText(json, "mapped", verdict.mapped);
    writeText(json, "because", verdict.because);
    writeText(json, "write", verdict.write);
  });
}

static void writeVerdict(json::OStream &json, const JobVerdict &verdict) {
  json.attribute("sentence", validUtf8(verdict.sentence));
  json.attributeArray("starts", [&] {
    for (const ProgramVerdict &program : verdict.programs)
      writeProgramVerdict(json, program);
  });
}

void mpg::writeJobJson(raw_ostream &out, const JobReport &job) {
  json::OStream json(out);
  json.object([&] {
    json.attributeObject("verdict", [&] { writeVerdict(json, job.verdict); });
    json.attribute("script", validUtf8(job.script.path));
    json.attributeArray("settings", [&] {
      for (const JobSetting &setting : job.script.settings)
        json.object([&] {
          json.attribute("name", validUtf8(setting.name));
          json.attribute("value", validUtf8(setting.value.text));
          if (!setting.value.known())
            json.attribute("unknown", validUtf8(setting.value.unknown));
          json.attribute("line", setting.line);
        });
    });
    json.attributeArray("programs", [&] {
      for (const JobLaunch &launch : job.script.launches)
        json.value(validUtf8(launch.program.text));
    });
    writeJsonFindings(json, job.findings, FixContext());
  });
}

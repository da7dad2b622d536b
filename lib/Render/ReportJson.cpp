// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports for programs: the schema mpgaudit-1, in
// docs/schema/mpgaudit-1.schema.json. Keys that do not apply are absent; all
// numbers are integers.

#include "Render/Report.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static JsonItem loadItem(const LayoutFacts &facts) {
  unsigned index = 0;
  return jsonList(facts.loads, [&](const Segment &load) {
    return JsonObject{{"index", index++},         {"offset", load.offset},
                      {"vaddr", load.address},    {"memsz", load.memoryBytes},
                      {"filesz", load.fileBytes}, {"flags", load.flags},
                      {"align", load.align}};
  });
}

static JsonObject layoutFields(const LayoutFacts &facts) {
  auto pair = [](OverlapPair pair) {
    return JsonArray{pair.first, pair.second};
  };
  return {{"load", loadItem(facts)},
          {"overlap", jsonList(facts.overlaps, pair)},
          {"writable_bytes", facts.writableBytes},
          {"huge_bytes", facts.hugeBytes},
          {"interior_bytes", facts.interiorBytes},
          {"startup_peak_bytes", facts.startupPeakBytes},
          {"max_page", facts.maxPageBytes},
          {"rwx", facts.writableCode},
          {"execstack", facts.executableStack}};
}

static JsonObject factsItem(const Facts &facts) {
  JsonObject item = {{"pie", orAbsent(facts.pie)}};
  auto add = [&](JsonObject fields) {
    item.insert(item.end(), fields.begin(), fields.end());
  };
  if (facts.layout)
    add(layoutFields(*facts.layout));
  add({{"textrel", orAbsent(facts.textrel)},
       {"interp", orAbsent(facts.interpreter)}});
  if (facts.dynamic)
    add({{"brk", facts.dynamic->brk},
         {"needed", facts.dynamic->needed},
         {"rpath", orAbsent(facts.dynamic->rpath)},
         {"runpath", orAbsent(facts.dynamic->runpath)},
         {"soname", orAbsent(facts.dynamic->soname)}});
  add({{"data_bytes", orAbsent(facts.dataBytes)},
       {"bss_bytes", orAbsent(facts.bssBytes)}});
  return item;
}

static JsonObject regionItem(const Region &region) {
  return {{"region", region.name},
          {"bytes", region.bytes},
          {"eligible_bytes", region.eligibleBytes},
          {"eligible",
           region.atRunTime ? JsonItem(region.eligible) : JsonItem::absent()},
          {"because", jsonList(region.because, idText)}};
}

/// Who takes memory past malloc, and what helps that.
static JsonObject memoryItem(const MemoryUse &memory) {
  if (!memory.mapsItself())
    return {{"heap_only", memory.heapOnly}};
  return {{"heap_only", memory.heapOnly},
          {"owner", textOrAbsent(memory.owner ? memory.owner->id : "")},
          {"what", textOrAbsent(memory.what())},
          {"helped", memory.isHelped},
          {"setting", textOrAbsent(memory.setting())},
          {"option", textOrAbsent(memory.option())},
          {"remark", textOrAbsent(memory.owner ? memory.owner->remark : "")}};
}

static JsonObject symbolItem(const LargeSymbol &symbol) {
  return {{"name", symbol.name},
          {"section", symbol.section},
          {"size", symbol.bytes}};
}

static JsonItem whereItem(const Where &where) {
  if (!where.address && where.section.empty() && !where.bytes &&
      where.segments.empty() && where.symbol.empty() && !where.line)
    return JsonItem::absent();
  return JsonObject{{"address", orAbsent(where.address)},
                    {"section", textOrAbsent(where.section)},
                    {"size", orAbsent(where.bytes)},
                    {"segments", listOrAbsent({where.segments.begin(),
                                               where.segments.end()})},
                    {"symbol", textOrAbsent(where.symbol)},
                    {"line", orAbsent(where.line)}};
}

static JsonArray findingItems(ArrayRef<Finding> findings,
                              const FixContext &context) {
  return jsonList(findings, [&](const Finding &finding) {
    return JsonObject{{"id", idText(finding.id)},
                      {"sub", textOrAbsent(finding.sub)},
                      {"vendor", textOrAbsent(getInfo(finding.id).vendor)},
                      {"severity", severityName(finding.severity)},
                      {"title", textOrAbsent(finding.title)},
                      {"where", whereItem(finding.where)},
                      {"field", textOrAbsent(finding.field)},
                      {"offset", orAbsent(finding.offset)},
                      {"evidence", textOrAbsent(finding.evidence)},
                      {"cost", textOrAbsent(finding.cost)},
                      {"fix", textOrAbsent(fixText(finding, context))},
                      {"via", textOrAbsent(finding.via)}};
  });
}

static JsonItem closureItem(const std::optional<Closure> &closure) {
  if (!closure)
    return JsonItem::absent();
  JsonArray list;
  for (const ClosureEntry &entry : closure->libraries)
    list.push_back(JsonObject{{"name", entry.name},
                              {"path", textOrNull(entry.path)},
                              {"reason", textOrAbsent(entry.reason)},
                              {"via", closure->pathTo(list.size())}});
  return list;
}

void mpg::writeJsonFile(raw_ostream &out, const FileReport &report) {
  JsonItem bytes = JsonItem::absent(), memory = JsonItem::absent();
  if (!json::isUTF8(report.path))
    bytes = toHex(report.path, /*LowerCase=*/true);
  if (!report.regions.empty())
    memory = memoryItem(report.memory);
  writeJson(
      out, JsonObject{
               {"path", report.path},
               {"path_bytes", bytes},
               {"kind", kindName(report.kind)},
               {"machine", report.machine},
               {"target", targetName(report.target)},
               {"page", report.pageBytes},
               {"facts", factsItem(report.facts)},
               {"regions", jsonList(report.regions, regionItem)},
               {"memory", memory},
               {"largest",
                listOrAbsent(jsonList(report.largestSymbols, symbolItem))},
               {"closure", closureItem(report.closure)},
               {"findings", findingItems(report.findings, report.fixContext)}});
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

static JsonObject programItem(const ProgramVerdict &verdict) {
  const PageMeans &means = verdict.means;
  return {
      {"program", verdict.program},
      {"line", verdict.line},
      {"conditional", verdict.conditional},
      {"known", verdict.known},
      {"means", textOrAbsent(means.name)},
      {"large_pages", JsonObject{{"data", answerName(means.data)},
                                 {"heap", answerName(means.heap)},
                                 {"stacks", answerName(means.stacks)},
                                 {"mapped", answerName(means.mapped)}}},
      {"mapped", textOrAbsent(verdict.mapped)},
      {"because", textOrAbsent(verdict.because)},
      {"unless", textOrAbsent(verdict.unless)},
      {"write", textOrAbsent(verdict.write)},
      {"write_in", textOrAbsent(verdict.write.empty() ? "" : verdict.writeIn)}};
}

static JsonObject settingItem(const JobSetting &setting) {
  return {{"name", setting.name},
          {"value", setting.value.text},
          {"unknown", setting.value.known() ? JsonItem::absent()
                                            : JsonItem(setting.value.unknown)},
          {"line", setting.line}};
}

void mpg::writeJobJson(raw_ostream &out, const JobReport &job) {
  auto program = [](const JobLaunch &launch) { return launch.program.text; };
  writeJson(out,
            JsonObject{
                {"verdict", JsonObject{{"sentence", job.verdict.sentence},
                                       {"starts", jsonList(job.verdict.programs,
                                                           programItem)}}},
                {"script", job.script.path},
                {"settings", jsonList(job.script.settings, settingItem)},
                {"programs", jsonList(job.script.launches, program)},
                {"findings", findingItems(job.findings, FixContext())}});
}

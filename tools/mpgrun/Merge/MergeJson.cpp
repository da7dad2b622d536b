// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --merge for programs: schema mpgmerge-1, in
// docs/schema/mpgmerge-1.schema.json. All numbers are integers.

#include "Support/JsonItem.h"
#include "mpgrun/Merge/MergeReport.h"
#include "llvm/ADT/ArrayRef.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t maxListed = 1000; ///< outliers, and values of a setting

static StringRef settingName(MergeSetting key) {
  static constexpr StringLiteral names[] = {"program", "version", "mode",
                                            "status", "libmpg"};
  static_assert(std::size(names) == mergeSettingCount);
  return names[size_t(key)];
}

static JsonObject settingItem(MergeSetting key, const SettingValues &values) {
  auto value = [](const auto &entry) {
    return JsonObject{{"value", entry.first}, {"reports", entry.second}};
  };
  return {{"setting", settingName(key)},
          {"distinct", values.size()},
          {"values", jsonList(ArrayRef(values).take_front(maxListed), value)}};
}

/// JSON of ours has signed numbers.
static uint64_t clampBytes(uint64_t bytes) {
  return std::min(bytes, uint64_t(INT64_MAX));
}

static JsonObject mergedRegionItem(const MergedRegion &region) {
  JsonItem shares;
  if (region.shares)
    shares = JsonObject{{"min_millionths", region.shares->minMillionths},
                        {"median_millionths", region.shares->medianMillionths},
                        {"max_millionths", region.shares->maxMillionths}};
  return {{"region", regionName(region.region)},
          {"reports", region.reports},
          {"unknown_reports", region.unknownReports},
          {"bytes", clampBytes(region.bytes)},
          {"huge_bytes", clampBytes(region.hugeBytes)},
          {"shares", shares},
          {"reason", region.reason},
          {"reason_reports", region.reasonReports}};
}

static JsonObject outlierItem(const Outlier &outlier) {
  auto setting = [](const auto &entry) {
    return JsonObject{{"setting", settingName(entry.first)},
                      {"value", entry.second}};
  };
  auto region = [](const OutlierRegion &use) {
    return JsonObject{{"region", regionName(use.region)},
                      {"object", textOrAbsent(use.object)},
                      {"bytes", clampBytes(use.bytes)},
                      {"huge_bytes", clampBytes(use.hugeBytes)},
                      {"share_millionths", use.shareMillionths()},
                      {"short_pages", use.shortPages()},
                      {"reason", use.reason}};
  };
  return {{"node", outlier.node},
          {"reports", outlier.files},
          {"node_reports", outlier.nodeFiles},
          {"first_rank", outlier.rank},
          {"settings",
           jsonList(ArrayRef(outlier.settings).take_front(maxListed), setting)},
          {"regions",
           jsonList(ArrayRef(outlier.regions).take_front(maxListed), region)}};
}

static JsonItem ranksItem(const std::optional<RankGaps> &gaps) {
  if (!gaps)
    return nullptr;
  auto range = [](const auto &ends) {
    return JsonObject{{"first", ends.first}, {"last", ends.second}};
  };
  return JsonObject{{"lowest", gaps->lowest},
                    {"highest", gaps->highest},
                    {"total", gaps->total},
                    {"repeated", gaps->repeated},
                    {"missing", gaps->missing},
                    {"first_missing", jsonList(gaps->first, range)}};
}

static JsonItem sumItem(const KnownSum &value) {
  if (!value.reports)
    return nullptr;
  return JsonObject{{"sum", value.sum}, {"profiles", value.reports}};
}

static JsonObject objectItem(const RankObject &object) {
  JsonItem pages;
  if (object.shareReports)
    pages = JsonObject{{"used_bytes", object.usedBytes},
                       {"huge_bytes", object.hugeBytes},
                       {"profiles", object.shareReports}};
  return {{"region", regionName(object.region)},
          {"name", object.name},
          {"file", object.file},
          {"callers", object.callers},
          {"profiles", object.reports},
          {"peak_bytes", object.peakBytes},
          {"pages", pages},
          {"faults", sumItem(object.faults)},
          {"fault_us", sumItem(object.faultMicroseconds)},
          {"tlb_miss_samples", sumItem(object.tlbSamples)},
          {"code_samples", sumItem(object.codeSamples)}};
}

static JsonItem profilesItem(const MergedProfiles &profiles) {
  if (!profiles.profiles)
    return nullptr;
  auto program = [](const auto &entry) {
    return JsonObject{{"program", entry.first}, {"profiles", entry.second}};
  };
  return JsonObject{
      {"profiles", profiles.profiles},
      {"programs", jsonList(profiles.programs, program)},
      {"page_faults", sumItem(profiles.faults)},
      {"code_samples", sumItem(profiles.codeSamples)},
      {"object_count", profiles.objects.size()},
      {"objects_lost", profiles.objectsLost},
      {"objects",
       jsonList(ArrayRef(profiles.objects).take_front(maxListed), objectItem)}};
}

void mpg::writeMergeJson(raw_ostream &out, const Merge &merge) {
  JsonArray settings;
  for (size_t key = 0; key < mergeSettingCount; ++key)
    settings.push_back(settingItem(MergeSetting(key), merge.settings[key]));
  ArrayRef<Outlier> outliers = merge.outliers;
  JsonObject document = {
      {"schema", "mpgmerge-1"},
      {"version", MPG_VERSION},
      {"files", merge.files},
      {"reports", merge.reports},
      {"nodes", merge.nodes},
      {"nameless_reports", merge.namelessFiles},
      {"foreign_region_reports", merge.foreignRegionReports},
      {"ranks", ranksItem(merge.ranks)},
      {"settings", settings},
      {"regions", jsonList(merge.regions, mergedRegionItem)},
      {"outlier_count", merge.outliers.size()},
      {"outliers", jsonList(outliers.take_front(maxListed), outlierItem)},
      {"skipped", merge.skipped.toJson("file")},
      {"profiles", profilesItem(merge.profiles)}};
  writeJson(out, document, /*indent=*/2);
  out << "\n";
}

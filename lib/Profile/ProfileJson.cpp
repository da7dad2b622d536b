// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile for programs: schema mpgprofile-1, in
// docs/schema/mpgprofile-1.schema.json. All numbers are integers; unknown ones
// are null.

#include "Profile/Profile.h"
#include "Support/JsonItem.h"

using namespace llvm;
using namespace mpg;

/// \p value, or null where it is not \p known.
template <typename Value> static JsonItem ifKnown(bool known, Value value) {
  return known ? JsonItem(value) : JsonItem();
}

static JsonItem pagesItem(const ProfileObject &object) {
  if (!object.pages)
    return nullptr;
  const PageUse &pages = *object.pages;
  bool isKnown = isHugeKnown(object);
  return JsonObject{
      {"looked_bytes", object.lookedBytes},
      {"used_bytes", pages.usedBytes},
      {"huge_bytes", ifKnown(isKnown, pages.hugeBytes)},
      {"pool_bytes", ifKnown(object.bytes && isKnown, pages.poolBytes)},
      {"page_bytes", pages.pageBytes},
      {"nodes", jsonList(pages.nodes, [](auto &node) {
         return JsonObject{{"node", node.first},
                           {"pages_looked_at", node.second}};
       })}};
}

static JsonItem faultsItem(const Profile &profile,
                           const ProfileObject &object) {
  if (!profile.faultsMissing.empty())
    return nullptr;
  std::optional<double> seconds = faultSeconds(object, profile.faultCosts);
  return JsonObject{
      {"estimate", object.faults.faults},
      {"cost_us", ifKnown(!!seconds, int64_t(seconds.value_or(0) * 1e6))},
      {"threads", jsonList(object.faults.threads, [&](auto &thread) {
         return JsonObject{{"thread", thread.first},
                           {"is_main", thread.first == profile.firstThread},
                           {"estimate", thread.second}};
       })}};
}

static JsonItem accessesItem(const AccessCount &count) {
  if (!count.intervals)
    return nullptr;
  return JsonObject{{"intervals", count.intervals},
                    {"used_bytes", count.presentBytes / count.intervals},
                    {"accessed_bytes", count.accessedBytes / count.intervals},
                    {"of_mapping", count.isOfMapping()},
                    {"frames", count.frames},
                    {"hot_frames_by_quarter",
                     JsonArray(count.hotFrames.begin(), count.hotFrames.end())},
                    {"accessed_in_frames_bytes", count.accessedInFrames}};
}

static JsonItem workingSetItem(const Profile &profile) {
  if (!profile.workingSet)
    return nullptr;
  const WorkingSetFacts &facts = *profile.workingSet;
  return JsonObject{{"intervals", facts.intervals},
                    {"interval_ms", int64_t(facts.meanSeconds * 1000)},
                    {"missing", facts.missing}};
}

static JsonItem machineStallsItem(const Profile &profile) {
  if (!profile.stalls)
    return nullptr;
  JsonObject item = jsonObject(profile.stalls->counts());
  item.push_back({"defrag", profile.defrag});
  return item;
}

static JsonObject counterItem(const CounterValue &counter) {
  return {{"name", counter.name},
          {"value", counter.value},
          {"missing", counter.missing}};
}

static JsonObject objectItem(const Profile &profile,
                             const ProfileObject &object) {
  return {{"region", regionName(object.region)},
          {"name", object.name},
          {"file", object.file},
          {"callers", object.callers},
          {"bytes", object.bytes},
          {"peak_bytes", object.peakBytes},
          {"blocks", object.blocks},
          {"pages", pagesItem(object)},
          {"faults", faultsItem(profile, object)},
          {"tlb_miss_samples",
           ifKnown(profile.tlbMissesMissing.empty(), object.tlbMisses)},
          {"code_samples", ifKnown(profile.codeMissing.empty() &&
                                       object.region == RunRegion::text,
                                   object.codeSamples)},
          {"accesses", accessesItem(object.accesses)}};
}

void mpg::writeProfileJson(raw_ostream &out, const Profile &profile) {
  auto object = [&](const ProfileObject &one) {
    return objectItem(profile, one);
  };
  JsonObject document = {
      {"schema", "mpgprofile-1"},
      {"program", profile.program},
      {"status", endingNumber(profile.waitStatus)},
      {"run_ms", int64_t(profile.seconds * 1000)},
      {"measured", profile.isMeasured},
      {"problem", profile.problem},
      {"other_processes", profile.otherProcesses},
      {"tlb_misses_missing", profile.tlbMissesMissing},
      {"code_samples",
       ifKnown(profile.codeMissing.empty(), profile.codeSamples)},
      {"code_missing", profile.codeMissing},
      {"least_code_bytes", minCodeBytes},
      {"least_bytes", minObjectBytes},
      {"sites", profile.sites},
      {"blocks_lost", profile.blocksLost},
      {"page_faults", ifKnown(profile.faultsMissing.empty(), profile.faults)},
      {"fault_samples_lost", profile.faultsLost},
      {"faults_missing", profile.faultsMissing},
      {"faults_of_user_code_only", profile.isUserFaults},
      {"machine_stalls", machineStallsItem(profile)},
      {"working_set", workingSetItem(profile)},
      {"counters", jsonList(profile.counters, counterItem)},
      {"objects", jsonList(profile.objects, object)}};
  addPlace(document, profile.place);
  writeJson(out, document, /*indent=*/2);
  out << "\n";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile for programs: schema mpgprofile-1, in
// docs/schema/mpgprofile-1.schema.json. All numbers are integers; unknown ones
// are null.

#include "Profile/Profile.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mpg;

static void writePages(json::OStream &json, const ProfileObject &object) {
  if (!object.pages) {
    json.attribute("pages", nullptr);
    return;
  }
  const PageUse &pages = *object.pages;
  json.attributeObject("pages", [&] {
    json.attribute("looked_bytes", int64_t(object.lookedBytes));
    json.attribute("used_bytes", int64_t(pages.usedBytes));
    bool isKnown =
        object.isHugeKnown && (pages.hugeBytes || !pages.unknownBytes);
    json.attribute("huge_bytes", isKnown ? json::Value(int64_t(pages.hugeBytes))
                                         : json::Value(nullptr));
    json.attribute("pool_bytes", object.bytes && isKnown
                                     ? json::Value(int64_t(pages.poolBytes))
                                     : json::Value(nullptr));
    json.attribute("page_bytes", int64_t(pages.pageBytes));
    json.attributeArray("nodes", [&] {
      for (const auto &node : pages.nodes)
        json.object([&] {
          json.attribute("node", node.first);
          json.attribute("pages_looked_at", int64_t(node.second));
        });
    });
  });
}

static void writeFaults(json::OStream &json, const FaultCount &faults,
                        uint32_t firstThread, std::optional<double> seconds) {
  json.attributeObject("faults", [&] {
    json.attribute("estimate", int64_t(faults.faults));
    json.attribute("cost_us", seconds ? json::Value(int64_t(*seconds * 1e6))
                                      : json::Value(nullptr));
    json.attributeArray("threads", [&] {
      for (const auto &thread : faults.threads)
        json.object([&] {
          json.attribute("thread", int64_t(thread.first));
          json.attribute("is_main", thread.first == firstThread);
          json.attribute("estimate", int64_t(thread.second));
        });
    });
  });
}

static void writeAccesses(json::OStream &json, const AccessCount &count) {
  if (!count.intervals)
    return json.attribute("accesses", nullptr);
  json.attributeObject("accesses", [&] {
    json.attribute("intervals", int64_t(count.intervals));
    json.attribute("used_bytes", int64_t(count.presentBytes / count.intervals));
    json.attribute("accessed_bytes",
                   int64_t(count.accessedBytes / count.intervals));
    json.attribute("of_mapping", count.isOfMapping());
    json.attribute("frames", int64_t(count.frames));
    json.attributeArray("hot_frames_by_quarter", [&] {
      for (uint64_t frames : count.hotFrames)
        json.value(int64_t(frames));
    });
    json.attribute("accessed_in_frames_bytes", int64_t(count.accessedInFrames));
  });
}

static void writeWorkingSet(json::OStream &json, const Profile &profile) {
  if (!profile.workingSet)
    return json.attribute("working_set", nullptr);
  const WorkingSetFacts &facts = *profile.workingSet;
  json.attributeObject("working_set", [&] {
    json.attribute("intervals", int64_t(facts.intervals));
    json.attribute("interval_ms", int64_t(facts.meanSeconds * 1000));
    json.attribute("missing", facts.missing);
  });
}

static void writeObject(json::OStream &json, const Profile &profile,
                        const ProfileObject &object) {
  json.object([&] {
    json.attribute("region", regionName(object.region));
    json.attribute("name", validUtf8(object.name));
    json.attribute("file", validUtf8(object.file));
    json.attributeArray("callers", [&] {
      for (const std::string &caller : object.callers)
        json.value(validUtf8(caller));
    });
    json.attribute("bytes", int64_t(object.bytes));
    json.attribute("peak_bytes", int64_t(object.peakBytes));
    json.attribute("blocks", int64_t(object.blocks));
    writePages(json, object);
    if (profile.faultsMissing.empty())
      writeFaults(json, object.faults, profile.firstThread,
                  faultSeconds(object, profile.faultCosts));
    else
      json.attribute("faults", nullptr);
    json.attribute("tlb_miss_samples",
                   profile.tlbMissesMissing.empty()
                       ? json::Value(int64_t(object.tlbMisses))
                       : json::Value(nullptr));
    writeAccesses(json, object.accesses);
  });
}

static void writeStallsJson(json::OStream &json, const Profile &profile) {
  if (!profile.stalls)
    return json.attribute("machine_stalls", nullptr);
  json.attributeObject("machine_stalls", [&] {
    writeStallCounts(json, *profile.stalls);
    json.attribute("defrag", profile.defrag);
  });
}

void mpg::writeProfileJson(raw_ostream &out, const Profile &profile) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attribute("schema", "mpgprofile-1");
    json.attribute("program", validUtf8(profile.program));
    json.attribute("status", endingNumber(profile.waitStatus));
    json.attribute("run_ms", int64_t(profile.seconds * 1000));
    json.attribute("measured", profile.isMeasured);
    json.attribute("problem", profile.problem);
    json.attribute("other_processes", profile.otherProcesses);
    json.attribute("tlb_misses_missing", profile.tlbMissesMissing);
    json.attribute("least_bytes", int64_t(minObjectBytes));
    json.attribute("sites", int64_t(profile.sites));
    json.attribute("blocks_lost", int64_t(profile.blocksLost));
    json.attribute("page_faults", profile.faultsMissing.empty()
                                      ? json::Value(int64_t(profile.faults))
                                      : json::Value(nullptr));
    json.attribute("fault_samples_lost", int64_t(profile.faultsLost));
    json.attribute("faults_missing", profile.faultsMissing);
    json.attribute("faults_of_user_code_only", profile.isUserFaults);
    writeStallsJson(json, profile);
    writeWorkingSet(json, profile);
    json.attributeArray("counters", [&] {
      for (const CounterValue &counter : profile.counters)
        json.object([&] {
          json.attribute("name", counter.name);
          json.attribute("value", counter.value
                                      ? json::Value(int64_t(*counter.value))
                                      : json::Value(nullptr));
          json.attribute("missing", counter.missing);
        });
    });
    json.attributeArray("objects", [&] {
      for (const ProfileObject &object : profile.objects)
        writeObject(json, profile, object);
    });
  });
  out << "\n";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MergeProfile.h.

#include "mpgrun/Merge/MergeProfile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;
using namespace mpg;

/// Of a folder made to do harm there may be more.
static constexpr size_t maxObjects = 100000;
static constexpr size_t maxPrograms = 1000;

void KnownSum::add(std::optional<uint64_t> value) {
  if (!value)
    return;
  sum = SaturatingAdd(sum, *value);
  ++reports;
}

void KnownSum::add(const KnownSum &other) {
  sum = SaturatingAdd(sum, other.sum);
  reports += other.reports;
}

/// All that names an object. A NUL is in none of the texts.
static std::string makeKey(const RankObject &object) {
  std::string key = std::to_string(size_t(object.region));
  auto append = [&](StringRef text) { (key += '\0') += text; };
  append(object.name);
  append(object.file);
  for (const std::string &caller : object.callers)
    append(caller);
  return key;
}

static void addObject(RankObject &sum, const RankObject &one) {
  sum.reports += one.reports;
  sum.peakBytes = SaturatingAdd(sum.peakBytes, one.peakBytes);
  sum.usedBytes = SaturatingAdd(sum.usedBytes, one.usedBytes);
  sum.hugeBytes = SaturatingAdd(sum.hugeBytes, one.hugeBytes);
  sum.shareReports += one.shareReports;
  sum.faults.add(one.faults);
  sum.faultMicroseconds.add(one.faultMicroseconds);
  sum.tlbSamples.add(one.tlbSamples);
  sum.codeSamples.add(one.codeSamples);
}

void ProfileFold::add(RankProfile profile) {
  ++merged.profiles;
  if (programs.size() < maxPrograms || programs.count(profile.program))
    ++programs[profile.program];
  merged.faults.add(profile.faults);
  merged.codeSamples.add(profile.codeSamples);
  // A rank may have several of one name: it is one rank all the same.
  StringMap<RankObject> own;
  for (RankObject &object : profile.objects) {
    auto [entry, isNew] = own.try_emplace(makeKey(object), object);
    if (!isNew) {
      addObject(entry->second, object);
      entry->second.reports = 1;
    }
  }
  for (const auto &entry : own) {
    auto found = indices.find(entry.getKey());
    if (found != indices.end()) {
      addObject(merged.objects[found->second], entry.second);
    } else if (merged.objects.size() < maxObjects) {
      indices[entry.getKey()] = merged.objects.size();
      merged.objects.push_back(entry.second);
    } else {
      ++merged.objectsLost;
    }
  }
}

MergedProfiles ProfileFold::finish() {
  for (const auto &entry : programs)
    merged.programs.emplace_back(entry.getKey().str(), entry.second);
  llvm::sort(merged.programs, [](const auto &left, const auto &right) {
    return std::tuple(~left.second, left.first) <
           std::tuple(~right.second, right.first);
  });
  llvm::sort(merged.objects, [](const RankObject &a, const RankObject &b) {
    return std::tie(b.peakBytes, a.region, a.name, a.file, a.callers) <
           std::tie(a.peakBytes, b.region, b.name, b.file, b.callers);
  });
  return std::move(merged);
}

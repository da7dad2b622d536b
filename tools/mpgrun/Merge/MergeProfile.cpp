// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MergeProfile.h.

#include "mpgrun/Merge/MergeProfile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
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
    size_t index = merged.objects.size();
    if (found != indices.end()) {
      index = found->second;
      addObject(merged.objects[index], entry.second);
    } else if (index < maxObjects) {
      indices[entry.getKey()] = index;
      merged.objects.push_back(entry.second);
      shares.emplace_back();
    } else {
      ++merged.objectsLost;
      continue;
    }
    addShare(entry.second, index);
  }
}

void ProfileFold::addShare(const RankObject &object, size_t index) {
  if (!object.shareReports)
    return;
  shares[index].push_back(getMillionths(object.hugeBytes, object.usedBytes));
  if (lacksPages(object.region, object.usedBytes, object.hugeBytes))
    lacks.push_back(
        {merged.profiles - 1, index, object.usedBytes, object.hugeBytes});
}

std::vector<ObjectShortage> ProfileFold::findShortages() {
  std::vector<uint32_t> medians;
  for (std::vector<uint32_t> &values : shares) {
    auto median = values.begin() + ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), median, values.end());
    medians.push_back(values.empty() ? 0 : *median);
  }
  std::vector<ObjectShortage> found;
  for (const Lack &lack : lacks)
    if (isBelowMedian(lack.bytes, lack.hugeBytes, medians[lack.object])) {
      const RankObject &object = merged.objects[lack.object];
      found.push_back({lack.profile, object.region, object.name, lack.bytes,
                       lack.hugeBytes});
    }
  return found;
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

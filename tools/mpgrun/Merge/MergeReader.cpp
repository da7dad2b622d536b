// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MergeFold.h.

#include "Support/Files.h"
#include "Support/Format.h"
#include "Support/JsonFields.h"
#include "mpgrun/Merge/MergeFold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mpg;

/// A report with 4,096 processes has 4 MiB; a parsed file takes twenty times as
/// much memory.
static constexpr uint64_t maxReportBytes = uint64_t(8) << 20;
static constexpr StringLiteral reportSchema = "mpgreport-1";
static constexpr StringLiteral profileSchema = "mpgprofile-1";

static std::optional<RunRegion> findRegion(StringRef name) {
  for (size_t index = 0; index < runRegionCount; ++index)
    if (regionName(RunRegion(index)) == name)
      return RunRegion(index);
  return std::nullopt;
}

/// Nothing, and \p skip, if \p path is no regular file of a report's size.
static std::unique_ptr<MemoryBuffer> readReportFile(const std::string &path,
                                                    Skip &skip) {
  auto refuse = [&](const std::string &reason) {
    skip = {SkipKind::unreadable, reason};
    return nullptr;
  };
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return refuse(error.message());
  if (status.type() == sys::fs::file_type::directory_file)
    return refuse("a folder in the folder");
  if (status.type() != sys::fs::file_type::regular_file)
    return refuse("not a regular file");
  auto tooLarge = [&] {
    skip = {SkipKind::foreign, "larger than " + formatBytes(maxReportBytes)};
    return nullptr;
  };
  if (status.getSize() > maxReportBytes)
    return tooLarge();
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      readUnmapped(path, maxReportBytes);
  if (!buffer && buffer.getError() == std::errc::file_too_large)
    return tooLarge(); // it grows
  if (!buffer)
    return refuse(buffer.getError().message());
  return std::move(*buffer);
}

/// Nothing, and \p skip, if \p text is no JSON of one of these schemas.
static std::optional<json::Value> parseReport(StringRef text, Skip &skip) {
  if (text.trim().empty()) {
    skip = {SkipKind::halfWritten, "empty"};
    return std::nullopt;
  }
  Expected<json::Value> value = parseJson(text, maxReportBytes);
  if (!value) {
    std::string reason = toString(value.takeError());
    if (text.ltrim().starts_with("{"))
      skip = {SkipKind::halfWritten, reason};
    else
      skip = {SkipKind::foreign, "not JSON"};
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  StringRef schema =
      object ? object->getString("schema").value_or("") : StringRef();
  if (schema == reportSchema || schema == profileSchema)
    return std::move(*value);
  bool isOther = schema.starts_with(reportSchema.drop_back()) ||
                 schema.starts_with(profileSchema.drop_back());
  std::string name = schema.take_front(40).str();
  skip = isOther ? Skip{SkipKind::otherVersion, name}
                 : Skip{SkipKind::foreign,
                        schema.empty() ? "no key schema" : "schema " + name};
  return std::nullopt;
}

/// Takes the peak where memory was freed before the end.
static void readRegion(const JsonFields &fields, RankReport &report) {
  std::optional<RunRegion> region = findRegion(fields.text("region"));
  RankRegion use;
  use.bytes = fields.count("bytes");
  use.hugeBytes = fields.count("huge_bytes");
  uint64_t peakBytes = fields.count("peak_bytes");
  uint64_t peakHugeBytes = fields.count("peak_huge_bytes");
  use.isKnown = fields.count("unknown_bytes") == 0;
  use.reason = fields.text("reason");
  if (peakBytes > use.bytes) {
    use.bytes = peakBytes;
    use.hugeBytes = peakHugeBytes;
  }
  if (use.hugeBytes > use.bytes)
    return fields.fail("huge_bytes", "more than bytes");
  if (use.bytes > uint64_t(INT64_MAX))
    return fields.fail("bytes", "more than 2^63");
  if (!region) {
    report.hasForeignRegion = true;
    return;
  }
  use.region = *region;
  if (any_of(report.regions,
             [&](const RankRegion &other) { return other.region == *region; }))
    return fields.fail("region", "twice in the report");
  report.regions.push_back(std::move(use));
}

/// An older mpgrun does not say all of it.
static FilePlace readPlace(const JsonFields &fields) {
  FilePlace place;
  place.host = fields.has("host") ? fields.text("host") : "";
  auto number = [&](StringRef key) {
    uint64_t value = fields.count(key);
    if (value > uint64_t(INT32_MAX))
      fields.fail(key, "more than 2147483647");
    return uint32_t(value);
  };
  if (fields.has("rank"))
    place.rank = number("rank");
  if (fields.has("ranks"))
    place.ranks = number("ranks");
  return place;
}

/// The status as the report has it, a signal below zero.
static std::string readStatus(const json::Object &object, std::string &error) {
  std::optional<int64_t> status = object.getInteger("status");
  if (!status && error.empty())
    error = "status: not an integer";
  return std::to_string(status.value_or(0));
}

static std::string readLibmpg(const JsonFields &fields) {
  if (!fields.boolean("libmpg"))
    return "not at work";
  std::string file = fields.textOrNull("libmpg_file");
  return file.empty() ? "part of the program" : file;
}

static RankReport readReport(const json::Value &value, std::string &error) {
  JsonFields fields(value, "", error);
  RankReport report;
  auto setting = [&](MergeSetting key) -> std::string & {
    return report.settings[size_t(key)];
  };
  setting(MergeSetting::program) = fields.text("program");
  setting(MergeSetting::version) =
      fields.has("version") ? fields.text("version") : "unknown";
  setting(MergeSetting::mode) = fields.text("mode");
  setting(MergeSetting::libmpg) = readLibmpg(fields);
  setting(MergeSetting::status) = readStatus(*value.getAsObject(), error);
  report.place = readPlace(fields);
  constexpr size_t maxRegions = 64; // a later version may have more
  fields.each("regions", maxRegions,
              [&](const JsonFields &region) { readRegion(region, report); });
  return report;
}

// Profiles

/// The first 400 bytes.
static std::string shortText(const std::string &text) {
  constexpr size_t maxBytes = 400;
  return text.substr(0, maxBytes);
}

static void readShare(const JsonFields &fields, RankObject &object) {
  if (fields.isNull("pages"))
    return;
  JsonFields pages = fields.object("pages");
  std::optional<uint64_t> huge = pages.countOrNull("huge_bytes");
  uint64_t used = pages.count("used_bytes");
  if (!huge)
    return;
  if (*huge > used)
    return pages.fail("huge_bytes", "more than used_bytes");
  object.shareReports = 1;
  object.usedBytes = used;
  object.hugeBytes = *huge;
}

static void readFaults(const JsonFields &fields, RankObject &object) {
  if (fields.isNull("faults"))
    return;
  JsonFields faults = fields.object("faults");
  object.faults.add(faults.count("estimate"));
  object.faultMicroseconds.add(faults.countOrNull("cost_us"));
}

static RankProfile readProfile(const json::Value &value, std::string &error) {
  JsonFields fields(value, "", error);
  RankProfile profile;
  profile.place = readPlace(fields);
  profile.program = shortText(fields.text("program"));
  profile.faults.add(fields.countOrNull("page_faults"));
  profile.codeSamples.add(fields.countOrNull("code_samples"));
  constexpr size_t maxObjects = 20000;
  fields.each("objects", maxObjects, [&](const JsonFields &entry) {
    std::optional<RunRegion> region = findRegion(entry.text("region"));
    RankObject object;
    object.name = shortText(entry.text("name"));
    object.file = shortText(entry.text("file"));
    for (const std::string &caller : entry.texts("callers"))
      object.callers.push_back(shortText(caller));
    object.peakBytes = entry.count("peak_bytes");
    readShare(entry, object);
    readFaults(entry, object);
    object.tlbSamples.add(entry.countOrNull("tlb_miss_samples"));
    object.codeSamples.add(entry.countOrNull("code_samples"));
    if (!region) // of a later version
      return;
    object.region = *region;
    profile.objects.push_back(std::move(object));
  });
  return profile;
}

RankFile mpg::readRankFile(const std::string &path, Skip &skip) {
  std::unique_ptr<MemoryBuffer> buffer = readReportFile(path, skip);
  if (!buffer)
    return {};
  std::optional<json::Value> value = parseReport(buffer->getBuffer(), skip);
  if (!value)
    return {};
  std::string error;
  RankFile file;
  if (value->getAsObject()->getString("schema") == profileSchema)
    file.profile = readProfile(*value, error);
  else
    file.report = readReport(*value, error);
  if (error.empty())
    return file;
  skip = {SkipKind::wrong, error};
  return {};
}

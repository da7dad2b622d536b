// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads .mpgaudit.yaml, and finds it: beside the first file or above it. Skips
// a file of another user, because it could hide findings.

#include "Policy/Policy.h"
#include "Support/Format.h"
#include "Support/YamlReader.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// Far more than anybody writes by hand.
static constexpr uint64_t limitBytes = uint64_t(256) << 10;

static constexpr StringRef fileName = ".mpgaudit.yaml";

namespace {
class ConfigurationReader : public YamlReader {
public:
  ConfigurationReader(Configuration &result, ArrayRef<ConfigurationKey> keys)
      : result(result), keys(keys) {}

private:
  void readEntry(yaml::KeyValueNode &entry, SeenKeys &seen) override;
  void readValues(const ConfigurationKey &key, unsigned line,
                  yaml::Node *value);
  void addValue(const ConfigurationKey &key, unsigned line, StringRef value);
  void readSuppressions(yaml::Node *value);
  void readSuppression(yaml::MappingNode &map);

  Configuration &result;
  ArrayRef<ConfigurationKey> keys;
};
} // namespace

void ConfigurationReader::addValue(const ConfigurationKey &key, unsigned line,
                                   StringRef value) {
  SmallString<128> text(value);
  // It becomes an argument, which messages quote in one line.
  if (value.contains('\n'))
    return fail(line, "the value of '" + key.name + "' has more than one line");
  if (key.isSwitch) {
    std::string word = value.lower();
    if (word == "true" || word == "yes" || word == "on")
      text = "true";
    else if (word == "false" || word == "no" || word == "off")
      text = "false";
    else
      return fail(line, "'" + value + "' of '" + key.name +
                            "' is neither true nor false");
  } else if (key.isPath && !sys::path::is_absolute(value)) {
    // From the file, not from where mpgaudit is started: it is one project's.
    text = sys::path::parent_path(result.path);
    sys::path::append(text, value);
  }
  result.entries.push_back({key.name.str(), text.str().str(), line});
}

void ConfigurationReader::readValues(const ConfigurationKey &key, unsigned line,
                                     yaml::Node *value) {
  std::string name = key.name.str();
  auto *list = dyn_cast_or_null<yaml::SequenceNode>(value);
  if (!list || !key.isList) {
    if (std::optional<std::string> text = readText(name, line, value))
      addValue(key, line, *text);
    return;
  }
  for (yaml::Node &item : *list) {
    unsigned itemLine = getLine(item);
    if (isa<yaml::MappingNode>(item))
      return fail(itemLine, "the list of '" + key.name +
                                "' has a KEY: VALUE in it; is a ] missing?");
    if (std::optional<std::string> text = readText(name, itemLine, &item))
      addValue(key, itemLine, *text);
    if (failed())
      return;
  }
}

void ConfigurationReader::readSuppression(yaml::MappingNode &map) {
  SuppressionReader reader;
  SeenKeys seen;
  unsigned first = getLine(map);
  for (yaml::KeyValueNode &entry : map) {
    unsigned line = 0;
    std::string key = readKey(entry, seen, line);
    if (failed())
      return;
    if (seen.size() == 1)
      first = line; // that of the mapping may be the line before
    std::optional<std::string> value = readText(key, line, entry.getValue());
    if (!value)
      return;
    std::string wrong = reader.set(key, *value);
    if (!wrong.empty())
      return fail(line, wrong);
  }
  std::string wrong = reader.finish();
  if (!wrong.empty())
    return fail(first, wrong);
  result.suppressions.push_back(reader.release());
  result.suppressions.back().origin = result.path + ":" + std::to_string(first);
}

void ConfigurationReader::readSuppressions(yaml::Node *value) {
  if (isa_and_nonnull<yaml::NullNode>(value))
    return; // all entries are commented out
  auto *list = dyn_cast_or_null<yaml::SequenceNode>(value);
  if (!list)
    return fail(value ? getLine(*value) : 1,
                "'suppress' takes a list; begin each entry with '- id:'");
  for (yaml::Node &item : *list) {
    auto *map = dyn_cast<yaml::MappingNode>(&item);
    if (!map)
      return fail(getLine(item), "a suppression is missing; write - {id: "
                                 "MPG130, path: bin/app, reason: WHY}");
    readSuppression(*map);
    if (failed())
      return;
  }
}

void ConfigurationReader::readEntry(yaml::KeyValueNode &entry, SeenKeys &seen) {
  unsigned line = 0;
  std::string key = readKey(entry, seen, line);
  if (failed())
    return;
  if (key == "suppress")
    return readSuppressions(entry.getValue());
  for (const ConfigurationKey &known : keys)
    if (known.name == key)
      return readValues(known, line, entry.getValue());
  SmallVector<StringRef, 24> names;
  for (const ConfigurationKey &known : keys)
    names.push_back(known.name);
  names.push_back("suppress");
  fail(line, "unknown key '" + key + "'" + suggest(key, names));
}

Expected<Configuration>
mpg::readConfiguration(const std::string &path,
                       ArrayRef<ConfigurationKey> keys) {
  Configuration configuration;
  configuration.path = path;
  if (Error error =
          ConfigurationReader(configuration, keys).read(path, limitBytes))
    return error;
  return configuration;
}

/// Whether the user or root owns the file, and the link to it if there is one:
/// the owner of a link chooses the file.
static bool isTrusted(const char *path) {
  struct stat file, link;
  auto mine = [](uid_t user) { return user == 0 || user == geteuid(); };
  return stat(path, &file) == 0 && lstat(path, &link) == 0 &&
         mine(file.st_uid) && mine(link.st_uid);
}

std::string mpg::findConfiguration(const std::string &folder,
                                   std::vector<std::string> *foreign) {
  std::string absolute = absolutePath(folder.empty() ? "." : folder);
  for (StringRef at = absolute; !at.empty(); at = sys::path::parent_path(at)) {
    SmallString<256> path(at);
    sys::path::append(path, fileName);
    if (!sys::fs::is_regular_file(path))
      continue;
    if (isTrusted(path.c_str()))
      return path.str().str();
    // Upwards on: a stranger's file must not hide the project's own.
    if (foreign)
      foreign->push_back(path.str().str());
  }
  return "";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is read node by node, not through yaml::Input: that skips what it
// does not understand by recursion, which a file of brackets turns into a stack
// overflow, and says nothing of keys that are given twice. Here the first thing
// that is wrong ends the reading.

#include "Policy/Nearest.h"
#include "Policy/PathNames.h"
#include "Policy/Policy.h"
#include "Policy/SuppressionReader.h"
#include "Policy/TextFile.h"
#include "Support/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// Far more than anybody writes by hand. The time that LLVM's reader takes
/// grows with the square of a line's length.
static constexpr uint64_t limitBytes = uint64_t(256) << 10;
static constexpr size_t lineLimitBytes = 4096;

static constexpr StringRef fileName = ".mpgaudit.yaml";

namespace {
class ConfigurationReader {
public:
  ConfigurationReader(Configuration &result, ArrayRef<StringRef> keys);
  Error read(MemoryBufferRef buffer);

private:
  /// Lines of the keys of one mapping.
  using SeenKeys = StringMap<unsigned>;

  bool checkLines(StringRef text);
  void readRoot(yaml::Stream &stream);
  void readEntry(yaml::KeyValueNode &entry, SeenKeys &seen);
  void readOption(const std::string &key, unsigned line, yaml::Node *value);
  void addOption(const std::string &key, unsigned line, StringRef value);
  void readSuppressions(yaml::Node *value);
  void readSuppression(yaml::MappingNode &map);
  std::string readKey(yaml::KeyValueNode &entry, SeenKeys &seen,
                      unsigned &line);
  std::optional<std::string> readText(const std::string &key, unsigned line,
                                      yaml::Node *value);

  unsigned lineOf(const yaml::Node &node) const;
  void fail(unsigned line, const Twine &text);
  bool failed() const { return !reason.empty(); }

  Configuration &result;
  SmallVector<StringRef, 24> keys; ///< with "suppress"
  SourceMgr sources;
  unsigned firstLine = 0; ///< that is no comment; 0: none
  std::string reason;     ///< with the line; the first counts
};
} // namespace

ConfigurationReader::ConfigurationReader(Configuration &result,
                                         ArrayRef<StringRef> keys)
    : result(result), keys(keys.begin(), keys.end()) {
  this->keys.push_back("suppress");
}

unsigned ConfigurationReader::lineOf(const yaml::Node &node) const {
  SMLoc place = node.getSourceRange().Start;
  return place.isValid() ? sources.FindLineNumber(place) : 1;
}

void ConfigurationReader::fail(unsigned line, const Twine &text) {
  if (!failed())
    reason = (Twine(line) + ": " + text).str();
}

/// The text of one value; nothing if it is something else, which is then said.
std::optional<std::string> ConfigurationReader::readText(const std::string &key,
                                                         unsigned line,
                                                         yaml::Node *value) {
  SmallString<64> storage;
  std::optional<std::string> text;
  if (auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(value))
    text = scalar->getValue(storage).str();
  else if (auto *block = dyn_cast_or_null<yaml::BlockScalarNode>(value))
    text = block->getValue().str();
  else if (isa_and_nonnull<yaml::AliasNode>(value))
    fail(line, "'" + key + "' has an alias of YAML (*name), which is not " +
                   "known here; put a pattern that begins with * in quotes");
  else if (isa_and_nonnull<yaml::SequenceNode>(value))
    fail(line, "'" + key +
                   "' takes one value, not a list; put a pattern that " +
                   "begins with [ in quotes");
  else if (isa_and_nonnull<yaml::MappingNode>(value))
    fail(line, "'" + key + "' takes a value, not further keys");
  if (failed())
    return std::nullopt; // an escape in quotes that does not exist, perhaps
  text = StringRef(text.value_or("")).trim().str();
  if (text->empty()) {
    fail(line, "'" + key + "' has no value");
    return std::nullopt;
  }
  return text;
}

/// The key of \p entry, "" if there is none; notes it in \p seen.
std::string ConfigurationReader::readKey(yaml::KeyValueNode &entry,
                                         SeenKeys &seen, unsigned &line) {
  line = lineOf(entry);
  // Asked before the value is: that skips the key, by recursion.
  auto *name = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
  if (!name) {
    fail(line, "a key is missing or is no text; write KEY: VALUE");
    return "";
  }
  line = lineOf(*name);
  SmallString<32> storage;
  std::string key = name->getValue(storage).str();
  auto [place, isNew] = seen.try_emplace(key, line);
  if (!isNew)
    fail(line,
         "'" + key + "' is given twice, first in line " + Twine(place->second));
  return failed() ? "" : key;
}

static bool isSwitch(StringRef key) {
  return key == "closure" || key == "expect-libmpg";
}

/// Those that the command line takes several times.
static bool isList(StringRef key) { return key == "checks" || key == "env"; }

static bool isPath(StringRef key) {
  return key == "baseline" || key == "sysroot";
}

void ConfigurationReader::addOption(const std::string &key, unsigned line,
                                    StringRef value) {
  SmallString<128> text(value);
  if (value.contains('\n'))
    return fail(line, "the value of '" + key + "' has more than one line");
  if (isSwitch(key)) {
    std::string word = value.lower();
    if (word == "true" || word == "yes" || word == "on")
      text = "true";
    else if (word == "false" || word == "no" || word == "off")
      text = "false";
    else
      return fail(line,
                  "'" + value + "' of '" + key + "' is neither true nor false");
  } else if (isPath(key) && !sys::path::is_absolute(value)) {
    text = sys::path::parent_path(result.path);
    sys::path::append(text, value);
  }
  result.options.emplace_back(key, text.str().str());
  result.lines.push_back(line);
}

void ConfigurationReader::readOption(const std::string &key, unsigned line,
                                     yaml::Node *value) {
  auto *list = dyn_cast_or_null<yaml::SequenceNode>(value);
  if (!list || !isList(key)) {
    if (std::optional<std::string> text = readText(key, line, value))
      addOption(key, line, *text);
    return;
  }
  for (yaml::Node &item : *list) {
    unsigned itemLine = lineOf(item);
    if (isa<yaml::MappingNode>(item))
      return fail(itemLine, "the list of '" + key +
                                "' has a KEY: VALUE in it; is a ] missing?");
    if (std::optional<std::string> text = readText(key, itemLine, &item))
      addOption(key, itemLine, *text);
    if (failed())
      return;
  }
}

void ConfigurationReader::readSuppression(yaml::MappingNode &map) {
  SuppressionReader reader;
  SeenKeys seen;
  unsigned first = lineOf(map);
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
  result.suppressions.push_back(reader.take());
  result.suppressions.back().origin = result.path + ":" + std::to_string(first);
}

void ConfigurationReader::readSuppressions(yaml::Node *value) {
  if (isa_and_nonnull<yaml::NullNode>(value))
    return; // all entries are commented out
  auto *list = dyn_cast_or_null<yaml::SequenceNode>(value);
  if (!list)
    return fail(value ? lineOf(*value) : 1,
                "'suppress' takes a list; begin each entry with '- id:'");
  for (yaml::Node &item : *list) {
    auto *map = dyn_cast<yaml::MappingNode>(&item);
    if (!map)
      return fail(lineOf(item), "a suppression is missing; write - {id: "
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
  if (!is_contained(keys, key))
    return fail(line, "unknown key '" + key + "'" + suggest(key, keys));
  if (key == "suppress")
    readSuppressions(entry.getValue());
  else
    readOption(key, line, entry.getValue());
}

/// Looks for lines that are too long, and for the first that says something.
bool ConfigurationReader::checkLines(StringRef text) {
  unsigned number = 0;
  for (StringRef line : split(text, '\n')) {
    ++number;
    if (line.size() > lineLimitBytes)
      fail(number, "the line has " + Twine(line.size()) +
                       " characters; at most " + Twine(lineLimitBytes) +
                       " are read");
    line = line.trim();
    if (!firstLine && !line.empty() && !line.starts_with("#") &&
        line != "---" && line != "...")
      firstLine = number;
  }
  return !failed();
}

void ConfigurationReader::readRoot(yaml::Stream &stream) {
  yaml::document_iterator document = stream.begin();
  yaml::Node *root =
      failed() || document == stream.end() ? nullptr : document->getRoot();
  auto *map = dyn_cast_or_null<yaml::MappingNode>(root);
  if (!map) {
    // A file of comments alone is a configuration; one of "!!!!" is not, though
    // it holds no more than a null.
    if (firstLine)
      fail(firstLine, "this is no list of KEY: VALUE");
    return;
  }
  SeenKeys seen;
  for (yaml::KeyValueNode &entry : *map) {
    readEntry(entry, seen);
    if (failed())
      return;
  }
  if (!failed() && ++document != stream.end())
    fail(1, "the file holds more than one YAML document; remove the '---' "
            "between them");
}

Error ConfigurationReader::read(MemoryBufferRef buffer) {
  // The parser's own messages, in our words.
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto *reader = static_cast<ConfigurationReader *>(context);
        StringRef text = diagnostic.getMessage();
        bool isGlob = text.contains("alias or anchor");
        reader->fail(unsigned(std::max(diagnostic.getLineNo(), 1)),
                     "this is not YAML: " + text +
                         (isGlob ? "; put a pattern that begins with * in "
                                   "quotes"
                                 : ""));
      },
      this);
  yaml::Stream stream(buffer, sources, /*ShowColors=*/false);
  if (checkLines(buffer.getBuffer()))
    readRoot(stream);
  // It may stop without a word; nothing of such a file can be trusted.
  if (!failed() && stream.failed())
    fail(1, "this is not YAML");
  if (failed())
    return make_error<StringError>(printable(result.path) + ":" +
                                       printable(reason),
                                   inconvertibleErrorCode());
  return Error::success();
}

Expected<Configuration> mpg::readConfiguration(const std::string &path,
                                               ArrayRef<StringRef> keys) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      readTextFile(path, limitBytes);
  if (!buffer)
    return buffer.takeError();
  StringRef text = (*buffer)->getBuffer();
  text.consume_front("\xef\xbb\xbf"); // some editors mark UTF-8
  Configuration configuration;
  configuration.path = path;
  if (Error error = ConfigurationReader(configuration, keys)
                        .read(MemoryBufferRef(text, path)))
    return error;
  return configuration;
}

/// Of the file, and of the link that stands for it.
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
    if (foreign)
      foreign->push_back(path.str().str());
  }
  return "";
}

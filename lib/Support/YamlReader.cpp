// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See YamlReader.h. LLVM's parser reads; here are the limits that it does not
// have, and messages with the line.

#include "Support/YamlReader.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// The time that LLVM's reader takes grows with the square of a line's length.
static constexpr size_t lineLimitBytes = 4096;

void YamlReader::finish(unsigned, const SeenKeys &) {}

unsigned YamlReader::getLine(const yaml::Node &node) const {
  SMLoc place = node.getSourceRange().Start;
  if (auto *alias = dyn_cast<yaml::AliasNode>(&node)) // it has the next one's
    place = SMLoc::getFromPointer(alias->getName().begin());
  return place.isValid() ? sources.FindLineNumber(place) : 1;
}

void YamlReader::fail(unsigned line, const Twine &text) {
  if (!failed())
    reason = (Twine(line) + ": " + text).str();
}

std::optional<std::string>
YamlReader::readText(const std::string &key, unsigned line, yaml::Node *value) {
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

std::string YamlReader::readKey(yaml::KeyValueNode &entry, SeenKeys &seen,
                                unsigned &line) {
  line = getLine(entry);
  // Asked before the value is: that skips the key, by recursion.
  auto *name = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
  if (!name) {
    fail(line, "a key is missing or is not text; write KEY: VALUE");
    return "";
  }
  line = getLine(*name);
  SmallString<32> storage;
  std::string key = name->getValue(storage).str();
  auto [place, isNew] = seen.try_emplace(key, line);
  if (!isNew)
    fail(line,
         "'" + key + "' is given twice, first in line " + Twine(place->second));
  return failed() ? "" : key;
}

/// Looks for lines that are too long, and for the first that says something.
bool YamlReader::checkLines(StringRef text) {
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

void YamlReader::readStream(yaml::Stream &stream) {
  yaml::document_iterator document = stream.begin();
  yaml::Node *root =
      failed() || document == stream.end() ? nullptr : document->getRoot();
  auto *map = dyn_cast_or_null<yaml::MappingNode>(root);
  if (!map) {
    // A file of comments alone is a configuration; one of "!!!!" is not, though
    // it holds no more than a null.
    if (firstLine)
      fail(firstLine, "this is not a list of KEY: VALUE");
    else
      finish(1, {});
    return;
  }
  SeenKeys seen;
  for (yaml::KeyValueNode &entry : *map) {
    readEntry(entry, seen);
    if (failed())
      return;
  }
  if (!failed())
    finish(firstLine, seen);
  if (!failed() && ++document != stream.end())
    fail(1, "the file holds more than one YAML document; remove the '---' "
            "between them");
}

Error YamlReader::read(const std::string &path, uint64_t limitBytes) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readTextFile(path, limitBytes);
  if (!file)
    return file.takeError();
  std::string wrong = parse((*file)->getBuffer(), path);
  if (wrong.empty())
    return Error::success();
  return make_error<StringError>(printable(path) + ":" + printable(wrong),
                                 inconvertibleErrorCode());
}

std::string YamlReader::parse(StringRef text, const std::string &path) {
  text.consume_front("\xef\xbb\xbf"); // some editors mark UTF-8
  MemoryBufferRef buffer(text, path);
  // The parser's own messages, in our words.
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto *reader = static_cast<YamlReader *>(context);
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
    readStream(stream);
  // LLVM's scanner may stop without an error. Trust nothing of such a file.
  if (!failed() && stream.failed())
    fail(1, "this is not YAML");
  return reason;
}

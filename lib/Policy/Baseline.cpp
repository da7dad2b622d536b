// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A baseline is kept with the sources, so it is written for diffs: sorted, one
// finding a line, and without anything that changes by itself (sizes,
// addresses, the date, our version).

#include "Policy/Policy.h"
#include "Support/Files.h"
#include "Support/JsonFields.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <tuple>

using namespace mpg;
using namespace llvm;

FindingSet mpg::lookedFor(const AuditSettings &settings, Target target) {
  FindingSet looked;
  // Much of what is accepted comes from a library.
  if (!settings.libraries)
    return looked;
  for (const FindingInfo &info : allFindings()) {
    bool isOn = settings.checks.contains(info.id) &&
                info.severity[unsigned(target)] != Severity::off;
    // A program's file does not have what a script has.
    if (info.group != FindingGroup::job &&
        (isOn || settings.named.contains(info.id)))
      looked.insert(info.id);
  }
  return looked;
}

static constexpr StringRef schema = "mpgbaseline-1";

/// About 300,000 findings.
static constexpr uint64_t maxFileBytes = uint64_t(64) << 20;

bool Baseline::Entry::operator<(const Entry &other) const {
  return std::tie(path, id, fingerprint) <
         std::tie(other.path, other.id, other.fingerprint);
}

// Contents

std::string Baseline::getName(StringRef path) const {
  return folder ? folder->getName(path) : absolutePath(path);
}

void Baseline::add(const Finding &finding, StringRef path) {
  if (canBeAccepted(finding))
    entries[{getName(path), idText(finding.id),
             computeFingerprint(finding, "")}] = withoutNumbers(finding.title);
}

bool Baseline::contains(const Finding &finding, StringRef path) const {
  return canBeAccepted(finding) &&
         entries.count({getName(path), idText(finding.id),
                        computeFingerprint(finding, "")});
}

unsigned Baseline::apply(std::vector<Finding> &findings, StringRef path) const {
  size_t before = findings.size();
  erase_if(findings,
           [&](const Finding &finding) { return contains(finding, path); });
  return unsigned(before - findings.size());
}

// Reading

/// The defect of the document's frame; "" without one.
static std::string wrongSchema(const json::Object &root) {
  StringRef name = root.getString("schema").value_or("");
  if (name == schema)
    return "";
  if (name.starts_with("mpgbaseline-"))
    return ("the baseline has the schema " + name + ", and this mpgaudit " +
            "knows " + schema + "; write it again with --write-baseline")
        .str();
  return "this is not a baseline: its schema is not " + schema.str() +
         "; write one with --write-baseline";
}

static std::optional<Baseline::Entry> readEntry(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  std::optional<StringRef> path = object->getString("path"),
                           id = object->getString("id"),
                           fingerprint = object->getString("fingerprint");
  if (!path || !id || !fingerprint || fingerprint->size() != 16 ||
      !all_of(*fingerprint, isHexDigit))
    return std::nullopt;
  return Baseline::Entry{path->str(), id->str(), fingerprint->lower()};
}

Expected<Baseline> Baseline::read(const std::string &path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      readTextFile(path, maxFileBytes);
  if (!buffer)
    return buffer.takeError();
  StringRef text = (*buffer)->getBuffer();
  if (isDeepJson(text))
    return fileError(path, "this is not a baseline: brackets in brackets");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return fileError(path, "this is not JSON: " + toString(value.takeError()));
  const json::Object *root = value->getAsObject();
  std::string wrong = wrongSchema(root ? *root : json::Object());
  if (!wrong.empty())
    return fileError(path, wrong);
  const json::Array *findings = root->getArray("findings");
  if (!findings)
    return fileError(path, "the baseline has no list \"findings\"");
  Baseline baseline;
  baseline.folder = BaseFolder::of(path);
  for (const json::Value &finding : *findings) {
    std::optional<Entry> entry = readEntry(finding);
    if (!entry)
      return fileError(path, "finding " +
                                 Twine(&finding - &findings->front() + 1) +
                                 " of the baseline lacks its path, id or "
                                 "fingerprint of 16 hexadecimal digits");
    baseline.entries[*entry] =
        finding.getAsObject()->getString("title").value_or("").str();
  }
  return baseline;
}

// Writing

static void writeEntries(raw_ostream &out,
                         const std::map<Baseline::Entry, std::string> &all) {
  out << "{\"schema\":\"" << schema << "\",\n\"findings\":[";
  const char *separator = "\n";
  for (const auto &[entry, title] : all) {
    out << separator;
    writeJson(out, JsonObject{{"path", entry.path},
                              {"id", entry.id},
                              {"fingerprint", entry.fingerprint},
                              {"title", title}});
    separator = ",\n";
  }
  out << "\n]}\n";
}

Error Baseline::write(const std::string &path) const {
  std::map<Entry, std::string> named;
  BaseFolder base = BaseFolder::of(path);
  for (const auto &[entry, title] : entries) {
    Entry moved = entry;
    if (!folder)
      moved.path = base.getName(entry.path);
    named[moved] = title;
  }
  auto fail = [&](const std::string &reason) {
    return fileError(path, "the baseline is not written: " + reason);
  };
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path))
    return fail("this is not a regular file");
  std::error_code code = writeOutputFile(
      path, [&](raw_ostream &out) { writeEntries(out, named); });
  return code ? fail(code.message()) : Error::success();
}

// The identity of a finding. The parts are put together as text, so that what a
// fingerprint depends on can be read below. The title is one of them: two
// findings of one rule about one section often differ in nothing else. A title
// that is reworded is therefore a new finding, which CHANGELOG.md has to say.

/// As absolutePath(), but relative if it was.
static std::string plainPath(StringRef path) {
  SmallString<256> plain(path);
  sys::path::remove_dots(plain, /*remove_dot_dot=*/true);
  return plain.str().str();
}

std::string mpg::absolutePath(StringRef path) {
  SmallString<256> absolute(path);
  // Fails if the current folder was deleted; then the name stays relative.
  (void)sys::fs::make_absolute(absolute);
  return plainPath(absolute);
}

/// \p path, absolute, with the links of its folders followed but not its own:
/// a link is the name that its user knows. A folder that does not exist, as of
/// the member "lib.a(x/y.o)", stays.
static std::string realName(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  SmallString<256> real;
  while (!folder.empty() && sys::fs::real_path(folder, real))
    folder = folder == "/" ? "" : sys::path::parent_path(folder);
  sys::path::append(real, path.substr(folder.size()));
  return real.str().str();
}

/// \p path without \p folder in front; "" if it lies elsewhere.
static StringRef nameInside(StringRef folder, StringRef path) {
  if (!path.consume_front(folder))
    return "";
  bool isInside = folder.ends_with("/") || path.consume_front("/");
  return isInside ? path : "";
}

/// From one absolute path to the other, by "..".
static std::string nameFrom(StringRef folder, StringRef path) {
  auto from = sys::path::begin(folder), fromEnd = sys::path::end(folder);
  auto to = sys::path::begin(path), toEnd = sys::path::end(path);
  while (from != fromEnd && to != toEnd && *from == *to) {
    ++from;
    ++to;
  }
  SmallString<256> name;
  for (; from != fromEnd; ++from)
    sys::path::append(name, "..");
  for (; to != toEnd; ++to)
    sys::path::append(name, *to);
  return name.str().str();
}

BaseFolder BaseFolder::of(StringRef file) {
  BaseFolder folder;
  folder.written = sys::path::parent_path(absolutePath(file)).str();
  folder.real = sys::path::parent_path(realName(absolutePath(file))).str();
  return folder;
}

static std::string asUtf8(StringRef name) {
  if (json::isUTF8(name))
    return name.str();
  std::string text;
  for (char byte : name) {
    if (isASCII(byte))
      text += byte;
    else
      text += "\\x" + utohexstr(uint8_t(byte), /*LowerCase=*/true);
  }
  return text;
}

std::string BaseFolder::getName(StringRef path) const {
  std::string absolute = absolutePath(path);
  StringRef inside = nameInside(written, absolute);
  if (!inside.empty())
    return asUtf8(inside);
  return asUtf8(nameFrom(real, realName(absolute)));
}

/// The length of "0x404000", "1,466" or "1.5" at the start of \p text.
static size_t numberLength(StringRef text) {
  size_t length = 0;
  while (length < text.size() &&
         (isAlnum(text[length]) ||
          ((text[length] == '.' || text[length] == ',') &&
           length + 1 < text.size() && isDigit(text[length + 1]))))
    ++length;
  return length;
}

std::string mpg::withoutNumbers(StringRef text) {
  std::string result;
  bool inName = false; // "libmpi.so.40", "array2", "x86-64" keep theirs
  while (!text.empty()) {
    char first = text.front();
    if (inName || !isDigit(first)) {
      inName = isAlnum(first) || StringRef("_.$@").contains(first) ||
               (inName && first == '-');
      result += first;
      text = text.drop_front();
      continue;
    }
    result += '#';
    text = text.substr(numberLength(text));
    for (StringRef unit :
         {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"})
      if (text.starts_with(unit) &&
          (text.size() == unit.size() || !isAlnum(text[unit.size()])))
        text = text.substr(unit.size());
  }
  return result;
}

/// The library that a finding comes from, without its version: both its loader
/// and its number may change.
static StringRef getLibrary(StringRef via) {
  StringRef last = via.substr(via.rfind('>') + 1).trim();
  last = last.substr(last.rfind('/') + 1);
  size_t end = last.find(".so");
  return end == StringRef::npos ? last : last.substr(0, end);
}

std::string mpg::computeFingerprint(const Finding &finding, StringRef path) {
  std::string parts = idText(finding.id);
  for (StringRef part :
       {StringRef(finding.sub), StringRef(finding.where.symbol),
        StringRef(finding.where.section), getLibrary(finding.via)})
    parts += '\0' + part.str();
  parts += '\0' + withoutNumbers(finding.field);
  parts += '\0' + withoutNumbers(finding.title);
  // An empty path means "in any file", and is not the current folder.
  parts += '\0' + (path.empty() ? std::string() : plainPath(path));
  std::string digits = utohexstr(xxh3_64bits(parts), /*LowerCase=*/true);
  return std::string(16 - digits.size(), '0') + digits;
}

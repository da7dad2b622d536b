// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SourceText.h.

#include "Ocl/SourceText.h"
#include "Ocl/OclReader.h"
#include "Support/Files.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

size_t mpg::findOcl(StringRef line, bool fixedForm) {
  size_t at = fixedForm ? 0 : line.find_first_not_of(" \t");
  if (at >= line.size() ||
      !StringRef(fixedForm ? "!Cc*" : "!").contains(line[at]))
    return StringRef::npos;
  ++at;
  // "C OCL" is an old way to write it.
  if (fixedForm)
    at = std::min(line.find_first_not_of(" ", at), line.size());
  if (!line.substr(at).starts_with_insensitive("ocl"))
    return StringRef::npos;
  at += 3;
  if (at < line.size() && line[at] != ' ' && line[at] != '\t' &&
      line[at] != '&')
    return StringRef::npos; // !OCLOCK is a comment
  return at;
}

static StringRef findSuffix(StringRef path) {
  StringRef suffix = sys::path::extension(path);
  suffix.consume_front(".");
  return suffix;
}

static bool isOneOf(StringRef suffix, ArrayRef<StringRef> known) {
  return is_contained(known, suffix);
}

bool mpg::hasFixedForm(StringRef path) {
  return isOneOf(findSuffix(path), {"f", "F", "for", "FOR", "fpp", "FPP"});
}

bool mpg::hasFreeForm(StringRef path) {
  return isOneOf(findSuffix(path),
                 {"f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08"});
}

bool mpg::isPreprocessed(StringRef path) {
  StringRef suffix = findSuffix(path);
  return !suffix.empty() && isUpper(suffix.front());
}

namespace {

class TextReader {
public:
  TextReader(StringRef path, const FortranOptions &options);

  void addFile(StringRef path, StringRef text);
  SourceText finish() { return std::move(source); }

private:
  void addLine(StringRef line);
  void addDirective(StringRef text);
  bool addMarker(StringRef text);
  void include(StringRef rest, bool byIncludeLine);
  std::string findFile(StringRef name, bool inQuotes) const;
  unsigned fileNumber(StringRef name);

  const FortranOptions &options;
  SourceText source;
  Conditions conditions;
  std::string directive; ///< one that goes on in the next line
  std::string folder;    ///< of the file that is being read
  LinePlace place = {0, 0};
  unsigned mainLine = 0, depth = 0;
  bool byIncludeLine = false;
  uint64_t bytes = 0; ///< of all included text
};

} // namespace

TextReader::TextReader(StringRef path, const FortranOptions &options)
    : options(options) {
  source.path = path.str();
  source.fixedForm = options.fixedForm;
  for (const auto &[name, value] : options.macros)
    if (value)
      conditions.define(name, *value);
    else
      conditions.undefine(name);
}

unsigned TextReader::fileNumber(StringRef name) {
  name.consume_front("./");
  auto found = llvm::find(source.files, name);
  if (found == source.files.end())
    found = source.files.insert(found, name.str());
  return unsigned(found - source.files.begin());
}

void TextReader::addFile(StringRef path, StringRef text) {
  LinePlace outerPlace = place;
  std::string outerFolder = folder;
  place = {fileNumber(path), 0};
  folder = sys::path::parent_path(path).str();
  text.consume_front("\xef\xbb\xbf"); // some editors mark UTF-8
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    ++place.line;
    if (!depth)
      mainLine = place.line;
    addLine(line.rtrim('\r'));
    text = rest;
  }
  place = outerPlace;
  folder = outerFolder;
}

/// The text of an include line after its first word: the name in quotes. Empty
/// if it is something else.
static StringRef includedName(StringRef rest, bool takesBrackets) {
  char quote = rest.empty() ? 0 : rest.front();
  if (takesBrackets && quote == '<')
    quote = '>';
  else if (quote != '"' && quote != '\'')
    return "";
  return rest.drop_front().take_until([&](char c) { return c == quote; });
}

void TextReader::addLine(StringRef line) {
  StringRef trimmed = line.ltrim();
  if (!directive.empty() || trimmed.starts_with("#")) {
    directive += trimmed;
    if (!StringRef(directive).consume_back("\\")) {
      addDirective(
          StringRef(std::exchange(directive, "")).drop_front().ltrim());
      return;
    }
    directive.pop_back();
    return;
  }
  if (!conditions.isActive())
    return;
  source.lines.push_back({line, place, mainLine, depth > 0, byIncludeLine});
  if (trimmed.consume_front_insensitive("include"))
    include(trimmed.ltrim(), true);
}

/// `#line 12 "a.F90"` as C has it, `#line "a.F90" 12` as flang -E writes it,
/// `# 12 "a.F90" 1` as preprocessors do: the place of the next line.
bool TextReader::addMarker(StringRef text) {
  bool named = text.consume_front("line");
  text = text.ltrim();
  StringRef file;
  if (named && text.starts_with("\"")) {
    file = includedName(text, false);
    text = text.drop_front(std::min(file.size() + 2, text.size())).ltrim();
  }
  unsigned line;
  if (text.consumeInteger(10, line) || line == 0)
    return false;
  if (file.empty())
    file = includedName(text.ltrim(), false);
  place.line = line - 1;
  if (!file.empty())
    place.file = fileNumber(file);
  return true;
}

void TextReader::addDirective(StringRef text) {
  if (!conditions.isActive() || !addMarker(text))
    conditions.addDirective(text);
  if (conditions.isActive() && text.consume_front("include"))
    include(text.ltrim(), false);
}

std::string TextReader::findFile(StringRef name, bool inQuotes) const {
  SmallVector<StringRef, 8> folders;
  if (inQuotes)
    folders.push_back(folder);
  append_range(folders, options.includeFolders);
  for (StringRef candidate : folders) {
    SmallString<128> path(candidate);
    sys::path::append(path, name);
    if (sys::fs::is_regular_file(path))
      return path.str().str();
  }
  return "";
}

void TextReader::include(StringRef rest, bool isIncludeLine) {
  constexpr unsigned deepest = 32;
  StringRef name = includedName(rest, !isIncludeLine);
  if (name.empty() || depth == deepest)
    return;
  std::string path = findFile(name, !rest.starts_with("<"));
  if (path.empty())
    return;
  auto buffer = readUnmapped(path);
  if (!buffer || (bytes += (*buffer)->getBufferSize()) > maxInputBytes)
    return;
  bool outer = std::exchange(byIncludeLine, byIncludeLine || isIncludeLine);
  source.included.push_back(std::move(*buffer));
  ++depth;
  addFile(path, source.included.back()->getBuffer());
  --depth;
  byIncludeLine = outer;
}

SourceText mpg::readSourceText(StringRef path, StringRef text,
                               const FortranOptions &options) {
  TextReader reader(path, options);
  reader.addFile(path, text);
  return reader.finish();
}

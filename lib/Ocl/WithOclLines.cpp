// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the OCL lines of sources into what flang -E made of them. flang keeps
// the order of lines, and says by line markers where each is from; so the two
// texts are walked together, and an OCL line goes in front of the first line
// that comes after it in the source.

#include "Ocl/SourceText.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace mpg;

namespace {

class Merger {
public:
  explicit Merger(ArrayRef<SourceText> sources);

  void write(raw_ostream &out, StringRef text);

private:
  struct Line {
    const SourceText *source;
    const TextLine *line;
  };

  void addText(raw_ostream &out, StringRef line);
  void writeOcl(raw_ostream &out, const Line &line);
  void flushUntil(raw_ostream &out, size_t end);
  void readMarker(StringRef line);
  size_t find() const;

  std::vector<Line> lines; ///< of all sources, with the OCL lines
  StringMap<DenseMap<unsigned, std::vector<size_t>>> places; ///< in lines
  size_t next = 0; ///< the first one that has not come yet
  StringRef file;  ///< of the line of the text
  unsigned number = 0;
  bool isMarked =
      true; ///< the markers written so far give the next line's place
};

} // namespace

Merger::Merger(ArrayRef<SourceText> sources) {
  for (const SourceText &source : sources)
    for (const TextLine &line : source.lines)
      // flang -E leaves include lines alone: their text comes later.
      if (!line.byIncludeLine) {
        places[source.files[line.place.file]][line.place.line].push_back(
            lines.size());
        lines.push_back({&source, &line});
      }
}

/// `#line "a.F90" 12`, `#line 12`
void Merger::readMarker(StringRef line) {
  line.consume_front("#line ");
  if (line.consume_front("\"")) {
    std::tie(file, line) = line.split('"');
    file.consume_front("./");
  }
  line.trim().getAsInteger(10, number);
  --number;
}

/// The line of the text among those that have not come yet; the end if it is
/// none of them.
size_t Merger::find() const {
  auto ofFile = places.find(file);
  if (ofFile == places.end())
    return lines.size();
  auto found = ofFile->second.find(number);
  if (found == ofFile->second.end())
    return lines.size();
  auto place = llvm::lower_bound(found->second, next);
  return place == found->second.end() ? lines.size() : *place;
}

void Merger::writeOcl(raw_ostream &out, const Line &line) {
  size_t start = findOcl(line.line->text, line.source->fixedForm);
  StringRef text = line.line->text.substr(start);
  LinePlace place = line.line->place;
  out << "#line \"" << line.source->files[place.file] << "\" " << place.line
      << "\n";
  // Preprocessed text may be read with 72 columns, whatever the source has.
  constexpr size_t columns = 72 - StringRef("!OCL&").size();
  out << "!OCL";
  while (line.source->fixedForm && text.size() > columns) {
    out << text.take_front(columns) << "\n!OCL&";
    text = text.drop_front(columns);
  }
  out << text << "\n";
  isMarked = false;
}

void Merger::flushUntil(raw_ostream &out, size_t end) {
  for (; next < end; ++next)
    if (findOcl(lines[next].line->text, lines[next].source->fixedForm) !=
        StringRef::npos)
      writeOcl(out, lines[next]);
}

void Merger::addText(raw_ostream &out, StringRef line) {
  if (line.starts_with("#line ")) {
    readMarker(line);
    isMarked = true;
    out << line << "\n";
    return;
  }
  ++number;
  bool isContinuation = line.size() > 5 && line[5] == '&';
  if (!line.trim().empty() && !isContinuation) {
    size_t found = find();
    if (found != lines.size()) {
      flushUntil(out, found);
      ++next;
    }
  }
  if (!isMarked)
    out << "#line \"" << file << "\" " << number << "\n";
  isMarked = true;
  out << line << "\n";
}

void Merger::write(raw_ostream &out, StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    addText(out, line);
    text = rest;
  }
  flushUntil(out, lines.size());
}

void mpg::writeWithOclLines(raw_ostream &out, StringRef preprocessed,
                            ArrayRef<SourceText> sources) {
  Merger(sources).write(out, preprocessed);
}

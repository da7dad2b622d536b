// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OclReader.h. A statement is only known to be complete when the next
// one begins, because fixed form marks a continuation on its second line; so
// the reader holds the open statement, and one open OCL line.

#include "Ocl/OclReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

using namespace llvm;
using namespace mpg;

namespace {

class LineReader {
public:
  explicit LineReader(const FortranOptions &options) : options(options) {}

  void addLine(StringRef line);
  std::vector<FortranLine> finish();

private:
  void addFreeLine(StringRef line);
  void addFixedLine(StringRef line);
  bool addOclLine(StringRef line);
  void addText(StringRef line, size_t start);
  void append(FortranLine &target, char c, size_t offset);
  void endStatement();
  void endOcl();

  const FortranOptions &options;
  std::vector<FortranLine> lines;
  FortranLine statement, ocl;
  unsigned lineNumber = 0;
  char quote = 0;         ///< of the character literal that is open
  bool continued = false; ///< free form: the statement goes on
  bool oclContinued = false;
};

} // namespace

void LineReader::append(FortranLine &target, char c, size_t offset) {
  target.text += c;
  target.places.push_back({lineNumber, unsigned(offset + 1)});
}

static void moveTo(std::vector<FortranLine> &lines, FortranLine &line) {
  // Blanks at the end would count as lines of the statement.
  while (!line.text.empty() && isSpace(line.text.back())) {
    line.text.pop_back();
    line.places.pop_back();
  }
  if (!line.text.empty())
    lines.push_back(std::move(line));
  line = FortranLine();
}

void LineReader::endStatement() {
  moveTo(lines, statement);
  quote = 0;
  continued = false;
}

void LineReader::endOcl() {
  ocl.isOcl = true;
  moveTo(lines, ocl);
  oclContinued = false;
}

bool LineReader::addOclLine(StringRef line) {
  size_t at = findOcl(line, options.fixedForm);
  if (at == StringRef::npos)
    return false;
  size_t first = line.find_first_not_of(" \t", at);
  bool marked = first != StringRef::npos && line[first] == '&';
  if (!oclContinued && !marked)
    endOcl();
  oclContinued = false;
  // Within a statement that continues, it still comes before the next one.
  for (size_t i = marked ? first + 1 : at; i < line.size(); ++i) {
    if (line[i] == '!')
      break;
    append(ocl, line[i], i);
  }
  size_t last = StringRef(ocl.text).find_last_not_of(" \t");
  if (last != StringRef::npos && ocl.text[last] == '&') {
    ocl.text[last] = ' ';
    oclContinued = true;
  }
  return true;
}

/// Adds what \p line says from \p start on to the statement: up to a comment,
/// and with statements ended by semicolons.
void LineReader::addText(StringRef line, size_t start) {
  for (size_t i = start; i < line.size(); ++i) {
    char c = line[i];
    if (quote) {
      if (c == quote)
        quote = 0;
    } else if (c == '!') {
      break;
    } else if (c == ';') {
      endStatement();
      continue;
    } else if (c == '\'' || c == '"') {
      quote = c;
    }
    append(statement, c, i);
  }
}

void LineReader::addFreeLine(StringRef line) {
  size_t first = line.find_first_not_of(" \t");
  // Comments and empty lines may stand within a statement.
  if (first == StringRef::npos || line[first] == '!')
    return;
  if (!continued)
    endStatement();
  bool marked = continued && line[first] == '&';
  continued = false;
  if (!marked && !statement.text.empty())
    append(statement, ' ', first); // a token ends with its line
  addText(line, marked ? first + 1 : first);
  size_t last = StringRef(statement.text).find_last_not_of(" \t");
  if (last == StringRef::npos || statement.text[last] != '&')
    return;
  statement.text.resize(last);
  statement.places.resize(last);
  continued = true;
}

void LineReader::addFixedLine(StringRef line) {
  if (options.fixedLineLength && line.size() > options.fixedLineLength)
    line = line.take_front(options.fixedLineLength);
  size_t first = line.find_first_not_of(" \t");
  if (first == StringRef::npos || StringRef("CcDd*!").contains(line[0]) ||
      (line[first] == '!' && first != 5))
    return;
  // A tab stands for the columns of the label.
  size_t tab = line.take_front(6).find('\t');
  size_t text = tab == StringRef::npos ? 6 : tab + 1;
  bool goesOn = false;
  if (tab == StringRef::npos)
    goesOn = line.size() > 5 && line[5] != ' ' && line[5] != '0';
  else if (text < line.size() && line[text] >= '1' && line[text] <= '9')
    goesOn = ++text;
  if (!goesOn)
    endStatement();
  addText(line, text);
}

void LineReader::addLine(StringRef line) {
  ++lineNumber;
  StringRef kept = line;
  if (options.fixedForm && options.fixedLineLength)
    kept = line.take_front(options.fixedLineLength);
  if (findOcl(kept, options.fixedForm) != StringRef::npos) {
    // The statement before it is complete, unless it says that it goes on.
    if (!continued)
      endStatement();
    addOclLine(kept);
    return;
  }
  endOcl();
  if (options.fixedForm)
    addFixedLine(line);
  else
    addFreeLine(line);
}

std::vector<FortranLine> LineReader::finish() {
  endOcl();
  endStatement();
  return std::move(lines);
}

std::vector<FortranLine> mpg::readFortranLines(const SourceText &source,
                                               const FortranOptions &options) {
  LineReader reader(options);
  for (const TextLine &line : source.lines)
    reader.addLine(line.text);
  return reader.finish();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The map: one bar for each large page that a segment begins or ends in, to
// scale, so that a reader sees who shares a large page with whom. The space
// between is the same from end to end; it is one short row with its size.
//
// Positions are percentages: the map fills any width and its text keeps its
// size.

#include "Elf/HugeLayout.h"
#include "Render/HtmlParts.h"
#include "Support/Format.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

/// A program of 1,170 segments would fill pages.
constexpr size_t frameLimit = 40, segmentLimit = 64;

constexpr unsigned barHeight = 26, frameHeight = 66, otherHeight = 34;

/// A part of one look: where it begins and ends, and how it is filled.
struct Piece {
  uint64_t start, end;
  const char *style; ///< class of the style sheet
  unsigned segment;
};

class MapWriter {
public:
  MapWriter(raw_ostream &out, const FileReport &report, StringRef prefix)
      : out(out), layout(*report.facts.layout), prefix(prefix),
        huge(report.hugeBytes), isClean(report.findings.empty()) {}
  void write();

private:
  void collectPieces();
  void addPieces(const Segment &load, unsigned index);
  void collectFrames();
  void collectClashes();
  void writeSvg();
  void writeDescription();
  /// Each returns the height that it took.
  unsigned writeBetween(uint64_t from, uint64_t to, unsigned y);
  unsigned writeFrame(uint64_t frame, unsigned y);
  void writePieces(uint64_t frame, unsigned y);
  void writeNumbers(uint64_t frame, unsigned y);
  void writeEdges(uint64_t frame, unsigned y);
  void writeLegend();
  void writeSegments();
  bool isWritten(uint64_t frame) const;
  std::string percent(uint64_t offset) const;

  raw_ostream &out;
  /// The rows of the picture, whose height precedes them.
  std::string drawing;
  raw_string_ostream rows{drawing};
  const LayoutFacts &layout;
  StringRef prefix;
  uint64_t huge;
  bool isClean; ///< nothing is lost where segments share a page
  std::vector<Piece> pieces;
  std::set<uint64_t> frames; ///< addresses
  size_t framesLeftOut = 0;
  /// Large pages in which neighbours meet, with their labels, unless isClean.
  std::map<uint64_t, std::string> clashes;
};

} // namespace

static std::string permissions(const Segment &load) {
  return std::string("r") + (load.writable() ? "w" : "-") +
         (load.executable() ? "x" : "-");
}

/// Saturates as Segment::end() does.
static uint64_t fileEnd(const Segment &load) {
  uint64_t bytes = std::min(load.fileBytes, load.memoryBytes);
  return load.address + std::min(bytes, UINT64_MAX - load.address);
}

/// \p load in pieces of one look, cut where its contents change.
void MapWriter::addPieces(const Segment &load, unsigned index) {
  uint64_t relroStart = layout.relro ? layout.relro->address : 0,
           relroEnd = layout.relro ? layout.relro->end() : 0;
  std::vector<uint64_t> cuts = {load.address, load.end()};
  for (uint64_t cut : {fileEnd(load), relroStart, relroEnd})
    if (load.writable() && cut > load.address && cut < load.end())
      cuts.push_back(cut);
  std::sort(cuts.begin(), cuts.end());
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    uint64_t start = cuts[i];
    const char *style = load.executable() ? "code" : "constant";
    if (load.writable())
      style = load.executable()                         ? "rwx"
              : start >= relroStart && start < relroEnd ? "relro"
              : start >= fileEnd(load)                  ? "bss"
                                                        : "data";
    if (start < cuts[i + 1])
      pieces.push_back({start, cuts[i + 1], style, index});
  }
}

void MapWriter::collectPieces() {
  unsigned index = 0;
  for (const Segment &load : layout.loads) {
    if (index < segmentLimit)
      addPieces(load, index);
    ++index;
  }
}

/// Collects the large pages in which a piece begins or ends. The space between
/// two of them looks the same from end to end.
void MapWriter::collectFrames() {
  std::set<uint64_t> all;
  for (const Piece &piece : pieces) {
    all.insert(roundDown(piece.start, huge));
    all.insert(roundDown(piece.end - 1, huge));
  }
  for (uint64_t frame : all) {
    if (frames.size() < frameLimit || clashes.count(frame))
      frames.insert(frame);
    else
      ++framesLeftOut;
  }
}

bool MapWriter::isWritten(uint64_t frame) const {
  return any_of(pieces, [&](const Piece &piece) {
    return piece.start <= frame + (huge - 1) && piece.end > frame &&
           layout.loads[piece.segment].writable();
  });
}

void MapWriter::collectClashes() {
  for (OverlapPair pair : findOverlaps(layout.loads, huge)) {
    if (clashes.size() >= frameLimit)
      return;
    const Segment &first = layout.loads[pair.first],
                  &second = layout.loads[pair.second];
    uint64_t at = second.writable() || first.end() == 0 ? second.address
                                                        : first.end() - 1;
    std::string &text = clashes[roundDown(at, huge)];
    text += (text.empty() ? "" : "; ") + std::to_string(pair.first) + " and " +
            std::to_string(pair.second);
  }
}

std::string MapWriter::percent(uint64_t offset) const {
  return formatv("{0:f3}%", 100.0 * double(offset) / double(huge));
}

void MapWriter::writePieces(uint64_t frame, unsigned y) {
  for (const Piece &piece : pieces) {
    uint64_t start = std::max(piece.start, frame),
             last = std::min(piece.end - 1, frame + (huge - 1));
    if (start > last)
      continue;
    // Draws parts that are too small to be seen a little wider.
    uint64_t width = std::max(last - start + 1, huge / 256);
    start = std::min(start, frame + huge - width);
    const Segment &load = layout.loads[piece.segment];
    rows << "<rect class=\"" << piece.style << "\" x=\""
         << percent(start - frame) << "\" y=\"" << y << "\" width=\""
         << percent(width) << "\" height=\"" << barHeight
         << "\"><title>segment " << piece.segment << ", " << permissions(load)
         << ", " << piece.style << ": " << formatHex(piece.start) << " to "
         << formatHex(piece.end) << ", " << formatBytes(piece.end - piece.start)
         << "</title></rect>\n";
  }
}

/// The segments' numbers below the bar; those that are too close become one
/// text.
void MapWriter::writeNumbers(uint64_t frame, unsigned y) {
  struct Label {
    double at;
    std::string text;
    unsigned last;
  };
  std::vector<Label> labels;
  for (const Piece &piece : pieces) {
    uint64_t start = std::max(piece.start, frame),
             last = std::min(piece.end - 1, frame + (huge - 1));
    if (start > last ||
        (!labels.empty() && labels.back().last == piece.segment))
      continue;
    double at = 100.0 * (double(start - frame) + double(last - start) / 2) /
                double(huge);
    std::string number = std::to_string(piece.segment);
    double room = labels.empty() ? 0 : 3.0 + 1.5 * labels.back().text.size();
    if (labels.empty() || at - labels.back().at > room) {
      labels.push_back({at, number, piece.segment});
      continue;
    }
    labels.back().text += ", " + number;
    labels.back().last = piece.segment;
  }
  for (const Label &label : labels) {
    const char *anchor = label.at < 8    ? "start"
                         : label.at > 92 ? "end"
                                         : "middle";
    double at = label.at < 8 ? std::min(label.at, 4.0) : label.at;
    rows << "<text class=\"number\" text-anchor=\"" << anchor << "\" x=\""
         << format("%.2f%%", at) << "\" y=\"" << y << "\">" << label.text
         << "</text>\n";
  }
}

/// Where RELRO ends: up to there a large page would have to be read-only.
void MapWriter::writeEdges(uint64_t frame, unsigned y) {
  if (!layout.relro || layout.relro->memoryBytes == 0)
    return;
  uint64_t end = layout.relro->end();
  if (end <= frame || end - frame >= huge)
    return;
  rows << "<line class=\"edge\" x1=\"" << percent(end - frame) << "\" x2=\""
       << percent(end - frame) << "\" y1=\"" << y - 4 << "\" y2=\""
       << y + barHeight + 4 << "\"><title>end of RELRO, " << formatHex(end)
       << "</title></line>\n";
}

unsigned MapWriter::writeFrame(uint64_t frame, unsigned y) {
  unsigned bar = y + 18;
  auto clash = clashes.find(frame);
  bool isClash = clash != clashes.end();
  rows << "<text class=\"address\" x=\"0\" y=\"" << y + 12 << "\">"
       << formatHex(frame) << "</text>\n";
  if (isClash)
    rows << "<text class=\"clashtext\" text-anchor=\"end\" x=\"100%\" y=\""
         << y + 12 << "\">conflict: segments " << clash->second << "</text>\n";
  auto rect = [&](StringRef style) {
    rows << "<rect class=\"" << style << "\" x=\"0\" y=\"" << bar
         << "\" width=\"100%\" height=\"" << barHeight << "\"/>\n";
  };
  rect(isWritten(frame) ? "track claimed" : "track");
  writePieces(frame, bar);
  if (isClash)
    rect("clash");
  writeEdges(frame, bar);
  writeNumbers(frame, bar + barHeight + 13);
  return frameHeight;
}

/// The row between two others: whole frames of one segment, or nothing.
unsigned MapWriter::writeBetween(uint64_t from, uint64_t to, unsigned y) {
  const Piece *whole = nullptr;
  for (const Piece &piece : pieces)
    if (piece.start <= from && piece.end >= to)
      whole = &piece;
  uint64_t bytes = to - from;
  unsigned middle = y + 10;
  if (!whole) {
    rows << "<line class=\"gap\" x1=\"0\" x2=\"100%\" y1=\"" << middle
         << "\" y2=\"" << middle << "\"/>\n"
         << "<text class=\"gaptext\" text-anchor=\"middle\" x=\"50%\" y=\""
         << middle + 16 << "\">" << formatBytes(bytes)
         << (framesLeftOut ? " not drawn" : " without a segment")
         << "</text>\n";
    return otherHeight;
  }
  rows << "<rect class=\"" << whole->style << "\" x=\"0\" y=\"" << y
       << "\" width=\"100%\" height=\"12\"/>\n"
       << "<svg x=\"50%\" y=\"" << y << "\" width=\"24\" height=\"12\" "
       << "overflow=\"visible\" aria-hidden=\"true\"><path class=\"break\" "
       << "d=\"M-6 -2 L0 4 L-6 8 L0 14 M4 -2 L10 4 L4 8 L10 14\"/></svg>\n"
       << "<text class=\"gaptext\" text-anchor=\"middle\" x=\"50%\" y=\""
       << y + 26 << "\">" << bytes / huge << " more of segment "
       << whole->segment << ", " << formatBytes(bytes) << "</text>\n";
  return otherHeight;
}

void MapWriter::writeDescription() {
  out << "<title id=\"" << prefix << "-map-title\">Segments against large "
      << "pages of " << formatBytes(huge) << "</title>\n<desc id=\"" << prefix
      << "-map-text\">" << countWord(layout.loads.size(), "segment") << " in "
      << countWord(frames.size(), "drawn large page") << ".";
  for (const auto &[frame, text] : clashes)
    out << " Segments " << text << " conflict in the large page at "
        << formatHex(frame) << ".";
  if (findOverlaps(layout.loads, huge).empty())
    out << " No writable segment shares a large page with another segment.";
  out << "</desc>\n";
}

void MapWriter::writeSvg() {
  unsigned y = 2;
  std::optional<uint64_t> end;
  for (uint64_t frame : frames) {
    if (end && frame > *end)
      y += writeBetween(*end, frame, y);
    y += writeFrame(frame, y);
    end = frame + huge;
  }
  out << "<svg class=\"map\" role=\"img\" aria-labelledby=\"" << prefix
      << "-map-title " << prefix << "-map-text\" width=\"100%\" height=\"" << y
      << "\">\n";
  writeDescription();
  out << drawing << "</svg>\n";
}

void MapWriter::writeLegend() {
  const std::pair<const char *, const char *> looks[] = {
      {"code", "code"},
      {"constant", "read-only"},
      {"relro", "RELRO: read-only after start"},
      {"data", ".data: writable, in the file"},
      {"bss", ".bss: writable, zero at start"},
      {"rwx", "writable and executable"}};
  auto write = [&](StringRef shape, StringRef words) {
    out << "<li><svg width=\"16\" height=\"12\" aria-hidden=\"true\"><" << shape
        << "/></svg> " << words << "</li>\n";
  };
  out << "<ul class=\"legend\">\n";
  for (const auto &[style, words] : looks)
    if (any_of(pieces, [&, name = style](const Piece &piece) {
          return StringRef(piece.style) == name;
        }))
      write(formatv(R"(rect class="{0}" width="16" height="12")", style).str(),
            words);
  write(R"(rect class="track claimed" width="16" height="12")",
        "taken when writable data is rounded out to large pages");
  if (!clashes.empty())
    write(R"(rect class="clash" x="1" y="1" width="14" height="10")",
          "conflict");
  if (layout.relro)
    write(R"(line class="edge" x1="8" x2="8" y1="0" y2="12")", "end of RELRO");
  out << "</ul>\n";
}

void MapWriter::writeSegments() {
  out << "<details><summary>Segments</summary>\n";
  {
    HtmlTable table(out, "Segments",
                    {"row|Segment", "Access", "Start", "End", "size|In memory",
                     "size|In the file", "size|Alignment"});
    unsigned index = 0;
    for (const Segment &load : ArrayRef(layout.loads).take_front(segmentLimit))
      table.addRow({std::to_string(index++), htmlCode(permissions(load)),
                    htmlCode(formatHex(load.address)),
                    htmlCode(formatHex(load.end())),
                    formatBytes(load.memoryBytes), formatBytes(load.fileBytes),
                    formatBytes(load.align)});
  }
  if (layout.loads.size() > segmentLimit)
    out << "<p class=\"muted\">" << layout.loads.size() - segmentLimit
        << " more segments are neither listed nor drawn.</p>\n";
  out << "</details>\n";
}

void MapWriter::write() {
  collectPieces();
  if (pieces.empty())
    return;
  if (!isClean)
    collectClashes();
  collectFrames();
  out << "<figure>\n<figcaption>Address space in large pages of "
      << formatBytes(huge) << ", one bar each, to scale; the numbers are the "
      << "segments</figcaption>\n";
  writeSvg();
  writeLegend();
  if (framesLeftOut)
    out << "<p class=\"muted\">" << framesLeftOut
        << " more large pages in which a segment begins or ends are not "
           "drawn.</p>\n";
  writeSegments();
  out << "</figure>\n";
}

void mpg::writeHtmlMap(raw_ostream &out, const FileReport &report,
                       StringRef prefix) {
  if (report.facts.layout && !report.facts.layout->loads.empty())
    MapWriter(out, report, prefix).write();
}

StringRef mpg::htmlPatterns() {
  return R"svg(<svg class="patterns" aria-hidden="true"><defs>
<pattern id="bss" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="p-bss" width="6" height="6"/><path class="p-hatch" d="M-1 7 L7 -1"/></pattern>
<pattern id="clash" width="7" height="7" patternUnits="userSpaceOnUse"><path class="p-clash" d="M-1 -1 L8 8"/></pattern>
</defs></svg>
)svg";
}

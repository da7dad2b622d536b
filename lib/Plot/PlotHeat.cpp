// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Five shades: an eye tells no more of them apart. Neighbours of one shade in a
// row are one rectangle, so that a page stays small.

#include "Plot/PlotPanel.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <iterator>

using namespace llvm;
using namespace mpg;

static constexpr unsigned cellWidth = 10, cellHeight = 6;

/// 0: nothing at all; 4: more than three quarters.
static unsigned getShade(uint8_t percent) {
  return percent ? 1 + (std::min<unsigned>(percent, 100) - 1) / 25 : 0;
}

static void writeRow(raw_ostream &out, const std::vector<uint8_t> &row,
                     size_t number) {
  for (size_t begin = 0, end = 0; begin < row.size(); begin = end) {
    unsigned shade = getShade(row[begin]);
    while (end < row.size() && getShade(row[end]) == shade)
      ++end;
    if (shade)
      out << "<rect class=\"h" << shade << "\" x=\"" << begin * cellWidth
          << "\" y=\"" << number * cellHeight << "\" width=\""
          << (end - begin) * cellWidth << "\" height=\"" << cellHeight
          << "\"/>";
  }
}

void mpg::writeHeatMap(raw_ostream &out,
                       const std::vector<std::vector<uint8_t>> &rows,
                       const std::string &captionId) {
  if (rows.empty())
    return;
  size_t width = rows.front().size() * cellWidth;
  size_t height = rows.size() * cellHeight;
  out << "<svg class=\"plot heat\" role=\"img\" aria-labelledby=\"" << captionId
      << "\" viewBox=\"-1 -1 " << width + 2 << " " << height + 2 << "\">\n";
  for (size_t number = 0; number < rows.size(); ++number)
    writeRow(out, rows[number], number);
  out << "<rect class=\"frame\" x=\"0\" y=\"0\" width=\"" << width
      << "\" height=\"" << height << "\"/>\n</svg>\n";
}

void mpg::writeHeatKeys(raw_ostream &out) {
  static constexpr const char *names[] = {"none", "up to 25 %", "up to 50 %",
                                          "up to 75 %", "up to 100 %"};
  out << "<ul class=\"legend\">\n";
  for (unsigned shade = 0; shade < std::size(names); ++shade)
    writePlotKey(out, "heat",
                 "<rect class=\"h" + std::to_string(shade) +
                     "\" x=\"1\" y=\"1\" width=\"20\" height=\"12\"/>" +
                     "<rect class=\"frame\" x=\"1\" y=\"1\" width=\"20\" "
                     "height=\"12\"/>",
                 names[shade]);
  out << "</ul>\n";
}

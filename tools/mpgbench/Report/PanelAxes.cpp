// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PanelAxes.h.

#include "mpgbench/Report/PanelAxes.h"
#include "Render/HtmlParts.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

static void writeValueAxis(raw_ostream &out, const PanelDrawing &drawing,
                           const PanelFrame &frame) {
  std::string unit = shortLabel(drawing.unit, 20);
  out << "<text class=\"unit\" x=\"2\" y=\"11\">" << escapeHtml(unit)
      << (drawing.higherIsBetter ? ", higher is better" : ", lower is better")
      << (drawing.axis.isLogarithmic() ? "; logarithmic" : "") << "</text>\n";
  for (const AxisTick &tick : drawing.axis.ticks()) {
    double at = frame.y(tick.value);
    bool isBase = at > frame.bottom - 0.05;
    out << "<line class=\"" << (isBase ? "base" : "grid") << "\" x1=\""
        << svgNumber(frame.left) << "\" x2=\"" << svgNumber(frame.right)
        << "\" y1=\"" << svgNumber(at) << "\" y2=\"" << svgNumber(at)
        << "\"/>\n<text class=\"tick\""
        << " text-anchor=\"end\" x=\"" << svgNumber(frame.left - 5) << "\" y=\""
        << svgNumber(at + 4) << "\">" << tick.label << "</text>\n";
  }
}

static void writeCategoryLabels(raw_ostream &out, const PanelDrawing &drawing,
                                const PanelFrame &frame) {
  for (size_t i = 0; i < drawing.panel.categories.size(); ++i) {
    size_t room = frame.isRotated || drawing.panel.categories.size() == 1
                      ? PanelFrame::rotatedColumns
                      : size_t((frame.right - frame.left) /
                               double(drawing.panel.categories.size()) /
                               PanelFrame::letterWidth);
    std::string text = shortLabel(drawing.panel.categories[i], room);
    double at = frame.x(i), line = frame.bottom + PanelFrame::lineHeight + 2;
    out << "<text class=\"tick\" text-anchor=\""
        << (frame.isRotated ? "end" : "middle") << "\" x=\""
        << svgNumber(frame.isRotated ? at + 4 : at) << "\" y=\""
        << svgNumber(line) << "\"";
    if (frame.isRotated)
      out << " transform=\"rotate(-45 " << svgNumber(at + 4) << " "
          << svgNumber(line) << ")\"";
    out << ">" << escapeHtml(text);
    if (text != drawing.panel.categories[i])
      out << "<title>" << escapeHtml(drawing.panel.categories[i]) << "</title>";
    out << "</text>\n";
  }
}

/// A short line at every number, and as many labels, evenly spaced in the order
/// of the numbers, as fit.
static void writeNumberLabels(raw_ostream &out, const PanelDrawing &drawing,
                              const PanelFrame &frame) {
  size_t count = drawing.panel.numbers.size(), every = 1;
  std::vector<std::string> texts;
  for (const std::string &text : drawing.panel.categories)
    texts.push_back(shortLabel(text, PanelFrame::rotatedColumns));
  auto half = [&](size_t i) {
    return double(labelColumns(texts[i])) * PanelFrame::letterWidth / 2;
  };
  auto fits = [&] {
    for (size_t i = every; i < count; i += every)
      if (frame.x(i) - half(i) < frame.x(i - every) + half(i - every) + 5)
        return false;
    return true;
  };
  while (every < count && !fits())
    ++every;
  for (size_t i = 0; i < count; ++i) {
    bool hasLabel = i % every == 0;
    out << "<line class=\"base\" x1=\"" << svgNumber(frame.x(i)) << "\" x2=\""
        << svgNumber(frame.x(i)) << "\" y1=\"" << svgNumber(frame.bottom)
        << "\" y2=\"" << svgNumber(frame.bottom + (hasLabel ? 4 : 2))
        << "\"/>\n";
    if (!hasLabel)
      continue;
    double at =
        std::clamp(frame.x(i), half(i) + 1, PanelFrame::width - half(i) - 1);
    out << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << svgNumber(at)
        << "\" y=\"" << svgNumber(frame.bottom + PanelFrame::lineHeight + 3)
        << "\">" << escapeHtml(texts[i]) << "</text>\n";
  }
}

void mpg::writePanelAxes(raw_ostream &out, const PanelDrawing &drawing,
                         const PanelFrame &frame) {
  writeValueAxis(out, drawing, frame);
  if (drawing.panel.numbers.empty())
    writeCategoryLabels(out, drawing, frame);
  else
    writeNumberLabels(out, drawing, frame);
}

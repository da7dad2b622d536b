// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours of text have a contrast of at least 4.5 to what is behind them, in
// light and in dark; colours of maps and plots differ in lightness and pattern
// too, not in hue alone.

#include "Support/HtmlPage.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <cassert>

using namespace llvm;
using namespace mpg;

static constexpr char style[] = R"css(
:root{color-scheme:light dark;
--page:#fff;--card:#f6f8fa;--text:#1b1f24;--muted:#57606a;--line:#d5dae1;
--error:#b3261e;--warning:#855300;--note:#0b5cad;--clean:#1a6b34;
--error-tint:#fdecea;--warning-tint:#fdf3df;--note-tint:#e8f1fc;--clean-tint:#e6f4ea;
--track:#eef1f5;--code:#2f6db5;--constant:#93a4b8;--relro:#8a5cb8;--data:#d2691e;
--bss:#f4c08a;--rwx:#b3261e;--hatch:#b85a14}
@media(prefers-color-scheme:dark){:root{
--page:#10151b;--card:#171e26;--text:#e6eaef;--muted:#9fabb8;--line:#323c48;
--error:#ff968c;--warning:#f2b950;--note:#84bcff;--clean:#7fd196;
--error-tint:#3a1c1b;--warning-tint:#352a14;--note-tint:#16283d;--clean-tint:#15301f;
--track:#1e2630;--code:#4f8fd9;--constant:#66788c;--relro:#a67bd6;--data:#e0813a;
--bss:#5d3d1f;--rwx:#e5534b;--hatch:#d98a4b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1.5rem 1.25rem 4rem;background:var(--page);
color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
code,.address,.id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{font-size:.875em;overflow-wrap:anywhere;unicode-bidi:isolate}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.25rem;line-height:1.3;margin:0 0 .35rem;overflow-wrap:anywhere;unicode-bidi:isolate}
h3{font-size:1rem;margin:1.75rem 0 .5rem}
h4{font-size:1rem;line-height:1.45;margin:0;font-weight:600;overflow-wrap:anywhere}
p{margin:.35rem 0}
a{color:var(--note)}
.muted,figcaption,.facts{color:var(--muted)}
.facts{margin:.35rem 0 0}
section{margin-top:2.25rem;padding-top:1.75rem;border-top:1px solid var(--line)}
.verdict{font-size:1.05rem;margin:.5rem 0}
.badge{display:inline-block;padding:.05rem .55rem;border-radius:1rem;font-size:.8125rem;
font-weight:600;white-space:nowrap;border:1px solid}
.badge.error{color:var(--error);background:var(--error-tint)}
.badge.warning{color:var(--warning);background:var(--warning-tint)}
.badge.note{color:var(--note);background:var(--note-tint)}
.badge.clean{color:var(--clean);background:var(--clean-tint)}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line)}
thead th{color:var(--muted);font-weight:600;font-size:.8125rem;white-space:nowrap}
tbody th{font-weight:600}
.size{text-align:right;white-space:nowrap}
.size+:not(.size){padding-left:.75rem}
.meter{margin-right:.5rem}.meter .part{fill:var(--clean)}
tbody th code{font-weight:400}
.scroll tbody :first-child>code,.scroll tbody :first-child>a>code{display:inline-block;min-width:9rem}
.finding{margin:.75rem 0;padding:.8rem 1rem;background:var(--card);border:1px solid var(--line);
border-left:4px solid var(--line);border-radius:.4rem}
.finding.error{border-left-color:var(--error)}
.finding.warning{border-left-color:var(--warning)}
.finding.note{border-left-color:var(--note)}
.finding .id{margin-left:.25rem;font-weight:600}
.vendor{color:var(--muted);font-weight:400}
.vendor::before{content:"("}.vendor::after{content:")"}
.title{display:block;margin-top:.25rem}
.line{margin:.4rem 0 0}.line span{color:var(--muted)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1rem;margin:.6rem 0 0}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
dd p:first-child{margin-top:0}
table.lines{margin-top:.4rem;font-size:.875rem}
table.lines th,table.lines td{border:0;padding:.15rem .6rem .15rem 0}
table.lines th{width:1%;color:var(--muted);font-weight:400;white-space:nowrap}
.copy{display:block;padding:.15rem .5rem;background:var(--page);border:1px solid var(--line);
border-radius:.25rem;user-select:all;-webkit-user-select:all}
figure{margin:1.25rem 0 0}
figcaption{font-size:.875rem;margin-bottom:.5rem}
svg.map{display:block;overflow:visible}
svg text{fill:var(--text);font-size:12px}
svg .address{fill:var(--muted)}
svg .number{font-size:11px;fill:var(--muted)}
svg .gaptext{fill:var(--muted)}
svg .clashtext{fill:var(--error);font-weight:600}
.track{fill:var(--track);stroke:var(--line)}
.claimed{stroke:var(--data);stroke-dasharray:3 3}
.code{fill:var(--code)}.constant{fill:var(--constant)}.relro{fill:var(--relro)}
.data{fill:var(--data)}.rwx{fill:var(--rwx)}
.bss{fill:url(#bss)}
.clash{fill:url(#clash);stroke:var(--error);stroke-width:2}
.edge{stroke:var(--text);stroke-width:1.5;stroke-dasharray:3 2}
.gap{stroke:var(--line);stroke-width:2;stroke-dasharray:1 6;stroke-linecap:round}
.break{fill:none;stroke:var(--page);stroke-width:3}
.patterns{position:absolute;width:0;height:0}
.p-bss{fill:var(--bss)}.p-hatch{stroke:var(--hatch);stroke-width:1.2}
.p-clash{stroke:var(--error);stroke-width:1.5;opacity:.55}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;list-style:none;padding:0;margin:.75rem 0;
font-size:.8125rem;color:var(--muted)}
.legend svg{vertical-align:-1px}
summary{cursor:pointer;color:var(--note);padding:.2rem 0;width:max-content;max-width:100%}
ul.tree,ul.tree ul{list-style:none;margin:0;padding-left:1.1rem;border-left:1px solid var(--line)}
ul.tree{padding-left:.5rem;font-size:.9375rem}
.tree .missing{color:var(--error);font-weight:600}
.trouble{color:var(--error)}
.rules dt{margin-top:.6rem;color:var(--text);font-weight:600}
.rules dl{display:block}
.rules dd{max-width:46rem}
footer{margin-top:3rem;color:var(--muted);font-size:.875rem}
:focus-visible{outline:2px solid var(--note);outline-offset:2px}
:target{scroll-margin-top:1rem;outline:2px solid var(--note);outline-offset:3px}
@media(max-width:62rem){thead th,thead .size{white-space:normal}}
@media(max-width:34rem){body{padding:1rem .8rem 3rem}dl{display:block}dt{margin-top:.5rem}
.finding{padding:.7rem .75rem}table.lines th{padding-right:.4rem}.meter{display:none}
table{font-size:.875rem}th,td{padding-right:.5rem}}
@media print{body{max-width:none}.finding,figure{break-inside:avoid}}
)css";

std::string mpg::escapeHtml(StringRef text) {
  std::string safe = printable(text), escaped;
  if (!json::isUTF8(safe))
    safe = json::fixUTF8(safe);
  raw_string_ostream out(escaped);
  printHTMLEscaped(safe, out);
  return escaped;
}

void mpg::beginHtmlPage(raw_ostream &out, const HtmlHead &head) {
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
         "charset=\"utf-8\">\n<meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\">\n<meta "
         "name=\"color-scheme\" content=\"light dark\">\n<meta "
         "name=\"generator\" content=\""
      << escapeHtml(head.generator) << "\">\n<title>" << escapeHtml(head.title)
      << "</title>\n<style>" << style << head.style
      << "</style>\n</head>\n<body>\n"
      << head.shapes << "<header>\n<h1>" << escapeHtml(head.heading)
      << "</h1>\n";
}

void mpg::endHtmlPage(raw_ostream &out, StringRef footer) {
  out << "</main>\n";
  if (!footer.empty())
    out << "<footer><p>" << footer << "</p></footer>\n";
  out << "</body>\n</html>\n";
}

std::string mpg::htmlCode(StringRef text) {
  return "<code>" + escapeHtml(text) + "</code>";
}

static std::string attribute(StringRef name, StringRef value) {
  return value.empty() ? "" : (" " + name + "=\"" + value + "\"").str();
}

static std::string classAttribute(StringRef style) {
  return attribute("class", style);
}

HtmlSection::HtmlSection(raw_ostream &out, StringRef heading, StringRef id)
    : out(out) {
  out << "<section" << attribute("id", id) << ">\n<h2>" << escapeHtml(heading)
      << "</h2>\n";
}

HtmlSection::~HtmlSection() { out << "</section>\n"; }

void mpg::writeHtmlText(raw_ostream &out, StringRef text, StringRef style) {
  out << "<p" << classAttribute(style) << ">" << escapeHtml(text) << "</p>\n";
}

void mpg::writeHtmlList(raw_ostream &out, ArrayRef<std::string> lines) {
  if (lines.empty())
    return;
  out << "<ul>\n";
  for (const std::string &line : lines)
    out << "<li>" << escapeHtml(line) << "</li>\n";
  out << "</ul>\n";
}

HtmlTable::HtmlTable(raw_ostream &out, StringRef name,
                     ArrayRef<std::string> columns)
    : out(out) {
  out << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\""
      << escapeHtml(name) << "\"><table>\n<thead><tr>";
  for (StringRef column : columns) {
    auto [style, heading] = column.split('|');
    if (!column.contains('|'))
      std::swap(style, heading);
    styles.push_back(style.str());
    out << "<th scope=\"col\"" << classAttribute(style == "size" ? style : "")
        << ">" << escapeHtml(heading) << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
}

void HtmlTable::endCell() {
  if (!cells)
    return;
  out << (StringRef(styles[cells - 1]).starts_with("row") ? "</th>" : "</td>");
  if (cells < styles.size())
    return;
  out << "</tr>\n";
  cells = 0;
}

raw_ostream &HtmlTable::cell(StringRef style) {
  endCell();
  if (!cells)
    out << "<tr" << classAttribute(rowStyle) << ">";
  if (style.empty())
    style = styles[cells];
  ++cells;
  out << (style.consume_front("row") ? "<th scope=\"row\"" : "<td")
      << classAttribute(style.ltrim()) << ">";
  return out;
}

void HtmlTable::addRow(ArrayRef<std::string> markups, StringRef style) {
  rowStyle = style;
  for (StringRef markup : markups)
    cell() << markup;
}

HtmlTable::~HtmlTable() {
  endCell();
  assert(!cells && "one cell a column");
  out << "</tbody></table></div>\n";
}

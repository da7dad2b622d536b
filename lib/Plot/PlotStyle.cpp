// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How plots look: six colours with a shape each, in light and in dark.

#include "Plot/PlotPanel.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

StringRef mpg::plotStyle() {
  return R"css(
:root{--s0:#0067a5;--s1:#c44f00;--s2:#00805e;--s3:#ad4d86;--s4:#8a6d00;--s5:#2f7fae}
@media(prefers-color-scheme:dark){:root{--s0:#5ab0ee;--s1:#f58a4b;--s2:#3fc79a;--s3:#e59ac8;--s4:#e0bb3f;--s5:#9bd3f5}}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20.5rem),1fr));gap:0 1.5rem}
.plots figure{max-width:32.5rem;min-width:0}
figcaption strong{color:var(--text)}
svg.plot{display:block;width:100%;height:auto}
svg.plot text{font-size:11px}
svg.plot .unit,svg.plot .empty{fill:var(--muted)}
svg.plot .key{fill:var(--muted);font-weight:700}
.grid{stroke:var(--line);stroke-width:.7}
.base{stroke:var(--muted);stroke-width:1}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}
.other{--c:var(--muted)}
.point use{fill:var(--c);stroke:var(--page);stroke-width:.8}
.point.busy use{fill:var(--page);stroke:var(--c);stroke-width:1.5}
.interval{fill:none;stroke:var(--c);stroke-width:1.5}
.repetition{fill:var(--c);opacity:.45}
.curve{fill:none;stroke:var(--c);stroke-width:1.3;stroke-linejoin:round}
.guide line{stroke:var(--muted);stroke-width:1.4;stroke-dasharray:5 3}
.heat rect{fill:var(--s0);shape-rendering:crispEdges}.heat .h0{fill:none}.heat .h1{fill-opacity:.25}.heat .h2{fill-opacity:.5}.heat .h3{fill-opacity:.75}
.heat .frame{fill:none;stroke:var(--muted);stroke-width:.7}
@media(max-width:34rem){svg.plot{margin:0 -.2rem}}
)css";
}

StringRef mpg::plotShapes() {
  return R"svg(<svg class="patterns" aria-hidden="true"><defs>
<path id="shape0" d="M-3.7 0a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0 -7.4 0z"/>
<path id="shape1" d="M-3.3 -3.3h6.6v6.6h-6.6z"/>
<path id="shape2" d="M0 -4.5L4.4 3.2H-4.4z"/>
<path id="shape3" d="M0 -4.7L4.7 0L0 4.7L-4.7 0z"/>
<path id="shape4" d="M0 4.5L4.4 -3.2H-4.4z"/>
<path id="shape5" d="M-1.5 -4.3h3v2.8h2.8v3h-2.8v2.8h-3v-2.8h-2.8v-3h2.8z"/>
</defs></svg>
)svg";
}

void mpg::writePlotKey(raw_ostream &out, StringRef classes, StringRef inside,
                       StringRef text) {
  out << "<li><svg class=\"sample\" viewBox=\"0 0 22 14\" width=\"22\" "
         "height=\"14\" aria-hidden=\"true\"><g class=\""
      << classes << "\">" << inside << "</g></svg> " << text << "</li>\n";
}

std::string mpg::plotKeyShape(size_t series) {
  return "<use href=\"#" + seriesShape(series) + "\" x=\"11\" y=\"7\"/>";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the page of --html looks where it differs from mpgaudit's. Series differ
// in shape as well as in colour. The colours are those of Okabe and Ito, which
// people with any kind of colour blindness can tell apart, made darker or
// lighter until they have a contrast of 4 to what is behind them.

#include "mpgbench/Report/BenchPlot.h"

using namespace llvm;

StringRef mpg::benchStyle() {
  return R"css(
:root{--s0:#0067a5;--s1:#c44f00;--s2:#00805e;--s3:#ad4d86;--s4:#8a6d00;--s5:#2f7fae}
@media(prefers-color-scheme:dark){:root{--s0:#5ab0ee;--s1:#f58a4b;--s2:#3fc79a;--s3:#e59ac8;--s4:#e0bb3f;--s5:#9bd3f5}}
.banner{margin:.9rem 0;padding:.7rem 1rem;background:var(--warning-tint);border:1px solid var(--warning);
border-left-width:4px;border-radius:.4rem}
.banner strong{color:var(--warning)}
.badge.none{color:var(--muted);background:var(--card)}
.contents{display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;list-style:none;padding:0;margin:.6rem 0 0}
main>h2{margin-top:1.75rem}
.sentence{min-width:14rem}
.picture{white-space:nowrap}
.ratio{display:block;margin-top:.25rem}
.ratio .one{stroke:var(--muted);stroke-dasharray:2 2}
.ratio .span{stroke:var(--s0);stroke-width:2.5;stroke-linecap:round}
.ratio circle{fill:var(--s0)}
.machine dd{font-variant-numeric:tabular-nums}
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
.keybox{display:inline-block;min-width:1.35rem;text-align:center;font-weight:700;font-size:.8125rem;
color:var(--muted);border:1px dashed var(--muted);border-radius:.25rem}
.isbusy{color:var(--muted)}
.absent{font-size:.9375rem}
.backing{white-space:nowrap}
.notes{min-width:8rem;overflow-wrap:anywhere}
td,tbody th{font-variant-numeric:tabular-nums}
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

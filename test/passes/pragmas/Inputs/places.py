#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a source with every directive at every place of some function bodies, and
# with begins and ends at two places: a function for each. With "few" only some of the
# directives.
#
#   places.py c|openmp|cxx [few] > source
import pathlib
import sys

HEADS = {
    "c": "int f%d(double *a, double *b, int n, int w)",
    "openmp": "int f%d(double *a, double *b, int n, int w)",
    "cxx": "template <int N> int f%d(double *a, double *b, int n, int w, Grid &grid)",
}
PRELUDE = """double table[64];
static double *moving;
enum { FOUR = 4 };
static const int FIVE = 5;
#define SIX (6)
"""
CXX_PRELUDE = """namespace ns { double tab[9]; }
struct Grid { double table[8]; double *data; };
"""
DIRECTIVES = [
    "statement scache_isolate_way L2=10 L1=2",
    "statement scache_isolate_way L2=10, L1=2,",
    "statement scache_isolate_way L1=w",
    "statement scache_isolate_way L2=FOUR L1=FIVE",
    "statement scache_isolate_way L2=unknown",
    "statement scache_isolate_way",
    "statement scache_isolate_assign a, b",
    "statement scache_isolate_assign (a b)",
    "statement scache_isolate_assign n",
    "statement scache_isolate_assign sum local row i j t own moving",
    "statement scache_isolate_assign a[0], *b, grid.data, ns::tab, one->a",
    "statement scache_isolate_assign",
    "statement end_scache_isolate_assign",
    "statement end_scache_isolate_way extra",
    "statement cache_sector_size(w,n)",
    "statement cache_sector_size 2 SIX",
    "statement cache_sector_size(1,1,-4,20)",
    "statement cache_subsector_assign table",
    "statement end_cache_subsector",
    "statement end_cache_sector_size",
    "procedure scache_isolate_way L2=4",
    "procedure scache_isolate_way L2=w",
    "procedure scache_isolate_assign a, local, table",
    "procedure noalias",
    "loop prefetch_read",
]
PAIRS = [
    ("scache_isolate_way L2=w", "end_scache_isolate_way"),
    ("scache_isolate_assign a local own", "end_scache_isolate_assign"),
]


def main():
    kind = sys.argv[1]
    bodies = pathlib.Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    text = "\n" + bodies.split(f"\n%%% {kind}\n")[1].split("\n%%% ")[0].rstrip("\n") + "\n"
    parts = text.split("@")
    number = 0
    print(PRELUDE + (CXX_PRELUDE if kind == "cxx" else ""))
    if kind == "cxx":
        print("template <int N> constexpr int twice(int n) {")
        print("#pragma statement scache_isolate_way L2=3")
        print("  return 2 * n;")
        print("#pragma statement end_scache_isolate_way")
        print("}\nstatic_assert(twice<1>(4) == 8);")

    def write(lines):
        nonlocal number
        number += 1
        body = parts[0]
        for place, part in enumerate(parts[1:]):
            body += "".join("\n#pragma " + line for line in lines.get(place, []))
            body += "\n" + part.lstrip("\n")
        print(HEADS[kind] % number, "{" + body + "}")
        if kind == "cxx":
            print(
                "template int f%d<2>(double *, double *, int, int, Grid &);\n"
                "template int f%d<7>(double *, double *, int, int, Grid &);"
                % (number, number)
            )

    places = range(len(parts) - 1)
    step = 8 if "few" in sys.argv else 1
    for place in places:
        for line in DIRECTIVES[::step]:
            write({place: [line]})
        for begin, end in PAIRS:
            for last in {place + 1, place + 3, place + 4, places[-1]}:
                if place < last <= places[-1]:
                    write({place: ["statement " + begin], last: ["statement " + end]})


main()

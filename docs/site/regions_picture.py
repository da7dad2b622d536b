#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""regions_picture.py [--check]: docs/regions.svg, made from the table in comparison.md.

test/bench/regions.py printed that table. The picture has a row for each set-up and a
field for each region of the program; the share on large pages fills the field. --check
writes nothing and ends with 1 if the picture is not what the table says.
"""

import html
import re
import sys
from pathlib import Path
from typing import List

DOCS = Path(__file__).resolve().parents[1]
PICTURE = DOCS / "regions.svg"
LEFT, TOP, WIDTH, HEIGHT, GAP = 256, 60, 72, 26, 4
REGIONS = [".data", ".bss", "block", "blocks", "stack", "thread-stack"]
NAMES = {"block": "heap, one", "blocks": "heap, many", "thread-stack": "threads'"}
OURS, OTHERS = "#00805e", "#5b6b7d"


def parse_rows(page: str) -> List[List[str]]:
    """The cells of the first table that begins with "set-up": its head, its rows."""
    table = re.search(r"^\| set-up .*\n\|[-|]*\n((?:\|.*\n)+)", page, re.MULTILINE)
    if not table:
        sys.exit("regions_picture.py: error: no table of set-ups in comparison.md")
    return [[cell.strip() for cell in line.strip("| \n").split("|")]
            for line in table[0].splitlines() if not line.startswith("|--")]


def field(x: int, y: int, cell: str, ours: bool) -> str:
    """A field of a row, filled as far as the median says."""
    share = float(cell.split()[0])
    colour = OURS if ours else OTHERS
    inside = share > 55
    return (f'<rect x="{x}" y="{y}" width="{WIDTH - GAP}" height="{HEIGHT - GAP}" '
            f'fill="#e3e7ec"/>'
            f'<rect x="{x}" y="{y}" width="{(WIDTH - GAP) * share / 100:.1f}" '
            f'height="{HEIGHT - GAP}" fill="{colour}"/>'
            f'<text x="{x + (WIDTH - GAP) / 2:.0f}" y="{y + 15}" text-anchor="middle" '
            f'fill="{"#fff" if inside else "#333"}">{cell.split()[0]}</text>')


def picture(page: str) -> str:
    head, *rows = parse_rows(page)
    width, height = LEFT + WIDTH * len(REGIONS) + 8, TOP + HEIGHT * len(rows) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" font-family="sans-serif" '
        'font-size="12">',
        "<title>Percent of a program's memory on large pages</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        '<text x="8" y="20" font-size="14" font-weight="bold" fill="#222">'
        "Percent of each region on large pages</text>"]
    for at, region in enumerate(REGIONS):
        parts.append(f'<text x="{LEFT + at * WIDTH + (WIDTH - GAP) // 2}" y="{TOP - 10}" '
                     f'text-anchor="middle" fill="#222">{NAMES.get(region, region)}</text>')
    for number, row in enumerate(rows):
        y, ours = TOP + number * HEIGHT, "mpg" in row[0]
        parts.append(f'<text x="8" y="{y + 15}" fill="#222"'
                     f'{" font-weight=" + chr(34) + "bold" + chr(34) if ours else ""}>'
                     f"{html.escape(row[0])}</text>")
        parts += [field(LEFT + at * WIDTH, y, row[head.index(region)], ours)
                  for at, region in enumerate(REGIONS)]
    return "\n".join(parts) + "\n</svg>\n"


def main() -> int:
    made = picture((DOCS / "comparison.md").read_text("utf-8"))
    if "--check" in sys.argv[1:]:
        same = PICTURE.exists() and PICTURE.read_text("utf-8") == made
        print("regions.svg: " + ("as comparison.md says" if same else "is not what "
              "comparison.md says; docs/site/regions_picture.py makes it"))
        return 0 if same else 1
    PICTURE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

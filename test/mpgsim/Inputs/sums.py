"""sums.py MERGED RANK...: are the counts of MERGED the sums of those of the files?

All ranks did the same here, so that arrays and loops have the same order. Skips times and values
that are not counts.
"""

import json
import sys
from typing import Any

PASSED = {"bands", "busiest", "gains", "ranks", "pageBytes", "lineBytes", "maps", "line", "status"}


def compare(merged: Any, ranks: Any, where: str) -> int:
    if isinstance(merged, dict):
        return sum(compare(merged[key], [rank[key] for rank in ranks], f"{where}.{key}")
                   for key in merged if key not in PASSED)
    if isinstance(merged, list):
        return sum(compare(one, [rank[at] for rank in ranks], f"{where}[{at}]")
                   for at, one in enumerate(merged))
    if isinstance(merged, bool) or not isinstance(merged, int):
        return 0
    if merged != sum(ranks):
        sys.exit(f"{where}: {merged}, the files have {ranks}")
    return 1


merged, *ranks = [json.load(open(path, encoding="utf-8")) for path in sys.argv[1:]]
print(f"{compare(merged, ranks, '')} counts are {len(ranks)} times as large")

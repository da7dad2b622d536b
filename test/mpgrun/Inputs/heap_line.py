"""heap_line.py REPORT.json...: the heap of each report, in one line."""

import json
import sys

MIB = 1 << 20

for path in sys.argv[1:]:
    with open(path) as file:
        report = json.load(file)
    sizes = {region["region"]: region for region in report["regions"]}
    heap = sizes.get("heap", {"bytes": 0, "huge_bytes": 0, "reason": ""})
    others = sum(sizes[name]["bytes"] for name in ("mmap", "thread-heap") if name in sizes)
    share = 100 * heap["huge_bytes"] // max(heap["bytes"], 1)
    print(
        f"heap {heap['bytes'] // MIB} MiB, {share} % large, others {others // MIB} MiB, "
        f"peak {report['peak_hugetlb_bytes'] // MIB} MiB, {report['source']}, "
        f"reason '{heap['reason']}', codes {[m['code'] for m in report['messages']]}"
    )

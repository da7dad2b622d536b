#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_hardware_ids.py ROOT: does every HW:id have its entry, and every entry a reader?

Code cites numbers of hardware and operating systems as HW:name; the entries are the first cells of
the tables in docs/hardware.md. Prints one line for each cited id that has no entry or two, and for
each entry that nothing cites, then a count. Exit status 0 when there is none.
"""

import collections
import pathlib
import re
import sys

from mpgtest.run import finish

FOLDERS = ("lib", "tools", "runtime", "passes", "docs", "linker-scripts")
SUFFIXES = {".cpp", ".h", ".def", ".inc", ".md", ".ld", ".td", ".yaml"}
CITED = re.compile(r"HW:([a-z0-9]+(?:-[a-z0-9]+)*)")
ENTRY = re.compile(r"^\| HW:([a-z0-9-]+) \|", re.MULTILINE)


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    entries = collections.Counter(ENTRY.findall((root / "docs" / "hardware.md").read_text("utf-8")))
    found = [f"docs/hardware.md: HW:{name} has {count} entries"
             for name, count in entries.items() if count > 1]
    cited = 0
    read = set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or path.name == "hardware.md":
                continue
            for name in CITED.findall(path.read_text("utf-8")):
                cited += 1
                read.add(name)
                if name not in entries:
                    found.append(f"{path.relative_to(root)}: HW:{name} has no "
                                 "entry in docs/hardware.md")
    found += [f"docs/hardware.md: nothing cites HW:{name}" for name in sorted(set(entries) - read)]
    return finish(found, f"{cited} citations, {len(entries)} entries, {{}} wrong", cited)


sys.exit(main())

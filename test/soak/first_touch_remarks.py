# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the remarks that a compiler of LLVM saves (-fsave-optimization-record).

Only the remarks of the pass named mpg. LLVM writes the YAML files in one form, so no YAML library
is needed: one document a remark, one line a field.
"""

import dataclasses
import pathlib
import re
from typing import Dict, Iterable, List

# Where data lies; the other remarks of the pass are about the loops.
PLACEMENT = {"SerialFirstTouch", "NotBlock", "PlacementTooFine",
             "NonStaticSchedule", "MismatchedSchedules", "SharedRead",
             "SerialRows"}
REPAIRS = {"FirstTouchInserted", "InitParallelised"}
PARALLEL = {"FalseSharing", "SamePow2Arrays", "CoarseLoop", "SmallParallelRegion", "BrkHeap"}
ALL = PLACEMENT | REPAIRS | PARALLEL


@dataclasses.dataclass(frozen=True)
class Remark:
    kind: str  # Passed, Missed or Analysis
    name: str
    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.name}: {self.text}"


def unquoted(word: str) -> str:
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        inner = word[1:-1]
        return inner.replace("''", "'") if word[0] == "'" else inner
    return word


def find_remark(document: str) -> Remark:
    kind = re.match(r"--- !(\w+)", document)[1]
    head, _, arguments = document.partition("\nArgs:")
    # LLVM breaks lines after 80 columns, and only where there is a space.
    head = re.sub(r",\s*\n\s+", ", ", head)
    fields: Dict[str, str] = dict(re.findall(r"(?m)^(\w+): +(.*)$", head))
    where = re.search(r"File: (.*?), Line: (\d+)", fields.get("DebugLoc", ""))
    arguments = re.sub(r"\n {6,}(?=\S)", " ", arguments)
    values = re.findall(r"(?m)^  - \w+: *(.*)$", arguments)
    return Remark(kind, unquoted(fields.get("Name", "")),
                  unquoted(where[1]) if where else "",
                  int(where[2]) if where else 0,
                  unquoted(fields.get("Function", "")),
                  "".join(unquoted(value) for value in values))


def read_remarks(paths: Iterable[pathlib.Path]) -> List[Remark]:
    """Of first touch and parallel loops; the same one of two files is one."""
    found: Dict[Remark, None] = {}
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        for document in re.split(r"(?m)^(?=--- !)", text):
            if re.search(r"(?m)^Pass: +'?mpg'?$", document):
                remark = find_remark(document)
                if remark.name in ALL:
                    found[remark] = None
    return list(found)

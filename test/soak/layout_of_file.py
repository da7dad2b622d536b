# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does a linked file have the 2 MiB layout that its note claims?

Answers from what GNU readelf prints, sharing no code with ld.mpg or mpgaudit:
the note, the borders of .data and .bss, and that no other segment reaches into
the large pages that hold them.
"""

import os
import pathlib
import re
import struct
import subprocess
from typing import Iterator, List, NamedTuple, Optional

HUGE_BYTES = 2 << 20
ET_EXEC, ET_DYN = 2, 3
LAYOUT_SKIPPED = 1


class Note(NamedTuple):
    version: int
    flags: int
    huge_bytes: int
    data_start: int
    data_end: int
    bss_start: int
    bss_end: int


class Segment(NamedTuple):
    address: int
    bytes: int
    flags: str
    align: int


def linked_files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Every program and shared library under the folder, links left out."""
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            path = pathlib.Path(parent, name)
            if path.is_symlink() or not path.is_file():
                continue
            with open(path, "rb") as file:
                head = file.read(18)
            if head[:4] == b"\x7fELF" and len(head) == 18:
                if struct.unpack_from("<H", head, 16)[0] in (ET_EXEC, ET_DYN):
                    yield path


def readelf(path: pathlib.Path) -> str:
    return subprocess.run(["readelf", "-nSlW", str(path)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


def read_note(text: str) -> Optional[Note]:
    match = re.search(r"(?m)^\s+mpg\s+0x0*30\s.*\s+description data: "
                      r"((?:[0-9a-f]{2} ){48})", text)
    if not match:
        return None
    version, flags, _, *numbers = struct.unpack("<HHI5Q", bytes.fromhex(match[1]))
    return Note(version, flags, *numbers)


def read_segments(text: str) -> List[Segment]:
    pattern = (r"(?m)^\s+LOAD\s+0x\S+\s+0x(\S+)\s+0x\S+\s+0x\S+\s+0x(\S+)\s"
               r"([RWE ]{3})\s+0x(\S+)")
    return [Segment(int(m[1], 16), int(m[2], 16), m[3], int(m[4], 16))
            for m in re.finditer(pattern, text)]


def read_section(text: str, name: str) -> Optional[int]:
    """Address of a section, None if the file has none of that name."""
    match = re.search(rf"(?m)^\s+\[ *\d+\] {re.escape(name)}\s+\S+\s+(\S+)", text)
    return int(match[1], 16) if match else None


def has_note(path: pathlib.Path) -> bool:
    return read_note(readelf(path)) is not None


def layout_faults(path: pathlib.Path) -> List[str]:
    """Deviations from the promised layout, as sentences; empty if there are none."""
    text = readelf(path)
    note = read_note(text)
    if note is None:
        return ["has no layout note"]
    if note.flags & LAYOUT_SKIPPED:
        return ["the note says that the layout was skipped"]
    segments = read_segments(text)
    # The note counts from the ELF header, the start of the lowest segment.
    base = min(segment.address for segment in segments)
    start, end = base + note.data_start, base + note.bss_end
    faults = []
    if note.huge_bytes != HUGE_BYTES:
        faults.append(f"the note says {note.huge_bytes:#x} bytes a page")
    for name, wanted in ((".data", start), (".bss", base + note.bss_start)):
        address = read_section(text, name)
        if address is not None and address != wanted:
            faults.append(f"{name} begins at {address:#x}, the note says {wanted:#x}")
    if start % HUGE_BYTES or end % HUGE_BYTES:
        faults.append(f"{start:#x}-{end:#x} is not on 2 MiB borders")
    return faults + segment_faults(segments, start, end)


def segment_faults(segments: List[Segment], start: int, end: int) -> List[str]:
    own = [s for s in segments if s.address == start]
    if len(own) != 1 or "W" not in own[0].flags:
        return [f"no writable segment begins at {start:#x}"]
    faults = []
    if own[0].address + own[0].bytes != end:
        faults.append(f"the segment at {start:#x} does not end at {end:#x}")
    if own[0].align < HUGE_BYTES:
        faults.append(f"p_align at {start:#x} is {own[0].align:#x}")
    for other in segments:
        if other.address < end and start < other.address + other.bytes:
            if other is not own[0]:
                faults.append(f"the segment at {other.address:#x} reaches "
                              "into the large pages of .data and .bss")
    return faults

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""decode_note.py FILE: prints every .note.mpg.hints of an ELF file, a line each.

The section comes out of the file through llvm-objcopy; the layout is written
down here once more, so it shares no code with the passes or with mpgaudit.
"""

import os
import struct
import subprocess
import sys
import tempfile


def find_section(path: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "note")
        subprocess.run(
            ["llvm-objcopy", f"--dump-section=.note.mpg.hints={out}", path,
             os.path.join(folder, "copy")],
            check=False, stderr=subprocess.DEVNULL)
        if not os.path.exists(out):
            return b""
        with open(out, "rb") as file:
            return file.read()


def ways(data: bytes) -> str:
    return ",".join("-" if count == 255 else str(count) for count in data)


def describe(note: bytes) -> str:
    version, flags, llvm = struct.unpack_from("<HHI", note, 0)
    bitmap = int.from_bytes(note[8:40], "little")
    tags = [f"{tag:02x}" for tag in range(256) if bitmap >> tag & 1]
    sectors, injection = note[40], note[41]
    accesses, sites = struct.unpack_from("<II", note, 52)
    return (f"version {version} flags {flags} llvm {llvm} tags {' '.join(tags)}"
            f" sectors {sectors:#x} injection {injection:#x}"
            f" l1 {ways(note[42:46])} l2 {ways(note[46:50])}"
            f" accesses {accesses} sites {sites}")


def main() -> None:
    data = find_section(sys.argv[1])
    while data:
        name_size, size, kind = struct.unpack_from("<III", data, 0)
        assert name_size == 4 and data[12:16] == b"mpg\0" and size == 60, data
        assert kind == 1, kind
        print(describe(data[16:16 + size]))
        data = data[16 + size:]


main()

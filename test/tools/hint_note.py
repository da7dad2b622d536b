#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hint_note.py [FIELD=VALUE]...: prints assembly with one .note.mpg.hints, for programs that no
compiler pass has seen. It shares no code with the passes or with the reader: the layout is defined
here a second time.

  version=1 flags=0 llvm=22 accesses=12 sites=0
  tags=0x01,0x41     tag bytes; the masks of sectors and entries follow from them
  l1=-,2,-,-         ways for sectors 0 to 3, - is not asked for; l2 likewise
  drop=N             leave N bytes off the end
"""

import struct
import sys

NOT_ASKED = 255


def ways(text: str) -> bytes:
    counts = [NOT_ASKED if word == "-" else int(word) for word in text.split(",")]
    return bytes(counts + [NOT_ASKED] * (4 - len(counts)))


def contents(fields: dict) -> bytes:
    tags = [int(word, 0) for word in fields["tags"].split(",") if word]
    bitmap = sum(1 << tag for tag in set(tags)).to_bytes(32, "little")
    sectors = injection = 0
    for tag in tags:
        sectors |= 1 << (tag & 3)
        if tag & 0x80:
            injection |= 1 << (tag >> 4 & 7)
    note = struct.pack("<HHI", int(fields["version"]), int(fields["flags"]), int(fields["llvm"]))
    note += bitmap + bytes([sectors, injection])
    note += ways(fields["l1"]) + ways(fields["l2"]) + bytes(2)
    note += struct.pack("<II", int(fields["accesses"]), int(fields["sites"]))
    return note[:len(note) - int(fields["drop"])]


def main() -> None:
    fields = {"version": "1", "flags": "0", "llvm": "22", "accesses": "12",
              "sites": "0", "tags": "0x01", "l1": "-", "l2": "-", "drop": "0"}
    for word in sys.argv[1:]:
        name, _, value = word.partition("=")
        if name not in fields:
            sys.exit(f"hint_note.py: no field {name}")
        fields[name] = value
    note = contents(fields)
    print('  .section .note.mpg.hints,"a",%note\n  .p2align 2')
    print(f'  .long 4, {len(note)}, 1\n  .asciz "mpg"')
    print("  .byte " + ", ".join(str(byte) for byte in note))
    print('  .p2align 2\n  .section .note.GNU-stack,"",%progbits')


main()

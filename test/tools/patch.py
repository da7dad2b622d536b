#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""patch.py IN OUT CHANGE...: copies a file and changes fields of it.

A CHANGE is one of

  FIELD=VALUE     a field by its name in elf.h or ar.h, see below
  FIELD:HEX       the same, as the hex digits of its bytes
  truncate=VALUE  cuts the file off, or extends it with zeros

  e_phoff, e_ident[7]           the file header
  phdr[2].p_filesz              a program header by its index
  PT_LOAD#1.p_align             the second program header of that type
  shdr[.data].sh_offset         a section header by name or index
  dyn[DT_STRTAB].d_val          an entry of the dynamic section (.d_tag, too)
  sym[.symtab:3].st_name        a symbol of a section, by its index
  note[PT_NOTE#0].n_namesz      the first note of a segment
  ar[1].ar_size                 the header of an archive's second member

A VALUE is a number, `size` (of the file), `max` (all bits), another FIELD, or
a sum of these: `-1` and `+0x10` alone are added to the old value.

Prints for each field where it lies and both values, so that a test can compare
the place that mpgaudit names with one that was found by other code:

  PT_LOAD#1.p_align at 0xb0: 0x1000 -> 0x3

Understands 64-bit little-endian ELF files.
"""

import re
import sys
from typing import Dict, List, Tuple

# name: (offset, bytes)
EHDR = {"e_type": (16, 2), "e_machine": (18, 2), "e_version": (20, 4),
        "e_entry": (24, 8), "e_phoff": (32, 8), "e_shoff": (40, 8),
        "e_flags": (48, 4), "e_ehsize": (52, 2), "e_phentsize": (54, 2),
        "e_phnum": (56, 2), "e_shentsize": (58, 2), "e_shnum": (60, 2),
        "e_shstrndx": (62, 2)}
PHDR = {"p_type": (0, 4), "p_flags": (4, 4), "p_offset": (8, 8),
        "p_vaddr": (16, 8), "p_paddr": (24, 8), "p_filesz": (32, 8),
        "p_memsz": (40, 8), "p_align": (48, 8)}
SHDR = {"sh_name": (0, 4), "sh_type": (4, 4), "sh_flags": (8, 8),
        "sh_addr": (16, 8), "sh_offset": (24, 8), "sh_size": (32, 8),
        "sh_link": (40, 4), "sh_info": (44, 4), "sh_addralign": (48, 8),
        "sh_entsize": (56, 8)}
DYN = {"d_tag": (0, 8), "d_val": (8, 8)}
SYM = {"st_name": (0, 4), "st_info": (4, 1), "st_other": (5, 1),
       "st_shndx": (6, 2), "st_value": (8, 8), "st_size": (16, 8)}
NOTE = {"n_namesz": (0, 4), "n_descsz": (4, 4), "n_type": (8, 4)}
PT = {"PT_NULL": 0, "PT_LOAD": 1, "PT_DYNAMIC": 2, "PT_INTERP": 3,
      "PT_NOTE": 4, "PT_PHDR": 6, "PT_TLS": 7, "PT_GNU_STACK": 0x6474e551,
      "PT_GNU_RELRO": 0x6474e552}
DT = {"DT_NULL": 0, "DT_NEEDED": 1, "DT_PLTRELSZ": 2, "DT_HASH": 4,
      "DT_STRTAB": 5, "DT_SYMTAB": 6, "DT_RELA": 7, "DT_RELASZ": 8,
      "DT_RELAENT": 9, "DT_STRSZ": 10, "DT_SONAME": 14, "DT_RPATH": 15,
      "DT_PLTREL": 20, "DT_DEBUG": 21,
      "DT_JMPREL": 23, "DT_RUNPATH": 29, "DT_FLAGS": 30,
      "DT_GNU_HASH": 0x6ffffef5, "DT_FLAGS_1": 0x6ffffffb}
AR = {"ar_name": (0, 16), "ar_size": (48, 10), "ar_fmag": (58, 2)}
Place = Tuple[int, int]  # offset in the file, bytes


class ElfFile:
    """The bytes of a file, and where its fields lie."""

    def __init__(self, data: bytearray):
        self.data = data

    def get(self, place: Place) -> int:
        at, size = place
        return int.from_bytes(self.data[at:at + size], "little")

    def store(self, place: Place, value: int) -> None:
        at, size = place
        self.data[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    def table(self, start: str, count: str, entry: int) -> List[int]:
        """Offsets of the entries of a header table."""
        first = self.get(EHDR[start])
        return [first + entry * i for i in range(self.get(EHDR[count]))]

    def program_header(self, name: str) -> int:
        headers = self.table("e_phoff", "e_phnum", 56)
        if name.startswith("phdr["):
            return headers[int(name[5:-1])]
        kind, _, nth = name.partition("#")
        same = [at for at in headers if self.get((at, 4)) == PT[kind]]
        return same[int(nth or 0)]

    def section_header(self, name: str) -> int:
        headers = self.table("e_shoff", "e_shnum", 64)
        if name.isdigit():
            return headers[int(name)]
        names = self.get((headers[self.get(EHDR["e_shstrndx"])] + 24, 8))
        for at in headers:
            start = names + self.get((at, 4))
            if self.data[start:self.data.index(0, start)] == name.encode():
                return at
        raise KeyError(f"no section {name}")

    def dynamic_entry(self, tag: str) -> int:
        header = self.program_header("PT_DYNAMIC")
        at = self.get((header + 8, 8))
        for entry in range(at, at + self.get((header + 32, 8)), 16):
            if self.get((entry, 8)) == DT[tag]:
                return entry
        raise KeyError(f"no {tag}")

    def member(self, index: int) -> int:
        at = 8
        for _ in range(index):
            size = int(self.data[at + 48:at + 58])
            at += 60 + size + size % 2
        return at

    def record(self, name: str) -> Tuple[int, Dict[str, Place]]:
        """Start of the name before the dot, and its fields."""
        inner = name[name.find("[") + 1:-1]
        if name.startswith("shdr["):
            return self.section_header(inner), SHDR
        if name.startswith("dyn["):
            return self.dynamic_entry(inner), DYN
        if name.startswith("sym["):
            section, _, index = inner.partition(":")
            header = self.section_header(section)
            return self.get((header + 24, 8)) + 24 * int(index), SYM
        if name.startswith("note["):
            return self.get((self.program_header(inner) + 8, 8)), NOTE
        if name.startswith("ar["):
            return self.member(int(inner)), AR
        return self.program_header(name), PHDR

    def place(self, field: str) -> Place:
        if match := re.fullmatch(r"e_ident\[(\d+)\]", field):
            return int(match[1]), 1
        if field in EHDR:
            return EHDR[field]
        name, _, member = field.rpartition(".")
        start, fields = self.record(name)
        offset, size = fields[member]
        return start + offset, size

    def term(self, text: str) -> int:
        if text == "size":
            return len(self.data)
        if text == "max":
            return (1 << 64) - 1
        if re.fullmatch(r"\d+|0x[0-9a-fA-F]+", text):
            return int(text, 0)
        return self.get(self.place(text))

    def value(self, text: str, old: int) -> int:
        total = old if text[0] in "+-" else 0
        for sign, term in re.findall(r"([+-]?)([^+-]+)", text):
            total += self.term(term) * (-1 if sign == "-" else 1)
        return total

    def change(self, text: str) -> str:
        """Makes one change; returns what to print."""
        if match := re.fullmatch(r"([^=]+):([0-9a-fA-F]+)", text):
            place = self.place(match[1])
            new = bytes.fromhex(match[2])
            self.data[place[0]:place[0] + len(new)] = new
            return f"{match[1]} at {place[0]:#x}: {new!r}"
        field, _, value = text.partition("=")
        if field == "truncate":
            size = self.value(value, len(self.data))
            del self.data[size:]
            self.data.extend(bytes(size - len(self.data)))
            return f"truncated to {size:#x}"
        place = self.place(field)
        old = self.get(place)
        self.store(place, self.value(value, old))
        return f"{field} at {place[0]:#x}: {old:#x} -> {self.get(place):#x}"


def main() -> int:
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], "rb") as file:
        elf = ElfFile(bytearray(file.read()))
    for text in sys.argv[3:]:
        try:
            print(elf.change(text))
        except (KeyError, IndexError, ValueError) as error:
            print(f"patch.py: {text}: {error!r}", file=sys.stderr)
            return 1
    with open(sys.argv[2], "wb") as file:
        file.write(elf.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes damaged ELF files from a seed, and predicts which of them cannot load.

A damaged file is a healthy base file with one to three changes of one class:
truncation, file header, program headers, section headers, dynamic section,
notes, content. Values are the ones that break readers: 0, 1, all ones, 2^40,
2^63, the file's size, and one off the true value. (seed, index) names a file
for ever on one machine: `damage.py --seed 7 --index 4711 --out FILE` makes it
again.

refusal() is a second opinion, independent of mpgaudit: a short model of how the Linux kernel
(fs/binfmt_elf.c) and glibc's ld.so read a file, with the reason why they reject it, fault in it,
or, for the order of sizes and alignments that the ABI demands, may do so in some version. Oddities
(section headers of a program, overlapping segments) count as loadable. An auditor must notice every
file that is rejected here.
"""

import dataclasses
import os
import random
import struct
import sys
import tempfile
from typing import Callable, Dict, List, Optional, Tuple

import facts_oracle

from mpgtest.options import parse

CLASSES = ("truncation", "file-header", "program-header", "section-header",
           "dynamic", "note", "content")
MAX_BASE_BYTES = 96 << 10
PAGE_BYTES = 4096
MACHINES = {62: 1 << 47, 183: 1 << 48}  # e_machine: user address space
ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_PHDR = 1, 2, 3, 4, 6
SHT_NULL, SHT_NOTE, SHT_NOBITS, SHF_ALLOC = 0, 7, 8, 2
DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELAENT = 1, 5, 6, 7, 9
DT_SONAME, DT_PLTREL, DT_JMPREL, DT_RELR, DT_RELRENT = 14, 20, 23, 36, 37
DT_GNU_HASH, DT_FLAGS_1, DF_1_PIE = 0x6ffffef5, 0x6ffffffb, 0x08000000

# (offset, bytes) of every field, in file order.
IDENT_FIELDS = [(i, 1) for i in range(9)]
HEADER_FIELDS = IDENT_FIELDS + [
    (16, 2), (18, 2), (20, 4), (24, 8), (32, 8), (40, 8), (48, 4), (52, 2),
    (54, 2), (56, 2), (58, 2), (60, 2), (62, 2)]
PROGRAM_FIELDS = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8)]
SECTION_FIELDS = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4),
                  (44, 4), (48, 8), (56, 8)]
DYNAMIC_FIELDS = [(0, 8), (8, 8)]
NOTE_FIELDS = [(0, 4), (4, 4), (8, 4), (12, 4)]


@dataclasses.dataclass
class Header:
    """The fields of one file header that matter here; pre: 64 bytes."""
    type: int
    machine: int
    phoff: int
    shoff: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int

    @staticmethod
    def read(data: bytes, start: int = 0) -> Optional["Header"]:
        if len(data) < start + 64 or data[start:start + 4] != b"\x7fELF":
            return None
        f = struct.unpack_from("<HHIQQQIHHHHHH", data, start + 16)
        return Header(f[0], f[1], f[4], f[5], f[8], f[9], f[10], f[11], f[12])


@dataclasses.dataclass
class Segment:
    """One program header."""
    type: int
    flags: int
    offset: int
    vaddr: int
    filesz: int
    memsz: int
    align: int

    @property
    def end(self) -> int:
        return self.vaddr + self.memsz


def read_segments(data: bytes, header: Header, start: int = 0) -> List[Segment]:
    """The program headers that lie wholly in the file."""
    found = []
    for i in range(header.phnum):
        at = start + header.phoff + 56 * i
        if at + 56 > len(data):
            break
        kind, flags, offset, vaddr, _, filesz, memsz, align = \
            struct.unpack_from("<IIQQQQQQ", data, at)
        found.append(Segment(kind, flags, offset, vaddr, filesz, memsz, align))
    return found


@dataclasses.dataclass
class Section:
    """One section header."""
    type: int
    flags: int
    offset: int
    size: int


def read_sections(data: bytes, header: Header, start: int = 0) -> List[Section]:
    """The section headers that lie wholly in the file."""
    found = []
    for i in range(header.shnum if header.shoff else 0):
        at = start + header.shoff + 64 * i
        if at + 64 > len(data):
            break
        _, kind, flags, _, offset, size = struct.unpack_from("<IIQQQQ", data, at)
        found.append(Section(kind, flags, offset, size))
    return found


# Making damage.

class Damage:
    """Changes one copy of a base file; every choice comes from `rng`."""

    def __init__(self, base: bytes, rng: random.Random):
        self.data = bytearray(base)
        self.rng = rng
        # In an archive any member can be hit.
        starts = []
        at = base.find(b"\x7fELF")
        while at >= 0 and len(starts) < 64:
            starts.append(at)
            at = base.find(b"\x7fELF", at + 64)
        self.start = rng.choice(starts) if starts else 0
        self.header = Header.read(base, self.start)
        self.segments = (read_segments(base, self.header, self.start) if self.header else [])
        self.sections = (read_sections(base, self.header, self.start) if self.header else [])

    def special(self, true: int, width: int) -> int:
        """A value likely to hurt in a field of `width` bytes."""
        rng, bits = self.rng, 8 * width
        value = rng.choice([
            0, 1, (1 << (bits - 1)) - 1, (1 << bits) - 1, 1 << 40, 1 << 63,
            1 << (bits - 1), true + 1, true - 1, 2 * true, true // 2,
            true + 8, true ^ (1 << rng.randrange(bits)), len(self.data),
            len(self.data) - 1, len(self.data) + 1, rng.getrandbits(bits),
            rng.randrange(256), -true, true + PAGE_BYTES])
        return value & ((1 << bits) - 1)

    def change(self, at: int, width: int) -> None:
        """Overwrites one little-endian field, if it is in the file."""
        if at < 0 or at + width > len(self.data):
            return
        true = int.from_bytes(self.data[at:at + width], "little")
        value = self.special(true, width)
        self.data[at:at + width] = value.to_bytes(width, "little")

    def change_table(self, at: int, count: int, entry_bytes: int,
                     fields: List[Tuple[int, int]]) -> None:
        """Changes one field of one entry, or exchanges or copies entries."""
        if not count:
            return self.content()
        at += self.start + entry_bytes * self.rng.randrange(count)
        if self.rng.random() < 0.9:
            offset, width = self.rng.choice(fields)
            return self.change(at + offset, width)
        other = at + entry_bytes * self.rng.choice((-1, 1))
        if min(at, other) < 0 or max(at, other) + entry_bytes > len(self.data):
            return None
        mine = self.data[at:at + entry_bytes]
        if self.rng.random() < 0.5:
            self.data[at:at + entry_bytes] = self.data[other:other + entry_bytes]
        self.data[other:other + entry_bytes] = mine
        return None

    def truncation(self) -> None:
        """Cuts the file: anywhere, in the header, or at the end of a part."""
        ends = [0, 1, 4, 16, 63, 64, len(self.data) - 1]
        if self.header:
            ends += [self.header.phoff + 56 * self.header.phnum,
                     self.header.shoff, self.header.shoff + 64]
        ends += [s.offset + s.filesz for s in self.segments]
        cut = self.rng.choice([self.rng.randrange(len(self.data) + 1),
                               self.rng.choice(ends)
                               + self.rng.choice((-1, 0, 1))])
        del self.data[max(0, self.start + cut if cut in ends else cut):]

    def file_header(self) -> None:
        offset, width = self.rng.choice(HEADER_FIELDS)
        self.change(self.start + offset, width)

    def program_header(self) -> None:
        header = self.header
        self.change_table(header.phoff if header else 0, len(self.segments), 56, PROGRAM_FIELDS)

    def section_header(self) -> None:
        header = self.header
        self.change_table(header.shoff if header else 0, len(self.sections), 64, SECTION_FIELDS)

    def dynamic(self) -> None:
        parts = [s for s in self.segments if s.type == PT_DYNAMIC]
        if not parts:
            return self.content()
        return self.change_table(parts[0].offset, parts[0].filesz // 16, 16, DYNAMIC_FIELDS)

    def note(self) -> None:
        notes = [(s.offset, s.filesz) for s in self.segments if s.type == PT_NOTE]
        notes += [(s.offset, s.size) for s in self.sections if s.type == SHT_NOTE]
        notes = [(offset, size) for offset, size in notes if size >= 16]
        if not notes:
            return self.content()
        offset, size = self.rng.choice(notes)
        at = self.start + offset + 4 * self.rng.randrange(size // 4)
        if self.rng.random() < 0.6:
            field, width = self.rng.choice(NOTE_FIELDS)
            return self.change(self.start + offset + field, width)
        return self.change(at, 4)

    def content(self) -> None:
        """Overwrites, removes or repeats a run of bytes anywhere, or in one
        section (where tables and strings are)."""
        if not self.data:
            return
        low, size = 0, len(self.data)
        inside = [(s.offset, s.size) for s in self.sections if s.type != SHT_NOBITS and s.size]
        if inside and self.rng.random() < 0.7:
            low, size = self.rng.choice(inside)
            low += self.start
        at = min(low + self.rng.randrange(size), len(self.data) - 1)
        run = self.rng.choice((1, 1, 2, 8, 64, 512))
        run = min(run, len(self.data) - at)
        way = self.rng.randrange(8)
        if way == 0:
            del self.data[at:at + run]
        elif way == 1:
            self.data[at:at] = self.data[at:at + run]
        elif way == 2:
            self.data[at:at + run] = bytes(run)
        elif way == 3:
            self.data[at:at + run] = b"\xff" * run
        else:
            self.data[at:at + run] = self.rng.randbytes(run)

    def apply(self, name: str) -> None:
        changes: Dict[str, Callable[[], None]] = {
            "truncation": self.truncation, "file-header": self.file_header,
            "program-header": self.program_header,
            "section-header": self.section_header, "dynamic": self.dynamic,
            "note": self.note, "content": self.content}
        # Mostly one change: two of them often hide each other.
        rounds = self.rng.choice((1, 1, 1, 2, 3))
        for _ in range(1 if name == "truncation" else rounds):
            changes[name]()


@dataclasses.dataclass
class Damaged:
    """One damaged file."""
    index: int
    damage_class: str
    base: str
    data: bytes


def damaged_file(bases: List[Tuple[str, bytes]], seed: int, index: int) -> Damaged:
    """The file that (`seed`, `index`) names."""
    rng = random.Random(f"{seed}-{index}")
    name, base = rng.choice(bases)
    damage_class = CLASSES[index % len(CLASSES)]
    damage = Damage(base, rng)
    damage.apply(damage_class)
    return Damaged(index, damage_class, name, bytes(damage.data))


# Base files.

def small_files(candidates: List[str], folder: str, suffix: str, count: int) -> List[str]:
    """`count` small files below `folder`, evenly spread over the list."""
    small = [path for path in candidates
             if path.startswith(folder) and path.endswith(suffix)
             and os.path.getsize(path) <= MAX_BASE_BYTES]
    return small[::-(-len(small) // count)] if small else []


def own_files(folder: str) -> List[str]:
    """Small programs of every kind, built here for both machines."""
    made = []
    for machine in ("x86_64", "aarch64"):
        builder = facts_oracle.Builder(folder, machine)
        builder.make_tiny()
        for number in (0, 2, 3, 6, 8, 9):
            for kind in ("exec", "pie", "library", "static-pie"):
                builder.link(kind, number)
        builder.make_objects()
        made += builder.made
    made += facts_oracle.make_other_machines(folder)[::9]
    return sorted(p for p in made if os.path.getsize(p) <= MAX_BASE_BYTES)


def make_bases(folder: str) -> List[Tuple[str, bytes]]:
    """The base files: own ones (built in `folder`) and this machine's."""
    roots = ["/usr/bin", "/usr/lib", "/usr/aarch64-linux-gnu"]
    found = list(filter(facts_oracle.is_candidate,
                        facts_oracle.find_files(list(filter(os.path.isdir, roots)))))
    paths = own_files(folder)
    for root, suffix, count in (("/usr/bin", "", 12),
                                ("/usr/lib/x86_64-linux-gnu", ".so", 8),
                                ("/usr/lib/debug", "", 4),
                                ("/usr/lib", ".o", 4), ("/usr/lib", ".a", 4),
                                ("/usr/aarch64-linux-gnu", "", 16)):
        paths += small_files(found, root, suffix, count)
    bases = []
    for path in paths:
        with open(path, "rb") as file:
            name = path[len(folder) + 1:] if path.startswith(folder) else path
            bases.append((name, file.read()))
    if not bases:
        sys.exit("damage.py: no base files: neither a compiler nor a program")
    return bases


# The second opinion.

def object_refusal(data: bytes, header: Header) -> Optional[str]:
    """Why a linker could not read an object."""
    if not header.shoff:
        return None
    if header.shnum and header.shentsize != 64:
        return "e_shentsize"
    if header.shoff + 64 * header.shnum > len(data):
        return "section headers outside the file"
    if header.shnum and header.shstrndx >= header.shnum:
        return "e_shstrndx" if header.shstrndx < 0xff00 else None
    # A linker drops unneeded sections with a warning, but it needs all bytes that belong to the
    # program.
    for section in read_sections(data, header):
        if (section.type not in (SHT_NULL, SHT_NOBITS) and section.size
                and section.flags & SHF_ALLOC
                and section.offset + section.size > len(data)):
            return "section outside the file"
    return None


def table_refusal(data: bytes, header: Header) -> Optional[str]:
    """Headers that load_elf_phdrs() of the kernel rejects."""
    if header.phentsize != 56:
        return "e_phentsize"
    if not 0 < header.phnum <= 65536 // 56:
        return "e_phnum"
    if header.phoff + 56 * header.phnum > len(data):
        return "program headers outside the file"
    return None


def interp_refusal(data: bytes, segments: List[Segment]) -> Optional[str]:
    """The kernel's conditions on the first PT_INTERP."""
    for segment in segments:
        if segment.type == PT_INTERP:
            if not 2 <= segment.filesz <= PAGE_BYTES:
                return "PT_INTERP size"
            if segment.offset + segment.filesz > len(data):
                return "PT_INTERP outside the file"
            if data[segment.offset + segment.filesz - 1]:
                return "PT_INTERP not terminated"
            return None
    return None


def load_refusal(data: bytes, header: Header, loads: List[Segment]) -> Optional[str]:
    """Errors while mapping the PT_LOADs."""
    limit = MACHINES[header.machine]
    for load in loads:
        if load.filesz > load.memsz:
            return "p_filesz above p_memsz"
        if load.filesz and load.offset + load.filesz > len(data):
            return "PT_LOAD outside the file"
        if load.align & (load.align - 1):
            return "p_align not a power of two"
        if load.filesz and (load.vaddr - load.offset) % PAGE_BYTES:
            return "p_vaddr and p_offset not congruent"
        if load.memsz > limit:
            return "p_memsz above the address space"
        if header.type == ET_EXEC and load.end > limit:
            return "p_vaddr above the address space"
    span = max(l.end for l in loads) - min(l.vaddr for l in loads)
    return "PT_LOADs above the address space" if span > limit else None


def read_dynamic(data: bytes, part: Segment, loads: List[Segment]) -> List[Tuple[int, int]]:
    """The dynamic entries, up to DT_NULL. None if the loader, which uses the address, would not
    read the bytes at the offset."""
    if not any(l.vaddr <= part.vaddr < l.vaddr + l.filesz
               and part.vaddr - l.vaddr + l.offset == part.offset
               for l in loads):
        return []
    entries = []
    end = min(part.offset + part.filesz, len(data))
    for at in range(part.offset, end - 15, 16):
        tag, value = struct.unpack_from("<QQ", data, at)
        if tag == 0:
            break
        entries.append((tag, value))
    return entries


def is_mapped(address: int, loads: List[Segment]) -> bool:
    """Whether `address` is in a page that some PT_LOAD maps."""
    return any(l.vaddr // PAGE_BYTES <= address // PAGE_BYTES
               and address < -(-l.end // PAGE_BYTES) * PAGE_BYTES
               for l in loads if l.memsz)


def file_offset(address: int, loads: List[Segment]) -> Optional[int]:
    """The file offset of the byte at `address`."""
    return next((address - l.vaddr + l.offset for l in loads
                 if l.vaddr <= address < l.vaddr + l.filesz), None)


def hash_refusal(data: bytes, address: int, loads: List[Segment]) -> Optional[str]:
    """ld.so asserts that the size of the Bloom filter is a power of two."""
    at = file_offset(address, loads)
    if at is None or at + 16 > len(data):
        return None
    words = struct.unpack_from("<I", data, at + 8)[0]
    return "DT_GNU_HASH filter size" if words & (words - 1) else None


def entries_refusal(data: bytes, entries: List[Tuple[int, int]],
                    loads: List[Segment]) -> Optional[str]:
    """Where ld.so would assert or fault before the program runs."""
    last = dict(entries)  # ld.so keeps the last of several.
    relocated = DT_RELA in last or DT_JMPREL in last
    for tag, name, is_read in ((DT_STRTAB, "DT_STRTAB", True), (DT_SYMTAB, "DT_SYMTAB", relocated)):
        if tag not in last and is_read:
            return f"no {name}"
        if tag in last and not is_mapped(last[tag], loads):
            return f"{name} not mapped"
    if last.get(DT_PLTREL, DT_RELA) != DT_RELA:
        return "DT_PLTREL"
    if DT_RELA in last and last.get(DT_RELAENT) != 24:
        return "DT_RELAENT"
    if DT_RELR in last and last.get(DT_RELRENT) != 8:
        return "DT_RELRENT"
    for tag, value in entries:
        if tag == DT_NEEDED and not is_mapped((last[DT_STRTAB] + value) % (1 << 64), loads):
            return "DT_NEEDED name not mapped"
    return hash_refusal(data, last.get(DT_GNU_HASH, 0), loads)


def dynamic_refusal(data: bytes, segments: List[Segment],
                    loads: List[Segment], is_library: bool) -> Optional[str]:
    """Errors in the dynamic section that ld.so does not survive."""
    parts = [s for s in segments if s.type == PT_DYNAMIC]
    if not parts or (is_library and not parts[-1].filesz):
        return "no dynamic section" if is_library else None
    part = parts[-1]
    if part.filesz and part.offset + part.filesz > len(data):
        return "PT_DYNAMIC outside the file"
    if not is_mapped(part.vaddr, loads):
        return "PT_DYNAMIC not mapped"
    entries = read_dynamic(data, part, loads)
    return entries_refusal(data, entries, loads) if entries else None


def phdr_refusal(header: Header, segments: List[Segment],
                 loads: List[Segment], is_library: bool) -> Optional[str]:
    """ld.so takes the difference between the program headers' address and PT_PHDR's for the address
    of the program; it reads a library's headers there.
    library it reads there."""
    for segment in segments:
        if segment.type != PT_PHDR:
            continue
        if not is_mapped(segment.vaddr, loads):
            return "PT_PHDR not mapped"
        if (not is_library and file_offset(segment.vaddr, loads) != header.phoff):
            return "PT_PHDR elsewhere"
    return None


def ident_refusal(data: bytes) -> Optional[str]:
    """Values in e_ident and e_version of a library that ld.so rejects."""
    if data[6] != 1 or data[20:24] != b"\1\0\0\0":
        return "version"
    if data[7] not in (0, 3) or (data[8] and (data[7] != 3 or data[8] > 3)):
        return "OS ABI"
    return "e_ident padding" if any(data[9:16]) else None


def refusal(data: bytes) -> Optional[str]:
    """Why Linux cannot load `data` (a program, library or object), or None.
    Archives, cores and complete strangers have no reason either."""
    if data.startswith(b"!<arch>\n"):
        return None
    if data and data[:4] != b"\x7fELF":
        return "magic"
    header = Header.read(data)
    if not header:
        return "file header incomplete"
    if data[4] != 2 or data[5] != 1:
        return "class or byte order"
    if header.machine not in MACHINES or header.type == ET_CORE:
        return None
    if header.type == ET_REL:
        return object_refusal(data, header)
    if header.type not in (ET_EXEC, ET_DYN):
        return "e_type"
    if why := table_refusal(data, header):
        return why
    segments = read_segments(data, header)
    loads = [s for s in segments if s.type == PT_LOAD]
    if not loads:
        return "no PT_LOAD"
    has_interp = any(s.type == PT_INTERP for s in segments)
    entries = dict(entry for part in segments if part.type == PT_DYNAMIC
                   for entry in read_dynamic(data, part, loads))
    # Some libraries can also be run and have an interpreter (libc.so.6).
    is_library = (header.type == ET_DYN
                  and not entries.get(DT_FLAGS_1, 0) & DF_1_PIE
                  and (not has_interp or DT_SONAME in entries))
    if is_library and (why := ident_refusal(data)):
        return why
    if not is_library and (why := interp_refusal(data, segments)):
        return why
    if why := load_refusal(data, header, loads):
        return why
    if not has_interp and not is_library:
        return None
    return (phdr_refusal(header, segments, loads, is_library)
            or dynamic_refusal(data, segments, loads, is_library))


def main() -> int:
    arguments = parse(__doc__, seed=1, index=0, count=1, out=str)
    with tempfile.TemporaryDirectory(prefix="damage-") as folder:
        bases = make_bases(folder)
    if arguments.count > 1:
        os.makedirs(arguments.out, exist_ok=True)
    for index in range(arguments.index, arguments.index + arguments.count):
        made = damaged_file(bases, arguments.seed, index)
        path = (arguments.out if arguments.count == 1
                else os.path.join(arguments.out, f"{index:07d}"))
        with open(path, "wb") as file:
            file.write(made.data)
        print(f"{path}: {made.damage_class} of {made.base}, "
              f"{refusal(made.data) or 'loads, as far as can be told'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes files whose only aim is to keep mpgaudit busy, and bounds its time.

usage: slow_inputs.py [--count N] [--only WORD] [--slower-than S] COMMAND...

Each input is of some megabytes at most: tables as long as their counts allow,
entries that all name the same bytes, scripts that repeat one construct. COMMAND
runs on each of them with a limit on its CPU time that only a cost which grows
faster than the input can reach: the seconds of "Limit" for what takes far less.
Prints one line per input that was stopped, then a count.
"""

import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mpgtest.options import parse

LIMIT = 10  # seconds of CPU time; what is right takes less than one
LOAD, DYNAMIC, INTERP, NOTE, PHDR, TLS = 1, 2, 3, 4, 6, 7
RELRO = 0x6474E552


def elf(kind, headers, sections=(), body=b""):
    """An x86-64 file; addresses are file offsets, plus 0x400000 for programs."""
    base = 0x400000 if kind == 2 else 0
    table, count = 64, len(headers)
    start = table + 56 * count
    rest = start + len(body)
    out = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), kind, 62, 1,
                      base + start, table, rest if sections else 0, 0, 64, 56, count, 64,
                      len(sections), 1 if sections else 0)
    for type_, flags, offset, address, filesz, memsz in headers:
        out += struct.pack("<IIQQQQQQ", type_, flags, offset, base + address, base + address,
                           filesz, memsz, 4 if type_ == NOTE else 0x1000)
    out += body
    for type_, flags, offset, size, link, entry in sections:
        out += struct.pack("<IIQQQQIIQQ", 1, type_, flags, base + offset if flags & 2 else 0,
                           offset, size, link, 0, 4, entry)
    return out


def many_headers(count):
    """Every mixture of two kinds of program header."""
    def spread(type_, flags):
        return lambda i: (type_, flags, 0, 0x400000 * i, 0, 0x700000)

    def whole(type_, flags):
        return lambda i: (type_, flags, 0, 0, 64 + 56 * count, 64 + 56 * count)
    kinds = {"rw": spread(LOAD, 6), "rx": spread(LOAD, 5), "relro": spread(RELRO, 4),
             "note": whole(NOTE, 4), "interp": whole(INTERP, 4), "phdr": whole(PHDR, 4),
             "dynamic": whole(DYNAMIC, 6), "tls": spread(TLS, 4), "all": whole(LOAD, 7)}
    for first, one in kinds.items():
        for second, two in kinds.items():
            if first < second or first == second:
                for type_ in (2, 3):
                    yield (f"headers-{first}-{second}-{type_}",
                           elf(type_, [(one if i % 2 else two)(i) for i in range(count)]))


def many_sections(count):
    """Sections that all hold the same bytes, as each kind that is looked into."""
    body = bytes(8) + b"\x04\0\0\0\x10\0\0\0\x01\0\0\0mpg\0" + bytes(16)
    body = body * (1 << 14)
    size = len(body)
    start = 64 + 3 * 56
    loads = [(LOAD, 5, 0, 0, start + size, start + size),
             (LOAD, 6, 0, 0x10000000, 0, 0x400000), (NOTE, 4, start, start, size, size)]
    for name, type_, entry in (("note", 7, 0), ("symtab", 2, 24), ("dynsym", 11, 24),
                               ("rela", 4, 24), ("strtab", 3, 0), ("hash", 5, 4),
                               ("dynamic", 6, 16), ("nobits", 8, 0), ("init", 14, 8)):
        for kind in (1, 2, 3):
            yield (f"sections-{name}-{kind}",
                   elf(kind, [] if kind == 1 else loads,
                       [(type_, 2, start if kind != 1 else 64, size, 1, entry)] * count, body))
    pairs = [(LOAD, 6, 0, 0x400000 * i, 0, 0x700000) for i in range(count)]
    yield "sections-and-headers", elf(2, pairs, [(1, 3, 64, 64, 0, 0)] * count)


def scripts(count):
    """Constructs of a job script, repeated; nested where that is possible."""
    lines = {
        "launches": "srun ./app\n", "exports": "export A{0}=$A{0}$B{0}:x\n",
        "paths": "export LD_LIBRARY_PATH=/l{0}:$LD_LIBRARY_PATH\n./app\n",
        "modules": "module load m{0}\n./app\n", "makes": "make m{0}\ncp a{0} b\n./b{0}\n",
        "names": "export XOS_MMM_L_NAME{0}=1\n", "functions": "f{0}() {{ f{0}; A=1; }}\nf{0}\n",
        "ifs": "if a; then\n", "subshells": "(", "quotes": "\"$(", "braces": "${{A:-",
        "heredocs": "cat <<E{0}\n", "cases": "case x in a) ", "backticks": "`", "pushes": "pushd a\n",
        "loops": "for i in a b; do\n", "setargs": "set -- $* a\n", "appends": "A+=$A\n",
        "directives": "#SBATCH --export=A{0}=1\n", "env": "env A{0}=1 ./app\n",
        "steps": "mpiexec ./a : ./b : ./c\n", "multiple": "mpiexec ./a : ", "eval": "eval a{0}\n",
        "backslash": "\\\n", "arith": "A=$((", "tests": "[[ a ]] && ",
    }
    for name, line in lines.items():
        for number in (count, 10 * count):
            yield f"script-{name}-{number}", "".join(line.format(i) for i in range(number)).encode()


def archives(count):
    member = b"a/              0           0     0     644     64        `\n" + bytes(64)
    yield "archive-members", b"!<arch>\n" + member * count
    name = b"//              0           0     0     644     %-10d`\n" % (16 * count)
    table = b"".join(b"%014d/\n" % i for i in range(count))
    yield "archive-names", b"!<arch>\n" + name + table + b"".join(
        b"/%-15d0           0     0     644     0         `\n" % (16 * i) for i in range(count))


def run(command, data, is_script, folder):
    """CPU seconds; nothing if it was stopped."""
    path = folder / ("job.sh" if is_script else "input")
    path.write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(
        command + [f"--job={path}" if is_script else str(path)], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, status


def main():
    args = parse(__doc__, "command...", count=65000, only="", slower_than={"type": float},
                 keep={"type": Path, "help": "leave the last input here"})
    count = stopped = 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for make, number in ((many_headers, args.count), (many_sections, args.count),
                             (archives, args.count), (scripts, args.count // 10)):
            for label, data in make(number):
                if args.only not in label:
                    continue
                seconds, status = run(args.command, data, make is scripts, folder)
                count += 1
                if args.keep:
                    args.keep.write_bytes(data)
                if status < 0 or status > 3:
                    stopped += 1
                    print(f"{label}: {len(data)} bytes, status {status} after {seconds:.1f} s")
                elif args.slower_than and seconds > args.slower_than:
                    print(f"{label}: {len(data)} bytes, {seconds:.2f} s")
    if args.slower_than:
        print(f"{time.monotonic() - started:.0f} s in all")
    print(f"{count} inputs, {stopped} stopped")
    return 1 if stopped else 0


sys.exit(main())

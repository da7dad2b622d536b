#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links damaged bitcode files with ld.mpg and with ld.lld and compares them.

ld.mpg inspects its inputs before lld does, with LLVM's bitcode reader, which can crash on a damaged
file. Users must not notice: the exit status (or signal) and the output are those of ld.lld. Every
second file is truncated, the others have a few bits flipped. Each is linked as an object, which lld
reads completely, and as a member of an archive from which nothing is needed: ld.mpg reads it then,
and lld hardly.

Each file has its own seed, --seed and the following. Prints how the links ended and
each difference; exits with 1 if there is one.
"""

from __future__ import annotations

import collections
import os
import random
import re
import subprocess
import sys

from mpgtest.options import parse
from mpgtest.run import finish

SOURCE = """
int data[700000] = {1, 2, 3};
int bss[10] __attribute__((section("own_bss")));
__thread int local = 4;
static int twice(int x) { return 2 * x + bss[x % 10] + local; }
int (*const table[])(int) = {twice};
void _start(void) { data[5] = table[0](data[1]); }
"""
LLVM = "/usr/lib/llvm-22/bin/"
TIMEOUT_SECONDS = 30


def compile(source: str, path: str, *flags: str) -> str:
    command = [LLVM + "clang", "-O1", "-x", "c", "-c", "-", "-o", path, *flags]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def make_archive(member: bytes) -> bytes:
    """An archive without an index. llvm-ar can crash on the member as well."""
    head = f"{'bad.o/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(member):<10}`\n"
    return b"!<arch>\n" + head.encode() + member + b"\n" * (len(member) % 2)


def damage(good: bytes, seed: int) -> bytes:
    rng = random.Random(seed * 7919 + 3)
    if seed % 2:
        return good[: rng.randrange(4, len(good))]
    bad = bytearray(good)
    for _ in range(rng.randint(1, 8)):
        # Keep the magic number: without it the file is not bitcode.
        bad[rng.randrange(4, len(bad))] ^= 1 << rng.randrange(8)
    return bytes(bad)


def link(linker: str, files: list[str], out: str) -> tuple[object, str]:
    """How the link ended and what it printed."""
    command = [linker, "-m", "elf_x86_64", "-u", "_start", *files, "-o", out]
    # The stack dumps of a crash name the addresses of the program.
    environment = dict(os.environ, LLVM_DISABLE_SYMBOLIZATION="1")
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return "no end", ""
    finally:
        if os.path.exists(out):
            os.unlink(out)
    text = done.stdout.decode(errors="replace")
    dump = re.search(r"PLEASE submit a bug report|Stack dump:", text)
    return done.returncode, text[: dump.start()] if dump else text


def get_name(status: object) -> str:
    if not isinstance(status, int):
        return str(status)
    if status < 0:
        return f"signal {-status}"
    return "linked" if status == 0 else f"refused with {status}"


def compare(build: str, files: list[str], folder: str) -> tuple[object, str]:
    """How ld.lld ended; a description of the difference, if there is one."""
    out = os.path.join(folder, "out")
    theirs = link(LLVM + "ld.lld", files, out)
    ours = link(os.path.join(build, "bin", "ld.mpg"), files, out)
    if ours == theirs:
        return theirs[0], ""
    return theirs[0], (
        f"ld.lld: {get_name(theirs[0])}: {theirs[1]}\n"
        f"ld.mpg: {get_name(ours[0])}: {ours[1]}"
    )


def main() -> int:
    args = parse(__doc__, build=str, out=str, seed=0, count=200)
    os.makedirs(args.out, exist_ok=True)
    start = compile("void _start(void) {}", os.path.join(args.out, "start.o"))
    with open(compile(SOURCE, os.path.join(args.out, "good.bc"), "-flto"), "rb") as bc:
        good = bc.read()
    file, archive = (os.path.join(args.out, name) for name in ("bad.o", "libbad.a"))
    ends: collections.Counter[str] = collections.Counter()
    different = []
    for seed in range(args.seed, args.seed + args.count):
        bad = damage(good, seed)
        for path, contents in ((file, bad), (archive, make_archive(bad))):
            with open(path, "wb") as target:
                target.write(contents)
        for files in ([file], [start, archive]):
            end, difference = compare(args.build, files, args.out)
            ends[get_name(end)] += 1
            if difference:
                different.append(f"seed {seed}, {os.path.basename(files[-1])}:\n{difference}")
    for end, count in ends.most_common():
        print(f"{count} links by ld.lld: {end}")
    return finish(different, f"{2 * args.count} links, {{}} different")


sys.exit(main())

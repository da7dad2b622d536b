"""Damages fake nodes and runs mpginfo on them.

In each tree some files are replaced by garbage, huge numbers, nothing, a folder,
a named pipe or another file's content, or are gone. Each is read as text and as
JSON, which is kept in FOLDER/json. Wrong are: a signal, a status other than 0
and 1, more than 10 seconds, anything on standard error, a control character in
the text.
"""

import os
import random
import shutil
import subprocess
import sys
from typing import List

import fake_node

sys.path.append(os.path.join(os.path.dirname(__file__), "../../lib"))
from mpgtest.options import parse  # noqa: E402

TEXTS = [
    b"",
    b"\n",
    b"-1\n",
    b"99999999999999999999999\n",
    b"18446744073709551615\n",
    b"9223372036854775807\n",
    b"0-4294967295\n",
    b"0-65535,0-65535\n",
    b"3-1\n",
    b"[\n",
    b"[]\n",
    b"[\x1b[31mred]\n",
    b"\xff\xfe\xc2\x9b\n",
    b"max\n",
    b"0x\n",
    b":::\n",
    b"- - - - -\n",
    b"Node 4294967295, zone x 1 2 3\n",
    b"a" * 300000,
]


def all_files(root: str) -> List[str]:
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
    )


def damage(path: str, others: List[str], rng: random.Random) -> None:
    with open(path, "rb") as file:
        content = bytearray(file.read())
    os.remove(path)
    kind = rng.randrange(8)
    if kind == 0:
        return
    if kind == 1:
        os.mkdir(path)
        return
    if kind == 2:
        os.mkfifo(path)
        return
    if kind == 3:
        content = bytearray(rng.randbytes(rng.randrange(1, 200)))
    elif kind == 4 and content:
        for _ in range(3):
            content[rng.randrange(len(content))] = rng.randrange(256)
    elif kind == 5:
        other = rng.choice(others)
        content = bytearray(open(other, "rb").read() if os.path.isfile(other) else b"")
    else:
        content = bytearray(rng.choice(TEXTS))
    with open(path, "wb") as file:
        file.write(content)


def run(command: List[str]) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False
    )


def complaints(mpginfo: str, root: str, json_file: str) -> List[str]:
    text = run([mpginfo, f"--root={root}"])
    json = run([mpginfo, f"--root={root}", "--json", "--need=1G"])
    with open(json_file, "wb") as file:
        file.write(json.stdout)
    found = []
    for done in (text, json):
        if done.returncode not in (0, 1):
            found.append(f"status {done.returncode}")
        if done.stderr:
            found.append(f"says {done.stderr[:200]!r}")
    control = [byte for byte in text.stdout if (byte < 32 and byte != 10) or byte == 127]
    if control or b"\xc2\x9b" in text.stdout:
        found.append(f"control characters {control[:5]}")
    return found


def main() -> int:
    options = parse(__doc__, "mpginfo", "folder", seed=1, count=100)
    rng = random.Random(options.seed)
    os.makedirs(os.path.join(options.folder, "json"))
    root = os.path.join(options.folder, "node")
    wrong = 0
    for number in range(options.count):
        kind = ("fx1000", "fx700", "x86")[number % 3]
        shutil.rmtree(root, ignore_errors=True)
        fake_node.make(kind, root, [])
        files = all_files(root)
        for path in rng.sample(files, rng.randrange(1, 12)):
            damage(path, files, rng)
        # Keep the files that decide whether there is anything to read.
        os.makedirs(os.path.join(root, "proc"), exist_ok=True)
        name = os.path.join(options.folder, "json", f"{number}.json")
        for complaint in complaints(options.mpginfo, root, name):
            wrong += 1
            print(f"tree {number}: {complaint}")
    print(f"{options.count} trees, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""broken_reports.py DIR: spoils copies of the report "c0 0.json" in DIR, in every way it knows.

One of them can be merged all the same: later-region.json, whose host's name has an escape sequence.
"""

import json
import os
import sys


def main() -> None:
    folder = sys.argv[1]

    def write(name: str, text: bytes) -> None:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)

    with open(os.path.join(folder, "c0 0.json"), "rb") as file:
        whole = file.read()

    def spoil(name: str, key: str, value: object, in_region: bool = False) -> None:
        report = json.loads(whole)
        (report["regions"][0] if in_region else report)[key] = value
        write(name, json.dumps(report).encode())

    os.mkdir(os.path.join(folder, "folder"))
    os.mkfifo(os.path.join(folder, "pipe"))
    os.symlink("nowhere", os.path.join(folder, "link"))
    # Not reports.
    write("a text.txt", b"mpgrun: ./app: status 0\n")
    write("list.json", b"[1, 2, 3]")
    write("object.json", b"{}")
    write("profile.json", b'{"schema": "mpgprofile-1"}')
    with open(os.path.join(folder, "endless.json"), "wb") as file:
        file.truncate(1 << 30)
    # JSON that breaks off or is damaged.
    write("deep.json", b'{"a":' + b"[" * 1000000)
    write("empty.json", b"")
    write("half.json", whole[:len(whole) // 2])
    write("latin1.json", whole.replace(b"./app", b"./\xe4pp"))
    # Wrong values.
    spoil("later.json", "schema", "mpgreport-2")
    spoil("wrong-bytes.json", "bytes", -1, in_region=True)
    spoil("wrong-fraction.json", "huge_bytes", 0.5, in_region=True)
    spoil("wrong-host.json", "host", ["c0"])
    spoil("wrong-huge.json", "huge_bytes", 1 << 60, in_region=True)
    spoil("wrong-rank.json", "rank", 1 << 40)
    spoil("wrong-ranks.json", "ranks", 1 << 40)
    spoil("wrong-regions.json", "regions", {})
    spoil("wrong-twice.json", "region", "heap", in_region=True)
    report = json.loads(whole)
    report["host"] = "c1\x1b[31m" + "x" * 1000
    report["status"] = 1
    report["regions"][2]["region"] = "a-later-one"
    write("later-region.json", json.dumps(report).encode())


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a corpus of small ELF files for the fuzzers.

Healthy files of every kind, built here or found on this machine, and damaged ones from a seed, so
that a short run gets past the first check of the header. Files are named by their content: a second
run adds only new ones.
"""

import hashlib
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import damage  # noqa: E402  (no byte code beside the sources)

from mpgtest.options import parse

MAX_FILE_BYTES = 65536


def main() -> int:
    arguments = parse(__doc__, out=str, seed=1, damaged=200)
    os.makedirs(arguments.out, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        bases = damage.make_bases(folder)
    files = [data for _, data in bases]
    files += [damage.damaged_file(bases, arguments.seed, index).data
              for index in range(arguments.damaged)]
    files = [data for data in files if len(data) <= MAX_FILE_BYTES]
    for data in files:
        name = hashlib.sha1(data).hexdigest()
        with open(os.path.join(arguments.out, name), "wb") as file:
            file.write(data)
    print(f"{len(files)} files, {sum(map(len, files))} bytes")
    return 0 if files else 1


sys.exit(main())

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spoil.py RECORD OUT: one iteration more in the first record of a loop."""

import struct
import sys

LOOP = 3
with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
for at in range(0, len(data), 16):
    value, word = struct.unpack_from("<QQ", data, at)
    if word >> 56 == LOOP and 0 < word & 0xffff < 200 and value > 1:
        struct.pack_into("<Q", data, at, value + 1)
        break
else:
    sys.exit("no loop is recorded")
with open(sys.argv[2], "wb") as file:
    file.write(data)

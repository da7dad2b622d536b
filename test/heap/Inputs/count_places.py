# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often the addresses in each column of a file differ.

    count_places.py FILE

Prints for each column the lines, its different addresses, large pages, places in
these, and addresses without the lower 39 bits.
"""

import sys

with open(sys.argv[1], encoding="ascii") as file:
    rows = [[int(word, 16) for word in line.split()] for line in file]
for column in zip(*rows):
    counts = [len({address >> shift & mask for address in column})
              for shift, mask in ((0, -1), (21, -1), (12, 511), (39, -1))]
    print(len(rows), "lines:", *counts)

"""Writes random .data for regions.c: make_data.py MIB SEED OUT

OUT.bin holds the bytes, OUT.s includes them and gives their sum as regions.c
computes it. The same seed gives the same bytes.
"""

import random
import struct
import sys


def rotating_sum(data: bytes) -> int:
    total, mask = 0, (1 << 64) - 1
    for (word,) in struct.iter_unpack("<Q", data):
        total = ((total << 1 | total >> 63) & mask) ^ word
    return total


def main() -> None:
    mib, seed, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    # One random MiB, and each further one with its number mixed in, so that a
    # piece in the wrong place changes the sum.
    block = random.Random(seed).randbytes(1 << 20)
    data = b"".join(struct.pack("<Q", i) + block[8:] for i in range(mib))
    with open(out + ".bin", "wb") as file:
        file.write(data)
    with open(out + ".s", "w") as file:
        file.write(
            f"""        .data
        .globl  bigData
        .type   bigData, %object
        .size   bigData, {len(data)}
        .balign 64
bigData:
        .incbin "{out}.bin"
        .section .rodata
        .globl  bigDataWords, bigDataSum
        .type   bigDataWords, %object
        .size   bigDataWords, 8
        .type   bigDataSum, %object
        .size   bigDataSum, 8
        .balign 8
bigDataWords:
        .quad   {len(data) // 8}
bigDataSum:
        .quad   {rotating_sum(data)}
        .section .note.GNU-stack,"",%progbits
"""
        )


main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random C programs whose pointers have several names, some with hints.

A program is one function: it gets at one array by a number that was disguised
(a box, a handle, a scaled index, ...), takes several pointers to it with
different hints, and reads and writes through all of them. A second array is a
restrict argument, a third one a global. Indices stay in the arrays and numbers
are exact, so a program has one right result: a line for each on the output.
"""

import random
from typing import List

FIRST = 24  # where pointers start, of 64 elements of each array
SPAN = 8  # how far from there an index gets, in both directions
TYPES = ["uint8_t", "uint16_t", "uint32_t", "uint64_t", "float", "double"]
HINTS = ["", "MPG_STREAM ", "MPG_SECTOR(2) ", "MPG_NO_HWPF ", "MPG_HINT(sector=3, no_l1_hwpf) "]
# Type of the argument, conversion from an address, conversion back to it.
DISGUISES = [
    ("uint64_t", "a | BOX", "b & 0xffffffffffff"),
    ("uint64_t", "a ^ BOX", "(b ^ BOX) & 0xffffffffffff"),
    ("uint64_t", "a + BOX", "b - BOX"),
    ("uint32_t", "(uint32_t)a", "(uintptr_t)b"),
    ("uint64_t", "a << 4 | 5", "(uintptr_t)(uint32_t)(b >> 4)"),
    ("uint32_t", "(uint32_t)(a / 64)", "(uint64_t)b * 64"),
    ("uint32_t", "(uint32_t)(a ^ 0x5a5a0)", "(uint64_t)b ^ 0x5a5a0"),
    ("uint64_t", "a ^ 0x5a5a5a5a5a5a5a5a", "b ^ 0x5a5a5a5a5a5a5a5a"),
    ("uint64_t", "a + 60", "b & 0x00ffffffffffffc0"),
    ("uint64_t", "a + 63", "b & -64ul"),
    ("uint64_t", "a << 12 | 0x7ff", "b >> 16 << 4"),
    ("uint64_t", "a << 8 | 0xff", "(uint64_t)((int64_t)b >> 8)"),
    ("char *", "(char *)a", "b"),
]

HEAD = """#include <mpg/hints.h>
#include <stdint.h>
#include <stdio.h>
#define BOX (UINT64_C(0x7ff8) << 48)
#define APART __attribute__((noinline)) static
static _Alignas(64) unsigned char one[512], two[512];
_Alignas(64) unsigned char three[512];
APART uint64_t mix(uint64_t sum, const unsigned char *bytes) {
  for (int i = 0; i < 512; i++)
    sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
  return sum;
}
APART void print(int number, double keep) {
  printf("%d %g %016llx\\n", number, keep,
         (unsigned long long)mix(mix(mix(1, one), two), three));
}
#define FILL(T)                                                            \\
  APART void fill_##T(void) {                                              \\
    for (int i = 0; i < 64; i++)                                             \\
      ((T *)one)[i] = (T)(i % 7), ((T *)two)[i] = (T)(i % 5),              \\
      ((T *)three)[i] = (T)(i % 3);                                        \\
  }
"""


class Program:
    """Text of one function, and of what calls it."""

    def __init__(self, number: int, seed: int) -> None:
        self.number = number
        self.random = random.Random(f"{seed}/{number}")
        self.type = self.random.choice(TYPES)
        self.disguise = self.random.choice(DISGUISES)
        self.names = [f"p{n}" for n in range(self.random.randint(2, 4))]
        self.lines: List[str] = []

    def hint(self) -> str:
        return self.random.choice(HINTS)

    def element(self, index: str = "") -> str:
        """One element of any array, a constant away from the index."""
        name = self.random.choice(self.names + ["w", "g"])
        offset = self.random.randint(-SPAN, SPAN - 1)
        if not index:
            return f"{name}[{offset}]"
        # Loops run over up to SPAN elements from here.
        return f"{name}[{index} + {min(offset, 0)}]"

    def value(self, index: str = "") -> str:
        choice = self.random.randrange(6)
        if choice == 0:
            return "keep"
        if choice == 1:
            return str(self.random.randint(0, 9))
        if choice == 2:
            return f"{self.element(index)} + {self.element(index)}"
        return self.element(index)

    def sandwich(self) -> None:
        """A value that is written back behind writes to the same place."""
        kept, written = (self.random.choice(self.names) for _ in range(2))
        at, way = self.random.randrange(4), self.random.choice(["=", "*=", "+="])
        self.lines += [
            f"keep = {kept}[{at}];",
            f"for (int i = 0; i < 4; i++)\n    {written}[i] {way} "
            f"{self.random.choice(['w[i]', 'g[i]', '2', '3 + w[i]'])};",
            f"{kept}[{at}] = keep;"]

    def statement(self) -> None:
        if self.random.randrange(3) == 0:
            return self.sandwich()
        choice = self.random.randrange(8)
        if choice < 2:
            self.lines.append(f"keep = {self.element()};")
        elif choice < 4:
            self.lines.append(f"{self.element()} = {self.value()};")
        else:
            count = "n" if choice == 7 else str(self.random.randint(2, SPAN))
            way = self.random.choice(["=", "=", "+="])
            self.lines.append(f"for (long i = 0; i < {count}; i++)\n    "
                              f"{self.element('i')} {way} {self.value('i')};")

    def text(self) -> str:
        argument, make, take = self.disguise
        for _ in range(self.random.randint(3, 8)):
            self.statement()
        pointers = [f"{self.hint()}T *{name} = x;" for name in self.names]
        pointers.append(f"{self.hint()}T *g = (T *)three + {FIRST};")
        body = "\n  ".join(pointers + ["T keep = 0;"] + self.lines)
        number = self.number
        return f"""
#define T {self.type}
__attribute__((noinline)) static T work{number}(
    {argument} b, {self.hint()}T *restrict w, long n) {{
  T *x = (T *)({take}) + {FIRST};
  w += {FIRST};
  {body}
  return keep;
}}
static void run{number}(void) {{
  fill_{self.type}();
  uint64_t a = (uint64_t)(uintptr_t)one;
  T keep = work{number}({make}, (T *)two, {self.random.randint(1, SPAN)});
  print({number}, (double)keep);
}}
#undef T
"""


def make_source(first: int, count: int, seed: int) -> str:
    """One C file with the programs first to first + count - 1."""
    numbers = range(first, first + count)
    calls = "\n  ".join(f"run{number}();" for number in numbers)
    fills = "".join(f"FILL({name})\n" for name in TYPES)
    return HEAD + fills + "".join(Program(number, seed).text() for number in numbers) \
        + f"\nint main(void) {{\n  {calls}\n}}\n"

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files for programs of the machine to work on; always the same."""

import pathlib
import random
import re

# The lines of libmpg and mpgrun on standard error.
OURS = re.compile(rb"^(mpg: |mpgrun: ).*\n", re.MULTILINE)
MAIN_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double table[64 << 10];
int work(int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    char *block = malloc(1000 + i);
    memset(block, i, 1000 + i);
    table[i % (64 << 10)] += block[i % 1000];
    sum += table[i % 100];
    free(block);
  }
  printf("%d %.1f\n", count, sum);
  return 0;
}
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "abort"))
    abort();
  return work(argc > 1 ? atoi(argv[1]) : 10);
}
"""
MAIN_JAVA = """
public class Main {
  public static void main(String[] words) throws Exception {
    int count = Integer.parseInt(words[0]);
    java.util.TreeMap<Integer, String> map = new java.util.TreeMap<>();
    for (int i = 0; i < count; ++i) map.put(i * 7919 % 10007, "v" + i);
    Thread[] all = new Thread[8];
    long[] sums = new long[8];
    for (int t = 0; t < 8; ++t) {
      final int at = t;
      all[t] = new Thread(() -> { for (int i = 0; i < count; ++i) sums[at] += i; });
      all[t].start();
    }
    for (Thread thread : all) thread.join();
    System.out.println(map.firstKey() + " " + map.size() + " " + sums[7]);
  }
}
"""


def make_inputs(folder: pathlib.Path) -> None:
    source = random.Random(1)
    words = ["".join(source.choice("abcdeilmnorst") for _ in range(source.randrange(1, 9)))
             for _ in range(900)]
    lines = [" ".join(source.choice(words) for _ in range(source.randrange(3, 14)))
             for _ in range(12000)]
    (folder / "text").write_text("\n".join(lines) + "\n", encoding="ascii")
    (folder / "data").write_bytes(source.randbytes(400000) + bytes(200000))
    (folder / "table.csv").write_text("name,number\n" + "".join(
        f"{source.choice(words)}{i},{source.randrange(10**6)}\n" for i in range(5000)),
        encoding="ascii")
    (folder / "main.c").write_text(MAIN_C, encoding="ascii")
    (folder / "wrong.c").write_text("int f(void) { return undeclared; }\n", encoding="ascii")
    (folder / "Main.java").write_text(MAIN_JAVA, encoding="ascii")

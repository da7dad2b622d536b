// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sanitized [overflow|race]: a correct program with threads, an exception,
// .data and .bss; with an argument one that a sanitizer must stop.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static char cleared[32 << 20];
static int filled[1 << 20] = {1};

static int useThreads() {
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([i, &sum] {
      char block[50000];
      memset(block, i, sizeof block);
      sum += block[777];
    });
  for (std::thread &thread : threads)
    thread.join();
  return sum;
}

int main(int argc, char **argv) {
  memset(cleared, 1, sizeof cleared);
  int sum = useThreads();
  try {
    throw 5;
  } catch (int number) {
    sum += number;
  }
  printf("%d %d %d\n", sum, cleared[7 << 20], filled[0]);
  if (argc > 1 && strcmp(argv[1], "overflow") == 0) {
    volatile int behind = 1 << 20;
    filled[behind] = 3;
  }
  if (argc > 1 && strcmp(argv[1], "race") == 0) {
    std::thread other([] { filled[7]++; });
    filled[7]++;
    other.join();
  }
  return 4;
}

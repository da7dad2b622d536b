// 4 MiB of code, and what looks at code by its symbols: exceptions, backtrace(),
// a core dump ("abort"). Prints how much of the code is on large pages.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <stdexcept>

__asm__(".section .text.bulk,\"ax\",@progbits\n"
        ".balign 4096\n"
        ".fill 4194304, 1, 0xc3\n"
        ".text\n");

__attribute__((noinline)) static void throwIt(int value) {
  if (value > 0)
    throw std::runtime_error("thrown");
}

__attribute__((noinline)) void stopHere() { __asm__ volatile(""); }

static void printLarge() {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[4096];
  long sum = 0, kilobytes;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "FilePmdMapped: %ld", &kilobytes) == 1)
      sum += kilobytes;
  if (file)
    fclose(file);
  printf("large: %ld KiB\n", sum);
}

int main(int argc, char **) {
  stopHere();
  printLarge();
  try {
    throwIt(argc);
  } catch (std::exception &error) {
    printf("%s and caught\n", error.what());
  }
  void *frames[8];
  int count = backtrace(frames, 8);
  char **names = backtrace_symbols(frames, count);
  printf("backtrace: %s\n", strstr(names[0], "(main+") ? "main" : names[0]);
  fflush(stdout);
  if (argc > 1)
    abort();
  return 0;
}

// 4 MiB of code, and what looks at code by its symbols: exceptions, backtrace(), a
// core dump ("abort"), samples of a loop in the code ("spin"). Prints how much of the
// code is on large pages, and where main is in the file.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
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

extern "C" __attribute__((noinline, noipa)) void spinHere() {
  while (clock() < CLOCKS_PER_SEC / 5)
    for (volatile int i = 0; i < 1000000; i = i + 1) {
    }
}

static void printLarge() {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[4096], rights[8] = "";
  long sum = 0, kilobytes;
  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "%*lx-%*lx %7s", rights);
    if (!strcmp(rights, "r-xp") &&
        (sscanf(line, "FilePmdMapped: %ld", &kilobytes) == 1 ||
         sscanf(line, "AnonHugePages: %ld", &kilobytes) == 1))
      sum += kilobytes;
  }
  if (file)
    fclose(file);
  printf("large: %ld KiB\n", sum);
}

int main(int argc, char **argv) {
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
  Dl_info file = {};
  dladdr(frames[0], &file);
  printf("place: 0x%tx\n", static_cast<char *>(frames[0]) -
                               static_cast<char *>(file.dli_fbase));
  fflush(stdout);
  if (argc > 1 && !strcmp(argv[1], "spin"))
    spinHere();
  else if (argc > 1)
    abort();
  return 0;
}

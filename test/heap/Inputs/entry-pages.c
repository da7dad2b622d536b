// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints for blocks of each size range, and for those of a second thread, on
// which pages the kernel has them; and whether there is a reserved range of
// addresses. Before main too: a block of the loader's first functions.

#include "entry-memory.h"
#include <malloc.h>
#include <pthread.h>

static void *earliest;

static void beforeEverything(void) {
  earliest = malloc(100);
  memset(earliest, 1, 100);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = beforeEverything;

static void *showSizes(void *who) {
  static const struct {
    const char *name;
    size_t bytes;
  } ranges[] = {{"small", 16},        {"small", 5000},
                {"medium", 20000},    {"medium", 1000000},
                {"medium", 3 << 20},  {"medium", 100 << 20},
                {"large", 128 << 20}, {"large", (128 << 20) + 5000},
                {"large", 201 << 20}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
    char *block = malloc(ranges[i].bytes);
    block[0] = block[ranges[i].bytes / 2] = block[ranges[i].bytes - 1] = 1;
    const char *start = pagesUnder(block);
    const char *middle = pagesUnder(block + ranges[i].bytes / 2);
    const char *end = pagesUnder(block + ranges[i].bytes - 1);
    printf("%s: %s %zu: %s%s\n", (char *)who, ranges[i].name, ranges[i].bytes,
           start, middle == start && end == start ? "" : " IN PART");
    free(block);
  }
  char *zeros = calloc(50, 1000), *aligned = memalign(4 << 20, 100);
  zeros[0] = aligned[0] = 1;
  printf("%s: calloc: %s\n", (char *)who, pagesUnder(zeros));
  printf("%s: memalign: %s\n", (char *)who, pagesUnder(aligned));
  free(zeros);
  free(aligned);
  return NULL;
}

static void showReserved(void) {
  LineReader reader = {open("/proc/self/maps", O_RDONLY), {0}, 0, 0};
  int found = 0;
  for (char *line; (line = readLine(&reader));) {
    unsigned long start, end;
    char access[5];
    if (sscanf(line, "%lx-%lx %4s", &start, &end, access) == 3 &&
        !strcmp(access, "---p") && end - start >= (size_t)1 << 30)
      found = 1;
  }
  close(reader.file);
  printf("reserved: %s\n", found ? "yes" : "no");
}

int main(void) {
  printf("before main: %s\n", pagesUnder(earliest));
  free(earliest);
  showSizes("main");
  pthread_t thread;
  pthread_create(&thread, NULL, showSizes, "thread");
  pthread_join(thread, NULL);
  showReserved();
  return 0;
}

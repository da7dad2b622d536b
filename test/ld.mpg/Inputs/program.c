// A program whose data would be damaged by a wrong layout: TLS, constructors,
// threads, tables that need relocation (RELRO), COMMON, large .data and .bss.
// Checks all of it, and that the heap of brk can grow behind .bss. Linked with
// library.c it checks a shared library in the same way.

#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("line %d: %s\n", __LINE__, #condition);                           \
      return 1;                                                                \
    }                                                                          \
  } while (0)

enum { dataInts = 300000, bssInts = 800000 };

__thread int threadData = 7;
__thread int threadBss[5];
int data[dataInts] = {1, 2, 3};
int bss[bssInts];
int common[100000] __attribute__((common));
int *pointers[] = {&data[1], &bss[bssInts - 1], &common[99999]};
const char *const names[] = {"first", "second"};
static int constructed __attribute__((section("own_section"))) = 1;
// A section without contents that the linker places behind .bss: once by the
// name that the compiler uses and once by a name it does not know.
#ifndef WITHOUT_NOINIT
int ownBss[1000] __attribute__((section("own_bss")));
extern int noInit[1000];
__asm__(".pushsection .noinit,\"aw\",%nobits\n"
        ".balign 4\n"
        ".globl noInit\n"
        "noInit: .zero 4000\n"
        ".popsection\n");
#else
int ownBss[1000], noInit[1000];
#endif

#ifdef WITH_LIBRARY
int libraryCheck(void);
#endif

__attribute__((constructor)) static void construct(void) {
  constructed += 41;
  bss[5] = 9;
}

static void *threadMain(void *argument) {
  threadData += *(int *)argument;
  threadBss[4] = threadData;
  return (void *)(intptr_t)threadBss[4];
}

static int checkThreads(void) {
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, 0, threadMain, &i) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK((intptr_t)result == 7 + i);
  }
  CHECK(threadData == 7 && threadBss[4] == 0);
  return 0;
}

static int checkBrk(void) {
  enum { bytes = 5 << 20 };
  char *start = sbrk(bytes);
  CHECK(start != (char *)-1);
  memset(start, 1, bytes);
  CHECK(sbrk(0) == start + bytes);
  return 0;
}

static int checkBase(struct dl_phdr_info *info, size_t size, void *result) {
  (void)size;
  *(uint64_t *)result = info->dlpi_addr;
  return 1; // the program comes first
}

int main(void) {
  CHECK(data[0] == 1 && data[2] == 3 && data[dataInts - 1] == 0);
  for (int i = 0; i < bssInts; ++i)
    CHECK(bss[i] == (i == 5 ? 9 : 0));
  for (int i = 0; i < 1000; ++i)
    CHECK(noInit[i] == 0 && ownBss[i] == 0);
  CHECK(common[0] == 0 && common[99999] == 0);
  *pointers[1] = 11;
  *pointers[2] = 12;
  CHECK(*pointers[0] == 2 && bss[bssInts - 1] == 11 && common[99999] == 12);
  CHECK(strcmp(names[1], "second") == 0);
  CHECK(constructed == 42);
  if (checkThreads() || checkBrk())
    return 1;
#ifdef WITH_LIBRARY
  CHECK(libraryCheck() == 0);
#else
  uint64_t base = 1;
  dl_iterate_phdr(checkBase, &base);
  CHECK(base % (2 << 20) == 0); // the kernel obeyed p_align
#endif
  puts("values are right");
  return 0;
}

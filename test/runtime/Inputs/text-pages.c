/* Prints how much of its own code and constants is on large pages, or does what the first argument says. With 4 MiB of code and 4 MiB of
 * constants, or in a library of them (-DLIBRARY). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BULK_BYTES
#define BULK_BYTES 4194304 /* of each of the two */
#endif
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

#ifndef NO_BULK
__asm__(".section .text.bulk,\"ax\",@progbits\n"
        ".balign 4096\n"
        ".globl bulkCode\n"
        "bulkCode:\n"
        ".fill " TEXT(BULK_BYTES) ", 1, 0xc3\n"
        ".section .rodata.bulk,\"a\",@progbits\n"
        ".balign 4096\n"
        ".globl bulkData\n"
        "bulkData:\n"
        ".fill " TEXT(BULK_BYTES) ", 1, 0x2a\n"
        ".text\n");
#endif
#ifdef TEXT_RELOCATION
__asm__(".section .text.bulk\n.quad main\n.text\n");
#endif
extern const char bulkCode[], bulkData[];

/* Touches all of their pages. */
static inline int sumOfBulk(void) {
  int sum = 0;
  for (long at = 0; at < BULK_BYTES; at += 4096)
    sum += ((const volatile char *)bulkCode)[at] + bulkData[at];
  return sum;
}

#ifdef LIBRARY
int sumOfLibrary(void) { return sumOfBulk(); }
#else

#ifdef USES_LIBRARY
int sumOfLibrary(void);
#else
static int sumOfLibrary(void) { return sumOfBulk(); }
#endif

/* Of the mappings whose rights are `rights`. */
static long sumField(const char *rights, const char *field) {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[4096], now[8] = "";
  long sum = 0, kilobytes;
  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "%*lx-%*lx %7s", now);
    if (!strcmp(now, rights) && !strncmp(line, field, strlen(field)) &&
        sscanf(line + strlen(field), "%ld", &kilobytes) == 1)
      sum += kilobytes;
  }
  if (file)
    fclose(file);
  return sum;
}

static long sumLarge(const char *rights) {
  return sumField(rights, "FilePmdMapped:") + sumField(rights, "ShmemPmdMapped:") +
         sumField(rights, "AnonHugePages:");
}

int main(int argc, char **argv) {
  printf("sum %d, %d arguments\n", sumOfLibrary(), argc - 1);
  printf("code: %ld KiB large, data: %ld KiB large\n", sumLarge("r-xp"),
         sumLarge("r--p"));
  printf("writable code: %ld KiB\n", sumField("rwxp", "Size:"));
  if (argc > 1 && !strcmp(argv[1], "abort"))
    abort();
  return 0;
}
#endif

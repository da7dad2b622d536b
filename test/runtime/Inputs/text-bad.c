/* With 4 MiB of code, does to it or to its file what the first argument says:
 * code (changes a page of it and makes a function in new memory), delete,
 * replace FILE (which takes the place of its file), or truncate FILE, the library that has the code instead (-DNO_BULK). Prints what
 * it computes. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BULK_BYTES 4194304
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

#ifndef FLAGS
#define FLAGS "ax"
#endif

#ifndef NO_BULK
__asm__(".section .text.bulk,\"" FLAGS "\",@progbits\n"
        ".balign 4096\n"
        ".globl bulkCode\n"
        "bulkCode:\n"
        ".fill " TEXT(BULK_BYTES) ", 1, 0xc3\n"
        ".text\n");
#endif
extern unsigned char bulkCode[];

static long sumOfBulk(void) {
  long sum = 0;
  for (long at = 0; at < BULK_BYTES; at += 4096)
    sum += ((const volatile unsigned char *)bulkCode)[at];
  return sum;
}

/* Writes to the middle page of its code, as a JIT compiler may. */
static void changeCode(void) {
  unsigned char *page = bulkCode + BULK_BYTES / 2;
  int refused = mprotect(page, 4096, PROT_READ | PROT_WRITE);
  memset(page, 0x90, 4096);
  refused |= mprotect(page, 4096, PROT_READ | PROT_EXEC);
  unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(made, 0xc3, 4096);
  refused |= mprotect(made, 4096, PROT_READ | PROT_EXEC);
  printf("changed: %d, byte %d, made: %d\n", refused, page[4095], made[0]);
}

int main(int argc, char **argv) {
  char file[4096] = "";
  if (argc < 2 || readlink("/proc/self/exe", file, sizeof file - 1) < 0)
    return 1;
  printf("sum %ld\n", sumOfBulk());
  fflush(stdout);
  if (!strcmp(argv[1], "code"))
    changeCode();
  else if (!strcmp(argv[1], "delete"))
    printf("deleted: %d\n", unlink(file));
  else if (argc > 2 && !strcmp(argv[1], "replace"))
    printf("replaced: %d\n", rename(argv[2], file));
  else if (argc > 2 && !strcmp(argv[1], "truncate"))
    printf("truncated: %d\n", truncate(argv[2], 4096));
  fflush(stdout);
  printf("sum %ld\n", sumOfBulk());
  return 0;
}

/* Runs a program and prints how much of its .data and .bss is on large pages,
 * and the pages of its stack, from /proc/PID/smaps. Static, for places with
 * nothing but a kernel; shares no code with libmpg.
 *
 *   shares PROGRAM ARGS...
 *
 * The program is looked at when it prints the line `ready` or `holding`; then
 * its input is closed, and its exit status is handed on. Prints whole MiB. */

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct sums {
  unsigned long bytes, huge, transparent;
};

static struct {
  unsigned long start, end;
} parts[16];
static int partCount;
static pid_t child;

static int die(const char *what) {
  printf("shares: %s\n", what);
  exit(1);
}

static FILE *openProc(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)child, name);
  FILE *file = fopen(path, "r");
  if (!file)
    die("the program is gone");
  return file;
}

static unsigned long auxv(unsigned long key) {
  unsigned long pair[2], value = 0;
  FILE *file = openProc("auxv");
  while (fread(pair, sizeof pair, 1, file) == 1)
    if (pair[0] == key)
      value = pair[1];
  fclose(file);
  return value;
}

/* Writable segments without RELRO, where they are at run time. */
static void findParts(void) {
  Elf64_Ehdr header;
  Elf64_Phdr segments[64];
  unsigned long relroStart = 0, relroEnd = 0, bias = 0;
  FILE *file = openProc("exe");
  if (fread(&header, sizeof header, 1, file) != 1 || header.e_phnum > 64 ||
      fseek(file, (long)header.e_phoff, SEEK_SET) ||
      fread(segments, sizeof segments[0], header.e_phnum, file) !=
          header.e_phnum)
    die("the program cannot be read");
  fclose(file);
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr *s = &segments[i];
    if (s->p_type == PT_GNU_RELRO) {
      relroStart = s->p_vaddr;
      relroEnd = s->p_vaddr + s->p_memsz;
    }
    if (s->p_type == PT_LOAD && s->p_offset <= header.e_phoff &&
        header.e_phoff < s->p_offset + s->p_filesz)
      bias = auxv(AT_PHDR) - (s->p_vaddr + header.e_phoff - s->p_offset);
  }
  for (int i = 0; i < header.e_phnum && partCount < 16; ++i) {
    const Elf64_Phdr *s = &segments[i];
    unsigned long start = s->p_vaddr, end = s->p_vaddr + s->p_memsz;
    if (s->p_type != PT_LOAD || !(s->p_flags & PF_W))
      continue;
    if (start >= relroStart && start < relroEnd)
      start = relroEnd < end ? relroEnd : end;
    parts[partCount].start = start + bias;
    parts[partCount++].end = end + bias;
  }
}

static unsigned long common(unsigned long start, unsigned long end, int i) {
  unsigned long low = start > parts[i].start ? start : parts[i].start;
  unsigned long high = end < parts[i].end ? end : parts[i].end;
  return low < high ? high - low : 0;
}

static void addMapping(unsigned long start, unsigned long end,
                       unsigned long pageKib, unsigned long thpKib,
                       struct sums *sums) {
  for (int i = 0; i < partCount; ++i) {
    unsigned long bytes = common(start, end, i);
    unsigned long thp = thpKib << 10;
    sums->bytes += bytes;
    if (pageKib >= 2048)
      sums->huge += bytes;
    else
      sums->transparent += thp < bytes ? thp : bytes;
  }
}

/* smaps has KernelPageSize before AnonHugePages. */
static void look(void) {
  struct sums sums = {0, 0, 0}, stack = {0, 0, 0};
  unsigned long start = 0, end = 0, low, high, pageKib = 0, thpKib = 0;
  char line[512];
  FILE *file = openProc("smaps");
  int isStack = 0;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &low, &high) == 2) {
      start = low;
      end = high;
      isStack = strstr(line, "[stack]") != NULL;
    }
    sscanf(line, "KernelPageSize: %lu kB", &pageKib);
    if (sscanf(line, "AnonHugePages: %lu kB", &thpKib) != 1)
      continue;
    addMapping(start, end, pageKib, thpKib, &sums);
    if (!isStack)
      continue;
    stack.bytes += end - start;
    stack.huge += pageKib >= 2048 ? end - start : 0;
    stack.transparent += thpKib << 10;
  }
  fclose(file);
  unsigned long normal = sums.bytes - sums.huge - sums.transparent;
  printf("data and bss: %lu MiB, hugetlb %lu, transparent %lu, normal %lu\n",
         sums.bytes >> 20, sums.huge >> 20, sums.transparent >> 20,
         (normal + (1 << 20) - 1) >> 20);
  printf("stack: hugetlb %lu, transparent %lu\n", stack.huge >> 20,
         stack.transparent >> 20);
}

int main(int argc, char **argv) {
  int in[2], out[2], status = 0, looked = 0;
  char line[512];
  if (argc < 2 || pipe(in) || pipe(out))
    return 2;
  child = fork();
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  FILE *from = fdopen(out[0], "r");
  while (from && fgets(line, sizeof line, from)) {
    if (looked ||
        (strcmp(line, "ready\n") != 0 && strcmp(line, "holding\n") != 0)) {
      fputs(line, stdout);
      continue;
    }
    findParts();
    look();
    looked = 1;
    close(in[1]);
  }
  waitpid(child, &status, 0);
  if (!looked || status)
    printf("shares: the program ended with status 0x%x\n", status);
  return looked && status == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel's figures of this process's memory, read without malloc().

#ifndef ENTRY_MEMORY_H
#define ENTRY_MEMORY_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Reads a file line by line; the last one is followed by NULL.
typedef struct {
  int file;
  char text[4096];
  size_t used, bytes;
} LineReader;

static inline char *readLine(LineReader *reader) {
  for (;;) {
    char *line = reader->text + reader->used;
    char *end = memchr(line, '\n', reader->bytes - reader->used);
    if (end) {
      *end = 0;
      reader->used = (size_t)(end + 1 - reader->text);
      return line;
    }
    memmove(reader->text, line, reader->bytes -= reader->used);
    reader->used = 0;
    ssize_t got = read(reader->file, reader->text + reader->bytes,
                       sizeof reader->text - reader->bytes);
    if (got <= 0)
      return NULL;
    reader->bytes += (size_t)got;
  }
}

static inline long fieldKib(const char *line, const char *name) {
  size_t length = strlen(name);
  return strncmp(line, name, length) || line[length] != ':'
             ? 0
             : atol(line + length + 1);
}

/// All memory that is present, on pages of any size, in KiB.
static inline long presentKib(void) {
  LineReader reader = {open("/proc/self/status", O_RDONLY), {0}, 0, 0};
  long sum = 0;
  for (char *line; (line = readLine(&reader));)
    sum += fieldKib(line, "VmRSS") + fieldKib(line, "HugetlbPages");
  close(reader.file);
  return sum;
}

/// The pages under \p address: "hugetlb", "thp" (advised or already so),
/// "normal" or "nothing".
static inline const char *pagesUnder(const void *address) {
  LineReader reader = {open("/proc/self/smaps", O_RDONLY), {0}, 0, 0};
  const char *kind = "nothing";
  int inside = 0, named = 0;
  for (char *line; (line = readLine(&reader));) {
    unsigned long start, end;
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
      inside = (uintptr_t)address >= start && (uintptr_t)address < end;
      named = strstr(line, "/anon_hugepage") != NULL;
      if (inside)
        kind = "normal";
    } else if (inside && fieldKib(line, "KernelPageSize") >= 2048 && named) {
      kind = "hugetlb";
    } else if (inside && !strcmp(kind, "normal") &&
               (fieldKib(line, "AnonHugePages") ||
                (!strncmp(line, "VmFlags:", 8) && strstr(line, " hg")))) {
      kind = "thp";
    }
  }
  close(reader.file);
  return kind;
}

#endif

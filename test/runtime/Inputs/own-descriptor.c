// A program whose own file is behind descriptor 2, and which then makes libmpg
// print: it frees a block twice (MALLOC_CHECK_=1 prints it). own-descriptor
// FILE [closed|daemon|again]: standard error was closed by the parent; all
// files are closed and FILE has each number up to 63; standard error is
// reopened and is the same file. The file must hold only its own rows.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int freeTwice(void) {
  char *volatile block = malloc(100);
  char *same = block;
  free(block);
  free(same);
  // Memory of a new kind, which is reported to mpgrun through an inherited
  // file.
  char *large = malloc(64 << 20);
  memset(large, 1, 64 << 20);
  int first = large[0];
  free(large);
  return first;
}

int main(int argc, char **argv) {
  const char *file = argv[1], *how = argv[2];
  int output = fcntl(1, F_DUPFD, 100), last = strcmp(how, "daemon") ? 2 : 63;
  if (!strcmp(how, "daemon"))
    for (int fd = 0; fd < 64; ++fd)
      close(fd);
  if (!strcmp(how, "again")) {
    int same = dup(2);
    close(2);
    return dup2(same, 2) != 2 || freeTwice() != 1;
  }
  int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int other = fd + 1; other <= last; ++other)
    dup2(fd, other);
  if (fd > 2 || write(2, "row 1\n", 6) != 6 || freeTwice() != 1 ||
      write(2, "row 2\n", 6) != 6)
    return 1;
  char rows[64] = {0};
  lseek(2, 0, SEEK_SET);
  ssize_t bytes = read(2, rows, sizeof rows - 1);
  dprintf(output, "%s\n", strcmp(rows, "row 1\nrow 2\n") ? rows : "own rows");
  return bytes != 12;
}

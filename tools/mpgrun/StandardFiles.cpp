// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StandardFiles.h.

#include "StandardFiles.h"
#include <fcntl.h>
#include <unistd.h>

using namespace mpg;

bool mpg::fillStandardFiles(ClosedFile inProgram) {
  bool hasOutput = fcntl(1, F_GETFD) >= 0;
  int closes = inProgram == ClosedFile::staysClosed ? O_CLOEXEC : 0;
  int fd;
  do
    fd = open("/dev/null", O_RDWR | closes);
  while (fd >= 0 && fd <= 2);
  if (fd > 2)
    close(fd);
  return hasOutput;
}

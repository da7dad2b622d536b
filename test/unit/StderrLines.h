// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Captures standard error, however it is written: the runtime uses system
// calls. gtest's capture of a stream would work as well, except while a stream
// has unwritten text.

#pragma once

#include "base/Messages.h"
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

class StderrLines {
public:
  StderrLines() : saved(dup(2)), file(memfd_create("stderr", MFD_CLOEXEC)) {
    dup2(file, 2);
    mpg::rememberStandardError();
  }
  ~StderrLines() {
    dup2(saved, 2);
    mpg::rememberStandardError();
    close(saved);
    close(file);
  }
  StderrLines(const StderrLines &) = delete;

  /// Whole lines, without the newlines.
  std::vector<std::string> drain() const {
    std::string text(size_t(lseek(file, 0, SEEK_END)), '\0');
    if (pread(file, text.data(), text.size(), 0) != ssize_t(text.size()))
      return {"cannot read back"};
    std::vector<std::string> lines;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      if (end == std::string::npos)
        end = text.size();
      lines.push_back(text.substr(at, end - at));
    }
    return lines;
  }

private:
  int saved, file;
};

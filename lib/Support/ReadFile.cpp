// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReadFile.h.

#include "Support/ReadFile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// All that \p file has, but not much more than \p mostBytes.
static std::error_code readAll(int file, uint64_t mostBytes,
                               SmallVectorImpl<char> &text) {
  constexpr size_t stepBytes = 64 << 10;
  while (text.size() <= mostBytes) {
    size_t size = text.size();
    text.resize_for_overwrite(size + stepBytes);
    ssize_t got = read(file, text.data() + size, stepBytes);
    text.truncate(size + size_t(std::max<ssize_t>(got, 0)));
    if (got == 0)
      return {};
    if (got < 0 && errno != EINTR)
      return errnoAsErrorCode();
  }
  return std::make_error_code(std::errc::file_too_large);
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
mpg::readUnmapped(const std::string &path, uint64_t mostBytes) {
  bool input = path == "-";
  int file = input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errnoAsErrorCode();
  SmallVector<char, 0> text;
  std::error_code error = readAll(file, mostBytes, text);
  if (!input)
    close(file);
  if (error)
    return error;
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(text), path, /*RequiresNullTerminator=*/true);
}

std::string mpg::readFailure(std::error_code error) {
  if (error == std::errc::file_too_large)
    return "it is larger than 64 MiB, or has no end";
  return error.message();
}

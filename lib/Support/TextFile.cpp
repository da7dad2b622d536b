// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/TextFile.h"
#include "Support/Format.h"
#include "Support/ReadFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mpg;

Error mpg::fileError(StringRef path, const Twine &reason) {
  return make_error<StringError>(printable(path) + ": " +
                                     printable(reason.str()),
                                 inconvertibleErrorCode());
}

Expected<std::unique_ptr<MemoryBuffer>>
mpg::readTextFile(const std::string &path, uint64_t limitBytes) {
  // Asked before it is opened: opening a pipe waits for a writer.
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return fileError(path, error.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return fileError(path, "this is no regular file");
  if (status.getSize() > limitBytes)
    return fileError(path, "the file has " + formatBytes(status.getSize()) +
                               "; at most " + formatBytes(limitBytes) +
                               " are read");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = readUnmapped(path);
  if (!buffer)
    return fileError(path, buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  if (text.contains('\0') || !json::isUTF8(text))
    return fileError(path, "this is no text in UTF-8");
  return std::move(*buffer);
}

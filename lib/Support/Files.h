// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files. Read: with a bound, because a file may be written to meanwhile
// and may have no end. Written: whole or not at all. llvm::writeToOutput is not
// used: it puts its file in the place of devices and pipes, and ends the
// program when the disk is full.

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace mpg {

/// Above this a script or a list is taken for something else: /dev/zero.
constexpr uint64_t maxInputBytes = uint64_t(64) << 20;

/// The file at \p path, or what a pipe brings; "-" is standard input. Read,
/// never mapped: a mapped file that gets shorter ends the program. Error
/// file_too_large if there are more than \p maxBytes.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readUnmapped(const std::string &path, uint64_t maxBytes = maxInputBytes);

/// Where the link at \p path leads to; of /proc/PID/exe the name that smaps
/// has, also of a file that is gone.
std::optional<std::string> readLinkTarget(const std::string &path);

/// The reason for a message: \p error, or in words that there is too much.
std::string readFailure(std::error_code error);

/// Reads \p path, which may have at most \p limitBytes. Errors name the path:
/// unreadable, no regular file, too large, no text.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readTextFile(const std::string &path, uint64_t limitBytes);

/// Names in the folder \p path but "." and "..", sorted by bytes: the same
/// order in each locale and on each file system. \returns 0, or the errno with
/// which the folder, or the rest of it, could not be read.
int readNames(const std::string &path, std::vector<std::string> &names);

/// "path: reason" or "path:line: reason".
llvm::Error fileError(llvm::StringRef path, const llvm::Twine &reason);

/// Whether \p name can be written, looked at before the work that fills it:
/// hours later would be too late. Nothing is changed.
std::error_code checkOutputFile(const std::string &name);

/// Fills \p name, which stays the file that it is: its mode, links and readers.
/// The old contents stay if there is no space for the new ones; a new file is
/// removed after an error. Devices, pipes, and standard output ("-") and error
/// by any name, are written to as they are.
/// \p flags: O_NONBLOCK for an error where a pipe has no reader.
/// pre: one thread.
std::error_code
writeOutputFile(const std::string &name,
                llvm::function_ref<void(llvm::raw_ostream &out)> write,
                int flags = 0);

/// A temporary file to read and write that no folder has any more; it was
/// called \p name, a dash and six letters. \p flags as open(2) has them. Below
/// 0, and errno, if there is none.
int openDeletedFile(llvm::StringRef name, int flags);

/// A file in memory, or, where the system forbids that (a filter of system
/// calls, an old kernel), such a temporary one. \p flags: 0 or O_CLOEXEC.
int openMemoryFile(const char *name, int flags);

} // namespace mpg

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a part of the program in a child process. It may end the process, crash,
// or leave its memory in disorder without taking us along, and two parts can
// run at the same time. Input and output of the child go through files that
// have a path but are not on a disk: lld opens its inputs by name, and nothing
// is left behind whatever happens. The path is the same in every run (as long
// as the caller starts ld.mpg with the same open files), so maps and traces of
// lld stay comparable.

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>

namespace mpg {

class MemoryFile {
public:
  MemoryFile() = default;
  MemoryFile(MemoryFile &&other);
  MemoryFile &operator=(MemoryFile &&other);
  ~MemoryFile();

  static llvm::Expected<MemoryFile> create(llvm::StringRef contents);
  /// Valid as long as this object lives.
  const std::string &path() const { return filePath; }
  /// False if not all of \p text could be written.
  bool append(llvm::StringRef text) const;
  /// The present contents of the file.
  std::string contents() const;
  /// Makes file descriptor \p target write into this file.
  void replace(int target) const;

private:
  int fd = -1;
  std::string filePath;
};

/// From now on a user who interrupts this process (SIGHUP, SIGINT, SIGTERM)
/// finds afterwards that its child has ended as well: no file appears or
/// disappears any more. pre: LLVM's own handlers, which pass signals on, come
/// later.
void endWithChildWhenInterrupted();

/// One child. Its parent waits for it or stops it.
class Child {
public:
  /// Runs \p body in a child, which ends with status 1 if \p body returns.
  /// pre: this process has one thread, and its streams are flushed.
  static llvm::Expected<Child> start(llvm::function_ref<void()> body);
  /// The same for a body that may crash and whose end is an answer: nothing is
  /// seen of it, no output and no core file.
  static llvm::Expected<Child> startQuiet(llvm::function_ref<void()> body);

  /// Waits for the end, once and for all. True if the exit status is 0.
  bool wait();
  /// Waits for the end, and for the exit status. A signal that ended the child
  /// is raised in this process too, as if the body had run here.
  int finish();
  /// The signal that ended the child, or 0. pre: wait() has returned.
  int signalNumber() const;
  /// Ends the child as a user would: lld then removes its unfinished output.
  void stop();

private:
  static llvm::Expected<Child> startAny(llvm::function_ref<void()> body);

  pid_t pid = -1;
  bool ended = false;
  int waitStatus = 0; ///< as waitpid has it
};

} // namespace mpg

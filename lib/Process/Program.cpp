// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Program.h.

#include "Process/Program.h"
#include "Elf/Image.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

StringRef mpg::hostMachineName() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "x86-64";
#endif
}

/// How well \p path can be run: the shell takes the first executable file, and
/// reports another one only if there is none.
static ProgramKind readKind(const std::string &path, struct stat &status) {
  if (stat(path.c_str(), &status) != 0)
    return ProgramKind::missing;
  if (S_ISDIR(status.st_mode))
    return ProgramKind::directory;
  if (access(path.c_str(), X_OK) != 0)
    return ProgramKind::notExecutable;
  return ProgramKind::unknown;
}

static std::string findPath(StringRef name, StringRef searchPath,
                            ProgramKind &kind, struct stat &status) {
  kind = ProgramKind::missing;
  if (name.contains('/') || name.empty()) {
    kind = readKind(name.str(), status);
    return name.str();
  }
  std::string refused;
  for (StringRef folder : split(searchPath, ':')) {
    // An empty folder is the current one.
    std::string path =
        (folder.empty() ? std::string(".") : folder.str()) + "/" + name.str();
    struct stat here;
    ProgramKind found = readKind(path, here);
    if (found == ProgramKind::unknown) {
      kind = found;
      status = here;
      return path;
    }
    if (found == ProgramKind::notExecutable && refused.empty())
      refused = path;
  }
  if (refused.empty())
    return name.str();
  kind = ProgramKind::notExecutable;
  return refused;
}

/// As execve(2) says: these bits have no effect for a process that may not gain
/// rights, and on a file system mounted with nosuid. Capabilities of the file
/// give root nothing new.
static bool isPrivileged(const std::string &path, const struct stat &status) {
  struct statvfs volume;
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
      (statvfs(path.c_str(), &volume) == 0 && (volume.f_flag & ST_NOSUID)))
    return false;
  constexpr mode_t groupBits = S_ISGID | S_IXGRP;
  bool otherUser = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
  bool otherGroup =
      (status.st_mode & groupBits) == groupBits && status.st_gid != getegid();
  return otherUser || otherGroup ||
         (getuid() != 0 &&
          getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

static std::string makeIdentity(const struct stat &status) {
  return std::to_string(uint64_t(status.st_dev)) + ":" +
         std::to_string(uint64_t(status.st_ino));
}

/// By its name, or in a static program by its symbols.
static bool holdsRuntime(Image &image) {
  if (image.needs("libmpgrt.so"))
    return true;
  bool found = false;
  image.forEachSymbol(
      [&](const Symbol &symbol) { found |= symbol.name == "mpg_start"; });
  return found;
}

/// The first line of a script: "#!/bin/sh -e", "#! /usr/bin/env python3".
static void readScript(Program &program, StringRef searchPath) {
  auto file = MemoryBuffer::getFileSlice(program.path, 256, 0);
  if (!file)
    return;
  StringRef line = (*file)->getBuffer();
  if (!line.consume_front("#!"))
    return;
  line = line.take_until([](char c) { return c == '\n' || c == '\0'; });
  SmallVector<StringRef, 4> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.empty()) // no script to the kernel
    return;
  program.kind = ProgramKind::script;
  // env runs something else; that is the process which will remain.
  StringRef interpreter = words[0].trim();
  bool isEnv = interpreter.ends_with("/env") && words.size() > 1;
  StringRef name = isEnv ? words.back().trim() : interpreter;
  ProgramKind kind;
  struct stat status = {};
  program.interpreter = findPath(name, searchPath, kind, status);
  if (kind == ProgramKind::unknown)
    program.identity = makeIdentity(status);
}

/// True if the program may ask its parent to trace it (PTRACE_TRACEME), as
/// programs do that refuse to run under a debugger.
static bool callsPtrace(Image &image) {
  bool calls = false;
  image.forEachImport(
      [&](const Symbol &symbol) { calls |= symbol.name == "ptrace"; });
  return calls;
}

/// Says that \p machine has 32 bits, which the kernel may still run; else "".
static std::string describeNarrow(const std::string &machine) {
#if defined(__aarch64__)
  constexpr StringRef narrow = "arm";
#else
  constexpr StringRef narrow = "i386";
#endif
  if (machine != narrow)
    return "";
  return "is a 32-bit program (" + machine + ") and libmpg is for " +
         hostMachineName().str();
}

static void readElf(Program &program) {
  Error error = readImages(program.path, [&](Image &image) {
    switch (image.kind()) {
    case ElfKind::exec:
    case ElfKind::pie:
    case ElfKind::library: // the loader itself, libc.so.6
      program.kind = ProgramKind::dynamic;
      break;
    case ElfKind::staticExec:
    case ElfKind::staticPie:
      program.kind = ProgramKind::staticProgram;
      break;
    case ElfKind::otherMachine:
      program.kind = ProgramKind::otherMachine;
      break;
    default:
      return;
    }
    // Of another machine nothing but the headers was read.
    program.machine = image.machineName();
    if (program.kind == ProgramKind::otherMachine) {
      program.stranger = describeNarrow(program.machine);
      return;
    }
    if (program.machine != hostMachineName())
      program.kind = ProgramKind::otherMachine;
    else
      program.hasRuntime = holdsRuntime(image);
    program.isGo = image.findSection(".go.buildinfo");
    program.stranger = findStranger(image);
    program.wantsAsanFirst = image.needs("libasan.so");
    program.tracesItself =
        program.wantsAsanFirst || image.needs("liblsan.so") ||
        image.exportsSymbol("__lsan_do_leak_check") || callsPtrace(image);
  });
  // An unreadable file stays unknown: exec will report why.
  consumeError(std::move(error));
}

Program mpg::findProgram(StringRef name, StringRef searchPath) {
  Program program;
  struct stat status = {};
  program.path = findPath(name, searchPath, program.kind, status);
  if (program.kind != ProgramKind::unknown)
    return program;
  program.identity = makeIdentity(status);
  program.isPrivileged = isPrivileged(program.path, status);
  if (!S_ISREG(status.st_mode))
    return program;
  readElf(program);
  if (program.kind == ProgramKind::unknown)
    readScript(program, searchPath);
  return program;
}

std::string mpg::findLibrary(StringRef self, StringRef installed,
                             StringRef name) {
  // The second is the build tree, and an installation whose lib is plain.
  for (StringRef folder : {installed, StringRef("../lib")}) {
    SmallString<256> path = sys::path::parent_path(self);
    sys::path::append(path, folder, name);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return {};
}

bool mpg::canBePreloaded(StringRef path) {
  return path.find_first_of(":;\n") == StringRef::npos;
}

bool mpg::isMountedNoexec(const std::string &path) {
  struct statvfs status;
  return statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC);
}

std::vector<std::pair<std::string, std::string>>
mpg::preloadSettings(StringRef path) {
  if (path.find_first_of(" \t") == StringRef::npos)
    return {{"LD_PRELOAD", path.str()}};
  std::string folders = sys::path::parent_path(path).str();
  const char *old = getenv("LD_LIBRARY_PATH");
  if (old && *old)
    folders += std::string(":") + old;
  return {{"LD_PRELOAD", sys::path::filename(path).str()},
          {"LD_LIBRARY_PATH", folders}};
}

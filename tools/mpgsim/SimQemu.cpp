// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgsim.h: qemu, and the source of addresses.

#include "Elf/Image.h"
#include "Process/Program.h"
#include "Support/Format.h"
#include "mpgsim.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

static constexpr const char *howToGet =
    "build QEMU 9 or newer (./configure --target-list=aarch64-linux-user "
    "--enable-plugins), or install qemu-user of Debian 12; name it with "
    "--qemu=";

/// Functions by which a program begins threads, or runtimes that do.
static bool beginsThreads(StringRef name) {
  for (StringRef begin : {"pthread_create", "thrd_create", "__kmpc_fork_",
                          "GOMP_parallel", "_ZNSt6thread15_M_start_thread"})
    if (name.starts_with(begin))
      return true;
  return false;
}

/// Where Debian has the libraries of another machine; "" if the loader
/// \p interpreter is where it should be, or nowhere.
static std::string librariesFor(StringRef interpreter) {
  std::string folder = "/usr/aarch64-linux-gnu";
  if (getenv("QEMU_LD_PREFIX") || sys::fs::exists(interpreter) ||
      !sys::fs::exists(folder + interpreter))
    return "";
  return folder;
}

/// The defect of the program at \p path, or "".
static std::string checkProgram(const std::string &path, SimQemu &qemu) {
  std::string problem;
  Error error = readImages(path, [&](Image &file) {
    if (!file.isProgram() || file.machine() != Machine::aarch64) {
      problem = "is not a program for AArch64 (" +
                (file.kind() == ElfKind::notElf ? file.notElfReason().str()
                                                : file.machineName()) +
                "); --engine=qemu runs nothing else";
      return;
    }
    auto inspect = [&](const Symbol &symbol) {
      qemu.hasThreads |= beginsThreads(symbol.name);
    };
    file.forEachImport(inspect);
    if (file.isStatic())
      file.forEachDefinition(inspect);
    if (file.needs("libgomp") || file.needs("libomp") || file.needs("libfjomp"))
      qemu.hasThreads = true;
    if (auto interpreter = file.interpreter())
      qemu.libraries = librariesFor(*interpreter);
  });
  if (error)
    problem = "cannot be read: " + toString(std::move(error));
  return problem.empty() ? "" : printable(path) + " " + problem;
}

/// The names that qemu exports to plugins show its abilities. A file that is
/// not ELF, like a script in front of qemu, is trusted.
static std::string checkQemu(SimQemu &qemu) {
  bool isKnown = false, hasPlugins = false;
  Error error = readImages(qemu.path, [&](Image &file) {
    isKnown = file.isProgram();
    hasPlugins = file.exportsSymbol("qemu_plugin_register_vcpu_mem_cb");
    qemu.seesSve = file.exportsSymbol("qemu_plugin_read_register");
  });
  if (error)
    return printable(qemu.path) +
           " cannot be read: " + toString(std::move(error)) + "; " + howToGet;
  if (isKnown && !hasPlugins)
    return printable(qemu.path) + " was built without plugins; " + howToGet;
  return "";
}

std::string mpg::findQemu(const SimOptions &options, const std::string &program,
                          const char *self, SimQemu &qemu) {
  std::string problem = checkProgram(program, qemu);
  if (!problem.empty())
    return problem;
  const char *searchPath = getenv("PATH");
  std::string name = options.qemu.empty() ? "qemu-aarch64" : options.qemu;
  Program found = findProgram(name, searchPath ? searchPath : "/usr/bin:/bin");
  if (found.kind == ProgramKind::missing ||
      found.kind == ProgramKind::directory)
    return "there is no " + printable(name) + "; " + howToGet;
  qemu.path = found.path;
  qemu.plugin = findLibrary(
      sys::fs::getMainExecutable(self, reinterpret_cast<void *>(&findQemu)),
      MPG_LIBRARY_FOLDER, "mpgtools/qemu/MpgQemu.so");
  if (qemu.plugin.empty())
    return "lib/mpgtools/qemu/MpgQemu.so is not in this installation of "
           "mpgtools: it is built with the part 'runtime'";
  return checkQemu(qemu);
}

/// A comma ends a value in qemu's options.
static std::string qemuValue(StringRef text) {
  std::string value;
  for (char letter : text)
    value += letter == ',' ? ",," : std::string(1, letter);
  return value;
}

std::vector<std::string> mpg::qemuCommand(const SimQemu &qemu,
                                          const SimOptions &options,
                                          const std::string &program,
                                          const std::string &ring) {
  // SVE registers are of 512 bits unless one asks for others. Pointers are
  // signed in the cheap way.
  std::vector<std::string> command = {
      qemu.path,
      "-cpu",
      qemu.seesSve ? "max,pauth-impdef=on,sme=off"
                   : "max,pauth-impdef=on,sve=off",
      "-plugin",
      qemuValue(qemu.plugin) + ",ring=" + qemuValue(ring),
      "-0",
      options.command[0]};
  if (!qemu.libraries.empty())
    command.insert(command.end(), {"-L", qemu.libraries});
  command.push_back(program);
  command.insert(command.end(), options.command.begin() + 1,
                 options.command.end());
  return command;
}

sim::SimSource SimSources::find(const std::string &path, uint64_t address) {
  std::unique_ptr<DebugInfo> &info = files[path];
  if (!info)
    info = std::make_unique<DebugInfo>(path);
  sim::SimSource source;
  SourceFrame line = info->line(address);
  source.file = std::move(line.file);
  source.line = line.line;
  if (const FunctionTable::Function *function =
          info->functions().find(address)) {
    source.function = function->name;
    source.functionAt = function->start;
  }
  return source;
}

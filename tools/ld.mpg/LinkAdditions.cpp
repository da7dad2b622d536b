// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that a link gets without its command line naming them: libmpg for the
// machine of the objects, and the pass plugin where an LTO link compiles code
// with hints. Missing ones are reported and left out. See LinkContext.h.

#include "Child.h"
#include "Elf/Image.h"
#include "Elf/Machine.h"
#include "LinkContext.h"
#include "Support/Format.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// libmpg

static bool isForMachine(const std::string &path,
                         std::optional<Machine> machine) {
  bool fits = false;
  Error error = readImages(path, [&](Image &image) {
    fits |= image.fullyRead() && (!machine || image.machine() == *machine);
  });
  bool readable = !error;
  consumeError(std::move(error));
  return readable && fits;
}

/// Beside this program's own libmpg there may be those of other machines.
static std::vector<std::string> runtimeFolders(const LinkContext &link) {
  std::vector<std::string> folders = link.libraryFolders;
  if (link.scan.machine)
    for (const std::string &folder : link.libraryFolders)
      folders.push_back(folder + "/mpgtools/" + getTriple(*link.scan.machine));
  return folders;
}

static const char *runtimeFile(const LinkContext &link) {
  return link.request.isStatic ? "/libmpgrt.a" : "/libmpgrt.so";
}

/// libmpg as it lies beside this program, in the build tree or installed, or
/// nothing.
static std::string installedRuntime(const LinkContext &link) {
  for (const std::string &folder : runtimeFolders(link))
    if (isForMachine(folder + runtimeFile(link), link.scan.machine))
      return folder + runtimeFile(link);
  return {};
}

/// An installation that has libmpg for its own machine alone.
static void warnOtherMachine(const LinkContext &link) {
  for (const std::string &folder : link.libraryFolders)
    if (std::string own = folder + "/libmpgrt.so";
        !access(own.c_str(), R_OK) && !isForMachine(own, link.scan.machine)) {
      StringRef triple = getTriple(*link.scan.machine);
      warning() << "the program is linked without libmpg: there is none for "
                << triple << " in " << printable(folder) << "/mpgtools/"
                << triple << "; install it (docs/howto-link.md), or say "
                << "--mpg-runtime=no\n";
      return;
    }
}

/// What -lmpgrt or -lmpg of the command line means, if that is the libmpg
/// beside this program; another one is the user's business.
static std::string usersRuntime(const LinkContext &link) {
  if (link.request.runtime == RuntimeChoice::no || link.request.isStatic)
    return {};
  for (StringRef folder : link.request.searchPaths) {
    SmallString<256> path = folder;
    sys::path::append(path, "lib" + link.request.runtimeName + ".so");
    std::string own;
    if (sys::fs::exists(path))
      own = installedRuntime(link);
    if (!own.empty())
      return sys::fs::equivalent(path, own) ? own : std::string();
  }
  return {};
}

/// A library that needs libmpg would bring it into every program that loads
/// it, so `auto` gives it to programs only.
static bool wantsRuntime(const LinkRequest &request) {
  if (request.hasRuntime)
    return false;
  return request.runtime == RuntimeChoice::yes ||
         (request.runtime == RuntimeChoice::automatic &&
          request.output == OutputKind::program);
}

/// Says so where libmpg was installed and is gone or unreadable: the program
/// would be linked without it in silence.
static void warnOfMissing(const LinkContext &link) {
  for (const std::string &folder : link.libraryFolders) {
    std::string file = folder + runtimeFile(link);
    if (access(file.c_str(), R_OK) == 0)
      continue;
    int reason = errno;
    if (!sys::fs::is_directory(folder + "/mpgtools") && reason == ENOENT)
      continue;
    warning() << printable(file) << ": " << strerror(reason)
              << ": linked without libmpg; install mpgtools again, or write "
                 "--mpg-runtime=no\n";
    return;
  }
}

/// libmpg is for glibc: musl's loader ends a program that needs it.
static bool warnMusl(const LinkRequest &request) {
  if (request.hasRuntime || request.runtime == RuntimeChoice::yes) {
    error() << (request.hasRuntime ? "-lmpgrt" : "--mpg-runtime=yes")
            << ": the program is for musl (--dynamic-linker), and libmpg is "
               "for the GNU C library\n";
    return false;
  }
  warning() << "the program is linked without libmpg, which is for the GNU C "
               "library: it is for musl (--dynamic-linker); --mpg-runtime=no "
               "says that this is meant\n";
  return true;
}

bool mpg::findRuntime(LinkContext &link) {
  const LinkRequest &request = link.request;
  bool isNamed = request.isForMusl && request.runtimeName == "mpgrt";
  if (!isNamed && !wantsRuntime(request))
    return true;
  if (isNamed || (request.isForMusl && (request.runtime == RuntimeChoice::yes ||
                                        !installedRuntime(link).empty())))
    return warnMusl(request);
  link.runtimeLibrary = installedRuntime(link);
  if (link.runtimeLibrary.empty() &&
      link.request.runtime == RuntimeChoice::yes) {
    error() << "--mpg-runtime=yes: no " << runtimeFile(link) + 1
            << " for this machine is installed beside ld.mpg\n";
    return false;
  }
  if (link.runtimeLibrary.empty() && link.scan.machine)
    warnOtherMachine(link);
  if (link.runtimeLibrary.empty())
    warnOfMissing(link);
  return true;
}

/// Where the loader finds \p library: in a folder that holds nothing else if
/// there is one, so that no other library there hides one of the user's.
static std::string folderForLoader(StringRef library) {
  StringRef folder = sys::path::parent_path(library);
  if (!library.ends_with(".so") || isLoaderFolder(folder))
    return {};
  SmallString<256> own = folder;
  sys::path::append(own, "mpgtools");
  return sys::fs::exists(own + "/libmpgrt.so.1") ? own.str().str()
                                                 : folder.str();
}

void mpg::addRuntime(const LinkContext &link, Additions &additions) {
  bool isUsers = link.request.hasRuntime;
  std::string library = isUsers ? usersRuntime(link) : link.runtimeLibrary;
  additions.runtimeFolder = folderForLoader(library);
  if (!isUsers)
    additions.runtimeLibrary = library;
}

void mpg::noteRuntime(const LinkContext &link) {
  const LinkRequest &request = link.request;
  StringRef library = link.runtimeLibrary;
  if (request.runtime != RuntimeChoice::automatic ||
      !library.ends_with(".so") || !isForReader(request))
    return;
  std::string folder = folderForLoader(library);
  note() << printable(request.outputPath) << " needs libmpgrt.so.1 now"
         << (folder.empty() ? "" : ", found in " + printable(folder))
         << "; to run it elsewhere copy the library beside it and link with "
            "-Wl,-rpath,'$ORIGIN', to do without -Wl,--mpg-runtime=no "
            "(silence: MPG_QUIET=1)\n";
}

// The pass plugin

/// Loads the plugin into this process for good.
static std::string loadPlugin(const std::string &path) {
  // LLVM binds lazily: a function that this LLVM lacks would be missed only
  // when it is called, in the middle of the link.
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    StringRef reason = dlerror();
    reason.consume_front(path + ": ");
    return reason.str();
  }
  Expected<PassPlugin> plugin = PassPlugin::Load(path);
  return plugin ? std::string() : toString(plugin.takeError());
}

// Whether lld can load a pass plugin. lld would end the link if not, with an
// error for a plugin of another LLVM and with a crash for a damaged file. So it
// is loaded in a child (Child.h), as LLVM itself loads it. Nothing is run but
// its constructors and the function that tells its version. That takes a
// millisecond, a twentieth of the link of a small program: too much for links
// without bitcode.

/// Why lld cannot load the plugin in file \p path, without the name of the file
/// in front; empty if it can.
/// pre: this process has one thread, and its streams are flushed.
static std::string reasonNotToLoad(const std::string &path) {
  Expected<MemoryFile> answer = MemoryFile::create("");
  if (!answer)
    return toString(answer.takeError());
  Expected<Child> child = Child::startQuiet(
      [&] { _exit(answer->append(loadPlugin(path)) ? 0 : 1); });
  if (!child)
    return toString(child.takeError());
  if (!child->wait())
    return "the file is damaged, loading it ends in a crash";
  return StringRef(answer->contents()).rtrim(".\n").str();
}

std::string mpg::findPassPlugin(const LinkContext &link) {
  if (link.request.inputs.empty() || hasOwnPassPlugin(link.request.passPlugins))
    return {};
  for (const std::string &folder : link.libraryFolders) {
    std::string path = folder + "/" + passPluginFile.str();
    if (sys::fs::exists(path))
      return path;
  }
  return {};
}

/// Whether there is LTO code among the inputs.
static bool hasBitcode(const LinkContext &link) {
  return link.request.fatLto || link.scan.bitcodeBytes > 0 ||
         scanAll(link).bitcodeBytes > 0;
}

bool mpg::checkPassPlugin(LinkContext &link, bool isNeeded) {
  if (link.passPlugin.empty() || link.passPluginChecked)
    return true;
  link.passPluginChecked = true;
  outs().flush();
  errs().flush();
  std::string reason = reasonNotToLoad(link.passPlugin);
  if (reason.empty())
    return true;
  if (isNeeded || hasBitcode(link))
    warning() << printable(link.passPlugin)
              << " is left out, LTO code gets no hints: " << printable(reason)
              << "; install the one that was built with this ld.mpg\n";
  link.passPlugin.clear();
  return false;
}

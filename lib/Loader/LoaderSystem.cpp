// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loader/LoaderSystem.h"
#include "Loader/ConfigFile.h"
#include <sys/auxv.h>
#include <sys/stat.h>

using namespace llvm;
using namespace mpg;

/// A cache of a large installation has some megabytes.
static constexpr uint64_t maxCacheBytes = 64 << 20;
static constexpr uint64_t maxTextBytes = 1 << 20;

static bool isFolder(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

static bool isLink(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

bool LoaderSystem::runsHere(Machine machine) {
#if defined(__x86_64__)
  return machine == Machine::x86_64;
#elif defined(__aarch64__)
  return machine == Machine::aarch64;
#else
  (void)machine;
  return false;
#endif
}

/// The glibc-hwcaps folders for this processor, the best one first. AArch64 has
/// none.
static std::vector<std::string> usableHwcaps() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    found.push_back("x86-64-v4");
  if (__builtin_cpu_supports("x86-64-v3"))
    found.push_back("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v2"))
    found.push_back("x86-64-v2");
#endif
  return found;
}

static std::string platformHere() {
  const char *text = reinterpret_cast<const char *>(getauxval(AT_PLATFORM));
  return text ? text : "";
}

/// What $LIB means, which is also where the loader looks by default.
static std::string libFolder(const std::string &sysroot, StringRef triplet) {
  std::string multiarch = "lib/" + triplet.str();
  if (isFolder(sysroot + "/" + multiarch) ||
      isFolder(sysroot + "/usr/" + multiarch))
    return multiarch;
  std::string lib64 = sysroot + "/usr/lib64";
  return isFolder(lib64) && !isLink(lib64) ? "lib64" : "lib";
}

static std::vector<std::string> readMuslFolders(const std::string &sysroot,
                                                StringRef machine) {
  std::optional<std::string> text = readWholeFile(
      sysroot + "/etc/ld-musl-" + machine.str() + ".path", maxTextBytes);
  std::vector<std::string> folders;
  for (const std::string &name :
       splitNames(text.value_or("/lib:/usr/local/lib:/usr/lib"), ":\n"))
    folders.push_back(sysroot + name);
  return folders;
}

LoaderSystem::LoaderSystem(const std::string &sysroot, Machine machine) {
  bool arm = machine == Machine::aarch64;
  std::string architecture = arm ? "aarch64" : "x86_64";
  bool native = sysroot.empty() && runsHere(machine);
  words.sysroot = sysroot;
  words.lib = libFolder(sysroot, architecture + "-linux-gnu");
  words.platform = native ? platformHere() : architecture;
  interpreter = sysroot + (arm ? "/lib/ld-linux-aarch64.so.1"
                               : "/lib64/ld-linux-x86-64.so.2");
  if (native)
    hwcaps = usableHwcaps();
  if (sysroot.empty())
    if (std::optional<std::string> bytes =
            readWholeFile("/etc/ld.so.cache", maxCacheBytes))
      cache = CacheFile(std::move(*bytes));
  if (!cache.usable())
    configured = readLoaderConfig(sysroot);
  defaults = {sysroot + "/" + words.lib, sysroot + "/usr/" + words.lib};
  if (StringRef(words.lib).starts_with("lib/"))
    defaults.insert(defaults.end(), {sysroot + "/lib", sysroot + "/usr/lib"});
  preloads = readPreloadFile(sysroot);
  muslFolders = readMuslFolders(sysroot, architecture);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the loader of one system goes by, beside the files that it loads: the
// cache, ld.so.conf, its default folders, the glibc-hwcaps folders that this
// processor can use, ld.so.preload. The system is this machine or a sysroot.
//
// Which folders are the default is compiled into each loader; here it is told
// from what exists: lib/TRIPLET (Debian), else lib64, else lib.
//
// The folders of processors that glibc 2.37 no longer looks into (haswell,
// tls) are not looked into here either. With a sysroot, or for a program of
// another machine, the processor is not known: no glibc-hwcaps folder is used.

#ifndef MPG_LOADER_LOADERSYSTEM_H
#define MPG_LOADER_LOADERSYSTEM_H

#include "Elf/Machine.h"
#include "Loader/CacheFile.h"
#include "Loader/SearchPath.h"

namespace mpg {

struct LoaderSystem {
  LoaderSystem(const std::string &sysroot, Machine machine);

  /// Whether this machine runs programs for \p machine itself.
  static bool runsHere(Machine machine);

  PathWords words;
  /// Used for this machine alone: in a sysroot, the cache may be older than the
  /// files, and was perhaps made for another root.
  CacheFile cache;
  std::vector<std::string> configured; ///< ld.so.conf, where there is no cache
  std::vector<std::string> defaults;
  std::vector<std::string> hwcaps;   ///< "x86-64-v3", the best one first
  std::vector<std::string> preloads; ///< the names in /etc/ld.so.preload
  std::string interpreter;           ///< where the loader usually is
  /// The folders of musl's loader, if there is such a system.
  std::vector<std::string> muslFolders;
};

} // namespace mpg

#endif // MPG_LOADER_LOADERSYSTEM_H

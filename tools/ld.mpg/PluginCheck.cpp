// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PluginCheck.h.

#include "PluginCheck.h"
#include "Child.h"
#include "MemoryFile.h"
#include "llvm/Plugins/PassPlugin.h"
#include <dlfcn.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

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

std::string mpg::reasonNotToLoad(const std::string &path) {
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkPlugin.h.

#include "LinkPlugin.h"
#include "Child.h"
#include "LinkContext.h"
#include "LinkInputs.h"
#include "Support/Format.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>
#include <string>
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

/// Whether there is LTO code among the inputs. Takes long with many archives.
static bool hasBitcode(const LinkContext &link) {
  if (link.request.fatLto || link.scan.bitcodeBytes > 0)
    return true;
  Expected<ScanChild> child =
      ScanChild::start(link.request, link.request.inputs, UINT64_MAX);
  if (child)
    return child->finish().bitcodeBytes > 0;
  consumeError(child.takeError());
  return false;
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

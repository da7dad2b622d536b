// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkPlugin.h.

#include "LinkPlugin.h"
#include "LinkMessages.h"
#include "PluginCheck.h"
#include "ScanChild.h"
#include "Support/Format.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mpg;

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

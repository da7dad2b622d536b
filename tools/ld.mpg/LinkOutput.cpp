// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkOutput.h.

#include "LinkOutput.h"
#include "Elf/Image.h"
#include "Link/LayoutCheck.h"
#include "Link/LayoutObject.h"
#include "LinkContext.h"
#include "Support/Format.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

bool mpg::isSpecialOutput(const std::string &path) {
  sys::fs::file_status status;
  return path == "-" ||
         (!sys::fs::status(path, status) && sys::fs::is_other(status));
}

bool mpg::isOutputWritable(const std::string &path) {
  if (isSpecialOutput(path))
    return true;
  if (sys::fs::is_directory(path)) {
    error() << "cannot write " << printable(path) << ": it is a directory\n";
    return false;
  }
  // lld writes a new file beside the old one and renames it.
  StringRef folder = sys::path::parent_path(path);
  std::error_code code = sys::fs::access(folder.empty() ? "." : folder,
                                         sys::fs::AccessMode::Write);
  if (code)
    error() << "cannot write " << printable(path) << ": " << code.message()
            << "\n";
  return !code;
}

sys::fs::UniqueID mpg::outputId(const std::string &path) {
  sys::fs::UniqueID id;
  return sys::fs::getUniqueID(path, id) ? sys::fs::UniqueID() : id;
}

OutputFacts mpg::readOutput(const std::string &path, uint64_t hugeBytes) {
  OutputFacts facts;
  if (isSpecialOutput(path))
    return facts;
  Error failed = readImages(path, [&](Image &image) {
    facts.readable = image.isLoadable();
    facts.sized = image.hasSections();
    facts.fileBytes = image.fileBytes();
    facts.dataBytes = largeDataBytes(image);
    facts.large = hasLargeSections(image);
    facts.lateSections = sectionsBehind(image, layoutTailSection);
    if (facts.readable)
      facts.broken = checkLayout(image, hugeBytes);
  });
  consumeError(std::move(failed));
  return facts;
}

void mpg::removeOutput(const std::string &path) {
  if (std::error_code code = sys::fs::remove(path))
    warning() << "cannot remove " << printable(path) << ": " << code.message()
              << "\n";
}

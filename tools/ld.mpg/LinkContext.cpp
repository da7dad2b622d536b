// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkContext.h.

#include "LinkContext.h"
#include "Elf/Image.h"
#include "Link/InputScan.h"
#include "Link/LayoutCheck.h"
#include "Link/LayoutObject.h"
#include "Link/LldCommand.h"
#include "Support/Format.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

raw_ostream &mpg::error() { return errs() << "ld.mpg: error: "; }
raw_ostream &mpg::warning() { return errs() << "ld.mpg: warning: "; }
raw_ostream &mpg::note() { return errs() << "ld.mpg: note: "; }

int mpg::failed(Error reason) {
  error() << toString(std::move(reason)) << "\n";
  return 1;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Expected<ScanChild> ScanChild::start(const LinkRequest &request,
                                     ArrayRef<LinkInput> inputs,
                                     uint64_t enoughBytes) {
  ScanChild scan;
  Expected<MemoryFile> answer = MemoryFile::create("");
  if (!answer)
    return answer.takeError();
  scan.answer = std::move(*answer);
  Expected<Child> child = Child::startQuiet([&] {
    ScanResult result = scanFiles(request, inputs, enoughBytes);
    _exit(scan.answer.append(writeScanResult(result)) ? 0 : 1);
  });
  if (!child)
    return child.takeError();
  scan.child = *child;
  return scan;
}

ScanResult ScanChild::finish() {
  return child.wait() ? readScanResult(answer.contents()) : ScanResult();
}

std::vector<LinkInput> mpg::scanFirst(LinkContext &link) {
  UnscannedInputs rest;
  link.scan = scanObjects(link.request, rest);
  scanNow(link, rest.bitcode);
  if (link.scan.dataBytes >= link.request.minBytes)
    rest.archives.clear();
  // Where lld cannot run again the guess has to be as good as can be.
  bool once = link.scan.readsPipe || isSpecialOutput(link.request.outputPath);
  if (once || !link.scan.machine) {
    scanNow(link, rest.archives);
    rest.archives.clear();
  }
  return std::move(rest.archives);
}

void mpg::scanNow(LinkContext &link, ArrayRef<LinkInput> inputs) {
  if (inputs.empty())
    return;
  Expected<ScanChild> child =
      ScanChild::start(link.request, inputs, link.request.minBytes);
  if (child)
    merge(link.scan, child->finish());
  consumeError(child.takeError()); // the guess is worse then
}

bool mpg::checkSlimObjects(const ScanResult &scan) {
  for (const std::string &name : scan.slimObjects)
    error() << printable(name)
            << " holds gcc's own LTO code only, which lld cannot read; compile "
               "it with -ffat-lto-objects or without -flto, or use clang\n";
  return scan.slimObjects.empty();
}

void mpg::explainFailure(const LinkContext &link) {
  for (const std::string &name : link.scan.slimArchives)
    note() << printable(name)
           << " has members that hold gcc's own LTO code only, which lld "
              "cannot read; compile them with -ffat-lto-objects\n";
  if (link.request.hugeBytes > separateSegmentsBytes &&
      link.scan.machine == Machine::x86_64)
    note() << "with large pages of " << formatBytes(link.request.hugeBytes)
           << " .bss can lie more than 2 GiB from the code, which is as far "
              "as x86-64 code (the C start files too) reaches; use "
              "--mpg-huge=2M\n";
}

//===----------------------------------------------------------------------===//
// The output
//===----------------------------------------------------------------------===//

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

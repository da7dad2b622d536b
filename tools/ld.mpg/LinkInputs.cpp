// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LinkInputs.h.

#include "LinkInputs.h"
#include "Link/InputScan.h"
#include "Link/LldCommand.h"
#include "LinkContext.h"
#include "LinkOutput.h"
#include "Support/Format.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

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

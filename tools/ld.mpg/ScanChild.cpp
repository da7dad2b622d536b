// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScanChild.h.

#include "ScanChild.h"
#include "Link/ScanAnswer.h"
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

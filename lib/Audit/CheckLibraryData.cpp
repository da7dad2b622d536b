// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG143: runtimes move the segments of the main program only; a library's own
// large data stays on normal pages.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include <elf.h>

using namespace mpg;

void mpg::checkLibraryData(const Subject &subject, Findings &findings) {
  constexpr uint64_t largeThreadBytes = 64 << 10;
  Image &image = subject.image;
  if (image.kind() != ElfKind::library)
    return;
  uint64_t bytes = writableBytes(image.loads());
  if (bytes > subject.settings.minBytes) {
    Finding &finding = findings.add(
        FindingId::mpg143, "the library has " + formatBytes(bytes) +
                               " of writable data, which never gets large "
                               "pages");
    finding.sub = "data";
    finding.where.bytes = bytes;
  }
  const Segment *tls = image.findSegment(PT_TLS);
  if (tls && tls->memoryBytes > largeThreadBytes) {
    Finding &finding = findings.add(
        FindingId::mpg143, "the library has " + formatBytes(tls->memoryBytes) +
                               " of thread-local data for each thread");
    finding.sub = "tls";
    finding.where.bytes = tls->memoryBytes;
    finding.cost = "every thread takes this much when it starts, on normal "
                   "pages";
    finding.setFix("Allocate the arrays with malloc and keep pointers to them "
                   "in the thread-local variables.");
  }
}

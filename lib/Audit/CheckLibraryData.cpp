// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG143: runtimes move the segments of the main program only, ours those of
// libraries as well if the job asks for it; else a library's own large data
// stays on normal pages.

#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include "Support/Format.h"
#include <elf.h>

using namespace mpg;

static constexpr char never[] = "which never gets large pages";

void mpg::wordLibraryData(Finding &finding) {
  if (size_t at = finding.title.find(never); at != std::string::npos)
    finding.title.replace(at, std::string::npos,
                          "which gets large pages with MPG_REMAP=all only");
  finding.cost = "libmpg moves the data of the program, and that of its "
                 "libraries if the job asks for it";
  finding.setFix("Ask for it in the job, or link this library into the program "
                 "as an archive:\n  export MPG_REMAP=all");
}

void mpg::checkLibraryData(const Subject &subject, Findings &findings) {
  constexpr uint64_t largeThreadBytes = 64 << 10;
  Image &image = subject.image;
  if (image.kind() != ElfKind::library)
    return;
  uint64_t bytes = writableBytes(image.loads());
  if (bytes > subject.settings.minBytes) {
    Finding &finding = findings.add(FindingId::mpg143,
                                    "the library has " + formatBytes(bytes) +
                                        " of writable data, " + never);
    finding.sub = "data";
    if (subject.target == Target::mpg)
      wordLibraryData(finding);
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

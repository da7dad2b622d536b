// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The note reader on any bytes. Beyond not crashing: merged notes can be
// written, read again unchanged, and printed.

#include "Elf/HintNote.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Notes notes;
  readNotes(StringRef(reinterpret_cast<const char *>(data), size), notes);
  if (notes.hints)
    describeTags(*notes.hints);

  std::string written;
  if (notes.hints)
    written += writeHintsNote(*notes.hints);
  if (notes.layout)
    written += writeLayoutNote(*notes.layout);
  Notes again;
  readNotes(written, again);
  std::string rewritten;
  if (again.hints)
    rewritten += writeHintsNote(*again.hints);
  if (again.layout)
    rewritten += writeLayoutNote(*again.layout);
  // The fields that a merge does not keep (pad) are zero in both.
  if (rewritten != written || !again.warnings.empty())
    abort();
  return 0;
}

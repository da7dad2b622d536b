// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The note reader on any bytes. Beyond not crashing: merged notes can be
// written, read again unchanged, and printed.

#include "Elf/HintNote.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

template <typename Struct>
static std::string makeNote(uint32_t type, const Struct &contents) {
  return writeNote(type, StringRef(reinterpret_cast<const char *>(&contents),
                                   sizeof(contents)));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Notes notes;
  readNotes(StringRef(reinterpret_cast<const char *>(data), size), notes);
  if (notes.hints)
    describeTags(*notes.hints);

  std::string written;
  if (notes.hints)
    written += makeNote(MPG_NOTE_TYPE_HINTS, *notes.hints);
  if (notes.layout)
    written += makeNote(MPG_NOTE_TYPE_LAYOUT, *notes.layout);
  Notes again;
  readNotes(written, again);
  std::string rewritten;
  if (again.hints)
    rewritten += makeNote(MPG_NOTE_TYPE_HINTS, *again.hints);
  if (again.layout)
    rewritten += makeNote(MPG_NOTE_TYPE_LAYOUT, *again.layout);
  // The fields that a merge does not keep (pad) are zero in both.
  if (rewritten != written || !again.warnings.empty())
    abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, merges and writes the notes of <mpg/note.h>. A linker joins the notes
// of all its inputs into one section, so a program carries one hint note for
// each module that was compiled with the passes; what counts is their sum. The
// readers trust nothing: any bytes give an answer, and a warning names each
// defect.

#pragma once

#include "mpg/note.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// All notes of ours in one section or segment.
struct Notes {
  std::optional<mpg_note_hints> hints; ///< merged over all modules
  std::vector<mpg_note_hints> modules; ///< the hint notes that went into it
  std::optional<mpg_note_layout> layout;
  /// Parts that could not be used and why, one sentence each: unknown versions,
  /// truncated notes, modules that request different cache ways.
  std::vector<std::string> warnings;
  /// The warnings about a whole hint note, whose tags and ways are unknown.
  std::vector<std::string> unreadHints;
  /// The warnings about modules that ask for different ways.
  std::vector<std::string> wayConflicts;
};

/// Calls \p visit with the name (its zero byte included), the type and the
/// contents of each ELF note in \p section. Returns what is wrong with the rest
/// if the notes do not fill the section.
std::optional<std::string>
forEachNote(llvm::StringRef section,
            llvm::function_ref<void(llvm::StringRef name, uint32_t type,
                                    llvm::StringRef contents)>
                visit);

/// Adds the notes of \p section (contents of a SHT_NOTE section or PT_NOTE
/// segment) to \p notes. Skips notes of others silently.
void readNotes(llvm::StringRef section, Notes &notes);

/// Merges \p from into \p into: masks are united, counts added (they stop at
/// the largest value), of different ways the larger one is kept and named in
/// \p conflicts.
void mergeHints(mpg_note_hints &into, const mpg_note_hints &from,
                std::vector<std::string> &conflicts);

/// A hint note that asks for nothing; the start for a writer or a merge.
mpg_note_hints emptyHints();

/// A note as a section holds it, header and name included. \p contents: the
/// bytes of its struct.
std::string writeNote(uint32_t type, llvm::StringRef contents);

/// Offset of the contents in what writeNote() returns.
constexpr uint64_t noteHeaderBytes = 16;

/// Numbers of the bits that are set in \p mask: sectors, injection entries.
std::vector<unsigned> listBits(uint8_t mask);

/// The tag bytes that the note names, ascending.
std::vector<unsigned> getTagBytes(const mpg_note_hints &hints);

/// "12 tagged accesses, tag bytes 0x01 0x41".
std::string describeTags(const mpg_note_hints &hints);

/// "sector 0: 4, sector 1: 10"; empty if none are asked for.
std::string describeWays(const uint8_t (&ways)[4]);

} // namespace mpg

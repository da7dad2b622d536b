// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The notes of <mpg/note.h>: bytes that other programs read, the sum over
// modules, and the error for bytes that are not notes.

#include "Elf/HintNote.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

template <typename Struct>
static std::string makeNote(uint32_t type, const Struct &contents) {
  return writeNote(type, StringRef(reinterpret_cast<const char *>(&contents),
                                   sizeof(contents)));
}
static std::string writeHintsNote(const mpg_note_hints &hints) {
  return makeNote(MPG_NOTE_TYPE_HINTS, hints);
}
static std::string writeLayoutNote(const mpg_note_layout &layout) {
  return makeNote(MPG_NOTE_TYPE_LAYOUT, layout);
}

static mpg_note_hints someHints() {
  mpg_note_hints hints = emptyHints();
  hints.flags = MPG_HINTS_FIRST_TOUCH;
  hints.llvmMajor = 22;
  hints.tagBytes[0] = 1u << 1 | 1u << 31;
  hints.tagBytes[7] = 1u << 31;
  hints.sectorsMask = 2;
  hints.injectionMask = 1;
  hints.waysL2[1] = 5;
  hints.taggedAccesses = 0x01020304;
  hints.firstTouchSites = 7;
  return hints;
}

static Notes readNotes(const std::string &bytes) {
  Notes notes;
  readNotes(bytes, notes);
  return notes;
}

TEST(HintNote, BytesAreThoseOfTheContract) {
  std::string note = writeHintsNote(someHints());
  ASSERT_EQ(note.size(), 16u + 60u);
  // n_namesz, n_descsz, n_type, "mpg": little-endian on every machine.
  EXPECT_EQ(StringRef(note).take_front(16),
            StringRef("\4\0\0\0\x3c\0\0\0\1\0\0\0mpg\0", 16));
  EXPECT_EQ(StringRef(note).substr(16, 8), StringRef("\1\0\2\0\x16\0\0\0", 8));
  EXPECT_EQ(StringRef(note).substr(16 + 40, 12),
            StringRef("\2\1\xff\xff\xff\xff\xff\5\xff\xff\0\0", 12));
  EXPECT_EQ(StringRef(note).take_back(8), StringRef("\4\3\2\1\7\0\0\0", 8));

  mpg_note_layout layout = {};
  layout.version = MPG_NOTE_LAYOUT_VERSION;
  layout.hugeBytes = 2 << 20;
  layout.bssEnd = 0x1122334455667788;
  note = writeLayoutNote(layout);
  ASSERT_EQ(note.size(), 16u + 48u);
  EXPECT_EQ(StringRef(note).take_front(16),
            StringRef("\4\0\0\0\x30\0\0\0\2\0\0\0mpg\0", 16));
  EXPECT_EQ(StringRef(note).take_back(8),
            StringRef("\x88\x77\x66\x55\x44\x33\x22\x11", 8));
}

TEST(HintNote, WhatIsWrittenIsRead) {
  mpg_note_layout layout = {MPG_NOTE_LAYOUT_VERSION, 0, 0, 2 << 20, 1, 2, 3, 4};
  Notes notes =
      readNotes(writeHintsNote(someHints()) + writeLayoutNote(layout));
  EXPECT_TRUE(notes.warnings.empty());
  ASSERT_TRUE(notes.hints && notes.layout);
  EXPECT_EQ(notes.modules.size(), 1u);
  EXPECT_EQ(writeHintsNote(*notes.hints), writeHintsNote(someHints()));
  EXPECT_EQ(writeLayoutNote(*notes.layout), writeLayoutNote(layout));
}

TEST(HintNote, MergingUnitesMasksAndAddsCounts) {
  mpg_note_hints other = emptyHints();
  other.flags = MPG_HINTS_EXTENDED_TAGS;
  other.llvmMajor = 19;
  other.tagBytes[0] = 1u << 2;
  other.sectorsMask = 4;
  other.waysL1[0] = 2;
  other.taggedAccesses = 10;
  Notes notes = readNotes(writeHintsNote(someHints()) + writeHintsNote(other));
  EXPECT_TRUE(notes.warnings.empty());
  EXPECT_EQ(notes.modules.size(), 2u);
  EXPECT_EQ(notes.hints->flags, 3);
  EXPECT_EQ(notes.hints->llvmMajor, 22u);
  EXPECT_EQ(notes.hints->tagBytes[0], 1u << 1 | 1u << 2 | 1u << 31);
  EXPECT_EQ(notes.hints->sectorsMask, 6);
  EXPECT_EQ(notes.hints->waysL1[0], 2);
  EXPECT_EQ(notes.hints->waysL1[1], MPG_WAYS_NOT_ASKED);
  EXPECT_EQ(notes.hints->waysL2[1], 5);
  EXPECT_EQ(notes.hints->taggedAccesses, 0x01020304u + 10);
  EXPECT_EQ(notes.hints->firstTouchSites, 7u);
}

TEST(HintNote, CountsStopAtTheLargestValue) {
  mpg_note_hints full = emptyHints();
  full.taggedAccesses = UINT32_MAX - 1;
  mpg_note_hints two = emptyHints();
  two.taggedAccesses = 2;
  std::vector<std::string> warnings;
  mergeHints(full, two, warnings);
  EXPECT_EQ(full.taggedAccesses, UINT32_MAX);
}

TEST(HintNote, OfDifferentWaysTheLargerIsKeptAndNamed) {
  for (bool swapped : {false, true}) {
    mpg_note_hints few = emptyHints(), many = emptyHints();
    few.waysL2[2] = 3;
    many.waysL2[2] = 12;
    Notes notes = readNotes(writeHintsNote(swapped ? many : few) +
                            writeHintsNote(swapped ? few : many));
    EXPECT_EQ(notes.hints->waysL2[2], 12);
    ASSERT_EQ(notes.warnings.size(), 1u);
    EXPECT_NE(notes.warnings[0].find("L2 ways of sector 2; 12 is kept"),
              std::string::npos);
    EXPECT_EQ(notes.wayConflicts, notes.warnings);
    EXPECT_TRUE(notes.unreadHints.empty());
  }
}

TEST(HintNote, NotesOfOthersArePassedOver) {
  std::string gnu("\4\0\0\0\5\0\0\0\3\0\0\0GNU\0abcde\0\0\0", 24);
  std::string longName("\5\0\0\0\0\0\0\0\1\0\0\0mpgx\0\0\0\0", 20);
  Notes notes = readNotes(gnu + longName + writeHintsNote(someHints()) + gnu);
  EXPECT_TRUE(notes.warnings.empty());
  EXPECT_EQ(notes.modules.size(), 1u);
}

TEST(HintNote, UnknownVersionsAreSkippedAndNamed) {
  mpg_note_hints next = someHints();
  next.version = 2;
  std::string note = writeHintsNote(next) + writeHintsNote(someHints());
  Notes notes = readNotes(note);
  EXPECT_EQ(notes.modules.size(), 1u);
  EXPECT_EQ(notes.warnings,
            (std::vector<std::string>{
                "a hint note of version 2 is not known and was skipped"}));
  EXPECT_EQ(notes.unreadHints, notes.warnings);
  // A later version may be longer.
  std::string longer = writeHintsNote(next) + "more";
  longer[4] = 64;
  notes = readNotes(longer);
  EXPECT_EQ(notes.warnings.size(), 1u);
  EXPECT_FALSE(notes.hints);
}

TEST(HintNote, AnyPrefixIsAnsweredAndOnlyWholeNotesCount) {
  std::string all = writeHintsNote(someHints()) + writeHintsNote(someHints());
  for (size_t bytes = 0; bytes <= all.size(); ++bytes) {
    Notes notes = readNotes(all.substr(0, bytes));
    EXPECT_EQ(notes.modules.size(), bytes / 76) << bytes;
    EXPECT_EQ(notes.warnings.empty(), bytes % 76 == 0) << bytes;
  }
}

TEST(HintNote, SizesThatWrapAroundAreNoNotes) {
  for (const char *sizes :
       {"\xff\xff\xff\xff\0\0\0\0", "\4\0\0\0\xff\xff\xff\xff",
        "\xff\xff\xff\xff\xff\xff\xff\xff", "\xfd\xff\xff\xff\1\0\0\0"}) {
    std::string note = writeHintsNote(someHints());
    note.replace(0, 8, sizes, 8);
    Notes notes = readNotes(note);
    EXPECT_FALSE(notes.hints);
    EXPECT_EQ(notes.warnings.size(), 1u);
  }
}

TEST(HintNote, DamagedSizesAreNamed) {
  std::string note =
      writeLayoutNote({MPG_NOTE_LAYOUT_VERSION, 0, 0, 0, 0, 0, 0, 0});
  note.resize(note.size() - 8);
  note[4] = 40;
  EXPECT_EQ(readNotes(note).warnings,
            (std::vector<std::string>{
                "a layout note of 40 bytes is damaged: version 1 has 48"}));
  EXPECT_EQ(readNotes(std::string("\4\0\0\0\1\0\0\0\2\0\0\0mpg\0\1\0\0\0", 20))
                .warnings,
            (std::vector<std::string>{
                "a layout note of 1 bytes is too short for a version"}));
}

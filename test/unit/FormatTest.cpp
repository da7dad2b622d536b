// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How numbers and text look in a report: a wrong unit or a command line that
// was broken over two lines misleads the reader.

#include "Support/Format.h"
#include "Support/JsonItem.h"
#include "Support/Table.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mpg;

TEST(Format, HexIsLowerCaseWithPrefix) {
  EXPECT_EQ(formatHex(0), "0x0");
  EXPECT_EQ(formatHex(0x404abc), "0x404abc");
  EXPECT_EQ(formatHex(UINT64_MAX), "0xffffffffffffffff");
}

TEST(Format, BytesInTheLargestUnit) {
  const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {
      {0, "0 B"},
      {1, "1 B"},
      {1023, "1023 B"},
      {1024, "1 KiB"},
      {1536, "1.5 KiB"},
      {(2 << 20) - 1, "1.9 MiB"}, // never rounded up to what it is not
      {2 << 20, "2 MiB"},
      {(2 << 20) + 1, "2 MiB"},
      {9 * (1 << 20) + (9 << 20) / 10, "9.8 MiB"},
      {10 * (1 << 20) + (1 << 19), "10 MiB"},
      {uint64_t(9) << 30, "9 GiB"},
      {uint64_t(28) << 30, "28 GiB"},
      {uint64_t(1) << 40, "1 TiB"},
      {uint64_t(1) << 50, "1 PiB"},
      {uint64_t(1) << 60, "1 EiB"},
      {UINT64_MAX, "15 EiB"},
  };
  for (const auto &test : cases)
    EXPECT_EQ(formatBytes(test.bytes), test.text) << test.bytes;
}

static llvm::SmallVector<llvm::StringRef, 16> splitLines(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 16> lines;
  text.split(lines, '\n');
  return lines;
}

TEST(Format, FillBreaksBetweenWords) {
  EXPECT_EQ(fillText("", 4), "");
  EXPECT_EQ(fillText("one two", 4), "one two");
  std::string exactly(34, 'a'), oneMore(35, 'b');
  // 9 + 34 + 1 + 34 = 78 columns fit, one more does not.
  EXPECT_EQ(fillText(exactly + " " + exactly, 9), exactly + " " + exactly);
  EXPECT_EQ(fillText(exactly + " " + oneMore, 9),
            exactly + "\n         " + oneMore);
  // A word that is longer than a line is not cut.
  std::string path(200, '/');
  EXPECT_EQ(fillText("see " + path + " there", 2),
            "see\n  " + path + "\n  there");
}

TEST(Format, FillKeepsEveryWordInOrder) {
  std::string text;
  for (unsigned i = 0; i < 200; ++i)
    text += (i ? " " : "") + std::string(1 + i % 23, char('a' + i % 26));
  for (unsigned indent : {0u, 9u, 40u}) {
    std::string filled = fillText(text, indent), joined;
    bool first = true;
    for (llvm::StringRef line : splitLines(filled)) {
      EXPECT_LE(line.size() + (first ? indent : 0), 78u);
      joined += (first ? "" : " ") + line.trim().str();
      first = false;
    }
    EXPECT_EQ(joined, text);
  }
}

TEST(Format, FillKeepsCommandLinesAndParagraphs) {
  std::string command = "  gcc:   -Wl,-z,max-page-size=2097152 " +
                        std::string(60, '-') + " -lmpgrt";
  std::string filled = fillText("Link again.\n" + command + "\n\nOr not.", 9);
  auto lines = splitLines(filled);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "Link again.");
  EXPECT_EQ(lines[1].ltrim(), llvm::StringRef(command).ltrim());
  EXPECT_EQ(lines[2], "");
  EXPECT_EQ(lines[3], "         Or not.");
}

TEST(Format, LongLabelsLoseTheirMiddleBetweenLetters) {
  using mpg::shortLabel;
  EXPECT_EQ(shortLabel("2M", 16), "2M");
  EXPECT_EQ(shortLabel("MALLOC_MMAP_THRESHOLD_", 10), "MALL..OLD_");
  EXPECT_EQ(shortLabel("\xe5\xa4\xa7\xe5\xa4\xa7\xe5\xa4\xa7", 5),
            "\xe5\xa4\xa7..");
  EXPECT_EQ(mpg::labelColumns(shortLabel(std::string(100, '\x01'), 16)), 16u);
  // As many letters as a file may have in a name: one look at each is enough.
  EXPECT_EQ(shortLabel(std::string(4 << 20, 'a'), 8), "aaa..aaa");
}

TEST(Format, SizesAreReadAsTheyAreWritten) {
  const std::pair<const char *, std::optional<uint64_t>> cases[] = {
      {"0", 0},
      {"65536", 65536},
      {"0x200000", 2 << 20},
      {"64K", 64 << 10},
      {"2m", 2 << 20},
      {"28GiB", uint64_t(28) << 30},
      {"1TB", uint64_t(1) << 40},
      {"18446744073709551615", UINT64_MAX},
      {"16777215T", uint64_t(16777215) << 40},
      {"16777216T", std::nullopt},
      {"18446744073709551616", std::nullopt},
      {"", std::nullopt},
      {"M", std::nullopt},
      {"0x", std::nullopt},
      {"-1", std::nullopt},
      {" 2M", std::nullopt},
      {"2MM", std::nullopt},
      {"2.5M", std::nullopt}};
  for (const auto &[text, bytes] : cases)
    EXPECT_EQ(mpg::parseBytes(text), bytes) << text;
}

TEST(Format, JsonKeepsTheOrderOfKeysAndReplacesWhatItCannotSay) {
  std::string text;
  llvm::raw_string_ostream out(text);
  writeJson(out, JsonObject{{"z", 1},
                            {"a", std::optional<uint64_t>()},
                            {"absent", orAbsent(std::optional<bool>())},
                            {"none", textOrAbsent("")},
                            {"name", "a\xff"},
                            {"ratio", std::nan("")},
                            {"zero", -0.0},
                            {"list", std::vector<bool>{true, false}},
                            {"empty", JsonArray{}}});
  EXPECT_EQ(out.str(), R"({"z":1,"a":null,"name":"a�","ratio":null,"zero":0,)"
                       R"("list":[true,false],"empty":[]})");
}

TEST(Format, columnsOfTablesAreOfLettersNotBytes) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Table table({"name", "size|n"});
  table.addRow({"\u00fc\u8868", "1"});
  table.addRow({"abcde", "22"});
  table.write(out);
  EXPECT_EQ(out.str(), "name    n\n\u00fc\u8868     1\nabcde  22\n");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result of a scan is the same on the other side.

#include "Link/InputScan.h"
#include "gtest/gtest.h"

using namespace mpg;

TEST(ScanAnswer, AllFieldsArrive) {
  ScanResult result;
  result.machine = Machine::aarch64;
  result.dataBytes = UINT64_MAX;
  result.bitcodeBytes = 1;
  result.large = true;
  result.lateSections = {".one", "", "two\nlines"};
  result.slimArchives = {"a b.a", "d"};
  result.stackCode = {"e.o"};
  ScanResult read = readScanResult(writeScanResult(result));
  EXPECT_EQ(read.machine, result.machine);
  EXPECT_EQ(read.dataBytes, result.dataBytes);
  EXPECT_EQ(read.bitcodeBytes, result.bitcodeBytes);
  EXPECT_EQ(read.large, result.large);
  EXPECT_EQ(read.lateSections, result.lateSections);
  EXPECT_EQ(read.slimArchives, result.slimArchives);
  EXPECT_EQ(read.stackCode, result.stackCode);
}

TEST(ScanAnswer, NothingFoundIsNothing) {
  for (const std::string &text :
       {writeScanResult(ScanResult()), std::string()}) {
    ScanResult read = readScanResult(text);
    EXPECT_EQ(read.machine, std::nullopt);
    EXPECT_EQ(read.dataBytes, 0u);
    EXPECT_FALSE(read.large);
    EXPECT_TRUE(read.lateSections.empty());
    EXPECT_TRUE(read.slimArchives.empty());
  }
}

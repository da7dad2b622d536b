// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grammar of hints, and the sum of two hints: a misread text becomes a tag
// that the user did not ask for.

#include "hints/HintText.h"
#include "mpg/hints.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

/// The tag that \p text asks for, or -1 if it is rejected.
static int parseTag(StringRef text) {
  Expected<HintText> parsed = parseHintText(text);
  if (parsed)
    return parsed->hint.tagByte();
  consumeError(parsed.takeError());
  return -1;
}

static std::string readError(StringRef text) {
  Expected<HintText> parsed = parseHintText(text);
  return parsed ? "" : toString(parsed.takeError());
}

TEST(HintText, TagBytes) {
  struct {
    const char *text;
    int tag;
  } cases[] = {
      {"mpg:1:hint:sector=0", 0x00},
      {"mpg:1:hint:sector=1", 0x01},
      {"mpg:1:hint:sector=3", 0x03},
      {"mpg:1:hint:stream", 0x01},
      {"mpg:1:hint:keep", 0x00},
      {"mpg:1:hint:weak_swpf", 0x10},
      {"mpg:1:hint:no_l2_hwpf", 0x20},
      {"mpg:1:hint:no_l1_hwpf", 0x40},
      {"mpg:1:hint:no_hwpf", 0x60},
      {"mpg:1:hint:no_l1_hwpf,no_l2_hwpf", 0x60},
      {"mpg:1:hint:no_hwpf,weak_swpf,sector=2", 0x72},
      {"mpg:1:hint:inject=0", 0x80},
      {"mpg:1:hint:inject=1,inject=1", 0x90},
      {"mpg:1:hint:inject=7,sector=3", 0xf3},
      {"mpg:1:hint: sector = 2 , no_l1_hwpf ", 0x42},
      {"mpg:1: hint : stream", 0x01},
      {"mpg:1:hint:stream,sector=1", 0x01},
      {"mpg:1:hint:off", 0x00},
  };
  for (const auto &one : cases)
    EXPECT_EQ(parseTag(one.text), one.tag) << one.text;
}

TEST(HintText, BitsThatAreAlwaysZeroStayZero) {
  for (unsigned sector = 0; sector < 4; ++sector)
    for (unsigned entry = 0; entry < 8; ++entry) {
      Hint hint;
      hint.sector = sector;
      hint.injection = entry;
      EXPECT_EQ(hint.tagByte() & 0x0c, 0);
      EXPECT_EQ(hint.tagByte() & MPG_TAG_SECTOR_MASK, sector);
      EXPECT_EQ(hint.tagByte() >> 4, 8 + entry);
    }
}

TEST(HintText, Refused) {
  struct {
    const char *text, *reason;
  } cases[] = {
      {"mpg:1:hint:", "nothing follows the colon"},
      {"mpg:1:hint", "nothing follows the colon"},
      {"mpg:1:hint: , ", "unknown hint ''"},
      {"mpg:1:hint:sector=4", "takes a number from 0 to 3"},
      {"mpg:1:hint:sector=", "takes a number from 0 to 3"},
      {"mpg:1:hint:sector=0x1", "takes a number from 0 to 3"},
      {"mpg:1:hint:sector=+1", "takes a number from 0 to 3"},
      {"mpg:1:hint:sector=99999999999999999999", "takes a number from 0 to 3"},
      {"mpg:1:hint:inject=8", "takes a number from 0 to 7"},
      {"mpg:1:hint:Stream", "unknown hint 'Stream'"},
      {"mpg:1:hint:stream=1", "unknown hint 'stream=1'"},
      {"mpg:1:hint:stream,keep", "sector 1 and sector 0"},
      {"mpg:1:hint:inject=1,no_hwpf", "leave out the other prefetch hints"},
      {"mpg:1:hint:inject=1,inject=2", "inject=1 and inject=2"},
      {"mpg:1:hint:off,weak_swpf", "off and another hint"},
      {"mpg:1:ways:", "nothing follows the colon"},
      {"mpg:1:ways:l2=15", "takes a number from 0 to 14"},
      {"mpg:1:ways:l1=5", "takes a number from 0 to 4"},
      {"mpg:1:ways:l2=3,l2=4", "contradicts l2=3"},
      {"mpg:1:ways:stream", "unknown word 'stream'"},
      {"mpg:1:touch:", "unknown word ''; known: touch:off, touch:on"},
      {"mpg:1:touch", "unknown word ''"},
      {"mpg:1:touch:Off", "unknown word 'Off'"},
      {"mpg:1:touch:off,on", "unknown word 'off,on'"},
      {"mpg:1:touch:sector=1", "unknown word 'sector=1'"},
      {"mpg:1:other:x", "unknown kind of hint 'other'"},
      {"mpg:1:", "unknown kind of hint ''"},
      {"mpg:2:hint:stream", "'mpg:1:'"},
      {"mpg:", "'mpg:1:'"},
      {"", "'mpg:1:'"},
  };
  for (const auto &one : cases)
    EXPECT_NE(readError(one.text).find(one.reason), std::string::npos)
        << one.text << " -> " << readError(one.text);
}

TEST(HintText, Ways) {
  Expected<HintText> both = parseHintText("mpg:1:ways:l1=1, l2=4");
  ASSERT_TRUE(bool(both));
  EXPECT_EQ(both->kind, HintKind::ways);
  EXPECT_EQ(both->ways.l1, 1u);
  EXPECT_EQ(both->ways.l2, 4u);
  Expected<HintText> one = parseHintText("mpg:1:procedure-ways:L2=14");
  ASSERT_TRUE(bool(one));
  EXPECT_EQ(one->kind, HintKind::procedureWays);
  EXPECT_FALSE(one->ways.l1);
  EXPECT_EQ(one->ways.l2, 14u);
}

TEST(HintText, Touch) {
  struct {
    const char *text;
    TouchChoice choice;
  } cases[] = {
      {"mpg:1:touch:off", TouchChoice::off},
      {"mpg:1:touch:on", TouchChoice::on},
      {"mpg:1: touch : off ", TouchChoice::off},
  };
  for (const auto &one : cases) {
    Expected<HintText> parsed = parseHintText(one.text);
    ASSERT_TRUE(bool(parsed)) << one.text;
    EXPECT_EQ(parsed->kind, HintKind::touch) << one.text;
    EXPECT_EQ(parsed->touch, one.choice) << one.text;
    EXPECT_EQ(parsed->hint.tagByte(), 0) << one.text;
  }
  Expected<HintText> tags = parseHintText("mpg:1:hint:off");
  ASSERT_TRUE(bool(tags));
  EXPECT_EQ(tags->touch, TouchChoice::none);
}

TEST(HintText, KindsOfPragmas) {
  struct {
    const char *text;
    HintKind kind;
  } cases[] = {
      {"mpg:1:assign:sector=1", HintKind::assign},
      {"mpg:1:procedure-assign:sector=1", HintKind::procedureAssign},
      {"mpg:1:end-assign:", HintKind::endAssign},
      {"mpg:1:end-ways:", HintKind::endWays},
  };
  for (const auto &one : cases) {
    Expected<HintText> parsed = parseHintText(one.text);
    ASSERT_TRUE(bool(parsed)) << one.text;
    EXPECT_EQ(parsed->kind, one.kind) << one.text;
  }
}

TEST(HintText, ShortForm) {
  for (const char *text : {"stream", "sector=1", "hint:stream", " stream "}) {
    Expected<HintText> parsed = parseShortHintText(text);
    ASSERT_TRUE(bool(parsed)) << text;
    EXPECT_EQ(parsed->hint.tagByte(), 1) << text;
  }
  Expected<HintText> ways = parseShortHintText("ways:l2=4");
  ASSERT_TRUE(bool(ways));
  EXPECT_EQ(ways->ways.l2, 4u);
  Expected<HintText> touch = parseShortHintText("touch:off");
  ASSERT_TRUE(bool(touch));
  EXPECT_EQ(touch->touch, TouchChoice::off);
  for (const char *text :
       {"", "mpg:1:hint:stream", "ways", "touch", "other:stream"}) {
    Expected<HintText> parsed = parseShortHintText(text);
    EXPECT_FALSE(bool(parsed)) << text;
    if (!parsed)
      consumeError(parsed.takeError());
  }
}

TEST(HintText, AnnotationsOfOthersAreNotOurs) {
  EXPECT_TRUE(isHintText("mpg:1:hint:stream"));
  EXPECT_TRUE(isHintText("mpg:9"));
  EXPECT_FALSE(isHintText("mpgx"));
  EXPECT_FALSE(isHintText("annotated mpg:1:"));
  EXPECT_FALSE(isHintText(""));
}

TEST(Hint, WhatContradictsIsNotAdded) {
  Hint sum, sector, other;
  sector.sector = 1;
  other.sector = 2;
  EXPECT_EQ(sum.add(sector), "");
  EXPECT_EQ(sum.add(sector), "");
  EXPECT_NE(sum.add(other), "");
  EXPECT_EQ(sum.tagByte(), 1);
  Hint off;
  off.off = true;
  EXPECT_NE(sum.add(off), "");
  EXPECT_FALSE(sum.off);
  Hint prefetch;
  prefetch.noL1Prefetch = true;
  EXPECT_EQ(sum.add(prefetch), "");
  EXPECT_EQ(sum.tagByte(), 0x41);
}

TEST(Hint, TagsInWords) {
  EXPECT_EQ(describeTag(0x01), "0x01: sector 1");
  EXPECT_EQ(describeTag(0x41), "0x41: sector 1, no L1 hardware prefetch");
  EXPECT_EQ(describeTag(0x72),
            "0x72: sector 2, no hardware prefetch, weak software prefetch");
  EXPECT_EQ(describeTag(0xd0), "0xd0: sector 0, prefetch injection entry 5");
}

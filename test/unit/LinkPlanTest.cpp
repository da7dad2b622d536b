// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a link gets the layout, and when it is made twice.

#include "Link/InputScan.h"
#include "gtest/gtest.h"

using namespace mpg;

using Strings = std::vector<std::string>;

static constexpr uint64_t minBytes = 2 << 20;

static LinkRequest request() {
  LinkRequest request;
  request.minBytes = minBytes;
  return request;
}

static ScanResult scanned(uint64_t dataBytes) {
  ScanResult scan;
  scan.dataBytes = dataBytes;
  return scan;
}

static OutputFacts output(uint64_t dataBytes) {
  OutputFacts facts;
  facts.readable = facts.sized = true;
  facts.fileBytes = 1 << 20;
  facts.dataBytes = dataBytes;
  return facts;
}

static LinkPlan aligned() {
  LinkPlan plan;
  plan.align = true;
  return plan;
}

TEST(LinkPlan, InputsAskForTheLayoutFromTheMinimumOn) {
  EXPECT_FALSE(planOfInputs(request(), scanned(0)).align);
  EXPECT_FALSE(planOfInputs(request(), scanned(minBytes - 1)).align);
  EXPECT_TRUE(planOfInputs(request(), scanned(minBytes)).align);
  LinkRequest always;
  always.minBytes = 0;
  EXPECT_TRUE(planOfInputs(always, scanned(0)).align);
}

TEST(LinkPlan, WithoutTheLayoutThereIsNothingElseToPlan) {
  ScanResult scan = scanned(minBytes - 1);
  scan.large = true;
  scan.lateSections = {".late"};
  EXPECT_EQ(planOfInputs(request(), scan), LinkPlan());
  scan.dataBytes = minBytes;
  LinkPlan plan = planOfInputs(request(), scan);
  EXPECT_TRUE(plan.large);
  EXPECT_EQ(plan.lateSections, Strings{".late"});
}

TEST(LinkPlan, ARightGuessIsLinkedOnce) {
  EXPECT_EQ(planOfOutput(request(), scanned(0), LinkPlan(), output(5)),
            LinkPlan());
  EXPECT_EQ(planOfOutput(request(), scanned(0), aligned(), output(minBytes)),
            aligned());
}

TEST(LinkPlan, AWrongGuessIsLinkedAgain) {
  EXPECT_EQ(planOfOutput(request(), scanned(0), LinkPlan(), output(minBytes)),
            aligned());
  EXPECT_EQ(
      planOfOutput(request(), scanned(0), aligned(), output(minBytes - 1)),
      LinkPlan());
}

TEST(LinkPlan, ASlowSecondLinkIsOnlyMadeForTheLayout) {
  OutputFacts small = output(5), full = output(minBytes);
  small.fileBytes = full.fileBytes = 64 << 20;
  EXPECT_EQ(planOfOutput(request(), scanned(0), aligned(), small), LinkPlan());
  small.fileBytes = full.fileBytes = (64 << 20) + 1;
  EXPECT_EQ(planOfOutput(request(), scanned(0), aligned(), small), aligned());
  EXPECT_EQ(planOfOutput(request(), scanned(0), LinkPlan(), full), aligned());
  ScanResult lto = scanned(0);
  lto.bitcodeBytes = 1 << 20;
  EXPECT_EQ(planOfOutput(request(), lto, aligned(), output(5)), LinkPlan());
  ++lto.bitcodeBytes;
  EXPECT_EQ(planOfOutput(request(), lto, aligned(), output(5)), aligned());
  EXPECT_EQ(planOfOutput(request(), lto, LinkPlan(), full), aligned());
}

TEST(LinkPlan, WhatTheOutputShowsIsAddedToTheGuess) {
  LinkPlan plan = aligned();
  plan.lateSections = {".known"};
  OutputFacts facts = output(minBytes);
  facts.large = true;
  facts.lateSections = {".new"};
  LinkPlan better = planOfOutput(request(), scanned(0), plan, facts);
  EXPECT_TRUE(better.align);
  EXPECT_TRUE(better.large);
  EXPECT_EQ(better.lateSections, (Strings{".known", ".new"}));
}

TEST(LinkPlan, WhatReadsAPipeIsLaidOutAndLinkedOnce) {
  ScanResult scan = scanned(0);
  scan.readsPipe = true;
  EXPECT_EQ(planOfInputs(request(), scan), aligned());
  EXPECT_EQ(planOfOutput(request(), scan, aligned(), output(5)), aligned());
}

TEST(LinkPlan, CodeIsLaidOutIfItFillsAPage) {
  LinkRequest text = request();
  text.text = true;
  LinkPlan plan = planOfInputs(text, scanned(0));
  EXPECT_TRUE(plan.text);
  EXPECT_FALSE(plan.align);
  OutputFacts facts = output(0);
  facts.textBytes = 2 << 20;
  EXPECT_EQ(planOfOutput(text, scanned(0), plan, facts), plan);
  facts.textBytes -= 1;
  EXPECT_EQ(planOfOutput(text, scanned(0), plan, facts), LinkPlan());
  text.minBytes = 0;
  EXPECT_TRUE(planOfOutput(text, scanned(0), plan, facts).text);
  text.minBytes = 64 << 20; // for the data; a page of code gains
  EXPECT_EQ(minTextBytes(text), 2u << 20);
}

TEST(LinkPlan, AnOutputThatCannotBeReadChangesNothing) {
  OutputFacts pipe, stripped = output(minBytes);
  stripped.sized = false;
  for (const OutputFacts &facts : {pipe, stripped}) {
    EXPECT_EQ(planOfOutput(request(), scanned(0), LinkPlan(), facts),
              LinkPlan());
    EXPECT_EQ(planOfOutput(request(), scanned(0), aligned(), facts), aligned());
  }
}

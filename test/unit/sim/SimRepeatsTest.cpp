// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations in single records count the same as a loop of the model, and as
// one by one: a chunk that ends after each iteration has nothing to find.

#include "Machines/MachineFile.h"
#include "SimRun/SimProgram.h"
#include "gtest/gtest.h"
#include <cstring>
#include <random>

using namespace mpg::sim;

namespace {

using Records = std::vector<mpg_sim_record>;

mpg_sim_record record(mpg_sim_kind kind, uint64_t number, uint64_t value = 0) {
  return {value, uint64_t(kind) << MPG_SIM_KIND_SHIFT | number};
}

/// Loops whose bodies are basic blocks, single accesses and calls.
class Loops {
public:
  explicit Loops(unsigned seed) : random(seed) {
    text = "mpgsim\t" + std::to_string(MPG_SIM_VERSION) +
           "\tloops.c\nF\tloops.c\nL\t0\t1\tloop\tmain\n";
    access(); // of no body
    while (bodies.size() < 3)
      addBody();
    text += bundles;
    for (unsigned number = 0; number < arrays; ++number)
      text += "G\tarray" + std::to_string(number) + "\n";
  }

  /// The module and its arrays, of 16 pages each.
  Records names() const {
    Records all = {record(MPG_SIM_MODULE, 1, text.size()),
                   record(MPG_SIM_TEXT, 0, text.size())};
    all.resize(2 + (text.size() + 15) / 16);
    memcpy(&all[2], text.data(), text.size());
    for (unsigned number = 0; number < arrays; ++number) {
      all.push_back(record(MPG_SIM_OBJECT, number, begin(number)));
      all.push_back(record(MPG_SIM_BYTES, 0, bytesOfArray));
    }
    return all;
  }

  /// The iterations of one loop. Now and then an address jumps, or another
  /// access comes between two iterations.
  std::vector<Records> run() {
    const Body &body = bodies[random() % bodies.size()];
    std::vector<uint64_t> address, step;
    for (unsigned at = 0; at < body.addresses; ++at) {
      address.push_back(begin(random() % arrays) + random() % bytesOfArray);
      static constexpr int64_t steps[] = {0, 8, 8, 8, -8, 24, 256, 4096, 70000};
      step.push_back(uint64_t(steps[random() % std::size(steps)]));
    }
    std::vector<Records> all;
    for (unsigned times = random() % 200; times; --times) {
      all.push_back(iteration(body, address));
      for (size_t at = 0; at < address.size(); ++at)
        address[at] += step[at];
      if (random() % 64 == 0)
        address[random() % address.size()] += 5000;
      if (random() % 64 == 0)
        all.push_back({record(MPG_SIM_ACCESS, 1, address[0])});
    }
    return all;
  }

private:
  static constexpr unsigned arrays = 8;
  static constexpr uint64_t bytesOfArray = 1 << 20;
  struct Part {
    mpg_sim_kind kind;
    unsigned place, accesses, addresses;
  };
  struct Body {
    std::vector<Part> parts;
    unsigned addresses = 0;
  };

  static uint64_t begin(unsigned array) {
    return 0x7f0000000000 + array * bytesOfArray;
  }
  void addBody() {
    Body body;
    body.parts.push_back(bundle());
    for (unsigned more = random() % 4; more; --more)
      switch (random() % 3) {
      case 0:
        body.parts.push_back(bundle());
        break;
      case 1:
        body.parts.push_back({MPG_SIM_ACCESS, access(), 1, 1});
        break;
      default:
        text += "C\tcbrt\n";
        body.parts.push_back({MPG_SIM_CALLED, ++places, 0, 0});
      }
    for (const Part &part : body.parts)
      body.addresses += part.addresses;
    bodies.push_back(body);
  }
  unsigned access() {
    text += random() % 3 ? "A\tl\t8\t2\t0\t\n" : "A\ts\t8\t2\t0\t\n";
    return ++places;
  }
  Part bundle() {
    Part part = {MPG_SIM_BUNDLE, places + 1, 3 + unsigned(random() % 30), 0};
    bundles += "B\t" + std::to_string(places);
    for (unsigned at = 0; at < part.accesses; ++at) {
      access();
      unsigned address = random() % (part.addresses + 1);
      part.addresses = std::max(part.addresses, address + 1);
      bundles += "\t" + std::to_string(address) + "\t" +
                 std::to_string(8 * (random() % 40));
    }
    bundles += "\n";
    return part;
  }
  static Records iteration(const Body &body,
                           const std::vector<uint64_t> &address) {
    Records all;
    const uint64_t *next = address.data();
    for (const Part &part : body.parts) {
      all.push_back(record(part.kind, part.place, part.addresses ? *next : 0));
      if (part.kind == MPG_SIM_BUNDLE)
        all.back().word |= uint64_t(part.accesses) << MPG_SIM_ACCESSES_SHIFT |
                           uint64_t(part.addresses) << MPG_SIM_ADDRESSES_SHIFT;
      for (unsigned at = 1; at < part.addresses; at += 2)
        all.push_back({next[at], at + 1 < part.addresses ? next[at + 1] : 0});
      next += part.addresses;
    }
    return all;
  }

  std::mt19937 random;
  std::string text, bundles;
  unsigned places = 0;
  std::vector<Body> bodies;
};

void expectEqual(const SimProgram &one, const SimProgram &other) {
  ASSERT_EQ(one.siteCount(), other.siteCount());
  EXPECT_EQ(one.moduleError(), "");
  EXPECT_EQ(one.damaged(), 0U);
  EXPECT_EQ(one.callsNotSeen(), other.callsNotSeen());
  const Model &model = one.model();
  for (unsigned site = 0; site < one.siteCount(); ++site) {
    EXPECT_EQ(model.site(site).array, other.model().site(site).array);
    EXPECT_EQ(one.getReach(site), other.getReach(site));
    for (unsigned counter = 0; counter < model.layout().size(); ++counter)
      ASSERT_EQ(model.count(site, counter), other.model().count(site, counter))
          << "site " << site << ", counter " << counter;
  }
  std::vector<PageUse> pages = one.pageUses(), others = other.pageUses();
  ASSERT_EQ(pages.size(), others.size());
  for (size_t array = 0; array < pages.size(); ++array)
    EXPECT_EQ(pages[array].of4K, others[array].of4K);
}

TEST(SimRepeats, CountAsOneByOne) {
  for (const char *name : {"a64fx", "icelake-sp", "zen4"}) {
    Machine machine;
    ASSERT_EQ(readMachine(MPG_SIM_MACHINES "/" + std::string(name) + ".yaml",
                          machine),
              "");
    WhatIf whatIf;
    whatIf.pageBytes = machine.pageBytes;
    for (unsigned seed = 1; seed <= 10; ++seed) {
      Loops loops(seed);
      SimProgram atOnce(machine, whatIf), oneByOne(machine, whatIf);
      Records names = loops.names();
      atOnce.read(names.data(), unsigned(names.size()));
      oneByOne.read(names.data(), unsigned(names.size()));
      for (unsigned loop = 0; loop < 20; ++loop) {
        Records whole;
        for (const Records &iteration : loops.run()) {
          oneByOne.read(iteration.data(), unsigned(iteration.size()));
          whole.insert(whole.end(), iteration.begin(), iteration.end());
        }
        atOnce.read(whole.data(), unsigned(whole.size()));
      }
      atOnce.finish();
      oneByOne.finish();
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      expectEqual(atOnce, oneByOne);
    }
  }
}

TEST(SimRepeats, TooFewOrDifferentAreNone) {
  SimRepeats repeats;
  Records all;
  uint64_t word = uint64_t(3) << MPG_SIM_ACCESSES_SHIFT |
                  uint64_t(1) << MPG_SIM_ADDRESSES_SHIFT;
  for (unsigned at = 0; at < SimRepeats::minTimes; ++at)
    all.push_back(record(MPG_SIM_BUNDLE, word | 5, 1000 + 8 * at));
  EXPECT_EQ(repeats.find(all.data(), unsigned(all.size())),
            SimRepeats::minTimes);
  EXPECT_EQ(repeats.records(), 1U);
  EXPECT_EQ(repeats.getStep(all[0].value), 8);
  EXPECT_EQ(repeats.find(all.data(), unsigned(all.size()) - 1), 0U);
  all[4].value += 8;
  EXPECT_EQ(repeats.find(all.data(), unsigned(all.size())), 0U) << "waits";
  EXPECT_EQ(repeats.find(all.data(), unsigned(all.size())), 0U);
}

TEST(SimRepeats, BundlesThatNoModuleHasAreDamage) {
  Machine machine;
  ASSERT_EQ(readMachine(MPG_SIM_MACHINES "/a64fx.yaml", machine), "");
  WhatIf whatIf;
  whatIf.pageBytes = machine.pageBytes;
  SimProgram program(machine, whatIf);
  Records names = Loops(1).names();
  program.read(names.data(), unsigned(names.size()));
  EXPECT_EQ(program.damaged(), 0U);
  // The sum with 1 does not fit 32 bits; a table up to the second has 8 GiB.
  for (uint64_t place : {~0U, 1U << 31}) {
    mpg_sim_record wrong = record(
        MPG_SIM_BUNDLE, uint64_t(1) << MPG_SIM_ADDRESSES_SHIFT | place, 1000);
    program.read(&wrong, 1);
  }
  EXPECT_EQ(program.damaged(), 2U);
}

TEST(SimPlaces, AnAccessMayHaveNoKind) {
  SimPlaces places;
  std::string head = "mpgsim\t" + std::to_string(MPG_SIM_VERSION) + "\ta.c\n";
  EXPECT_EQ(places.addModule(0, head + "A\tp1\t8\t1\t0\t\n"), "");
  EXPECT_EQ(places.addModule(1, head + "A\t\t8\t1\t0\t\n"), "");
  EXPECT_NE(places.addModule(2, head + "A\t\t8\t1\t0\n"), "");
}

} // namespace

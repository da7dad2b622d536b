// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OMP_PLACES, OMP_PROC_BIND and OMP_NUM_THREADS, on a machine with 16 CPUs:
// two sockets, four nodes of four CPUs, eight cores of two (CPUs c and c + 1).

#include "numa/Places.h"
#include "base/SelfMaps.h"
#include "numa/NodeCpus.h"
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

using namespace mpg;

namespace {

cpu_set_t getCpus(const char *list) {
  cpu_set_t cpus;
  EXPECT_TRUE(parseCpuList(list, cpus)) << list;
  return cpus;
}

void getGroup(unsigned cpu, Level level, cpu_set_t &group) {
  const unsigned sizes[] = {1, 2, 4, 4, 8};
  unsigned size = sizes[unsigned(level)];
  CPU_ZERO(&group);
  for (unsigned other = cpu / size * size; other < cpu / size * size + size;
       ++other)
    CPU_SET(other, &group);
}

std::unique_ptr<PlaceList> buildPlaces(const PlaceWishes &wishes,
                                       const char *usable) {
  auto list = std::make_unique<PlaceList>();
  makePlaces(wishes, getCpus(usable), getGroup, *list);
  return list;
}

/// "0 1|2 3"
std::string getText(const PlaceList &list) {
  std::string text;
  for (uint32_t i = 0; i < list.count; ++i) {
    text += i ? "|" : "";
    bool isFirst = true;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &list.places[i])) {
        text += (isFirst ? "" : " ") + std::to_string(cpu);
        isFirst = false;
      }
  }
  return text;
}

std::vector<int> listSeats(const char *places, const char *bind,
                           uint32_t threads, const char *usable = "0-15") {
  auto list = buildPlaces({places, bind, nullptr}, usable);
  std::vector<int> cpus;
  for (uint32_t thread = 0; thread < threads; ++thread)
    cpus.push_back(cpuOfThread(*list, thread, threads));
  return cpus;
}

using Cpus = std::vector<int>;

} // namespace

TEST(PlacesTest, RightTexts) {
  const struct {
    const char *text, *usable, *places;
  } cases[] = {
      // Lists of places.
      {"{0}", "0-15", "0"},
      {"{0},{1},{2}", "0-15", "0|1|2"},
      {"{0,1},{2,3}", "0-15", "0 1|2 3"},
      {"{3},{2},{1},{0}", "0-15", "3|2|1|0"},
      {"{0:4},{4:4}", "0-15", "0 1 2 3|4 5 6 7"},
      {"{0:4:2}", "0-15", "0 2 4 6"},
      {"{6:3:-2}", "0-15", "2 4 6"},
      {"{0:4}:4:4", "0-15", "0 1 2 3|4 5 6 7|8 9 10 11|12 13 14 15"},
      {"{0,1}:3", "0-15", "0 1|1 2|2 3"},
      {"{12:2}:3:-4", "0-15", "12 13|8 9|4 5"},
      {"{0:2}:2:8,{4}", "0-15", "0 1|8 9|4"},
      {"0,4,8", "0-15", "0|4|8"},
      {"0:3:4", "0-15", "0|4|8"},
      {" { 0 , 1 } : 2 : 2 ", "0-15", "0 1|2 3"},
      // Exclusion.
      {"{0:4,!2}", "0-15", "0 1 3"},
      {"{0:8,!0:2,!7}", "0-15", "2 3 4 5 6"},
      {"{0},{1},{2},!{1}", "0-15", "0|2"},
      {"{0:2}:4:2,!{2,3}", "0-15", "0 1|4 5|6 7"},
      {"{0},!{5}", "0-15", "0"},
      // CPUs that are forbidden, or do not exist.
      {"{0:4},{4:4},{8}", "2-5", "2 3|4 5"},
      {"{0,2000},{3000},{1}", "0-15", "0|1"},
      {"{14}:4", "0-15", "14|15"},
      // Names.
      {"threads", "0-2", "0|1|2"},
      {"cores", "0-5", "0 1|2 3|4 5"},
      {"CORES", "1-2", "1|2"},
      {"ll_caches", "0-15", "0 1 2 3|4 5 6 7|8 9 10 11|12 13 14 15"},
      {"numa_domains", "2-9", "2 3|4 5 6 7|8 9"},
      {"sockets", "0-15", "0 1 2 3 4 5 6 7|8 9 10 11 12 13 14 15"},
      {"sockets(1)", "0-15", "0 1 2 3 4 5 6 7"},
      {"Threads ( 3 )", "4-9", "4|5|6"},
      {"cores(99)", "0-3", "0 1|2 3"},
      {"cores(16384)", "0-3", "0 1|2 3"},
  };
  for (const auto &one : cases)
    EXPECT_EQ(getText(*buildPlaces({one.text, nullptr, nullptr}, one.usable)),
              one.places)
        << one.text;
}

TEST(PlacesTest, WrongTextsCountAsNotSet) {
  for (const char *text : {"",          " ",
                           "{",         "{}",
                           "{0",        "{0},",
                           ",{0}",      "{0}{1}",
                           "{0}:",      "{0}:0",
                           "{0}:2:",    "{0}:-2",
                           "{0:0}",     "{0:}",
                           "{a}",       "{-1}",
                           "{0,}",      "{,0}",
                           "!",         "!{0}",
                           "{0},!{0}",  "{!0}",
                           "{0};{1}",   "core",
                           "coresx",    "cores(",
                           "cores()",   "cores(0)",
                           "cores(2",   "cores(-1)",
                           "cores(2)x", "cores,threads",
                           "threads2",  "{99999999999999999999}",
                           "{0:99999}", "{0}:1025",
                           "{100}",     "nodes"}) {
    auto list = buildPlaces({text, nullptr, nullptr}, "3-5");
    EXPECT_EQ(list->binding, Binding::none) << text;
    EXPECT_EQ(getText(*list), "3 4 5") << text;
    // With a binding there are places all the same.
    EXPECT_EQ(getText(*buildPlaces({text, "true", nullptr}, "3-5")), "3|4 5")
        << text;
  }
}

TEST(PlacesTest, Bindings) {
  const struct {
    const char *places, *bind;
    Binding binding;
  } cases[] = {
      {nullptr, nullptr, Binding::none},
      {"cores", nullptr, Binding::close},
      {nullptr, "true", Binding::close},
      {nullptr, "close", Binding::close},
      {nullptr, " Spread ", Binding::spread},
      {"cores", "SPREAD,close", Binding::spread},
      {"cores", "primary", Binding::primary},
      {"cores", "master", Binding::primary},
      {"cores", "false", Binding::none},
      {nullptr, "false", Binding::none},
      // Malformed: treated as unset.
      {"cores", "near", Binding::close},
      {"cores", "true1", Binding::close},
      {"cores", "", Binding::close},
      {nullptr, "near", Binding::none},
      {nullptr, "closely", Binding::none},
  };
  for (const auto &one : cases)
    EXPECT_EQ(buildPlaces({one.places, one.bind, nullptr}, "0-15")->binding,
              one.binding)
        << (one.places ? one.places : "") << " " << (one.bind ? one.bind : "");
}

TEST(PlacesTest, ThreadsWithoutPlacesGoOverAllCpus) {
  EXPECT_EQ(listSeats(nullptr, nullptr, 4), (Cpus{0, 4, 8, 12}));
  EXPECT_EQ(listSeats(nullptr, nullptr, 3, "0-1"), (Cpus{0, 0, 1}));
  EXPECT_EQ(listSeats(nullptr, nullptr, 4, "12-15"), (Cpus{12, 13, 14, 15}));
  EXPECT_EQ(listSeats("{3},{2}", "false", 2), (Cpus{0, 8}));
}

TEST(PlacesTest, CloseTakesPlacesInTurn) {
  EXPECT_EQ(listSeats("{3},{2},{1},{0}", nullptr, 4), (Cpus{3, 2, 1, 0}));
  EXPECT_EQ(listSeats("cores", "close", 3), (Cpus{0, 2, 4}));
  EXPECT_EQ(listSeats(nullptr, "true", 4), (Cpus{0, 2, 4, 6}));
  // More threads than places: neighbours together, spread over their place.
  EXPECT_EQ(listSeats("{0},{4}", "close", 5), (Cpus{0, 0, 0, 4, 4}));
  EXPECT_EQ(listSeats("numa_domains(2)", "close", 4), (Cpus{0, 2, 4, 6}));
  EXPECT_EQ(listSeats("sockets", "close", 8),
            (Cpus{0, 2, 4, 6, 8, 10, 12, 14}));
}

TEST(PlacesTest, SpreadKeepsDistance) {
  EXPECT_EQ(listSeats("threads", "spread", 4), (Cpus{0, 4, 8, 12}));
  EXPECT_EQ(listSeats("threads", "spread", 3), (Cpus{0, 6, 11}));
  EXPECT_EQ(listSeats("cores", "spread", 1), (Cpus{0}));
  EXPECT_EQ(listSeats("numa_domains", "spread", 4), (Cpus{0, 4, 8, 12}));
  EXPECT_EQ(listSeats("numa_domains", "spread", 8),
            (Cpus{0, 2, 4, 6, 8, 10, 12, 14}));
}

TEST(PlacesTest, PrimaryStaysOnTheFirstPlace) {
  EXPECT_EQ(listSeats("{4},{5}", "primary", 3), (Cpus{4, 4, 4}));
  EXPECT_EQ(listSeats("numa_domains", "primary", 4), (Cpus{0, 1, 2, 3}));
}

TEST(PlacesTest, NumberOfThreads) {
  const struct {
    const char *text;
    uint32_t threads;
  } cases[] = {{nullptr, 16}, {"3", 3},           {" 7 ", 7},   {"4,2", 4},
               {"0", 16},     {"-1", 16},         {"many", 16}, {"", 16},
               {"2x", 16},    {"99999999999", 16}};
  for (const auto &one : cases)
    EXPECT_EQ(defaultThreads({nullptr, nullptr, one.text}, getCpus("0-15")),
              one.threads)
        << (one.text ? one.text : "");
}

TEST(PlacesTest, WishesAreReadByTheirNames) {
  const char *environment[] = {"OMP_PLACESX=1", "OMP_NUM_THREADS=2",
                               "OMP_PLACES=cores", nullptr};
  PlaceWishes wishes = readPlaceWishes(environment);
  EXPECT_STREQ(wishes.places, "cores");
  EXPECT_STREQ(wishes.threads, "2");
  EXPECT_EQ(wishes.bind, nullptr);
}

TEST(PlacesTest, ThisComputersGroupsHoldTheirCpuAndEachOther) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mine), &mine), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mine))
      continue;
    cpu_set_t core, cache;
    for (Level level : {Level::threads, Level::cores, Level::llCaches,
                        Level::numaDomains, Level::sockets}) {
      cpu_set_t group;
      readNeighbors(unsigned(cpu), level, group);
      EXPECT_TRUE(CPU_ISSET(cpu, &group)) << cpu << " " << int(level);
    }
    readNeighbors(unsigned(cpu), Level::cores, core);
    readNeighbors(unsigned(cpu), Level::llCaches, cache);
    CPU_AND(&cache, &cache, &core);
    EXPECT_TRUE(CPU_EQUAL(&cache, &core)) << "a core with two last caches";
  }
}

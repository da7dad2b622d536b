// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NodeCpus.h on the machine that runs the tests, compared with the C library.

#include "numa/NodeCpus.h"
#include "pages/PagesNuma.h"
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>
#include <vector>

namespace {

std::vector<int> usableCpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof(mask), &mask);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask))
      cpus.push_back(cpu);
  return cpus;
}

/// Puts the calling thread where it was before.
class Bound {
public:
  explicit Bound(int cpu) {
    CPU_ZERO(&before);
    sched_getaffinity(0, sizeof(before), &before);
    EXPECT_TRUE(mpg::goToCpu(cpu));
  }
  ~Bound() { sched_setaffinity(0, sizeof(before), &before); }

private:
  cpu_set_t before;
};

TEST(NodeCpus, aThreadGoesOnlyToCpusThatAreThere) {
  {
    Bound here(usableCpus().back());
    EXPECT_EQ(usableCpus().size(), 1u);
  }
  std::vector<int> usable = usableCpus();
  if (usable.back() == CPU_SETSIZE - 1)
    GTEST_SKIP() << "all of them are";
  EXPECT_FALSE(mpg::goToCpu(CPU_SETSIZE - 1));
  EXPECT_EQ(usableCpus(), usable);
}

TEST(NodeCpus, nodesOutsideOfASetAreNotInIt) {
  mpg::NodeSet nodes = mpg::NodeSet::of(mpg::NodeSet::maxNodes);
  EXPECT_EQ(nodes.count(), 0);
  nodes.add(63);
  EXPECT_TRUE(nodes.has(63));
  EXPECT_FALSE(nodes.has(-1) || nodes.has(mpg::NodeSet::maxNodes));
}

TEST(NodeCpus, everyThreadOfTheProcessCounts) {
  std::vector<int> usable = usableCpus();
  if (usable.size() < 2)
    GTEST_SKIP() << "one CPU";
  Bound here(usable[0]);
  cpu_set_t cpus;
  pthread_barrier_t both;
  pthread_barrier_init(&both, nullptr, 2);
  std::thread other([&] { // starts with the mask of this one
    Bound there(usable[1]);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
  });
  pthread_barrier_wait(&both);
  mpg::cpusOfProcess(cpus);
  pthread_barrier_wait(&both);
  other.join();
  pthread_barrier_destroy(&both);
  EXPECT_TRUE(CPU_ISSET(usable[0], &cpus));
  EXPECT_TRUE(CPU_ISSET(usable[1], &cpus));
}

TEST(NodeCpus, aCpuThatNoThreadMayUseDoesNotCount) {
  cpu_set_t cpus;
  mpg::cpusOfProcess(cpus);
  EXPECT_FALSE(CPU_ISSET(CPU_SETSIZE - 1, &cpus));
  EXPECT_GE(CPU_COUNT(&cpus), 1);
}

TEST(NodeCpus, theThreadIsOnANodeThatHasItsCpu) {
  for (int cpu : usableCpus()) {
    Bound here(cpu);
    cpu_set_t nodes, cpus;
    mpg::onlineNodes(nodes);
    int node = mpg::nodeHere();
    ASSERT_TRUE(CPU_ISSET(node, &nodes));
    mpg::cpusOfNode(node, cpus);
    EXPECT_TRUE(CPU_ISSET(cpu, &cpus));
  }
}

TEST(NodeCpus, aNodeThatIsNotThereHasNoCpus) {
  cpu_set_t cpus;
  mpg::cpusOfNode(1000, cpus);
  EXPECT_EQ(CPU_COUNT(&cpus), 0);
  unsigned distances[4];
  EXPECT_EQ(mpg::distancesFrom(1000, distances, 4), 0);
}

TEST(NodeCpus, nothingIsNearerThanTheNodeItself) {
  cpu_set_t nodes;
  mpg::onlineNodes(nodes);
  std::vector<unsigned> distances(CPU_SETSIZE);
  int index = 0;
  for (int node = 0; node < CPU_SETSIZE; ++node) {
    if (!CPU_ISSET(node, &nodes))
      continue;
    int count = mpg::distancesFrom(node, distances.data(), CPU_SETSIZE);
    if (count == 0)
      GTEST_SKIP() << "no distances";
    ASSERT_EQ(count, CPU_COUNT(&nodes));
    for (int other = 0; other < count; ++other)
      EXPECT_LE(distances[index], distances[other]);
    EXPECT_EQ(mpg::distancesFrom(node, distances.data(), 1), 1);
    ++index;
  }
}

} // namespace

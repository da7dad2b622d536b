// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_replicate: one copy of a table for each NUMA node that has threads of
// this process, and one buffer for each, so that no access leaves its node.
//
// Memory that mpg_alloc_onnode gives is on its node before anybody writes to
// it. So which thread copies decides about speed only, and none has to move:
// the threads of the OpenMP team make the copy of their own node first and then
// help with the others; without OpenMP the calling thread makes all.
//
// A thread finds its copy by the number of its CPU in a table. The kernel keeps
// that number up to date in memory (the C library's rseq area or the vDSO), so
// reading it needs no system call.
//
// Copies are not kept in sync: they are for data that is only read, and for
// output of which each thread writes a part. A node without room shares the
// nearest copy, so a shortage costs time and nothing else.

#include "mpg/mpg.h"
#include "numa/NodeCpus.h"
#include "numa/Numa.h"
#include "numa/Places.h"
#include "pages/Pages.h"
#include "pages/PagesNuma.h"
#include <errno.h>
#include <string.h>

using namespace mpg;

static constexpr int maxNodes = NodeSet::maxNodes;
static Messages *messages = nullptr;

void mpg::startReplicate(Messages &to) { messages = &to; }

namespace {

/// One node. Of a node that no thread of the process can run on, only `copy`
/// is used, should a thread come there later.
struct Site {
  void *copy;      ///< what threads on this node get
  bool isOwn;      ///< `copy` was allocated for this node
  bool isClaimed;  ///< a thread copies it
  int error;       ///< why a copy that was requested is missing
  size_t nextByte; ///< first one that no thread copies yet
};

} // namespace

/// In a separate zeroed mapping; its unused part is never touched.
struct mpg_replica {
  const void *original;
  size_t bytes;
  void *ofCpu[CPU_SETSIZE];
  Site sites[maxNodes];
};

static size_t replicaBytes() {
  return roundUp(sizeof(mpg_replica), basePageBytes());
}

static mpg_replica *newReplica(const void *original, size_t bytes) {
  Staged staged;
  if (int error = buildStaged(Source::normal, replicaBytes(), basePageBytes(),
                              nullptr, staged)) {
    errno = error;
    return nullptr;
  }
  auto *replica = reinterpret_cast<mpg_replica *>(staged.range.start);
  replica->original = original;
  replica->bytes = bytes;
  return replica;
}

// Memory on each node

static bool claim(Site &site) {
  return !__atomic_exchange_n(&site.isClaimed, true, __ATOMIC_RELAXED);
}

static void allocateOn(int node, mpg_replica &replica) {
  Site &site = replica.sites[node];
  if (!claim(site))
    return;
  int before = errno;
  site.copy = mpg_alloc_onnode(replica.bytes, node);
  site.isOwn = site.copy != nullptr;
  site.error = site.copy ? 0 : errno;
  errno = before;
}

/// In each thread of the team: zeroing new pages is most of the work, and each
/// node does its own.
static void allocateHere(void *data) {
  int node = nodeHere();
  if (node >= 0 && node < maxNodes)
    allocateOn(node, *static_cast<mpg_replica *>(data));
}

static bool shareCpus(const cpu_set_t &one, const cpu_set_t &other) {
  cpu_set_t both;
  CPU_AND(&both, &one, &other);
  return CPU_COUNT(&both) > 0;
}

/// On the nodes that no thread of the team was on.
static void allocateElsewhere(mpg_replica &replica) {
  cpu_set_t nodes, cpus, mine;
  onlineNodes(nodes);
  cpusOfProcess(mine);
  for (int node = 0; node < maxNodes; ++node) {
    if (!CPU_ISSET(node, &nodes))
      continue;
    cpusOfNode(node, cpus);
    if (shareCpus(cpus, mine))
      allocateOn(node, replica);
  }
}

// Contents

static void copyTo(Site &site, const mpg_replica &replica) {
  if (!site.isOwn)
    return;
  auto *from = static_cast<const char *>(replica.original);
  auto *to = static_cast<char *>(site.copy);
  size_t at;
  while ((at = __atomic_fetch_add(&site.nextByte, hugeFrameBytes,
                                  __ATOMIC_RELAXED)) < replica.bytes) {
    size_t left = replica.bytes - at;
    memcpy(to + at, from + at, left < hugeFrameBytes ? left : hugeFrameBytes);
  }
}

/// The thread's own node first, then the others.
static void copyAll(void *data) {
  auto &replica = *static_cast<mpg_replica *>(data);
  auto here = unsigned(nodeHere());
  for (unsigned i = 0; i < maxNodes; ++i)
    copyTo(replica.sites[(here + i) % maxNodes], replica);
}

// The copy for a thread

/// The copy nearest to \p node; null without any copy.
static void *nearestCopy(const mpg_replica &replica, int node,
                         const cpu_set_t &nodes) {
  unsigned distances[maxNodes];
  int count = distancesFrom(node, distances, maxNodes);
  void *nearest = nullptr;
  unsigned min = 0;
  int index = 0; // of `other` among the online nodes
  for (int other = 0; other < maxNodes; ++other) {
    if (!CPU_ISSET(other, &nodes))
      continue;
    void *copy = replica.sites[other].copy;
    unsigned distance = index < count ? distances[index] : UINT32_MAX;
    ++index;
    if (copy && (!nearest || distance < min)) {
      nearest = copy;
      min = distance;
    }
  }
  return nearest;
}

/// Fills the tables, also for nodes without a copy. \p last is used when there
/// is no copy at all.
static void fillTables(mpg_replica &replica, void *last) {
  cpu_set_t nodes, cpus;
  void *copies[maxNodes];
  onlineNodes(nodes);
  for (int node = 0; node < maxNodes; ++node) {
    copies[node] = replica.sites[node].copy;
    if (CPU_ISSET(node, &nodes) && !copies[node])
      copies[node] = nearestCopy(replica, node, nodes);
    if (copies[node])
      last = copies[node];
  }
  for (void *&copy : replica.ofCpu)
    copy = last;
  for (int node = 0; node < maxNodes; ++node) {
    if (!CPU_ISSET(node, &nodes))
      continue;
    replica.sites[node].copy = copies[node] ? copies[node] : last;
    cpusOfNode(node, cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &cpus))
        replica.ofCpu[cpu] = replica.sites[node].copy;
  }
}

static void reportMissing(const mpg_replica &replica) {
  LineBuffer line;
  int error = 0;
  line.addAll("no copy of ", Bytes(replica.bytes));
  if (replica.original)
    line.addAll(" at ", Hex(reinterpret_cast<uintptr_t>(replica.original)));
  line.add(" on NUMA node");
  for (int node = 0; node < maxNodes; ++node) {
    if (!replica.sites[node].error)
      continue;
    line.addAll(error ? ", " : " ", uint64_t(node));
    error = replica.sites[node].error;
  }
  if (!error || !messages)
    return;
  line.add(error == ENOMEM
               ? ": no room there; cost: its threads share another node's "
                 "memory; fix: a smaller table, or more memory on that node"
               : ": the process may not have memory there; cost: its threads "
                 "share another node's memory; fix: let the job use the nodes "
                 "that its CPUs are on (numactl --membind, cpuset.mems)");
  messages->report(MPG_MSG_REPLICA, line);
}

// The functions of <mpg/mpg.h>

static void inTeam(void (*body)(void *), mpg_replica &replica) {
  bool hasTeam = GOMP_parallel && !(omp_in_parallel && omp_in_parallel());
  if (hasTeam)
    GOMP_parallel(body, &replica, 0, 0);
  else
    body(&replica);
}

/// A node that has all of it on large pages needs no copy.
static void useOriginalAtHome(mpg_replica &replica) {
  auto start = reinterpret_cast<uintptr_t>(replica.original);
  int home = computeHome({start, start + replica.bytes}, hugeFrameBytes);
  if (home < 0 || home >= maxNodes)
    return;
  replica.sites[home].isClaimed = true;
  replica.sites[home].copy = const_cast<void *>(replica.original);
}

struct mpg_replica *mpg_replicate(const void *p, size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX / 2) {
    errno = bytes ? ENOMEM : EINVAL;
    return nullptr;
  }
  int before = errno;
  mpg_replica *replica = newReplica(p, bytes);
  if (!replica)
    return nullptr;
  if (p)
    useOriginalAtHome(*replica);
  inTeam(allocateHere, *replica);
  allocateElsewhere(*replica);
  if (p)
    inTeam(copyAll, *replica);
  fillTables(*replica, const_cast<void *>(p));
  if (!replica->ofCpu[0]) { // buffers, and no node has room for one
    mpg_replica_free(replica);
    errno = ENOMEM;
    return nullptr;
  }
  reportMissing(*replica);
  errno = before;
  return replica;
}

void *mpg_local_copy(const struct mpg_replica *replica) {
  int before = errno;
  int cpu = sched_getcpu();
  errno = before;
  return replica->ofCpu[cpu >= 0 && cpu < CPU_SETSIZE ? cpu : 0];
}

void *mpg_node_copy(const struct mpg_replica *replica, int node) {
  return node >= 0 && node < maxNodes ? replica->sites[node].copy : nullptr;
}

void mpg_replica_free(struct mpg_replica *replica) {
  if (!replica)
    return;
  for (const Site &site : replica->sites)
    if (site.isOwn)
      mpg_free_pages(site.copy, replica->bytes);
  auto start = reinterpret_cast<uintptr_t>(replica);
  returnFrames({start, start + replicaBytes()});
}

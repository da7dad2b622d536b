// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Embedding lookup by all threads of an OpenMP team, with one table or with one
// for each NUMA node. C++17, header only, because libmpg itself needs only the
// C library. Without -fopenmp the calling thread does everything.
//
// ReplicatedEmbedding is for machines such as A64FX, whose four core memory
// groups read their own memory fast and each other's over a ring that they
// share. Each node gets a copy of the table, its part of the indices, and a
// buffer for its part of the output, and its threads use nothing else:
//
//   mpg::ReplicatedEmbedding lookup(embedding);  // copies the table
//   if (lookup.setIndices(indices, count) || lookup.lookup())
//     ...                                        // mpg_kernel_error()
//   for (int p = 0; p < lookup.parts(); ++p)     // or lookup.copyOut(out, dim)
//     use(lookup.part(p));
//
// The numbering and binding of threads do not matter: each thread finds its
// node and takes rows of that node's part until none is left. Bind them
// (OMP_PROC_BIND=close OMP_PLACES=cores), otherwise the accesses are not local.
//
// Errors are those of <mpg/kernels.h>: 0 or a negative errno.
#ifndef MPG_EMBEDDING_OMP_HPP
#define MPG_EMBEDDING_OMP_HPP

#include "mpg/kernels.h"
#include "mpg/mpg.h"
#include <atomic>
#include <errno.h>
#include <new>
#include <string.h>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
// Not #pragma: without -fopenmp a compiler would warn about each.
#define MPG_TEAM(directive) _Pragma(#directive)
#else
#define MPG_TEAM(directive)
#endif

namespace mpg {
namespace embedding_detail {

#ifdef _OPENMP
inline int teamSize() { return omp_get_num_threads(); }
inline int threadNumber() { return omp_get_thread_num(); }
inline int getMaxThreads() {
  return omp_in_parallel() ? 1 : omp_get_max_threads();
}
#else
inline int teamSize() { return 1; }
inline int threadNumber() { return 0; }
inline int getMaxThreads() { return 1; }
#endif

/// Where the share `which` of `shares` equal ones of `count` begins.
inline int64_t shareBegin(int64_t count, int64_t which, int64_t shares) {
  int64_t more = count % shares; // the first ones have one more
  return count / shares * which + (which < more ? which : more);
}

/// The same lookup with rows of 0 bytes, which only checks the indices.
inline mpg_embedding indicesOnly(const mpg_embedding &embedding) {
  mpg_embedding e = embedding;
  e.dim = 0;
  return e;
}

/// -EINVAL and its text if one of the three arrays is missing; reads none.
inline int checkArrays(const mpg_embedding &e) {
  bool isComplete = e.table && e.indices && e.out;
  return isComplete || e.dim == 0 ? 0 : mpg_embedding_lookup(&e, 0, 1);
}

} // namespace embedding_detail

/// Computes rows [0, count) of the output, in equal parts by the threads of the
/// team; inside a parallel region the calling thread computes all. As with
/// mpg_embedding_lookup, a wrong index means that nothing is written, and
/// mpg_kernel_error of the calling thread names the first one.
inline int embeddingLookup(const mpg_embedding &e, int64_t count) {
  namespace detail = embedding_detail;
  // Few elements are copied before a team has started.
  constexpr int64_t fewElements = 16 << 10;
  bool isShort = count < fewElements / (e.dim > 0 ? e.dim : 1);
  if (isShort || count <= 1 || detail::getMaxThreads() == 1)
    return mpg_embedding_lookup(&e, 0, count);
  if (int error = mpg_embedding_lookup(&e, count, count)) // sizes
    return error;
  if (int error = detail::checkArrays(e))
    return error;
  const mpg_embedding check = detail::indicesOnly(e);
  int64_t firstBad = count;
  MPG_TEAM(omp parallel) {
    int64_t team = detail::teamSize(), self = detail::threadNumber();
    int64_t begin = detail::shareBegin(count, self, team);
    int64_t end = detail::shareBegin(count, self + 1, team);
    if (mpg_embedding_lookup(&check, begin, end)) {
      MPG_TEAM(omp critical(mpgEmbeddingFirstBad))
      firstBad = begin < firstBad ? begin : firstBad;
    }
    // No thread writes before all indices have been checked.
    MPG_TEAM(omp barrier)
    if (firstBad == count)
      mpg_embedding_lookup(&e, begin, end);
  }
  // Repeat the call, so that the text is the calling thread's.
  return mpg_embedding_lookup(&check, firstBad, count);
}

/// A table, indices and outputs for each NUMA node; see above. Call its
/// functions from one thread at a time, outside of parallel regions; inside of
/// one the calling thread does all the work.
class ReplicatedEmbedding {
public:
  /// What lies on one node, or on one for several if they had no room. Stays
  /// until the next setIndices.
  struct Part {
    int node; ///< -1: the system does not tell
    const void *table;
    const void *indices;
    const void *rows;     ///< rows[count][dim], without gaps
    int64_t first, count; ///< of the whole sequence: [first, first + count)
  };

  /// Copies the table of `embedding`, whose indices, out and outStride are not
  /// used. The table must stay as it is meanwhile: a node that has it on large
  /// pages already uses it instead of a copy. See error().
  explicit ReplicatedEmbedding(const mpg_embedding &embedding)
      : dense(embedding) {
    dense.outStride = dense.dim;
    dense.indices = dense.out = this; // not null, and not read
    status = mpg_embedding_lookup(&dense, 0, 0);
    if (!status && dense.rows > 0)
      status = embedding_detail::checkArrays(dense);
    if (status || dense.rows == 0 || dense.dim == 0)
      return;
    int64_t elements = (dense.rows - 1) * dense.tableStride + dense.dim;
    tables = mpg_replicate(dense.table, size_t(elements) * dense.elementBytes);
    status = tables ? 0 : -errno;
  }
  ~ReplicatedEmbedding() {
    mpg_replica_free(tables);
    mpg_replica_free(buffers);
  }
  ReplicatedEmbedding(const ReplicatedEmbedding &) = delete;
  ReplicatedEmbedding &operator=(const ReplicatedEmbedding &) = delete;

  /// 0, or why there is no table: as mpg_embedding_lookup, or -ENOMEM (which
  /// has no text). All functions then return it.
  int error() const { return status; }

  /// Cuts the sequence of `count` indices into a part for each node and copies
  /// them there. -ERANGE: nothing has changed; -ENOMEM: without parts.
  int setIndices(const void *indices, int64_t count) {
    mpg_embedding e = embedding_detail::indicesOnly(dense);
    e.indices = indices;
    e.out = nullptr;
    if (status)
      return status;
    mpg_embedding sizes = dense; // of the whole output, at address 0
    sizes.out = nullptr;
    sizes.indices = indices;
    if (int error = mpg_embedding_lookup(&sizes, count, count))
      return error;
    if (int error = embeddingLookup(e, count))
      return error;
    if (int error = makeRoom(count))
      return error;
    for (size_t p = 0; p < sites.size(); ++p) {
      sites[p].first = embedding_detail::shareBegin(count, int64_t(p), parts());
      sites[p].count =
          embedding_detail::shareBegin(count, int64_t(p) + 1, parts()) -
          sites[p].first;
    }
    auto *from = static_cast<const char *>(indices);
    size_t bytes = dense.indexBytes;
    return forAllRows([=](const Site &site, int64_t begin, int64_t end) {
      memcpy(site.buffer + indicesAt + size_t(begin) * bytes,
             from + size_t(site.first + begin) * bytes,
             size_t(end - begin) * bytes);
      return 0;
    });
  }

  /// Looks up all rows of the indices that are set, each node its own part.
  int lookup() {
    if (status)
      return status;
    return forAllRows([this](const Site &site, int64_t begin, int64_t end) {
      mpg_embedding e = dense;
      e.table = tables ? mpg_local_copy(tables) : nullptr;
      e.indices = site.buffer + indicesAt;
      e.out = site.buffer;
      return mpg_embedding_lookup(&e, begin, end);
    });
  }

  /// As many as there are nodes that have a buffer of their own; 0 before the
  /// first setIndices.
  int parts() const { return int(sites.size()); }

  /// pre: 0 <= number < parts()
  Part part(int number) const {
    const Site &site = sites[size_t(number)];
    const char *indices = site.buffer + indicesAt;
    const void *table = tables ? mpg_node_copy(tables, site.user) : nullptr;
    return {getNode(indices), table,      indices,
            site.buffer,      site.first, site.count};
  }

  /// Copies the output to out[count][outStride], for those who need it in one
  /// piece; it then crosses from node to node.
  int copyOut(void *out, int64_t outStride) {
    if (status)
      return status;
    mpg_embedding e = dense;
    e.outStride = outStride;
    e.out = out;
    e.table = this; // only `out` is in question
    int64_t count = parts() ? sites.back().first + sites.back().count : 0;
    if (int error = mpg_embedding_lookup(&e, count, count))
      return error;
    if (int error = count > 0 ? embedding_detail::checkArrays(e) : 0)
      return error;
    size_t rowBytes = size_t(dense.dim) * dense.elementBytes;
    size_t strideBytes = size_t(outStride) * dense.elementBytes;
    return forAllRows([=](const Site &site, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && rowBytes > 0; ++i)
        memcpy(static_cast<char *>(out) + size_t(site.first + i) * strideBytes,
               site.buffer + size_t(i) * rowBytes, rowBytes);
      return 0;
    });
  }

private:
  /// In the node's own memory, so that its threads agree among themselves
  /// without a word to another node. Each on a line of its own.
  struct Control {
    alignas(256) std::atomic<int64_t> nextRow;
    alignas(256) std::atomic<int> threads;
  };

  /// A buffer and who has it. Nodes that share one are one site.
  struct Site {
    int user;     ///< a node whose threads use it
    char *buffer; ///< output, indices, Control
    Control *control;
    int64_t first, count;
  };

  static size_t roundToLine(size_t bytes) { return (bytes + 255) / 256 * 256; }

  static constexpr int maxNodes = 1024;

  static int getNode(const char *byte) {
    std::vector<size_t> bytesOn(maxNodes);
    mpg_where(byte, 1, bytesOn.data(), maxNodes);
    for (int node = 0; node < maxNodes; ++node)
      if (bytesOn[size_t(node)])
        return node;
    return -1;
  }

  /// The distinct buffers of `replica`, each with the first node that uses it.
  static std::vector<Site> findSites(const mpg_replica *replica) {
    std::vector<Site> found;
    for (int node = 0; replica && node < maxNodes; ++node) {
      auto *buffer = static_cast<char *>(mpg_node_copy(replica, node));
      bool isNew = buffer != nullptr;
      for (const Site &site : found)
        isNew = isNew && site.buffer != buffer;
      if (isNew)
        found.push_back({node, buffer, nullptr, 0, 0});
    }
    return found;
  }

  /// Buffers that have room for `count` rows in all.
  int makeRoom(int64_t count) {
    if (count <= 0 || count <= partRows * int64_t(parts()))
      return 0;
    // Nodes may turn out to share a buffer; each then needs to be larger.
    size_t expected = findSites(tables).size();
    expected = expected ? expected : 1;
    do {
      mpg_replica_free(buffers);
      buffers = nullptr;
      sites.clear();
      int64_t nodes = int64_t(expected);
      partRows = count / nodes + (count % nodes != 0);
      if (int error = allocate())
        return error;
      expected = sites.size();
    } while (count > partRows * int64_t(expected));
    return 0;
  }

  /// Buffers for partRows rows each, and their owners.
  int allocate() {
    size_t rowBytes = size_t(dense.dim) * dense.elementBytes;
    indicesAt = roundToLine(size_t(partRows) * rowBytes);
    size_t controlAt =
        indicesAt + roundToLine(size_t(partRows) * dense.indexBytes);
    buffers = mpg_replicate(nullptr, controlAt + sizeof(Control));
    if (!buffers) {
      partRows = 0;
      return -errno;
    }
    sites = findSites(buffers);
    for (Site &site : sites)
      site.control = new (site.buffer + controlAt) Control{};
    return 0;
  }

  /// The site of the node that the thread is on at the moment.
  Site &siteHere() {
    const void *buffer = mpg_local_copy(buffers);
    for (Site &site : sites)
      if (site.buffer == buffer)
        return site;
    return sites.front();
  }

  /// Rows that a thread takes at a time: few enough that all end at one time,
  /// enough that taking them costs nothing.
  int64_t blockRows(const Site &site) const {
    constexpr int64_t enoughBytes = 64 << 10, blocksOfThread = 4;
    int64_t rowBytes = 1 + dense.dim * int64_t(dense.elementBytes);
    int64_t threads = embedding_detail::teamSize() / parts();
    threads = threads > 0 ? threads : 1;
    int64_t rows = site.count / (threads * blocksOfThread);
    int64_t min = 1 + enoughBytes / rowBytes;
    return rows > min ? rows : min;
  }

  /// body(site, begin, end) for blocks of the site's rows until none is left.
  template <typename Body> int runRows(Site &site, const Body &body) {
    int64_t rows = blockRows(site), begin;
    int firstError = 0;
    while ((begin = site.control->nextRow.fetch_add(rows)) < site.count) {
      int64_t left = site.count - begin;
      int error = body(site, begin, begin + (left < rows ? left : rows));
      firstError = firstError ? firstError : error;
    }
    return firstError;
  }

  /// body(site, begin, end) for all rows of all sites: those of its own node by
  /// each thread of the team, and then those of nodes that no thread was on.
  template <typename Body> int forAllRows(const Body &body) {
    if (sites.empty())
      return 0;
    for (Site &site : sites) {
      site.control->nextRow = 0;
      site.control->threads = 0;
    }
    int firstError = 0;
    MPG_TEAM(omp parallel) {
      Site &home = siteHere();
      home.control->threads.fetch_add(1);
      int error = runRows(home, body);
      MPG_TEAM(omp barrier)
      for (Site &site : sites)
        if (site.control->threads == 0)
          if (int other = runRows(site, body))
            error = other;
      if (error) {
        MPG_TEAM(omp critical(mpgEmbeddingFirstBad))
        firstError = error;
      }
    }
    return firstError;
  }

  mpg_embedding dense;
  int status = 0;
  mpg_replica *tables = nullptr, *buffers = nullptr;
  std::vector<Site> sites;
  int64_t partRows = 0; ///< that a buffer has room for
  size_t indicesAt = 0; ///< of a buffer
};

} // namespace mpg

#undef MPG_TEAM

#endif // MPG_EMBEDDING_OMP_HPP

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// <mpg/embedding_omp.hpp> against a plain loop. Prints "right", or what is
// wrong. `embedding-omp where ROWS`: on which node each part's table, indices
// and output lie; `full ROWS`: the same when node 2 has no room for them.

#include "mpg/embedding_omp.hpp"
#include <stdio.h>
#include <stdlib.h>
#include <string>

static int failures = 0;

static void expect(bool isRight, const char *what, long a = 0, long b = 0) {
  if (!isRight) {
    printf("wrong: %s (%ld, %ld)\n", what, a, b);
    ++failures;
  }
}

/// Arrays for `count` rows of `dim` elements of T, all with gaps.
template <typename T, typename Index> struct Arrays {
  static constexpr int64_t gap = 5;
  int64_t rows, dim, count;
  std::vector<T> table, out;
  std::vector<Index> indices;
  mpg_embedding e;

  Arrays(int64_t rows, int64_t dim, int64_t count)
      : rows(rows), dim(dim), count(count), table(rows * (dim + gap)),
        out(count * (dim + gap), T(7)), indices(count) {
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = T(i % 2039);
    for (int64_t i = 0; i < count; ++i)
      indices[i] = Index(i * 7919 % rows);
    e = mpg_embedding_default(rows, dim, sizeof(T), sizeof(Index));
    e.tableStride = e.outStride = dim + gap;
    e.table = table.data();
    e.indices = indices.data();
    e.out = out.data();
  }

  /// Whether row i of the output is as it should be, with the gap behind it.
  bool isRight(int64_t i) const {
    const T *from = table.data() + indices[i] * (dim + gap);
    const T *to = out.data() + i * (dim + gap);
    bool right = true;
    for (int64_t k = 0; k < dim + gap; ++k)
      right = right && to[k] == (k < dim ? from[k] : T(7));
    return right;
  }
  void expectRight(const char *what) const {
    for (int64_t i = 0; i < count; ++i)
      if (!isRight(i))
        return expect(false, what, dim, i);
  }
  bool isUntouched() const {
    for (T value : out)
      if (value != T(7))
        return false;
    return true;
  }
};

template <typename T, typename Index> static void sizes() {
  for (int64_t dim : {0, 1, 3, 64, 200})
    for (int64_t count : {0, 1, 2, 5, 4000}) {
      Arrays<T, Index> one(97, dim, count);
      expect(mpg::embeddingLookup(one.e, count) == 0, "status", dim, count);
      one.expectRight("rows of all threads");

      Arrays<T, Index> each(97, dim, count);
      mpg::ReplicatedEmbedding lookup(each.e);
      expect(lookup.error() == 0, "replicated", lookup.error());
      expect(lookup.setIndices(each.indices.data(), count) == 0, "indices");
      expect(lookup.lookup() == 0, "replicated lookup");
      expect(lookup.copyOut(each.out.data(), dim + each.gap) == 0, "copyOut");
      each.expectRight("rows of all nodes");
      int64_t next = 0;
      for (int p = 0; p < lookup.parts(); ++p) {
        expect(lookup.part(p).first == next, "a part's start", p);
        next += lookup.part(p).count;
      }
      expect(next == count, "the parts' sum", next, count);
    }
}

/// Longer and shorter sequences one after another in the same buffers.
static void again() {
  Arrays<float, int64_t> all(1000, 33, 20000);
  mpg::ReplicatedEmbedding lookup(all.e);
  for (int64_t count : {100, 20000, 0, 7, 19999}) {
    all.count = count;
    all.out.assign(all.out.size(), 7);
    expect(!lookup.setIndices(all.indices.data(), count) && !lookup.lookup() &&
               !lookup.copyOut(all.out.data(), 33 + all.gap),
           "status of a later sequence", count);
    all.expectRight("a later sequence");
  }
}

static void expectBad(Arrays<float, int32_t> &all, int64_t at) {
  all.indices[at] = at % 2 ? -1 : 97;
  all.indices[all.count - 1] = 98; // another thread's; the first one is named
  std::string text = "indices[" + std::to_string(at) + "] is " +
                     std::to_string(all.indices[at]) +
                     ", and the table has 97 rows";
  expect(mpg::embeddingLookup(all.e, all.count) == -ERANGE, "ERANGE", at);
  expect(mpg_kernel_error() == text, mpg_kernel_error(), at);
  expect(all.isUntouched(), "written in spite of an error", at);
  mpg::ReplicatedEmbedding lookup(all.e);
  expect(lookup.setIndices(all.indices.data(), all.count) == -ERANGE,
         "ERANGE of setIndices", at);
  expect(mpg_kernel_error() == text, mpg_kernel_error(), at);
  expect(lookup.parts() == 0, "parts in spite of an error", at);
}

static void errors() {
  for (int64_t at : {0, 1, 2500, 4998}) {
    Arrays<float, int32_t> all(97, 40, 5000);
    expectBad(all, at);
  }
  Arrays<float, int32_t> all(97, 40, 5000);
  for (const void *mpg_embedding::*array :
       {&mpg_embedding::table, &mpg_embedding::indices}) {
    mpg_embedding e = all.e;
    e.*array = nullptr;
    expect(mpg::embeddingLookup(e, 5000) == -EINVAL, "EINVAL");
  }
  expect(mpg::embeddingLookup(all.e, -1) == -EINVAL, "a negative count");
  expect(mpg::embeddingLookup(all.e, INT64_MAX) == -EOVERFLOW, "EOVERFLOW");
  expect(all.isUntouched(), "written in spite of wrong arguments");
  mpg_embedding e = all.e;
  e.table = nullptr;
  mpg::ReplicatedEmbedding without(e);
  expect(without.error() == -EINVAL && without.lookup() == -EINVAL &&
             without.setIndices(all.indices.data(), 5) == -EINVAL,
         "EINVAL of a table that is not there");
  mpg::ReplicatedEmbedding lookup(all.e);
  expect(lookup.setIndices(nullptr, 5) == -EINVAL, "indices NULL");
  expect(lookup.setIndices(all.indices.data(), -5) == -EINVAL, "count -5");
  expect(lookup.setIndices(all.indices.data(), 500) == 0, "indices");
  expect(lookup.copyOut(nullptr, 40) == -EINVAL, "out NULL");
  expect(lookup.copyOut(all.out.data(), 39) == -EINVAL, "a short stride");
}

/// In a parallel region each call is an ordinary one.
static void inRegion() {
  Arrays<float, int32_t> parts[4] = {
      {97, 40, 900}, {97, 40, 901}, {97, 40, 902}, {97, 40, 903}};
#ifdef _OPENMP
#pragma omp parallel for
#endif
  for (int i = 0; i < 4; ++i) {
    mpg::ReplicatedEmbedding lookup(parts[i].e);
    int64_t count = parts[i].count;
    if (mpg::embeddingLookup(parts[i].e, count / 2) ||
        lookup.setIndices(parts[i].indices.data(), count) || lookup.lookup() ||
        lookup.copyOut(parts[i].out.data(), 40 + parts[i].gap))
      parts[i].out[0] = -1;
  }
  for (const auto &part : parts)
    part.expectRight("in a parallel region");
}

/// Percent of [p, p + bytes) on `node`.
static int percentOn(int node, const void *p, size_t bytes) {
  size_t of[64] = {};
  size_t present = mpg_where(p, bytes, of, 64);
  return present == bytes ? int(of[node] * 100 / bytes) : -1;
}

/// Takes all of node 2 but less than 16 MiB.
static void fillNode() {
  while (mpg_alloc_onnode(16 << 20, 2))
    ;
}

static void where(int64_t count) {
  constexpr int64_t rows = 6000, dim = 1024;
  std::vector<float> table(rows * dim);
  std::vector<int32_t> indices(count);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = float(i % 8191);
  for (int64_t i = 0; i < count; ++i)
    indices[i] = int32_t(i * 2654435761u % rows);
  mpg_embedding e = mpg_embedding_default(rows, dim, 4, 4);
  e.table = table.data();
  mpg::ReplicatedEmbedding lookup(e);
  expect(!lookup.setIndices(indices.data(), count) && !lookup.lookup(),
         "a lookup on all nodes");
  for (int p = 0; p < lookup.parts(); ++p) {
    auto part = lookup.part(p);
    auto *to = static_cast<const float *>(part.rows);
    for (int64_t i = 0; i < part.count; ++i)
      expect(!memcmp(to + i * dim, &table[indices[part.first + i] * dim],
                     dim * sizeof(float)),
             "a row of a node", p, i);
    expect(!memcmp(part.indices, &indices[part.first], part.count * 4),
           "indices of a node", p);
    printf("part %d, rows %ld to %ld, node %d: %d %% of the table, %d %% of "
           "the indices, %d %% of the output\n",
           p, long(part.first), long(part.first + part.count), part.node,
           percentOn(part.node, part.table, size_t(rows * dim * 4)),
           percentOn(part.node, part.indices, size_t(part.count * 4)),
           percentOn(part.node, part.rows, size_t(part.count * dim * 4)));
  }
}

int main(int argc, char **argv) {
  if (argc == 3) {
    if (std::string(argv[1]) == "full")
      fillNode();
    where(atol(argv[2]));
  } else {
    sizes<float, int32_t>();
    sizes<uint16_t, int64_t>();
    again();
    errors();
    inRegion();
  }
  puts(failures ? "not right" : "right");
  return failures != 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_embedding_lookup: each variant that this processor has against the C
// library's memcpy, with inaccessible pages on both sides of all three arrays,
// and its errors for bad arguments. Runs under an emulator as well
// (test/kernels/embedding-sve.test), so it uses only the little GoogleTest
// there.

#include "KernelTable.h"
#include "gtest/gtest.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace mpg;

namespace {

/// \p size bytes that end \p spare bytes before an inaccessible page, with
/// another such page in front. Full of 0xa5.
class GuardedBytes {
public:
  GuardedBytes(size_t size, size_t spare) {
    size_t page = size_t(getpagesize());
    size_t inner = (size + spare + page - 1) / page * page;
    mapped = inner + 2 * page;
    mapping = static_cast<unsigned char *>(
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(mapping, page, PROT_NONE);
    mprotect(mapping + page + inner, page, PROT_NONE);
    memset(mapping + page, 0xa5, inner);
    start = mapping + page + inner - spare - size;
  }
  ~GuardedBytes() { munmap(mapping, mapped); }
  GuardedBytes(const GuardedBytes &) = delete;
  GuardedBytes &operator=(const GuardedBytes &) = delete;

  unsigned char *start;

private:
  unsigned char *mapping;
  size_t mapped;
};

/// Sizes of one lookup.
struct Sizes {
  int64_t rows, dim, gap, count;
  uint32_t elementBytes, indexBytes;
  size_t spare;

  size_t rowBytes() const { return size_t(dim) * elementBytes; }
  size_t strideBytes() const { return size_t(dim + gap) * elementBytes; }
  /// Of an array that ends with its last row, without the gap behind it.
  size_t getBytes(int64_t all) const {
    return size_t(all - 1) * strideBytes() + rowBytes();
  }
  std::string text() const {
    return "dim " + std::to_string(dim) + " gap " + std::to_string(gap) +
           " element " + std::to_string(elementBytes) + " index " +
           std::to_string(indexBytes) + " spare " + std::to_string(spare);
  }
};

/// Three arrays with contents, and what the output should become.
struct Lookup {
  explicit Lookup(const Sizes &sizes)
      : sizes(sizes), table(sizes.getBytes(sizes.rows), sizes.spare),
        indices(size_t(sizes.count) * sizes.indexBytes, sizes.spare),
        out(sizes.getBytes(sizes.count), sizes.spare) {
    for (size_t i = 0; i < sizes.getBytes(sizes.rows); ++i)
      table.start[i] = static_cast<unsigned char>(i * 167 + (i >> 8) * 13 + 1);
    for (int64_t i = 0; i < sizes.count; ++i)
      setIndex(i, getRow(i));
    e = mpg_embedding_default(sizes.rows, sizes.dim, sizes.elementBytes,
                              sizes.indexBytes);
    e.tableStride = e.outStride = sizes.dim + sizes.gap;
    e.table = table.start;
    e.indices = indices.start;
    e.out = out.start;
  }

  int64_t getRow(int64_t i) const {
    return i == 3 ? sizes.rows - 1 : i * 7919 % sizes.rows;
  }
  void setIndex(int64_t i, int64_t value) {
    auto narrow = static_cast<int32_t>(value);
    const void *from = sizes.indexBytes == 4 ? static_cast<void *>(&narrow)
                                             : static_cast<void *>(&value);
    memcpy(indices.start + size_t(i) * sizes.indexBytes, from,
           sizes.indexBytes);
  }
  /// The offset of the first wrong byte of the output after rows [begin, end)
  /// were looked up; -1 if there is none.
  int64_t firstWrong(int64_t begin, int64_t end) const {
    std::vector<unsigned char> wanted(sizes.getBytes(sizes.count), 0xa5);
    for (int64_t i = begin; i < end; ++i)
      memcpy(&wanted[size_t(i) * sizes.strideBytes()],
             table.start + size_t(getRow(i)) * sizes.strideBytes(),
             sizes.rowBytes());
    // Byte by byte is slow under an emulator and with sanitizers.
    if (memcmp(out.start, wanted.data(), wanted.size()) == 0)
      return -1;
    for (size_t k = 0; k < wanted.size(); ++k)
      if (out.start[k] != wanted[k])
        return int64_t(k);
    return -1;
  }

  Sizes sizes;
  GuardedBytes table, indices, out;
  mpg_embedding e;
};

} // namespace

static void expectRight(const Sizes &sizes, int64_t begin, int64_t end) {
  Lookup chosen(sizes);
  EXPECT_EQ(mpg_embedding_lookup(&chosen.e, begin, end), 0)
      << mpg_kernel_error();
  EXPECT_EQ(chosen.firstWrong(begin, end), -1)
      << mpg_kernel_variant() << ", " << sizes.text();

  Lookup plain(sizes);
  LookupCall call = {reinterpret_cast<char *>(plain.table.start),
                     sizes.rowBytes(),
                     sizes.strideBytes(),
                     plain.indices.start + size_t(begin) * sizes.indexBytes,
                     reinterpret_cast<char *>(plain.out.start) +
                         size_t(begin) * sizes.strideBytes(),
                     sizes.strideBytes(),
                     size_t(end - begin)};
  (sizes.indexBytes == 4 ? plainLookup.index32 : plainLookup.index64)(call);
  EXPECT_EQ(plain.firstWrong(begin, end), -1) << "plain, " << sizes.text();
}

TEST(EmbeddingLookup, copiesRowsOfAnySizeAndAlignmentAndNothingElse) {
  for (uint32_t elementBytes : {2u, 4u})
    for (uint32_t indexBytes : {4u, 8u})
      for (int64_t gap : {0, 3})
        for (size_t spare : {0, 1, 6})
          for (int64_t dim = 1; dim <= 70; ++dim)
            expectRight({23, dim, gap, 67, elementBytes, indexBytes, spare}, 2,
                        66);
}

TEST(EmbeddingLookup, copiesLongRows) {
  for (int64_t dim : {128, 256, 1023, 1024, 2048, 4096, 5000})
    for (int64_t gap : {0, 1})
      for (size_t spare : {0, 2})
        for (uint32_t elementBytes : {2u, 4u})
          expectRight({5, dim, gap, 9, elementBytes, 4, spare}, 0, 9);
}

// Larger than a quarter of the caches of most machines.
TEST(EmbeddingLookup, copiesOutputThatNoCacheHolds) {
  constexpr int64_t outBytes = 24 << 20;
  for (int64_t dim : {16, 150, 160, 2500})
    for (size_t spare : {0, 16, 30})
      expectRight({300, dim, 0, outBytes / (4 * dim), 4, 4, spare}, 0,
                  outBytes / (4 * dim));
}

TEST(EmbeddingLookup, doesNotDependOnTheTag) {
  for (uint32_t tag : {0x00u, 0x41u, 0x60u, 0xffu}) {
    Lookup lookup({23, 100, 0, 40, 4, 4, 0});
    lookup.e.tableTag = tag;
    EXPECT_EQ(mpg_embedding_lookup(&lookup.e, 0, 40), 0);
    EXPECT_EQ(lookup.firstWrong(0, 40), -1) << "tag " << tag;
  }
}

TEST(EmbeddingLookup, namesTheFirstIndexOutsideOfTheTableAndWritesNothing) {
  for (uint32_t indexBytes : {4u, 8u})
    for (int64_t bad : {INT64_MIN, int64_t(INT32_MIN), int64_t(-1), int64_t(23),
                        int64_t(INT32_MAX), INT64_MAX})
      for (int64_t at : {2, 3, 63, 64, 70, 130, 199}) {
        if (indexBytes == 4 && bad != int32_t(bad))
          continue;
        Lookup lookup({23, 10, 0, 200, 4, indexBytes, 1});
        lookup.setIndex(at, bad);
        lookup.setIndex(0, bad); // not in the range
        EXPECT_EQ(mpg_embedding_lookup(&lookup.e, 2, 200), -ERANGE);
        EXPECT_EQ(std::string(mpg_kernel_error()),
                  "indices[" + std::to_string(at) + "] is " +
                      std::to_string(bad) + ", and the table has 23 rows");
        EXPECT_EQ(lookup.firstWrong(0, 0), -1) << at;
      }
}

// Rows that an int32_t cannot name: no index is too large.
TEST(EmbeddingLookup, takesAnyIndexOfAHugeTable) {
  Lookup lookup({1, 1, 0, 1, 2, 4, 0});
  lookup.e.rows = int64_t(1) << 33;
  lookup.e.dim = 0;
  lookup.setIndex(0, INT32_MAX);
  EXPECT_EQ(mpg_embedding_lookup(&lookup.e, 0, 1), 0);
  lookup.setIndex(0, -1);
  EXPECT_EQ(mpg_embedding_lookup(&lookup.e, 0, 1), -ERANGE);
}

TEST(EmbeddingLookup, withNothingToCopyNeedsNoArrays) {
  mpg_embedding e = mpg_embedding_default(10, 4, 4, 4);
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 0), 0);
  EXPECT_EQ(mpg_embedding_lookup(&e, 7, 7), 0);
  e = mpg_embedding_default(0, 0, 4, 4);
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 0), 0);
}

// That is how all indices are looked at before several threads write.
TEST(EmbeddingLookup, withDimZeroLooksAtTheIndices) {
  const int32_t indices[] = {0, 9, 10};
  mpg_embedding e = mpg_embedding_default(10, 0, 4, 4);
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 3), -EINVAL);
  e.indices = indices;
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 2), 0);
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 3), -ERANGE);
}

static void expectRefused(const Lookup &lookup, const mpg_embedding *e,
                          int64_t begin, int64_t end, int error,
                          const std::string &text) {
  EXPECT_EQ(mpg_embedding_lookup(e, begin, end), -error) << text;
  EXPECT_EQ(std::string(mpg_kernel_error()), text);
  EXPECT_EQ(lookup.firstWrong(0, 0), -1) << text;
}

TEST(EmbeddingLookup, refusesWrongArguments) {
  Lookup lookup({23, 10, 0, 20, 4, 4, 0});
  auto refuse = [&lookup](void (*damage)(mpg_embedding &), const char *text) {
    mpg_embedding e = lookup.e;
    damage(e);
    expectRefused(lookup, &e, 0, 20, EINVAL, text);
  };
  expectRefused(lookup, nullptr, 0, 20, EINVAL, "the embedding is NULL");
  expectRefused(lookup, &lookup.e, -1, 2, EINVAL, "the range is -1 to 2");
  expectRefused(lookup, &lookup.e, 3, 2, EINVAL, "the range is 3 to 2");
  refuse([](mpg_embedding &e) { e.structBytes = 8; },
         "structBytes is 8, not 72");
  refuse([](mpg_embedding &e) { e.elementBytes = 8; },
         "elementBytes is 8, not 2 or 4");
  refuse([](mpg_embedding &e) { e.indexBytes = 2; },
         "indexBytes is 2, not 4 or 8");
  refuse([](mpg_embedding &e) { e.tableTag = 0x160; },
         "tableTag is 0x160, more than a byte");
  refuse([](mpg_embedding &e) { e.rows = -1; }, "rows is -1");
  refuse([](mpg_embedding &e) { e.dim = -1; }, "dim is -1");
  refuse([](mpg_embedding &e) { e.tableStride = 9; },
         "tableStride is 9, dim 10");
  refuse([](mpg_embedding &e) { e.outStride = INT64_MIN; },
         "outStride is -9223372036854775808, dim 10");
  refuse([](mpg_embedding &e) { e.table = nullptr; }, "table is NULL");
  refuse([](mpg_embedding &e) { e.indices = nullptr; }, "indices is NULL");
  refuse([](mpg_embedding &e) { e.out = nullptr; }, "out is NULL");
}

TEST(EmbeddingLookup, refusesArraysThatDoNotFitIntoTheAddressSpace) {
  Lookup lookup({23, 10, 0, 20, 4, 4, 0});
  mpg_embedding e = lookup.e;
  e.rows = INT64_MAX / 40 + 1;
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 20), -EOVERFLOW);
  e = lookup.e;
  e.tableStride = INT64_MAX;
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 20), -EOVERFLOW);
  e = lookup.e;
  e.outStride = INT64_MAX / 20;
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 20), -EOVERFLOW);
  EXPECT_EQ(mpg_embedding_lookup(&lookup.e, 0, INT64_MAX), -EOVERFLOW);
  // Small, but at the end of all addresses; a tag is not part of one.
#if defined(__aarch64__)
  uintptr_t last = UINTPTR_MAX >> 8;
#else
  uintptr_t last = UINTPTR_MAX;
#endif
  e = lookup.e;
  e.out = reinterpret_cast<void *>(last - 20 * 40 + 1);
  EXPECT_EQ(mpg_embedding_lookup(&e, 0, 20), -EOVERFLOW);
  EXPECT_EQ(lookup.firstWrong(0, 0), -1);
}

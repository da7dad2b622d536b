// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// all-calls: memory from every usual function, of small, medium and large
// sizes, moved by realloc and reallocarray, freed by other threads than the
// allocating one. Includes the C library's allocations for the program. Prints
// sums of the blocks' contents.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct alignas(256) Wide {
  char text[300];
};

static const size_t sizes[] = {1, 24, 1000, 20000, 300000, 5000000, 20000000};

static char *fill(void *block, size_t bytes, int seed) {
  if (!block)
    abort();
  memset(block, seed, bytes < 4000000 ? bytes : 4000000);
  return static_cast<char *>(block);
}

static std::vector<char *> allocateAll(int seed) {
  std::vector<char *> blocks;
  for (size_t bytes : sizes) {
    void *aligned = nullptr;
    blocks.push_back(fill(malloc(bytes), bytes, seed));
    blocks.push_back(static_cast<char *>(calloc(bytes, 1)));
    blocks.push_back(
        fill(aligned_alloc(64, (bytes + 63) / 64 * 64), bytes, seed + 1));
    if (posix_memalign(&aligned, 4096, bytes) != 0)
      abort();
    blocks.push_back(fill(aligned, bytes, seed + 2));
    char *grown = fill(malloc(bytes), bytes, seed + 3);
    blocks.push_back(static_cast<char *>(realloc(grown, bytes * 2)));
    grown = fill(malloc(bytes), bytes, seed + 4);
    blocks.push_back(static_cast<char *>(reallocarray(grown, bytes, 3)));
    grown = fill(malloc(bytes), bytes, seed + 5);
    blocks.push_back(static_cast<char *>(realloc(grown, bytes / 2 + 1)));
  }
  blocks.push_back(strdup("by the C library"));
  return blocks;
}

static long freeAll(const std::vector<char *> &blocks) {
  long sum = 0;
  for (char *block : blocks) {
    sum += *block;
    free(block);
  }
  return sum;
}

static long ofTheLibraries(int seed) {
  std::map<std::string, std::unique_ptr<Wide>> map;
  for (int i = 0; i < 2000; i++) {
    auto wide = std::make_unique<Wide>();
    wide->text[299] = char((seed + i) % 100);
    map[std::to_string(i) + " as a long string that needs memory"] =
        std::move(wide);
  }
  long sum = 0;
  for (const auto &[key, wide] : map)
    sum +=
        wide->text[299] + long(reinterpret_cast<uintptr_t>(wide.get()) % 256);
  char *line = nullptr;
  size_t room = 0;
  FILE *file = tmpfile();
  fprintf(file, "%s\n", std::string(5000, 'x').c_str());
  rewind(file);
  sum += getline(&line, &room, file);
  fclose(file);
  free(line);
  return sum;
}

int main() {
  for (int round = 0; round < 3; round++) {
    std::vector<char *> blocks[4];
    long sums[4], sum = 0;
    for (int i = 0; i < 4; i++)
      std::thread([&, i] { blocks[i] = allocateAll(i * 10); }).join();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
      threads.emplace_back([&, i] {
        sums[i] = freeAll(blocks[(i + 1) % 4]) + ofTheLibraries(i);
      });
    for (int i = 0; i < 4; i++) {
      threads[i].join();
      sum += sums[i];
    }
    printf("%ld\n", sum);
  }
  return 0;
}

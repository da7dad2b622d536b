// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Smart pointers, move and copy of owning types, placement new, a small pool.
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

static int alive;

class Block {
public:
  explicit Block(int n) : count(n), data(new double[n]) {
    ++alive;
    for (int i = 0; i < n; ++i)
      data[i] = i;
  }
  Block(const Block &other) : Block(other.count) {
    std::memcpy(data, other.data, sizeof(double) * count);
  }
  Block(Block &&other) noexcept
      : count(std::exchange(other.count, 0)),
        data(std::exchange(other.data, nullptr)) {
    ++alive;
  }
  Block &operator=(Block other) {
    std::swap(count, other.count);
    std::swap(data, other.data);
    return *this;
  }
  ~Block() {
    --alive;
    delete[] data;
  }
  void scale(double by) {
    for (int i = 0; i < count; ++i)
      data[i] *= by;
  }
  double sum() const {
    double sum = 0;
    for (int i = 0; i < count; ++i)
      sum += data[i];
    return sum;
  }

private:
  int count;
  double *data;
};

struct Graph {
  std::vector<std::shared_ptr<Graph>> next;
  std::weak_ptr<Graph> back;
  Block block{10};
};

int main() {
  double total = 0;
  {
    std::vector<Block> blocks;
    for (int i = 1; i < 60; ++i)
      blocks.emplace_back(i);
    std::vector<Block> copies = blocks;
    for (size_t i = 0; i < copies.size(); ++i)
      copies[i].scale(double(i % 5));
    blocks.erase(blocks.begin() + 10, blocks.begin() + 20);
    blocks.insert(blocks.begin(), copies.begin() + 30, copies.end());
    for (const Block &block : blocks)
      total += block.sum();
    auto root = std::make_shared<Graph>();
    for (int i = 0; i < 20; ++i) {
      auto child = std::make_shared<Graph>();
      child->back = root;
      child->block.scale(i);
      root->next.push_back(child);
      if (i % 4 == 3)
        root = child;
    }
    for (auto at = root; at; at = at->back.lock())
      total += at->block.sum();
    alignas(Block) unsigned char pool[8 * sizeof(Block)];
    Block *placed[8];
    for (int i = 0; i < 8; ++i)
      placed[i] = new (pool + i * sizeof(Block)) Block(i + 3);
    for (Block *block : placed) {
      total += block->sum();
      block->~Block();
    }
  }
  std::printf("%.10g %d\n", total, alive);
  return alive;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strings grow by appending, go into a map and a vector and out again: operator
// new and delete as C++ programs use them, with many small and some long texts.

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using Table = std::map<std::string, std::vector<std::string>>;

static uint64_t state = 88172645463325252u;

static uint64_t nextNumber() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 16;
}

static std::string word() {
  std::string text("key-");
  for (uint64_t i = nextNumber() % 6; i; i--)
    text += std::to_string(nextNumber() % 1000000) + "/";
  return text;
}

static size_t fillTable(Table &table) {
  size_t bytes = 0;
  for (int i = 0; i < 30000; i++) {
    std::vector<std::string> &texts = table[word()];
    for (int k = 0; k < 3; k++)
      texts.push_back(word() + word());
    bytes += texts.back().size();
    if (table.size() > 10000)
      table.erase(table.begin());
  }
  return bytes;
}

int main() {
  size_t bytes = 0;
  for (int round = 0; round < 12; round++) {
    Table table;
    bytes += fillTable(table);
    std::string all;
    for (const auto &entry : table)
      for (const std::string &text : entry.second)
        all += text;
    bytes += all.size();
  }
  std::printf("bytes=%zu\n", bytes);
  return 0;
}

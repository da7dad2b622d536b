// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// new and delete in all their forms, which reach malloc through the C++
// library. Prints `right` or the first error.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>
#include <vector>

static void check(bool fine, const char *what, size_t number = 0) {
  if (fine)
    return;
  std::printf("wrong: %s (%zu)\n", what, number);
  std::exit(1);
}

static bool isAligned(const void *block, size_t alignment) {
  return uintptr_t(block) % alignment == 0;
}

template <size_t alignment> struct alignas(alignment) Aligned {
  char bytes[alignment];
  Aligned() { std::memset(bytes, 3, sizeof bytes); }
};

template <size_t alignment> static void useAligned() {
  auto *one = new Aligned<alignment>;
  auto *many = new Aligned<alignment>[5];
  auto *quiet = new (std::nothrow) Aligned<alignment>;
  check(isAligned(one, alignment) && isAligned(many, alignment) &&
            isAligned(quiet, alignment),
        "aligned new", alignment);
  delete one;
  delete[] many;
  delete quiet;
}

static void useOperators() {
  for (size_t bytes : {0, 1, 16, 100, 5000, 20000, 3 << 20, 140 << 20}) {
    void *plain = ::operator new(bytes), *array = ::operator new[](bytes);
    check(plain && array && plain != array && isAligned(plain, 16), "new",
          bytes);
    ::operator delete(plain, bytes);
    ::operator delete[](array, bytes);
    for (size_t alignment = 16; alignment <= 4 << 20; alignment *= 4) {
      auto wanted = std::align_val_t(alignment);
      void *block = ::operator new(bytes, wanted);
      void *quiet = ::operator new[](bytes, wanted, std::nothrow);
      check(isAligned(block, alignment) && isAligned(quiet, alignment),
            "new with an alignment", alignment);
      std::memset(block, 1, bytes);
      ::operator delete(block, bytes, wanted);
      ::operator delete[](quiet, wanted);
    }
  }
}

static int handled;

static void useFailures() {
  // Not known to the compiler, which would warn.
  volatile size_t tooMuch = SIZE_MAX / 2 - 100;
  bool thrown = false;
  try {
    std::free(new char[tooMuch]);
  } catch (const std::bad_alloc &) {
    thrown = true;
  }
  check(thrown, "new of too much does not throw");
  check(!::operator new(tooMuch, std::nothrow), "nothrow new of too much");
  std::set_new_handler([] {
    if (++handled == 3)
      std::set_new_handler(nullptr);
  });
  check(!::operator new(tooMuch, std::align_val_t(64), std::nothrow) &&
            handled == 3,
        "the handler of new", size_t(handled));
  // Exceptions are blocks themselves.
  for (int i = 0; i < 1000; ++i)
    try {
      throw std::string(size_t(i) * 10, 'x');
    } catch (const std::string &text) {
      check(text.size() == size_t(i) * 10, "an exception");
    }
}

static void useContainers() {
  std::map<std::string, std::vector<int>> map;
  for (int i = 0; i < 20000; ++i)
    map[std::to_string(i % 3000)].push_back(i);
  size_t sum = 0;
  for (auto &[name, numbers] : map)
    for (int number : numbers) {
      check(std::to_string(number % 3000) == name, "a map of vectors");
      ++sum;
    }
  check(sum == 20000, "a map of vectors");
  std::pmr::synchronized_pool_resource pool;
  std::pmr::vector<std::pmr::string> strings(&pool);
  for (int i = 0; i < 5000; ++i)
    strings.emplace_back(size_t(i % 300), 'a');
  auto shared = std::make_shared<std::vector<std::string>>(
      1000, "text that is not short");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([copy = shared] {
      auto own = *copy;
      for (auto &text : own)
        text += text;
    });
  shared.reset();
  for (auto &thread : threads)
    thread.join();
}

int main() {
  useAligned<32>();
  useAligned<64>();
  useAligned<4096>();
  useAligned<65536>();
  useAligned<(2 << 20)>();
  useOperators();
  useFailures();
  useContainers();
  std::puts("right");
}

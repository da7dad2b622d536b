// C++ with static initialisers (across translation units by inline variables),
// exceptions, thread-local objects and large arrays. Checks that the heap of
// brk can grow behind .bss. Linked with library.cpp it checks a shared library.

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

double data[300000] = {1.5, 2.5};
double bss[400000];
inline std::map<std::string, int> table = {{"one", 1}, {"two", 2}};
static std::vector<int> squares = [] {
  std::vector<int> list;
  for (int i = 0; i < 100; ++i)
    list.push_back(i * i);
  return list;
}();
static thread_local std::string local = "thread";

struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Square : Shape {
  int corners() const override { return 4; }
};

static int thrower(int depth) {
  if (depth == 0)
    throw std::out_of_range("deep");
  std::string keep(100, 'x'); // has to be destroyed on the way
  return thrower(depth - 1) + int(keep.size());
}

static bool heapGrows() {
  const int bytes = 5 << 20;
  char *start = static_cast<char *>(sbrk(bytes));
  if (start == reinterpret_cast<char *>(-1))
    return false;
  std::fill(start, start + bytes, char(1));
  return sbrk(0) == start + bytes;
}

#ifdef WITH_LIBRARY
int libraryCheck();
extern double libraryData[300000];

static bool libraryIsRight() {
  try {
    return libraryCheck() < 0; // it throws
  } catch (const std::out_of_range &error) {
    return std::string(error.what()) == "library" && table.at("three") == 3 &&
           libraryData[0] == 7.5 && libraryData[299999] == 0;
  }
}
#else
static bool libraryIsRight() { return true; }
#endif

int main() {
  bool caught = false;
  try {
    bss[0] = thrower(10);
  } catch (const std::logic_error &error) {
    caught = std::string(error.what()) == "deep";
  }
  std::string fromThread;
  std::thread([&] { fromThread = local + "!"; }).join();
  Square square;
  Shape *volatile shape = &square;
  bss[399999] = data[1];
  if (!caught || table.at("two") != 2 || squares[99] != 9801 ||
      fromThread != "thread!" || shape->corners() != 4 || bss[0] != 0 ||
      data[0] + bss[399999] != 4 || !heapGrows() || !libraryIsRight()) {
    std::puts("a value is wrong");
    return 1;
  }
  std::puts("values are right");
  return 0;
}

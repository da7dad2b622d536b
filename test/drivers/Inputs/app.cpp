// C++ with exceptions and static initialisers beside large .data and .bss.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

double data[500000] = {1.5, 2.5};
double bss[500000];
static std::vector<int> list(100, 7);

static int thrower(int depth) {
  std::string keep(100, 'x'); // has to be destroyed on the way
  if (depth == 0)
    throw std::out_of_range("deep");
  return thrower(depth - 1) + int(keep.size());
}

int main() {
  try {
    bss[0] = thrower(10);
  } catch (const std::logic_error &error) {
    bss[499999] = data[1];
    if (std::string(error.what()) == "deep" && list[99] == 7 &&
        bss[0] + bss[499999] == 2.5) {
      std::puts("values are right");
      return 0;
    }
  }
  return 1;
}

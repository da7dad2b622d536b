// The calls of mpg::numa_allocator: replaces libmpg's functions by ones that
// print each call and return memory as the real ones do: untouched.

#include <cstdint>
#include <cstdio>
#include <vector>

void makeVectors();

extern "C" void mpg_first_touch(void *p, std::uint64_t bytes,
                                std::uint32_t sched, std::uint64_t step,
                                std::uint64_t chunk, std::uint32_t threads) {
  std::printf("%llu bytes%s, sched %u, step %llu, chunk %llu, threads %u\n",
              static_cast<unsigned long long>(bytes),
              reinterpret_cast<std::uintptr_t>(p) % (2 << 20) >= 4096
                  ? " unaligned"
                  : "",
              sched, static_cast<unsigned long long>(step),
              static_cast<unsigned long long>(chunk), threads);
}

int main() {
  makeVectors();
  std::puts("end");
}

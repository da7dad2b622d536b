// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers that may be the same, are restrict, or point into one structure.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct State {
  double position[64], speed[64], *current;
  int64_t counters[8];
  char name[16];
};

__attribute__((noinline)) static void step(struct State *s, const double *dt) {
  for (int i = 0; i < 64; ++i) {
    s->speed[i] -= s->position[i] * *dt / 1024;
    s->position[i] += s->speed[i] * *dt / 1024;
    s->current[i] += 0.125;
  }
}

__attribute__((noinline)) static void
add(double *restrict to, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < 64; ++i)
    to[i] = a[i] + b[i];
}

__attribute__((noinline)) static void prefix(double *to, const double *from,
                                             int n) {
  for (int i = 1; i < n; ++i)
    to[i] = to[i - 1] + from[i];
}

__attribute__((noinline)) static int64_t pun(struct State *s) {
  int64_t mix = 0;
  for (int i = 0; i < 64; ++i) {
    int64_t bits;
    memcpy(&bits, &s->position[i], 8);
    s->counters[i % 8] ^= bits;
    mix += s->counters[(i + 3) % 8] % 1009;
  }
  return mix;
}

int main(void) {
  static struct State s, t;
  for (int i = 0; i < 64; ++i)
    s.position[i] = i / 8.0;
  s.current = s.speed; // one field through two names
  t = s;
  t.current = t.position;
  // The step itself is a field that the loop changes.
  s.position[5] = 0.25;
  for (int i = 0; i < 10; ++i) {
    step(&s, &s.position[5]);
    step(&t, &t.speed[60]);
  }
  double sum[64];
  add(sum, s.position, t.position);
  prefix(sum, sum, 64);
  prefix(s.speed, t.position, 64);
  printf("%.15g %.15g %.15g\n", sum[63], s.speed[63], t.position[63]);
  printf("%lld\n", (long long)pun(&s));
  return s.position[4] != t.position[4] && sum[63] < 1e6 ? 0 : 1;
}

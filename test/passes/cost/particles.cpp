// A tag is put on inside the innermost loop of a loop over arrays that are
// fields of a structure, or lost there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 2

#include <mpg/hints.h>

struct Particles {
  MPG_STREAM double *position;
  MPG_HINT(sector=1, no_l1_hwpf) double *velocity;
  double *force;
  long count;
};

void move(const Particles &particles, double step) {
  double *__restrict position = particles.position;
  double *__restrict velocity = particles.velocity;
  const double *__restrict force = particles.force;
  for (long i = 0, n = particles.count; i < n; i++) {
    velocity[i] += step * force[i];
    position[i] += step * velocity[i];
  }
}

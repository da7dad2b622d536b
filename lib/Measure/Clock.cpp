// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Clock.h.

#include "Measure/Clock.h"
#include <ctime>

double mpg::nowSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double mpg::secondsOf(const timeval &time) {
  return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
}

std::string mpg::utcNow() {
  time_t now = time(nullptr);
  tm parts;
  char text[sizeof("2026-01-01T00:00:00Z")];
  gmtime_r(&now, &parts);
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

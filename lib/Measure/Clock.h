// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time as measurements need it.

#ifndef MPG_MEASURE_CLOCK_H
#define MPG_MEASURE_CLOCK_H

#include <string>
#include <sys/time.h>

namespace mpg {

/// Seconds of CLOCK_MONOTONIC.
double nowSeconds();

double secondsOf(const timeval &time);

/// The time of day in UTC: "2026-01-01T00:00:00Z".
std::string utcNow();

} // namespace mpg

#endif // MPG_MEASURE_CLOCK_H

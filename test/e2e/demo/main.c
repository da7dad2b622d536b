/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs the plate, prints the checksum, and checks two things: no heat got lost
 * on the way, and the checksum is the known one. Status 1 if either fails.
 */
#include "plate.h"

#include <stdio.h>

/* Compilers may fuse a multiplication with an addition, so not bit for bit. */
static int differs(double value, double expected) {
  double tolerance = 1e-9 * expected;
  return !(value >= expected - tolerance && value <= expected + tolerance);
}

int main(void) {
  const int steps = 25;
  const double knownChecksum = 265420836.527;

  long burnerCells = 0;
  for (int row = 0; row < plateRows; ++row)
    for (int col = 0; col < plateCols; ++col)
      burnerCells += material[row][col] == burner;
  double heatFedIn = (double)burnerCells * steps * burnerHeat;

  for (int i = 0; i < steps; ++i)
    step();

  long charcoalCells = 0;
  for (int row = 0; row < plateRows; ++row)
    for (int col = 0; col < plateCols; ++col)
      charcoalCells += material[row][col] == charcoal;
  double sum = checksum();
  printf("heat %.1f, charcoal %ld, checksum %.3f\n", totalHeat(), charcoalCells,
         sum);
  if (differs(totalHeat(), heatFedIn)) {
    fprintf(stderr, "plate: error: expected heat %.1f\n", heatFedIn);
    return 1;
  }
  if (differs(sum, knownChecksum)) {
    fprintf(stderr, "plate: error: expected checksum %.3f\n", knownChecksum);
    return 1;
  }
  return 0;
}

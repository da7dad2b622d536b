/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The grids: zero at the start, so they are .bss and take no room in the file.
 */
#include "plate.h"

double temperature[plateRows][plateCols];
double nextTemperature[plateRows][plateCols];

double totalHeat(void) {
  double sum = 0.0;
  for (int row = 0; row < plateRows; ++row)
    for (int col = 0; col < plateCols; ++col)
      sum += temperature[row][col];
  return sum;
}

double checksum(void) {
  double sum = 0.0;
  for (int row = 0; row < plateRows; ++row)
    for (int col = 0; col < plateCols; ++col)
      sum += temperature[row][col] * (1.0 + (row * 7 + col * 3) % 11);
  return sum;
}

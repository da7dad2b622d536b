/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One explicit time step. The flow between two neighbours uses the mean of
 * their conductivities, so what leaves one cell arrives in the other and the
 * total heat is known exactly: that is what main checks.
 */
#include "plate.h"

#include <string.h>

const double burnerHeat = 12.0;

/* Steps of this kind are stable while no conductivity is above 0.25. */
static const double conductivity[128] = {[air] = 0.01,
                                         [wood] = 0.08,
                                         [charcoal] = 0.05,
                                         [iron] = 0.24,
                                         [burner] = 0.20};

static double flow(int fromRow, int fromCol, int toRow, int toCol) {
  double mean = 0.5 * (conductivity[(int)material[fromRow][fromCol]] +
                       conductivity[(int)material[toRow][toCol]]);
  return mean * (temperature[fromRow][fromCol] - temperature[toRow][toCol]);
}

static void charHotWood(void) {
  for (int row = 0; row < plateRows; ++row)
    for (int col = 0; col < plateCols; ++col)
      if (material[row][col] == wood && temperature[row][col] > 50.0)
        material[row][col] = charcoal;
}

void step(void) {
  for (int row = 0; row < plateRows; ++row)
    for (int col = 0; col < plateCols; ++col) {
      double heat = temperature[row][col];
      if (material[row][col] == burner)
        heat += burnerHeat;
      if (row > 0)
        heat += flow(row - 1, col, row, col);
      if (row < plateRows - 1)
        heat -= flow(row, col, row + 1, col);
      if (col > 0)
        heat += flow(row, col - 1, row, col);
      if (col < plateCols - 1)
        heat -= flow(row, col, row, col + 1);
      nextTemperature[row][col] = heat;
    }
  memcpy(temperature, nextTemperature, sizeof(temperature));
  charHotWood();
}

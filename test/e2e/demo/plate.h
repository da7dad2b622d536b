/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The demo program: heat spreads through a square plate of wood, iron and air
 * gaps with burners in it. It is written the way many simulation codes are:
 * big global arrays, one initialised in the source (.data), the others zero at
 * the start (.bss). These arrays are what large pages would help, and what an
 * ordinary link leaves on 4 KiB pages.
 */
#ifndef PLATE_H
#define PLATE_H

enum { plateRows = 2048, plateCols = 2048 };

/* One letter per cell, 4 MiB in .data; wood turns into charcoal when hot. */
enum { air = '.', wood = 'w', charcoal = 'c', iron = 'i', burner = '#' };
extern char material[plateRows][plateCols + 1];

/* Temperature before and after a step: 64 MiB in .bss. */
extern double temperature[plateRows][plateCols];
extern double nextTemperature[plateRows][plateCols];

/* Heat that one burner cell feeds into the plate in each step. */
extern const double burnerHeat;

/* Moves the plate one step ahead. No heat crosses the plate's edge. */
void step(void);

/* The heat in the plate. */
double totalHeat(void);

/* A sum that depends on where the heat is, not only on how much there is. */
double checksum(void);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimHistory.h.

#include "SimRun/SimHistory.h"

using namespace mpg::sim;

void SimHistory::replay() {
  program.setWarmingUp(true);
  for (const std::vector<mpg_sim_record> &chunk : kept)
    program.read(chunk.data(), unsigned(chunk.size()));
  program.setWarmingUp(false);
  kept.clear();
  keptRecords = 0;
}

void SimHistory::read(const mpg_sim_record *chunk, unsigned records,
                      bool isOpenElsewhere) {
  if (getKind(*chunk) == MPG_SIM_REGION)
    open += getNumber(*chunk) ? 1 : -1;
  bool wasCounting = isCounting;
  isCounting = open > 0 || isOpenElsewhere;
  if (isCounting) {
    if (!wasCounting)
      replay();
    return program.read(chunk, records);
  }
  std::vector<mpg_sim_record> room; // a new one each time has page faults
  while (keptRecords + records > maxRecords) {
    room = std::move(kept.front());
    program.readNames(room.data(), unsigned(room.size()));
    keptRecords -= room.size();
    kept.pop_front();
  }
  room.assign(chunk, chunk + records);
  kept.push_back(std::move(room));
  keptRecords += records;
}

void SimHistory::finish() {
  for (const std::vector<mpg_sim_record> &chunk : kept)
    program.readNames(chunk.data(), unsigned(chunk.size()));
  kept.clear();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimRun/SimDecoder.h"

using namespace mpg::sim;

unsigned SimDecoder::readLoop(const mpg_sim_record *record, unsigned left) {
  uint64_t count = numberOf(*record);
  if (count * 2 >= left)
    return 0;
  streams.clear();
  for (uint64_t at = 1; at <= 2 * count; at += 2) {
    if (kindOf(record[at]) != MPG_SIM_STREAM ||
        kindOf(record[at + 1]) != MPG_SIM_STRIDE)
      return 0;
    streams.push_back({numberOf(record[at]), addressOf(record[at]),
                       int64_t(record[at + 1].value)});
  }
  return unsigned(1 + 2 * count);
}

unsigned SimDecoder::readBundle(const mpg_sim_record *record, unsigned left) {
  unsigned count = addressesOf(*record);
  if (!count || recordsOfBundle(*record) > left)
    return 0;
  addresses.resize(count);
  addresses[0] = addressOf(*record);
  for (unsigned at = 1; at < count; ++at) {
    const mpg_sim_record &pair = record[(at + 1) / 2];
    addresses[at] = withoutTag(at & 1 ? pair.value : pair.word);
  }
  return recordsOfBundle(*record);
}

unsigned SimDecoder::addText(const mpg_sim_record *record, unsigned left) {
  uint64_t bytes = record->value;
  uint64_t records = (bytes + sizeof(*record) - 1) / sizeof(*record);
  if (bytes > MPG_SIM_CHUNK_BYTES || records >= left ||
      text.size() + bytes > textBytes)
    return 0;
  text.append(reinterpret_cast<const char *>(record + 1), bytes);
  return unsigned(1 + records);
}

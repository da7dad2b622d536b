// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the chunks that a program fills (mpg/sim.h). The program may have
// written anything: bytes that are not a record are counted and skipped.

#pragma once

#include "Sim/Model.h"
#include "mpg/sim.h"

namespace mpg::sim {

constexpr unsigned recordsOfChunk =
    MPG_SIM_CHUNK_BYTES / sizeof(mpg_sim_record);

inline uint64_t getKind(const mpg_sim_record &record) {
  return record.word >> MPG_SIM_KIND_SHIFT;
}
inline unsigned getNumber(const mpg_sim_record &record) {
  return unsigned(record.word);
}
/// The number of accesses in a bundle.
inline unsigned getAccessCount(const mpg_sim_record &record) {
  return record.word >> MPG_SIM_ACCESSES_SHIFT & MPG_SIM_BUNDLE_MOST;
}
inline unsigned getAddressCount(const mpg_sim_record &record) {
  return record.word >> MPG_SIM_ADDRESSES_SHIFT & MPG_SIM_BUNDLE_MOST;
}
/// The number of records that a bundle takes. Each one after the first holds
/// two addresses.
inline unsigned recordsOfBundle(const mpg_sim_record &record) {
  return 1 + getAddressCount(record) / 2;
}

/// The state between chunks, which the two users share. Events has
///   access(place, address), checked(place, address)
///   instruction(word, address)
///   bundle(first place, accesses, addresses): false, there is none like that
///   repeats(record, left): how many of the records from this bundle on it has
///     taken at once; 0: none
///   loop(streams, times), copy(from, to, bytes), fill(to, bytes)
///   allocated(place, address, bytes, callers), freed(address), called(place)
///   stack(address, bytes), object(number, address, bytes)
///   module(first place, text), core(number)
/// Sites of streams are numbers of places.
class SimDecoder {
public:
  /// \p records: at most; a word of 0 ends them as well.
  template <typename Events>
  void read(const mpg_sim_record *chunk, Events &events,
            unsigned records = recordsOfChunk);
  uint64_t damaged() const { return damagedRecords; }

  /// Removes AArch64's tag.
  static uint64_t withoutTag(uint64_t address) {
    return address & ((uint64_t(1) << 56) - 1);
  }

private:
  static uint64_t getAddress(const mpg_sim_record &record) {
    return withoutTag(record.value);
  }
  template <typename Events>
  unsigned readLong(const mpg_sim_record *record, unsigned left,
                    Events &events);
  /// How many of the \p left records the loop at \p record takes; 0: it is
  /// damaged.
  unsigned readLoop(const mpg_sim_record *record, unsigned left);
  template <typename Events>
  unsigned passBundle(const mpg_sim_record *record, unsigned left,
                      Events &events);
  unsigned readBundle(const mpg_sim_record *record, unsigned left);
  void readCallers(const mpg_sim_record *record, unsigned left);
  unsigned beginText(const mpg_sim_record &record);
  unsigned addText(const mpg_sim_record *record, unsigned left);

  std::vector<Stream> streams;
  std::vector<uint64_t> addresses;
  std::string text; ///< of the module that is being read
  uint64_t textBytes = 0;
  uint64_t firstPlace = 0;
  uint64_t damagedRecords = 0;
};

template <typename Events>
void SimDecoder::read(const mpg_sim_record *chunk, Events &events,
                      unsigned records) {
  for (unsigned at = 0; at < records;) {
    const mpg_sim_record &record = chunk[at];
    switch (getKind(record)) {
    case MPG_SIM_END:
      return;
    case MPG_SIM_ACCESS:
      events.access(getNumber(record), getAddress(record));
      ++at;
      break;
    case MPG_SIM_CHECKED:
      events.checked(getNumber(record), getAddress(record));
      ++at;
      break;
    case MPG_SIM_INSTRUCTION:
      events.instruction(record.word, getAddress(record));
      ++at;
      break;
    case MPG_SIM_BUNDLE: {
      unsigned taken = events.repeats(&record, records - at);
      if (!taken)
        taken = passBundle(&record, records - at, events);
      damagedRecords += taken == 0;
      at += taken ? taken : 1;
      break;
    }
    default: {
      unsigned taken = readLong(&record, records - at, events);
      damagedRecords += taken == 0;
      at += taken ? taken : 1;
    }
    }
  }
}

template <typename Events>
inline unsigned SimDecoder::passBundle(const mpg_sim_record *record,
                                       unsigned left, Events &events) {
  unsigned taken = readBundle(record, left);
  bool isKnown = taken && events.bundle(getNumber(*record),
                                        getAccessCount(*record), addresses);
  return isKnown ? taken : 0;
}

/// \returns the records that were read; 0: it is not one that can be.
template <typename Events>
unsigned SimDecoder::readLong(const mpg_sim_record *record, unsigned left,
                              Events &events) {
  auto isNext = [&](unsigned at, mpg_sim_kind kind) {
    return at < left && getKind(record[at]) == uint64_t(kind);
  };
  uint64_t bytes = isNext(1, MPG_SIM_BYTES) ? record[1].value : 0;
  switch (getKind(*record)) {
  case MPG_SIM_LOOP: {
    unsigned taken = readLoop(record, left);
    if (taken)
      events.loop(streams, record->value);
    return taken;
  }
  case MPG_SIM_FROM:
    if (!isNext(1, MPG_SIM_TO) || !isNext(2, MPG_SIM_BYTES))
      return 0;
    events.copy(Stream{getNumber(record[0]), getAddress(record[0]), 0},
                Stream{getNumber(record[1]), getAddress(record[1]), 0},
                record[2].value);
    return 3;
  case MPG_SIM_TO:
    events.fill(Stream{getNumber(*record), getAddress(*record), 0}, bytes);
    return 2;
  case MPG_SIM_ALLOCATED:
    readCallers(record + 2, left > 2 ? left - 2 : 0);
    events.allocated(getNumber(*record), getAddress(*record), bytes, addresses);
    return 2 + unsigned(addresses.size());
  case MPG_SIM_STACK:
    events.stack(getAddress(*record), bytes);
    return 2;
  case MPG_SIM_OBJECT:
    events.object(getNumber(*record), getAddress(*record), bytes);
    return 2;
  case MPG_SIM_FREED:
    events.freed(getAddress(*record));
    return 1;
  case MPG_SIM_CALLED:
    events.called(getNumber(*record));
    return 1;
  case MPG_SIM_CORE:
    events.core(getNumber(*record));
    return 1;
  case MPG_SIM_REGION: // SimHistory's
    return 1;
  case MPG_SIM_MODULE:
    return beginText(*record);
  case MPG_SIM_TEXT: {
    unsigned taken = addText(record, left);
    if (taken && text.size() == textBytes)
      events.module(firstPlace, text);
    return taken;
  }
  default:
    return 0;
  }
}

inline unsigned SimDecoder::readLoop(const mpg_sim_record *record,
                                     unsigned left) {
  uint64_t count = getNumber(*record);
  if (count * 2 >= left)
    return 0;
  streams.clear();
  for (uint64_t at = 1; at <= 2 * count; at += 2) {
    if (getKind(record[at]) != MPG_SIM_STREAM ||
        getKind(record[at + 1]) != MPG_SIM_STRIDE)
      return 0;
    streams.emplace_back(getNumber(record[at]), getAddress(record[at]),
                         int64_t(record[at + 1].value));
  }
  return unsigned(1 + 2 * count);
}

inline unsigned SimDecoder::readBundle(const mpg_sim_record *record,
                                       unsigned left) {
  unsigned count = getAddressCount(*record);
  if (!count || recordsOfBundle(*record) > left)
    return 0;
  addresses.resize(count);
  uint64_t *next = addresses.data(), *end = next + count;
  *next++ = getAddress(*record);
  for (const mpg_sim_record *pair = record + 1; next != end; ++pair) {
    *next++ = withoutTag(pair->value);
    if (next != end)
      *next++ = withoutTag(pair->word);
  }
  return recordsOfBundle(*record);
}

inline void SimDecoder::readCallers(const mpg_sim_record *record,
                                    unsigned left) {
  addresses.clear();
  for (unsigned at = 0; at < left && getKind(record[at]) == MPG_SIM_CALLER;
       ++at)
    addresses.push_back(record[at].value);
}

inline unsigned SimDecoder::beginText(const mpg_sim_record &record) {
  text.clear();
  textBytes = record.value;
  firstPlace = getNumber(record);
  return 1;
}

inline unsigned SimDecoder::addText(const mpg_sim_record *record,
                                    unsigned left) {
  uint64_t bytes = record->value;
  uint64_t records = (bytes + sizeof(*record) - 1) / sizeof(*record);
  if (bytes > MPG_SIM_CHUNK_BYTES || records >= left ||
      text.size() + bytes > textBytes)
    return 0;
  text.append(reinterpret_cast<const char *>(record + 1), bytes);
  return unsigned(1 + records);
}

} // namespace mpg::sim

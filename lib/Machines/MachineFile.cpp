// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From keys and values to a Machine, with the line of what is wrong; a figure
// that is missing or cannot be is an error.

#include "Machines/MachineFile.h"
#include "Sim/PrefetchQueue.h"
#include "Support/Format.h"
#include "Support/YamlReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace llvm;
using namespace mpg;
using namespace mpg::sim;

/// Limit of a file: many times the size of any machine here.
static constexpr uint64_t limitBytes = uint64_t(64) << 10;
/// Limit of a cache or a page, so that sums of them do not wrap.
static constexpr uint64_t maxBytes = uint64_t(1) << 40;

namespace {
class MachineReader : public YamlReader {
public:
  explicit MachineReader(Machine &machine);

private:
  struct Value {
    std::string key;
    unsigned line;
    yaml::Node *node;
  };
  /// A key and the reader of its value. A table, so that the message about an
  /// unknown key can name the nearest known one.
  struct Field {
    StringRef key;
    std::function<void(Value)> read;
    bool required = true;
  };
  using Fields = std::vector<Field>;

  void readEntry(yaml::KeyValueNode &entry, SeenKeys &seen) override;
  void finish(unsigned line, const SeenKeys &seen) override;
  void readField(yaml::KeyValueNode &entry, SeenKeys &seen,
                 const Fields &fields);
  void checkRequired(unsigned line, const SeenKeys &seen, const Fields &fields);
  void readMap(const Value &value, const Fields &fields);
  void readItems(const Value &value, const std::function<void(Value)> &read);

  // A reader of a field into \p to.
  std::function<void(Value)> text(std::string &to);
  std::function<void(Value)> number(unsigned &to, unsigned min, unsigned max);
  std::function<void(Value)> decimal(double &to);
  std::function<void(Value)> size(uint64_t &to);
  std::function<void(Value)> yesOrNo(bool &to);
  std::function<void(Value)> word(std::vector<StringRef> words,
                                  std::function<void(size_t)> store);
  std::function<void(Value)> replacement(Replacement &to);
  std::function<void(Value)> numbers(std::vector<unsigned> &to, unsigned max);
  std::function<void(Value)> sizes(std::vector<uint64_t> &to);
  std::function<void(Value)> assumed(std::vector<StringRef> keys);

  void readCache(const Value &value);
  void readTlb(const Value &value);
  void readArray(const Value &value, TlbLevel &level);
  void readPrefetcher(const Value &value);
  void readBand(const Value &value);
  void checkCache(unsigned line, const CacheLevel &cache);

  Machine &machine;
  Fields rootFields;
};
} // namespace

MachineReader::MachineReader(Machine &machine) : machine(machine) {
  auto each = [this](void (MachineReader::*read)(const Value &)) {
    return [this, read](const Value &value) {
      readItems(value,
                [this, read](const Value &item) { (this->*read)(item); });
    };
  };
  PageWalk &walk = machine.walk;
  BandwidthRoofs &roofs = machine.roofs;
  CoreGroups &groups = machine.groups;
  auto map = [this](Fields fields) {
    return [this, fields](const Value &value) { readMap(value, fields); };
  };
  rootFields = {
      {"name", text(machine.name)},
      {"line", number(machine.lineBytes, 16, 4096)},
      {"physicalBits", number(machine.physicalBits, 20, 52)},
      {"pages", sizes(machine.pageBytes)},
      {"caches", each(&MachineReader::readCache)},
      {"tlbs", each(&MachineReader::readTlb)},
      {"prefetchers", each(&MachineReader::readPrefetcher), false},
      {"walk",
       map({{"minNs", decimal(walk.minNs)}, {"maxNs", decimal(walk.maxNs)}}),
       false},
      {"roofs",
       map({{"memoryRead", decimal(roofs.memoryReadGbps)},
            {"memoryWrite", decimal(roofs.memoryWriteGbps), false}}),
       false},
      {"groups",
       map({{"count", number(groups.count, 1, 64)},
            {"cores", number(groups.coresEach, 1, 1024)}}),
       false},
      {"bands", each(&MachineReader::readBand), false}};
}

// Mappings and lists

void MachineReader::readField(yaml::KeyValueNode &entry, SeenKeys &seen,
                              const Fields &fields) {
  unsigned line = 0;
  std::string key = readKey(entry, seen, line);
  if (failed())
    return;
  for (const Field &field : fields)
    if (field.key == key)
      return field.read({key, line, entry.getValue()});
  std::vector<StringRef> known;
  for (const Field &field : fields)
    known.push_back(field.key);
  fail(line, "unknown key '" + key + "'" + suggest(key, known));
}

void MachineReader::checkRequired(unsigned line, const SeenKeys &seen,
                                  const Fields &fields) {
  for (const Field &field : fields)
    if (field.required && !seen.contains(field.key))
      return fail(line, "the key '" + field.key + "' is missing");
}

void MachineReader::readMap(const Value &value, const Fields &fields) {
  auto *map = dyn_cast_or_null<yaml::MappingNode>(value.node);
  if (!map)
    return fail(value.line, "'" + value.key + "' takes KEY: VALUE entries");
  SeenKeys seen;
  unsigned first = value.line;
  for (yaml::KeyValueNode &entry : *map) {
    // The line of a mapping is that of the key before it: say what is missing
    // at the first entry.
    if (seen.empty())
      first = getLine(entry);
    readField(entry, seen, fields);
    if (failed())
      return;
  }
  checkRequired(first, seen, fields);
}

void MachineReader::readItems(const Value &value,
                              const std::function<void(Value)> &read) {
  auto *list = dyn_cast_or_null<yaml::SequenceNode>(value.node);
  if (!list)
    return fail(value.line, "'" + value.key + "' takes a list");
  for (yaml::Node &item : *list) {
    read({value.key, getLine(item), &item});
    if (failed())
      return;
  }
}

void MachineReader::readEntry(yaml::KeyValueNode &entry, SeenKeys &seen) {
  readField(entry, seen, rootFields);
}

// Values

std::function<void(MachineReader::Value)> MachineReader::text(std::string &to) {
  return [this, &to](const Value &value) {
    if (std::optional<std::string> text =
            readText(value.key, value.line, value.node))
      to = *text;
  };
}

std::function<void(MachineReader::Value)>
MachineReader::number(unsigned &to, unsigned min, unsigned max) {
  return [this, &to, min, max](const Value &value) {
    std::optional<std::string> text =
        readText(value.key, value.line, value.node);
    if (text && (StringRef(*text).getAsInteger(10, to) || to < min || to > max))
      fail(value.line, "'" + value.key + "' is a number from " + Twine(min) +
                           " to " + Twine(max) + ", not '" + *text + "'");
  };
}

std::function<void(MachineReader::Value)> MachineReader::decimal(double &to) {
  return [this, &to](const Value &value) {
    std::optional<std::string> text =
        readText(value.key, value.line, value.node);
    // So no infinity and no NaN.
    if (text && (StringRef(*text).getAsDouble(to) || !(to > 0 && to < 1e6)))
      fail(value.line,
           "'" + value.key + "' is a number above 0, not '" + *text + "'");
  };
}

std::function<void(MachineReader::Value)> MachineReader::size(uint64_t &to) {
  return [this, &to](const Value &value) {
    std::optional<std::string> text =
        readText(value.key, value.line, value.node);
    if (!text)
      return;
    std::optional<uint64_t> bytes = parseBytes(*text);
    if (!bytes || !*bytes || *bytes > maxBytes)
      return fail(value.line,
                  "'" + value.key + "' is a size such as 64KiB, at most " +
                      formatBytes(maxBytes) + ", not '" + *text + "'");
    to = *bytes;
  };
}

std::function<void(MachineReader::Value)>
MachineReader::word(std::vector<StringRef> words,
                    std::function<void(size_t)> store) {
  return [this, words = std::move(words),
          store = std::move(store)](const Value &value) {
    std::optional<std::string> text =
        readText(value.key, value.line, value.node);
    if (!text)
      return;
    auto found = find(words, *text);
    if (found == words.end())
      return fail(value.line, "'" + *text + "' of '" + value.key +
                                  "' is unknown" + suggestValue(*text, words));
    store(size_t(found - words.begin()));
  };
}

std::function<void(MachineReader::Value)> MachineReader::yesOrNo(bool &to) {
  return word({"false", "true"}, [&to](size_t at) { to = at == 1; });
}

std::function<void(MachineReader::Value)>
MachineReader::replacement(Replacement &to) {
  return word({"lru", "fifo"}, [&to](size_t at) { to = Replacement(at); });
}

std::function<void(MachineReader::Value)>
MachineReader::numbers(std::vector<unsigned> &to, unsigned max) {
  return [this, &to, max](const Value &value) {
    readItems(value, [this, &to, max](const Value &item) {
      unsigned read = 0;
      number(read, 0, max)(item);
      to.push_back(read);
    });
  };
}

std::function<void(MachineReader::Value)>
MachineReader::sizes(std::vector<uint64_t> &to) {
  return [this, &to](const Value &value) {
    readItems(value, [this, &to](const Value &item) {
      uint64_t read = 0;
      size(read)(item);
      if (!failed() &&
          (!isPowerOf2_64(read) || (!to.empty() && to.back() >= read)))
        fail(item.line,
             "'" + item.key + "' are powers of two, each above the one before");
      to.push_back(read);
    });
  };
}

/// The list of keys, out of \p keys, whose values no public manual states. It
/// is for readers of the file and does not change the model.
std::function<void(MachineReader::Value)>
MachineReader::assumed(std::vector<StringRef> keys) {
  return [this, keys = std::move(keys)](const Value &value) {
    readItems(value, [this, &keys](const Value &item) {
      word(keys, [](size_t) {})(item);
    });
  };
}

// The parts of a machine

void MachineReader::readCache(const Value &value) {
  CacheLevel cache;
  readMap(value, {{"name", text(cache.name)},
                  {"size", size(cache.bytes)},
                  {"ways", number(cache.ways, 1, 64)},
                  {"usableWays", number(cache.usableWays, 1, 64), false},
                  {"replacement", replacement(cache.replacement)},
                  {"shared", yesOrNo(cache.shared), false},
                  {"sectors", number(cache.sectors, 1, 4), false},
                  {"limitsSector0", yesOrNo(cache.limitsSector0), false},
                  {"hitRelabels", yesOrNo(cache.hitRelabels), false},
                  {"hash",
                   [&](const Value &hash) {
                     readMap(hash, {{"bits", number(cache.hash.bits, 1, 20)},
                                    {"at", number(cache.hash.at, 0, 20)},
                                    {"from", numbers(cache.hash.from, 51)}});
                   },
                   false},
                  {"assumed",
                   assumed({"replacement", "hash", "usableWays", "shared",
                            "size", "ways", "hitRelabels"}),
                   false}});
  if (!failed())
    checkCache(value.line, cache);
  machine.caches.push_back(std::move(cache));
}

void MachineReader::checkCache(unsigned line, const CacheLevel &cache) {
  uint64_t way = uint64_t(cache.ways) * machine.lineBytes;
  if (!machine.lineBytes || !isPowerOf2_32(machine.lineBytes))
    return fail(line, "'line', a power of two, must come before 'caches'");
  if (cache.bytes % way)
    return fail(line, "'size' " + formatBytes(cache.bytes) +
                          " is not a multiple of " + Twine(cache.ways) +
                          " ways of lines of " + Twine(machine.lineBytes) +
                          " bytes");
  uint64_t sets = cache.bytes / way;
  if (cache.usableWays > cache.ways)
    return fail(line, "'usableWays' is more than 'ways'");
  if (!isPowerOf2_32(cache.sectors))
    return fail(line, "'sectors' is 1, 2 or 4");
  if (machine.caches.empty() &&
      (cache.shared || cache.hash.bits || !isPowerOf2_64(sets)))
    return fail(line, "the first cache belongs to one core, has no 'hash', and "
                      "a power of two as its number of sets");
  if (cache.hash.bits &&
      (!isPowerOf2_64(sets) || cache.hash.at + cache.hash.bits > Log2_64(sets)))
    return fail(line,
                "the 'hash' goes beyond the index of " + Twine(sets) + " sets");
  for (unsigned from : cache.hash.from)
    if (from < Log2_32(machine.lineBytes))
      return fail(line, "'from' of the 'hash' has bit " + Twine(from) +
                            ", which is within a line");
}

void MachineReader::readArray(const Value &value, TlbLevel &level) {
  TlbArray array;
  readMap(value,
          {{"pages", sizes(array.pageBytes)},
           {"entries", number(array.entries, 1, 65536)},
           {"ways", number(array.ways, 1, 4096)},
           {"replacement", replacement(array.replacement)},
           {"assumed", assumed({"replacement", "entries", "ways"}), false}});
  if (!failed() && array.entries % array.ways)
    fail(value.line, "'entries' is not a multiple of 'ways'");
  for (uint64_t bytes : array.pageBytes) {
    if (!failed() && !is_contained(machine.pageBytes, bytes))
      fail(value.line, "'pages' of the machine, which stands first, has no " +
                           formatBytes(bytes));
    if (!failed() && level.arrayFor(bytes))
      fail(value.line,
           "'pages' has " + formatBytes(bytes) + " twice in this level");
  }
  level.arrays.push_back(std::move(array));
}

void MachineReader::readTlb(const Value &value) {
  TlbLevel level;
  readMap(value, {{"name", text(level.name)},
                  {"arrays", [&](const Value &arrays) {
                     readItems(arrays, [&](const Value &item) {
                       readArray(item, level);
                     });
                   }}});
  machine.tlbs.push_back(std::move(level));
}

void MachineReader::readPrefetcher(const Value &value) {
  Prefetcher prefetcher;
  unsigned level = 0;
  unsigned maxLevel = std::min(unsigned(machine.caches.size()), 2u);
  readMap(value,
          {{"level", number(level, 1, maxLevel)},
           {"ahead", number(prefetcher.linesAhead, 1, 1024)},
           {"streams", number(prefetcher.streams, 1, PrefetchQueue::maxStreams),
            false},
           {"assumed", assumed({"ahead", "streams"}), false}});
  prefetcher.level = level - 1;
  for (const Prefetcher &other : machine.prefetchers)
    if (!failed() && other.level == prefetcher.level)
      return fail(value.line, "'prefetchers' has two of level " + Twine(level) +
                                  "; name each level once");
  machine.prefetchers.push_back(prefetcher);
}

void MachineReader::readBand(const Value &value) {
  CounterBand band;
  readMap(value, {{"counter", text(band.counter)},
                  {"min", decimal(band.min)},
                  {"max", decimal(band.max)}});
  machine.bands.push_back(std::move(band));
}

void MachineReader::finish(unsigned line, const SeenKeys &seen) {
  checkRequired(line, seen, rootFields);
  if (failed())
    return;
  // Check last what depends on several keys, as they come in any order.
  if (machine.caches.empty())
    return fail(line, "'caches' is empty");
  if (machine.pageBytes.empty() || machine.pageBytes[0] < machine.lineBytes)
    return fail(line, "'pages' is empty, or a page is smaller than a line");
  if (machine.walk.minNs > machine.walk.maxNs)
    return fail(line, "'minNs' of 'walk' is above 'maxNs'");
}

std::string mpg::sim::readMachine(const std::string &path, Machine &machine) {
  machine = Machine();
  return toString(MachineReader(machine).read(path, limitBytes));
}

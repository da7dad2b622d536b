// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimPlaces.h.

#include "SimRun/SimPlaces.h"
#include "mpg/sim.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg::sim;

/// More places than this are damage.
static constexpr uint64_t maxPlaces = uint64_t(1) << 26;

/// One module's text, line by line.
struct SimPlaces::Reader {
  SimPlaces &all;
  uint64_t next; ///< number of the next place
  uint64_t first = next;
  std::vector<std::string> files = {};
  std::vector<unsigned> codes = {};
  std::vector<unsigned> locals = {};

  using Words = SmallVector<StringRef, 6>;
  static unsigned number(StringRef word) {
    unsigned value = 0;
    return word.getAsInteger(10, value) ? 0 : value;
  }
  std::string file(StringRef word) const {
    unsigned at = number(word);
    return at < files.size() ? files[at] : "?";
  }
  void addPlace(SimPlace place) {
    if (next >= all.places.size())
      all.places.resize(next + 1);
    all.places[next++] = std::move(place);
  }
  void addCode(const Words &words);
  void addLocal(const Words &words);
  void addAccess(const Words &words);
  void addAllocation(const Words &words);
  bool addBundle(const Words &words);
  bool add(StringRef line);
};

void SimPlaces::Reader::addCode(const Words &words) {
  SimCode code = {file(words[1]), number(words[2]), words[3] == "loop",
                  words[4].str()};
  CodeKey key = {code.file, code.line, code.isLoop, code.function};
  auto [known, isNew] =
      all.codeNumbers.try_emplace(key, unsigned(all.codes.size()));
  if (isNew)
    all.codes.push_back(code);
  codes.push_back(known->second);
}

void SimPlaces::Reader::addLocal(const Words &words) {
  SimLocal local = {file(words[1]), number(words[2]), words[3].str()};
  auto [known, isNew] = all.localNumbers.try_emplace(
      {local.file, local.line, local.name}, unsigned(all.locals.size()));
  if (isNew)
    all.locals.push_back(local);
  locals.push_back(known->second);
}

void SimPlaces::Reader::addAccess(const Words &words) {
  SimPlace place;
  place.kind = SimPlace::access;
  place.store = words[1] == "s" || words[1] == "z";
  place.zeroes = words[1] == "z";
  if (words[1].starts_with("p"))
    place.prefetches = words[1] == "p1" ? 1 : 2;
  place.bytes = number(words[2]);
  place.line = number(words[3]);
  unsigned code = number(words[4]);
  place.code = code < codes.size() ? codes[code] : 0;
  unsigned local = number(words[5]);
  if (!words[5].empty() && local < locals.size())
    place.local = locals[local];
  if (place.bytes == 0 || place.bytes > 64)
    place.bytes = 8;
  addPlace(place);
}

void SimPlaces::Reader::addAllocation(const Words &words) {
  SimPlace place;
  place.kind = SimPlace::allocation;
  place.isPart = words[0] == "R";
  if (words.size() == 1) {
    place.name = "blocks of libraries";
  } else {
    place.file = file(words[1]);
    place.line = number(words[2]);
    place.name = words[3].str();
  }
  addPlace(place);
}

/// False: it names a place that does not exist.
bool SimPlaces::Reader::addBundle(const Words &words) {
  uint64_t place = first + number(words[1]);
  SimBundle bundle;
  for (size_t at = 2; at + 1 < words.size(); at += 2) {
    int64_t offset = 0;
    unsigned address = number(words[at]);
    if (address > bundle.addresses || words[at + 1].getAsInteger(10, offset) ||
        place + bundle.members.size() >= next)
      return false;
    bundle.addresses = std::max(bundle.addresses, address + 1);
    bundle.members.push_back({address, uint64_t(offset)});
  }
  all.bundles.try_emplace(place, std::move(bundle));
  return true;
}

/// False: the line has another form.
bool SimPlaces::Reader::add(StringRef line) {
  Words words;
  line.split(words, '\t');
  StringRef kind = words[0];
  if (kind == "F" && words.size() == 2) {
    files.push_back(words[1].str());
  } else if (kind == "L" && words.size() == 5) {
    addCode(words);
  } else if (kind == "V" && words.size() == 4) {
    addLocal(words);
  } else if (kind == "A" && words.size() == 6) {
    addAccess(words);
  } else if (kind == "B" && words.size() >= 4) {
    return addBundle(words);
  } else if ((kind == "H" || kind == "R") &&
             (words.size() == 1 || words.size() == 4)) {
    addAllocation(words);
  } else if (kind == "C" && words.size() == 2) {
    SimPlace place;
    place.kind = SimPlace::callee;
    place.name = words[1].str();
    addPlace(place);
  } else if (kind == "G" && words.size() == 2) {
    all.objects.push_back(words[1].str());
  } else if (kind == "D" && words.size() == 2) {
    all.defined.insert(words[1]);
  } else {
    // For the runtime alone, and for SimEmulated.
    return (kind == "P" && words.size() == 3) || kind == "X" || kind == "J" ||
           kind == "M" || kind == "E" || kind == "I";
  }
  return true;
}

std::string SimPlaces::addModule(uint64_t first, StringRef text) {
  objects.clear();
  auto [head, rest] = text.split('\n');
  SmallVector<StringRef, 3> words;
  head.split(words, '\t');
  if (words[0] != "mpgsim" || words.size() != 3)
    return "a module's list of accesses cannot be read";
  if (words[1] != std::to_string(MPG_SIM_VERSION))
    return "a module was compiled with version " + words[1].str() +
           " of --mpg-sim, this is version " + std::to_string(MPG_SIM_VERSION) +
           "; compile it again";
  if (first >= maxPlaces || text.size() / 2 >= maxPlaces)
    return "a module's list of accesses has no end";
  Reader reader = {*this, first};
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (!reader.add(line))
      return "a module's list of accesses has the line '" + line.str() + "'";
  }
  return "";
}

unsigned SimPlaces::add(const SimPlace &place) {
  if (places.size() >= maxPlaces)
    return 0;
  places.push_back(place);
  return unsigned(places.size() - 1);
}

unsigned SimPlaces::addCode() {
  if (codes.size() >= maxPlaces)
    return 0;
  codes.push_back({});
  return unsigned(codes.size() - 1);
}

void SimPlaces::nameCode(unsigned number, const SimCode &name) {
  if (!number)
    return;
  codes[number] = name;
  auto [known, isNew] = codeNumbers.try_emplace(
      {name.file, name.line, name.isLoop, name.function}, number);
  if (!isNew)
    sameCodes[number] = known->second;
}

StringRef SimPlaces::objectName(uint64_t number) const {
  return number < objects.size() ? StringRef(objects[number]) : "?";
}

bool SimPlaces::callsBeginningWith(StringRef name) const {
  for (const SimPlace &place : places)
    if (place.kind == SimPlace::callee &&
        StringRef(place.name).starts_with(name))
      return true;
  return false;
}

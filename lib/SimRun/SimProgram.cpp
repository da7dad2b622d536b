// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimProgram.h.

#include "SimRun/SimProgram.h"
#include "llvm/Support/xxhash.h"

using namespace mpg::sim;

/// A variable on the stack is a separate array; the address of its frame
/// changes with each call.
unsigned SimProgram::getArray(const SimPlace &place, unsigned found) {
  if (!place.local || theArrays.array(found).kind != SimArray::stack)
    return found;
  auto [known, isNew] = localArrays.try_emplace(place.local, 0);
  if (isNew) {
    const SimLocal &local = thePlaces.local(place.local);
    SimArray array;
    array.kind = SimArray::stack;
    array.name = local.name;
    array.file = local.file;
    array.line = local.line;
    known->second = theArrays.add(array, 0, 0);
  }
  return known->second;
}

void SimProgram::setStream(const std::vector<std::string> &names) {
  wantedStream.insert(names.begin(), names.end());
}

bool SimProgram::isStream(unsigned number) {
  if (wantedStream.empty())
    return false;
  const SimArray &array = theArrays.array(number);
  std::string place = array.file.substr(array.file.rfind('/') + 1) + ":" +
                      std::to_string(array.line);
  for (const std::string &name : wantedStream)
    if (name == array.name || name == place || callers.isNamed(number, name)) {
      seenStream.insert(name);
      return true;
    }
  return false;
}

/// Modules said what they call before anything is accessed.
void SimProgram::begin() {
  if (theModel)
    return;
  static constexpr const char *beginners[] = {
      "pthread_create", "thrd_create", "__kmpc_fork_call", "__kmpc_fork_teams",
      "_ZNSt6thread15_M_start_thread"};
  for (const char *name : beginners)
    mayHaveThreads |= thePlaces.callsBeginningWith(name);
  if (!mayHaveThreads)
    whatIf.placements.clear();
  theModel = std::make_unique<Model>(machine, whatIf);
  now = &theModel->core(0);
  useView();
}

SimProgram::Found &SimProgram::find(unsigned place, uint64_t address) {
  begin();
  // A place that no module has named is damage; it is counted as one.
  if (place >= thePlaces.count())
    place = 0;
  SimArrays::Range range = theArrays.find(address);
  auto [known, isNew] = siteNumbers.try_emplace(
      uint64_t(place) << 32 | uint64_t(isWarmingUp) << 31 | range.array,
      unsigned(siteNumbers.size()));
  if (isNew) {
    const SimPlace &what = thePlaces.place(place);
    Site site;
    site.loop = what.code;
    site.array = getArray(what, range.array);
    site.bytes = what.bytes;
    site.store = what.store;
    site.zeroes = what.zeroes;
    site.prefetches = what.prefetches;
    site.sector = isStream(site.array);
    known->second = theModel->addSite(site);
    siteIsCounted.push_back(!isWarmingUp);
    spans.emplace_back();
  }
  if (place >= found->size())
    found->resize(thePlaces.count());
  Found &one = (*found)[place];
  one = {range.begin,  range.end, theArrays.changes(),
         ~uint64_t(0), {},        known->second};
  return one;
}

/// Null: no module has such a bundle.
SimProgram::Bound *SimProgram::boundFor(unsigned first) {
  std::vector<std::unique_ptr<Bound>> &all = *bounds;
  if (first < all.size() && all[first])
    return all[first].get();
  if (first >= thePlaces.count())
    return nullptr;
  if (first >= all.size())
    all.resize(thePlaces.count());
  const SimBundle *what = thePlaces.bundle(first);
  if (!what)
    return nullptr;
  all[first] = std::make_unique<Bound>();
  Bound &bound = *all[first];
  bound.what = what;
  bound.addresses.resize(what->addresses);
  for (const SimBundle::Member &member : what->members) {
    Bound::Address &address = bound.addresses[member.address];
    if (int64_t(member.offset - address.min) < 0)
      address.min = member.offset;
    if (int64_t(member.offset - address.max) > 0)
      address.max = member.offset;
  }
  return &bound;
}

/// Whether \p addresses are in the arrays that \p bound knows, and all on the
/// pages that they used last.
SimProgram::Reach
SimProgram::getReach(const Bound &bound,
                     const std::vector<uint64_t> &addresses) const {
  if (!bound.bundle || bound.changes != theArrays.changes())
    return {false, false};
  Reach reach = {true, true};
  for (size_t at = 0; at < addresses.size(); ++at) {
    const Bound::Address &address = bound.addresses[at];
    if (address.isOnPage(addresses[at]))
      continue;
    reach.isKnown = false;
    reach.isBound &= addresses[at] + address.min >= address.begin &&
                     addresses[at] + address.max < address.end;
  }
  return reach;
}

/// False: an address goes to several arrays.
bool SimProgram::bind(Bound &bound, unsigned first,
                      const std::vector<uint64_t> &addresses) {
  if (bound.bundle)
    now->settle(*bound.bundle);
  bound.bundle.reset();
  std::vector<Bundle::Member> members;
  for (const SimBundle::Member &member : bound.what->members) {
    unsigned place = first + unsigned(members.size());
    const Found &one =
        foundFor(place, addresses[member.address] + member.offset);
    members.push_back({one.site, member.address, member.offset});
    Bound::Address &address = bound.addresses[member.address];
    address.begin = one.begin;
    address.end = one.end;
    address.room = 0;
  }
  bound.changes = theArrays.changes();
  bound.bundle.emplace(std::move(members));
  if (getReach(bound, addresses).isBound)
    return true;
  bound.bundle.reset();
  return false;
}

void SimProgram::usePages(Bound &bound, unsigned first,
                          const std::vector<uint64_t> &addresses) {
  for (size_t at = 0; at < addresses.size(); ++at) {
    Bound::Address &address = bound.addresses[at];
    address.isCounted = address.isOnPage(addresses[at]);
    address.stayOn(addresses[at]);
  }
  for (const SimBundle::Member &member : bound.what->members) {
    const Found &one = (*found)[first++];
    if (!bound.addresses[member.address].isCounted)
      usePage(one.site, addresses[member.address] + member.offset);
  }
}

/// False: no module has such a bundle.
bool SimProgram::bundle(unsigned first, unsigned accesses,
                        const std::vector<uint64_t> &addresses) {
  begin();
  Bound *bound = boundFor(first);
  if (!bound || bound->what->members.size() != accesses ||
      bound->what->addresses != addresses.size())
    return false;
  Reach reach = getReach(*bound, addresses);
  if (reach.isBound || bind(*bound, first, addresses)) {
    if (!reach.isBound || !reach.isKnown)
      usePages(*bound, first, addresses);
    now->pass(*bound->bundle, addresses.data());
    return true;
  }
  for (const SimBundle::Member &member : bound->what->members)
    access(first++, addresses[member.address] + member.offset);
  return true;
}

/// Iterations, at most \p times, in which an address that goes on by \p step
/// stays in [\p begin, \p end).
static uint64_t countWithin(uint64_t address, int64_t step, uint64_t begin,
                            uint64_t end, uint64_t times) {
  if (address < begin || address >= end)
    return 0;
  if (!step)
    return times;
  uint64_t room = step > 0 ? end - 1 - address : address - begin;
  uint64_t each = step > 0 ? uint64_t(step) : -uint64_t(step);
  return std::min(times, room / each + 1);
}

/// Adds the single access \p record to the loop at hand. \returns how many of
/// \p times iterations stay in its array.
uint64_t SimProgram::addRepeatedAccess(const mpg_sim_record &record,
                                       uint64_t times) {
  uint64_t address = SimDecoder::withoutTag(record.value);
  int64_t step = repeatFinder.getStep(record.value);
  unsigned place = getNumber(record);
  const Found &one = foundFor(place, address);
  resolved.emplace_back(one.site, address, step);
  repeatedPlaces.push_back(place < thePlaces.count() ? place : 0);
  return countWithin(address, step, one.begin, one.end, times);
}

/// The same for a bundle. One that is not bound has to make a pass before.
uint64_t SimProgram::addRepeatedBundle(const mpg_sim_record *record,
                                       uint64_t times) {
  unsigned first = getNumber(*record), count = getAddressCount(*record);
  Bound *bound = boundFor(first);
  if (!bound || !bound->bundle || bound->changes != theArrays.changes() ||
      bound->what->members.size() != getAccessCount(*record) ||
      bound->what->addresses != count)
    return 0;
  repeatedBounds.push_back(bound);
  auto getWord = [&](unsigned number) -> const uint64_t & {
    const mpg_sim_record &pair = record[(number + 1) / 2];
    return number && number % 2 == 0 ? pair.word : pair.value;
  };
  for (unsigned number = 0; number < count; ++number) {
    const Bound::Address &its = bound->addresses[number];
    uint64_t address = SimDecoder::withoutTag(getWord(number));
    int64_t step = repeatFinder.getStep(getWord(number));
    for (uint64_t end : {its.min, its.max})
      times = countWithin(address + end, step, its.begin, its.end, times);
  }
  for (const SimBundle::Member &member : bound->what->members) {
    const uint64_t &word = getWord(member.address);
    resolved.emplace_back((*found)[first].site,
                          SimDecoder::withoutTag(word) + member.offset,
                          repeatFinder.getStep(word));
    repeatedPlaces.push_back(first++);
  }
  return times;
}

/// The streams of \p times iterations that were found. \returns how many stay
/// in their arrays; 0: too few.
uint64_t SimProgram::addRepeated(uint64_t times) {
  resolved.clear();
  repeatedPlaces.clear();
  repeatedBounds.clear();
  for (const mpg_sim_record *part : repeatFinder.parts()) {
    if (getKind(*part) == MPG_SIM_BUNDLE)
      times = addRepeatedBundle(part, times);
    else if (getKind(*part) == MPG_SIM_ACCESS)
      times = addRepeatedAccess(*part, times);
    // Sites are numbered in the order of their first accesses.
    if (times < SimRepeats::minTimes)
      return 0;
  }
  return times;
}

unsigned SimProgram::repeats(const mpg_sim_record *record, unsigned left) {
  if (getNumber(*record) >= thePlaces.count())
    return 0;
  uint64_t times = repeatFinder.find(record, left);
  if (!times)
    return 0;
  begin();
  times = addRepeated(times);
  if (!times) {
    repeatFinder.reject(record);
    return 0;
  }
  for (const mpg_sim_record *part : repeatFinder.parts())
    if (getKind(*part) == MPG_SIM_CALLED)
      called(getNumber(*part), times);
  for (Bound *bound : repeatedBounds)
    now->settle(*bound->bundle);
  for (size_t at = 0; at < resolved.size(); ++at)
    useStream(resolved[at], times, (*found)[repeatedPlaces[at]]);
  now->affine(resolved, times);
  return unsigned(times) * repeatFinder.records();
}

void SimProgram::finish() {
  begin();
  for (View &one : views)
    for (size_t core = 0; core < one.boundByCore.size(); ++core)
      for (std::unique_ptr<Bound> &bound : one.boundByCore[core])
        if (bound && bound->bundle)
          theModel->core(unsigned(core)).settle(*bound->bundle);
  callers.disambiguate(theArrays);
}

/// Selects the view of the core that accesses.
void SimProgram::useView() {
  View &view = views[isWarmingUp];
  found = &view.foundByCore[nowNumber];
  bounds = &view.boundByCore[nowNumber];
}

void SimProgram::setWarmingUp(bool isOn) {
  begin();
  isWarmingUp = isOn;
  useView();
}

/// Names memory as the program does, and accesses none.
struct SimProgram::Names {
  SimProgram &program;

  void access(unsigned, uint64_t) {}
  void checked(unsigned, uint64_t) {}
  void instruction(uint64_t, uint64_t) {}
  bool bundle(unsigned, unsigned, const std::vector<uint64_t> &) {
    return true;
  }
  unsigned repeats(const mpg_sim_record *, unsigned) { return 0; }
  void loop(const std::vector<Stream> &, uint64_t) {}
  void copy(const Stream &, const Stream &, uint64_t) {}
  void fill(const Stream &, uint64_t) {}
  void called(unsigned) {}
  void allocated(unsigned place, uint64_t address, uint64_t bytes,
                 const std::vector<uint64_t> &calls) {
    program.allocated(place, address, bytes, calls);
  }
  void freed(uint64_t address) { program.freed(address); }
  void stack(uint64_t address, uint64_t bytes) {
    program.stack(address, bytes);
  }
  void object(unsigned number, uint64_t address, uint64_t bytes) {
    program.object(number, address, bytes);
  }
  void module(uint64_t first, const std::string &text) {
    program.module(first, text);
  }
  void core(unsigned number) { program.core(number); }
};

void SimProgram::readNames(const mpg_sim_record *chunk, unsigned records) {
  Names names = {*this};
  decoder.read(chunk, names, records);
}

void SimProgram::usePages(unsigned site, uint64_t begin, uint64_t bytes) {
  if (isWarmingUp)
    return;
  pageUse.addRange(theModel->site(site).array, begin, begin + bytes);
  spans[site].add(begin);
  spans[site].add(begin + bytes - 1);
}

/// \p stream has the site of \p one.
void SimProgram::useStream(const Stream &stream, uint64_t times, Found &one) {
  if (isWarmingUp || !times)
    return;
  pageUse.addStream(theModel->site(stream.site).array, stream, times,
                    one.walked);
  spans[stream.site].add(stream.begin);
  spans[stream.site].add(stream.begin + uint64_t(stream.stride) * (times - 1));
}

/// A stream belongs to the array in which it begins.
void SimProgram::loop(const std::vector<Stream> &streams, uint64_t times) {
  resolved.clear();
  for (const Stream &stream : streams) {
    Found &one = foundFor(stream.site, stream.begin);
    resolved.emplace_back(one.site, stream.begin, stream.stride);
    useStream(resolved.back(), times, one);
  }
  now->affine(resolved, times);
}

void SimProgram::copy(const Stream &from, const Stream &to, uint64_t bytes) {
  if (!bytes)
    return;
  unsigned source = findSite(from.site, from.begin);
  unsigned site = findSite(to.site, to.begin);
  usePages(source, from.begin, bytes);
  usePages(site, to.begin, bytes);
  now->copy(source, from.begin, site, to.begin, bytes);
}

void SimProgram::fill(const Stream &to, uint64_t bytes) {
  if (!bytes)
    return;
  unsigned site = findSite(to.site, to.begin);
  usePages(site, to.begin, bytes);
  now->range(site, to.begin, bytes);
}

/// Blocks that the same calls allocate are one array, and so are all whose user
/// is not known because a library allocates them.
void SimProgram::allocated(unsigned place, uint64_t address, uint64_t bytes,
                           const std::vector<uint64_t> &calls) {
  if (!address || address + bytes < address)
    return;
  const SimPlace &what = thePlaces.place(place);
  if (calls.empty() && what.file.empty())
    place = 0;
  if (what.isPart)
    theArrays.split(address, bytes);
  auto [known, isNew] = heapArrays.try_emplace({place, calls}, 0);
  if (!isNew)
    return theArrays.addBlock(known->second, address, bytes);
  SimArray array;
  array.kind = SimArray::heap;
  array.name = what.name;
  array.file = what.file;
  array.line = what.line;
  callers.name(array, theArrays.count(), calls);
  known->second = theArrays.add(array, address, bytes);
}

void SimProgram::called(unsigned place, uint64_t times) {
  if (isWarmingUp || place >= thePlaces.count())
    return;
  if (place >= calls.size())
    calls.resize(thePlaces.count());
  calls[place] += times;
}

void SimProgram::stack(uint64_t address, uint64_t bytes) {
  if (stackArray)
    return theArrays.addBlock(stackArray, address, bytes);
  SimArray array;
  array.kind = SimArray::stack;
  array.name = "stack";
  stackArray = theArrays.add(array, address, bytes);
}

/// Damage may name any core.
void SimProgram::core(unsigned number) {
  begin();
  if (number >= machine.groups.count * machine.groups.coresEach)
    number = 0;
  while (theModel->coreCount() <= number)
    theModel->addCore(getGroup(theModel->coreCount()));
  for (View &one : views)
    if (one.foundByCore.size() <= number) {
      one.foundByCore.resize(number + 1);
      one.boundByCore.resize(number + 1);
    }
  now = &theModel->core(number);
  nowNumber = number;
  useView();
}

void SimProgram::object(unsigned number, uint64_t address, uint64_t bytes) {
  SimArray array;
  array.kind = SimArray::global;
  array.name = thePlaces.objectName(number).str();
  theArrays.add(array, address, bytes);
}

void SimProgram::module(uint64_t first, const std::string &text) {
  std::string error = thePlaces.addModule(first, text);
  emulated.read(text, theArrays);
  callers.read(text);
  // Under qemu addresses are in it, and in the list of files.
  llvm::StringRef head = llvm::StringRef(text).split('\n').first;
  if (!head.ends_with("\tqemu") && !head.ends_with("\tfiles"))
    modulesHash = 31 * modulesHash + llvm::xxh3_64bits(text);
  if (firstError.empty())
    firstError = error;
}

uint64_t SimProgram::accessedBytes() const {
  uint64_t sum = 0;
  unsigned counter = theModel->layout().accesses();
  for (unsigned site = 0; site < siteCount(); ++site)
    if (isCounted(site))
      sum += theModel->count(site, counter) * theModel->site(site).bytes;
  return sum;
}

uint64_t SimProgram::warmUpAccesses() const {
  uint64_t sum = 0;
  for (unsigned site = 0; site < siteCount(); ++site)
    if (!isCounted(site))
      sum += theModel->count(site, theModel->layout().accesses());
  return sum;
}

std::map<std::string, uint64_t> SimProgram::callsNotSeen() const {
  std::map<std::string, uint64_t> names;
  for (unsigned place = 0; place < calls.size(); ++place)
    if (calls[place] && !thePlaces.isDefined(thePlaces.place(place).name))
      names[thePlaces.place(place).name] += calls[place];
  return names;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimRun/SimProgram.h"
#include "llvm/Support/xxhash.h"

using namespace mpg::sim;

/// A variable on the stack is an array of its own; where its frame lies changes
/// with each call.
unsigned SimProgram::arrayOf(const SimPlace &place, unsigned found) {
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
  for (const std::string &name : {array.name, place})
    if (wantedStream.count(name)) {
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
  bool mayHaveThreads = false;
  for (const char *name : beginners)
    mayHaveThreads |= thePlaces.callsBeginningWith(name);
  if (!mayHaveThreads)
    whatIf.placements.clear();
  theModel = std::make_unique<Model>(machine, whatIf);
  now = &theModel->core(0);
  found = &foundByCore[0];
}

SimProgram::Found &SimProgram::find(unsigned place, uint64_t address) {
  begin();
  // A place that no module has named is damage; it is counted as one.
  if (place >= thePlaces.count())
    place = 0;
  SimArrays::Range range = theArrays.find(address);
  auto [known, isNew] = siteNumbers.try_emplace(
      uint64_t(place) << 32 | range.array, unsigned(siteNumbers.size()));
  if (isNew) {
    const SimPlace &what = thePlaces.place(place);
    Site site;
    site.loop = what.code;
    site.array = arrayOf(what, range.array);
    site.bytes = what.bytes;
    site.store = what.store;
    site.sector = isStream(site.array);
    known->second = theModel->addSite(site);
    ++sites;
  }
  if (place >= found->size())
    found->resize(thePlaces.count());
  Found &one = (*found)[place];
  one = {range.begin, range.end, theArrays.changes(), ~uint64_t(0),
         known->second};
  return one;
}

/// A stream belongs to the array in which it begins.
void SimProgram::loop(const std::vector<Stream> &streams, uint64_t times) {
  resolved.clear();
  for (const Stream &stream : streams)
    resolved.push_back(
        {siteOf(stream.site, stream.begin), stream.begin, stream.stride});
  for (const Stream &stream : resolved)
    pageUse.addStream(theModel->site(stream.site).array, stream.begin,
                      stream.stride, times);
  now->affine(resolved, times);
}

void SimProgram::copy(const Stream &from, const Stream &to, uint64_t bytes) {
  if (!bytes)
    return;
  unsigned source = siteOf(from.site, from.begin);
  unsigned site = siteOf(to.site, to.begin);
  pageUse.addRange(theModel->site(source).array, from.begin,
                   from.begin + bytes);
  pageUse.addRange(theModel->site(site).array, to.begin, to.begin + bytes);
  now->copy(source, from.begin, site, to.begin, bytes);
}

void SimProgram::fill(const Stream &to, uint64_t bytes) {
  if (!bytes)
    return;
  unsigned site = siteOf(to.site, to.begin);
  pageUse.addRange(theModel->site(site).array, to.begin, to.begin + bytes);
  now->range(site, to.begin, bytes);
}

/// Blocks that one line of the source allocates are one array.
void SimProgram::allocated(unsigned place, uint64_t address, uint64_t bytes) {
  if (!address)
    return;
  auto known = heapArrays.find(place);
  if (known != heapArrays.end())
    return theArrays.addBlock(known->second, address, bytes);
  const SimPlace &what = thePlaces.place(place);
  SimArray array;
  array.kind = SimArray::heap;
  array.name = what.name;
  array.file = what.file;
  array.line = what.line;
  heapArrays[place] = theArrays.add(array, address, bytes);
}

void SimProgram::called(unsigned place) {
  if (place >= thePlaces.count())
    return;
  if (place >= calls.size())
    calls.resize(thePlaces.count());
  ++calls[place];
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
    theModel->addCore(groupOf(theModel->coreCount()));
  if (foundByCore.size() <= number)
    foundByCore.resize(number + 1);
  now = &theModel->core(number);
  found = &foundByCore[number];
}

void SimProgram::object(unsigned number, uint64_t address, uint64_t bytes) {
  SimArray array;
  array.kind = SimArray::global;
  array.name = thePlaces.objectName(number).str();
  theArrays.add(array, address, bytes);
}

void SimProgram::module(uint64_t first, const std::string &text) {
  std::string error = thePlaces.addModule(first, text);
  modulesHash = 31 * modulesHash + llvm::xxh3_64bits(text);
  if (firstError.empty())
    firstError = error;
}

uint64_t SimProgram::accessedBytes() const {
  uint64_t sum = 0;
  unsigned counter = theModel->layout().accesses();
  for (unsigned site = 0; site < sites; ++site)
    sum += theModel->count(site, counter) * theModel->site(site).bytes;
  return sum;
}

std::map<std::string, uint64_t> SimProgram::callsNotSeen() const {
  std::map<std::string, uint64_t> names;
  for (unsigned place = 0; place < calls.size(); ++place)
    if (calls[place] && !thePlaces.isDefined(thePlaces.place(place).name))
      names[thePlaces.place(place).name] += calls[place];
  return names;
}

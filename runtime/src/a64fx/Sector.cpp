// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Sector.h.

#include "a64fx/Sector.h"
#include "a64fx/A64fxRegisters.h"
#include "a64fx/ThisMachine.h"
#include "base/Syscall.h"
#include "numa/Places.h"
#include <errno.h>
#include <unistd.h>

using namespace mpg;

static_assert(keepWays == MPG_WAYS_KEEP && allWays == MPG_WAYS_ALL);

namespace {

/// The settings before a region of this thread, to restore at its end.
struct SavedRegion {
  bool hasL1, hasL2;
  uint8_t node;
  uint16_t cpu;
  uint64_t before1, now2; ///< L1 register outside; L2 register inside
};

struct SavedRegions {
  int depth;
  SavedRegion at[SectorControl::maxDepth];
};

} // namespace

// In the static part of thread-local memory: reaching it needs no other
// library.
static __thread SavedRegions levels __attribute__((tls_model("initial-exec")));

/// A forked child has the regions of one thread, the one that forked.
void SectorControl::forgetParentsUsers() {
  auto self = uint32_t(rawCall(SYS_getpid));
  if (usersOf == self)
    return;
  if (usersOf) {
    for (Group &group : groups)
      group.users = 0;
    for (int depth = 0; depth < levels.depth; ++depth)
      if (levels.at[depth].hasL2)
        ++groups[levels.at[depth].node].users;
  }
  usersOf = self;
}

static bool asksL1(const mpg_ways &ways) {
  for (uint8_t number : ways.l1)
    if (number != keepWays)
      return true;
  return false;
}

static bool asksL2(const mpg_ways &ways) {
  return ways.l2[0] != keepWays || ways.l2[1] != keepWays;
}

void SectorControl::start(const SectorSettings &given, Messages *to) {
  settings = given;
  messages = to;
}

void SectorControl::report(Missing what, const char *cost) {
  const char *fix = getFix(what);
  if (!messages || !fix || messages->hasSaid(MPG_MSG_SECTOR))
    return;
  messages->report(MPG_MSG_SECTOR, "sector cache: ", getText(what),
                   "; cost: ", cost, "; fix: ", fix);
}

int SectorControl::check() {
  Missing what =
      settings.on ? missingFor(machine, Family::sectorL1) : Missing::consent;
  if (what == Missing::nothing)
    return 0;
  report(what, "the ways that the program asks for are not set");
  return failWith(what);
}

Missing SectorControl::setL1(const mpg_ways &ways, int depth) {
  if (!machine.place().staysOnCpu)
    return Missing::cpu;
  SavedRegion &level = levels.at[depth];
  level.before1 = machine.read(Register::sectorL1);
  uint64_t value = 0;
  if (!resolveWaysL1(ways.l1, level.before1, value))
    return Missing::ways;
  level.cpu = uint16_t(machine.place().cpu);
  level.hasL1 = true;
  machine.write(Register::sectorL1, value);
  return Missing::nothing;
}

Missing SectorControl::missingForL2(const Place &place) const {
  Missing access = missingFor(machine, Family::sectorL2);
  if (access != Missing::nothing)
    return access;
  if (!place.staysOnNode || place.node >= CoreGroups::maxNodes)
    return Missing::group;
  return machine.ownsGroups() ? Missing::nothing : Missing::ownGroup;
}

Missing SectorControl::setL2(const mpg_ways &ways, int depth) {
  Place place = machine.place();
  Missing missing = missingForL2(place);
  if (missing != Missing::nothing)
    return missing;
  Locked held(lock);
  forgetParentsUsers();
  uint64_t before = machine.read(Register::sectorL2), value = 0;
  if (!resolveWaysL2(ways.l2, before, machine.budgetL2(), value))
    return Missing::ways;
  Group &group = groups[place.node];
  if (group.users++ == 0)
    group.outside = before;
  machine.write(Register::sectorL2, value);
  SavedRegion &level = levels.at[depth];
  level.node = uint8_t(place.node);
  level.now2 = value;
  level.hasL2 = true;
  return Missing::nothing;
}

int SectorControl::begin(const mpg_ways &ways) {
  return beginAt(levels.depth, ways);
}

int SectorControl::beginAt(int token, const mpg_ways &ways) {
  end(token);
  if (int error = check())
    return error;
  if (token >= maxDepth)
    return failWith(Missing::depth);
  Missing missing1 = Missing::nothing, missing2 = Missing::nothing;
  for (int depth = levels.depth; depth <= token; ++depth)
    levels.at[depth] = {};
  if (asksL2(ways))
    missing2 = setL2(ways, token);
  if (missing2 == Missing::ways || (missing2 != Missing::nothing &&
                                    !(asksL1(ways) && settings.l1WithoutL2))) {
    report(missing2, "the ways that the program asks for are not set");
    return failWith(missing2);
  }
  if (asksL1(ways))
    missing1 = setL1(ways, token);
  levels.depth = token + 1;
  if (missing1 != Missing::nothing) {
    report(missing1, "its ways of L1 are not set");
    if (missing1 == Missing::ways || !levels.at[token].hasL2) {
      end(token);
      return failWith(missing1);
    }
  }
  report(missing2, "its ways of L2 are not set, those of L1 are");
  return token;
}

/// With users left on the group, and no region of this thread around the one
/// that ends, the others' ways stay.
void SectorControl::endL2(int depth) {
  const SavedRegion &level = levels.at[depth];
  Locked held(lock);
  forgetParentsUsers();
  Group &group = groups[level.node];
  bool isLast = --group.users == 0;
  if (machine.place().node != level.node)
    return; // the thread has been moved: out of reach
  if (isLast)
    return machine.write(Register::sectorL2, group.outside);
  while (depth-- > 0)
    if (levels.at[depth].hasL2 && levels.at[depth].node == level.node)
      return machine.write(Register::sectorL2, levels.at[depth].now2);
}

void SectorControl::end(int token) {
  while (token >= 0 && levels.depth > token) {
    const int depth = levels.depth - 1;
    const SavedRegion &level = levels.at[depth];
    if (level.hasL2)
      endL2(depth);
    if (level.hasL1 && machine.place().cpu == level.cpu)
      machine.write(Register::sectorL1, level.before1);
    levels.depth = depth;
  }
}

namespace {

struct InitialWays {
  const Machine &machine;
  const SectorSettings &settings;
};

} // namespace

void SectorControl::writeInitialWays() {
  if (!settings.on || !settings.initialL2Given)
    return;
  constexpr const char *cost = "FLIB_L2_SECTOR_NWAYS_INIT has no effect";
  Missing missing = missingFor(machine, Family::sectorL2);
  if (missing == Missing::nothing && !machine.ownsGroups())
    missing = Missing::ownGroup;
  if (missing != Missing::nothing)
    return report(missing, cost);
  InitialWays initial{machine, settings};
  machine.onEachNode(
      [](void *data) {
        const auto &initial = *static_cast<const InitialWays *>(data);
        const Machine &machine = initial.machine;
        uint64_t value = 0;
        if (resolveWaysL2(initial.settings.initialL2,
                          machine.read(Register::sectorL2), machine.budgetL2(),
                          value))
          machine.write(Register::sectorL2, value);
      },
      &initial);
}

// Which threads a region is for: mpg_sector_begin and mpg_sector_end.
//
// A region usually surrounds a parallel loop, so it begins while only the first
// thread runs; yet the ways must be set on the CPUs of the whole team. So the
// first thread, outside of a parallel region of a program with OpenMP, lets its
// team do it. Any other thread does it for itself: inside a parallel region
// each thread executes the call, and threads of other kinds have no team.

static SectorControl control(thisMachine);
static bool isStarted = false;

void mpg::startSectors(const SectorSettings &settings, Messages *messages) {
  control.start(settings, messages);
  __atomic_store_n(&isStarted, true, __ATOMIC_RELEASE);
}

/// A static program may have these functions without the constructor of the
/// library. The environment counts all the same.
static void startIfNobodyHas() {
  static Once once;
  once.run([] {
    if (__atomic_load_n(&isStarted, __ATOMIC_ACQUIRE))
      return;
    SectorSettings settings;
    readSectorSettings(environ, settings);
    startSectors(settings, nullptr);
  });
}

void mpg::writeInitialWays() { control.writeInitialWays(); }

static bool hasTeam() {
  return GOMP_parallel && omp_in_parallel && omp_get_thread_num &&
         !omp_in_parallel() && rawCall(SYS_gettid) == rawCall(SYS_getpid);
}

namespace {

struct TeamWork {
  int token;
  const mpg_ways *ways; ///< null: end
};

} // namespace

/// The first thread has done it already.
static void workInTeam(void *data) {
  const auto &work = *static_cast<const TeamWork *>(data);
  if (omp_get_thread_num() == 0)
    return;
  if (work.ways)
    control.beginAt(work.token, *work.ways);
  else
    control.end(work.token);
}

static void haveTeamDo(TeamWork work) {
  if (hasTeam())
    GOMP_parallel(workInTeam, &work, 0, 0);
}

int mpg_sector_begin(const mpg_ways *ways) {
  int saved = errno;
  startIfNobodyHas();
  int token = control.begin(*ways);
  if (token >= 0)
    haveTeamDo({token, ways});
  errno = saved;
  return token;
}

void mpg_sector_end(int token) {
  if (token < 0)
    return;
  int saved = errno;
  control.end(token);
  haveTeamDo({token, nullptr});
  errno = saved;
}

// Hardware prefetch

static constexpr uint32_t weakFlags =
    MPG_PREFETCH_WEAK_L1 | MPG_PREFETCH_WEAK_L2;
static constexpr uint32_t streamFlags =
    weakFlags | MPG_PREFETCH_OFF_L1 | MPG_PREFETCH_OFF_L2;
static constexpr uint32_t entryFlags = weakFlags | MPG_PREFETCH_ALLOCATE |
                                       MPG_PREFETCH_STORE |
                                       MPG_PREFETCH_WEAK_SOFT;

static bool isStream(int entry) { return entry == MPG_PREFETCH_STREAM; }

static Missing packStream(const mpg_prefetch &asked, uint64_t &value) {
  StreamDetect fields;
  fields.used = true;
  fields.offL1 = asked.flags & MPG_PREFETCH_OFF_L1;
  fields.offL2 = asked.flags & MPG_PREFETCH_OFF_L2;
  fields.weakL1 = asked.flags & MPG_PREFETCH_WEAK_L1;
  fields.weakL2 = asked.flags & MPG_PREFETCH_WEAK_L2;
  fields.distanceL1Bytes = asked.l1DistanceBytes;
  fields.distanceL2Bytes = asked.l2DistanceBytes;
  return asked.strideBytes == 0 && packStreamDetect(fields, value)
             ? Missing::nothing
             : Missing::distance;
}

static Missing packEntry(const mpg_prefetch &asked, uint64_t &control,
                         uint64_t &distance) {
  Injection fields;
  fields.used = true;
  fields.allocate = asked.flags & MPG_PREFETCH_ALLOCATE;
  fields.forStore = asked.flags & MPG_PREFETCH_STORE;
  fields.weakL1 = asked.flags & MPG_PREFETCH_WEAK_L1;
  fields.weakL2 = asked.flags & MPG_PREFETCH_WEAK_L2;
  fields.weakSoftware = asked.flags & MPG_PREFETCH_WEAK_SOFT;
  fields.offsetBytes = asked.strideBytes;
  fields.distanceL1Bytes = asked.l1DistanceBytes;
  fields.distanceL2Bytes = asked.l2DistanceBytes;
  return packInjection(fields, control, distance) ? Missing::nothing
                                                  : Missing::distance;
}

static Missing missingForPrefetch(const Machine &machine) {
  Missing access = missingFor(machine, Family::prefetch);
  if (access != Missing::nothing)
    return access;
  return machine.place().staysOnCpu ? Missing::nothing : Missing::cpu;
}

int mpg::setPrefetch(const Machine &machine, int entry,
                     const mpg_prefetch *asked) {
  uint64_t control = 0, distance = 0;
  Missing wrong = Missing::nothing;
  if (!isStream(entry) && (entry < 0 || entry >= int(injectionEntries)))
    wrong = Missing::entry;
  else if (asked &&
           asked->flags & ~(isStream(entry) ? streamFlags : entryFlags))
    wrong = Missing::flags;
  else if (asked)
    wrong = isStream(entry) ? packStream(*asked, control)
                            : packEntry(*asked, control, distance);
  if (wrong == Missing::nothing)
    wrong = missingForPrefetch(machine);
  if (wrong != Missing::nothing)
    return failWith(wrong);
  if (isStream(entry)) {
    machine.write(Register::streamDetect, control);
    return 0;
  }
  // Off while its two registers do not fit together.
  Register controls = registerAt(Register::injectionControl0, unsigned(entry));
  machine.write(controls, 0);
  machine.write(registerAt(Register::injectionDistance0, unsigned(entry)),
                distance);
  machine.write(controls, control);
  return 0;
}

/// On the machine that the process runs on.
int mpg_prefetch_set(int entry, const mpg_prefetch *p) {
  int saved = errno;
  int result = mpg::setPrefetch(mpg::thisMachine, entry, p);
  errno = saved;
  return result;
}

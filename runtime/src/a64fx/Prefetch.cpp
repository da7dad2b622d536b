// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Prefetch.h.

#include "a64fx/Prefetch.h"
#include "a64fx/ThisMachine.h"
#include <errno.h>

using namespace mpg;

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

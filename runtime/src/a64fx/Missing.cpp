// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ThisMachine.h. Texts name the things that a user can ask the site for.
// That tags are switched off by fhetbo cannot be seen from a program: the
// register is the kernel's (HW:tag-control); where the command itself is
// missing, nothing on the system switches them on, and that can be said.

#include "a64fx/ThisMachine.h"
#include "base/Messages.h"
#include "base/Syscall.h"
#include "mpg/mpg.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

using namespace mpg;

// In the static part of thread-local memory: reaching it needs no other
// library.
static __thread Missing last __attribute__((tls_model("initial-exec"))) =
    Missing::nothing;

static bool exists(const char *path) {
  return !isError(rawCall(SYS_faccessat, AT_FDCWD, long(path), F_OK));
}

#define MPG_EL0AE                                                              \
  "the sector registers are closed to programs: missing are el0ae of "         \
  "IMP_SCCR_CTRL_EL1"

/// HW:sector-device, HW:fugaku-paths
static const char *sectorAccessText() {
  bool hasDriver = exists("/dev/xos_sec_normal");
  bool hasSwitch = exists("/opt/FJSVxos/fhehpc/bin/fhetbo");
  if (hasDriver && hasSwitch)
    return MPG_EL0AE
        ", which the driver /dev/xos_sec_normal sets for Fujitsu's "
        "runtime only";
  if (hasDriver)
    return MPG_EL0AE " and fhetbo, which switches the tags on";
  if (hasSwitch)
    return MPG_EL0AE " and the driver that sets it, /dev/xos_sec_normal";
  return MPG_EL0AE
      ", the driver that sets it, /dev/xos_sec_normal, and fhetbo, "
      "which switches the tags on";
}
#undef MPG_EL0AE

const char *mpg::textOf(Missing what) {
  switch (what) {
  case Missing::nothing:
    return "";
  case Missing::processor:
    return "this processor is not an A64FX";
  case Missing::sectorAccess:
    return sectorAccessText();
  case Missing::prefetchAccess:
    return "the prefetch registers are closed to programs: missing is el0ae of "
           "IMP_PF_CTRL_EL1";
  case Missing::consent:
    return "FLIB_SCCR_CNTL=FALSE switches the sector cache off";
  case Missing::cpu:
    return "the thread is not bound to one CPU, and the registers are the "
           "CPU's";
  case Missing::group:
    return "the thread is not bound to one core memory group, and the ways of "
           "L2 are the group's";
  case Missing::ownGroup:
    return "the process does not have its core memory groups for itself, and "
           "the ways of L2 are for all that run there";
  case Missing::ways:
    return "more ways are asked for than the cache has";
  case Missing::depth:
    return "too many regions inside each other";
  case Missing::entry:
    return "no such prefetch entry";
  case Missing::flags:
    return "a flag that this prefetch entry does not have";
  case Missing::distance:
    return "a distance or stride that the register cannot hold";
  }
  return "";
}

static int errnoOf(Missing what) {
  switch (what) {
  case Missing::nothing:
    return 0;
  case Missing::processor:
    return ENODEV;
  case Missing::sectorAccess:
  case Missing::prefetchAccess:
    return EACCES;
  case Missing::consent:
    return ECANCELED;
  case Missing::cpu:
  case Missing::group:
    return EXDEV;
  case Missing::ownGroup:
    return EBUSY;
  case Missing::depth:
    return EOVERFLOW;
  case Missing::distance:
    return ERANGE;
  case Missing::ways:
  case Missing::entry:
  case Missing::flags:
    return EINVAL;
  }
  return EINVAL;
}

int mpg::failWith(Missing what) {
  last = what;
  return -errnoOf(what);
}

Missing mpg::missingFor(const Machine &machine, Family family) {
  switch (machine.reach(family)) {
  case Reach::open:
    return Missing::nothing;
  case Reach::absent:
    return Missing::processor;
  case Reach::closed:
    break;
  }
  return family == Family::prefetch ? Missing::prefetchAccess
                                    : Missing::sectorAccess;
}

const char *mpg_machine_error() { return textOf(last); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ThisMachine.h: which registers a program can use, and the text for the
// missing ones. The texts name what a user can ask the site for. A program
// cannot detect that fhetbo has switched tags off: TBI0 and TBO0, SCE0
// (sectors) and PFE0 (prefetch) of IMP_FJ_TAG_ADDRESS_CTRL_EL1 are the
// kernel's. Fujitsu's sets all of them for programs, others only TBI0
// (Extension, pages 3-8; McKernel: read). Where the command itself is missing,
// nothing on the system can switch them on, and the text says so.

#include "a64fx/ThisMachine.h"
#include "base/Messages.h"
#include "base/SelfMaps.h"
#include "mpg/mpg.h"
#include <errno.h>

using namespace mpg;

// In the static part of thread-local memory: reaching it needs no other
// library.
static __thread Missing last __attribute__((tls_model("initial-exec"))) =
    Missing::nothing;

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

namespace {
struct MissingInfo {
  int error;
  const char *text;
  const char *fix = nullptr;
};
} // namespace

static MissingInfo getInfo(Missing what) {
  switch (what) {
  case Missing::processor:
    return {ENODEV, "this processor is not an A64FX", "run it on an A64FX"};
  case Missing::sectorAccess:
    return {EACCES, nullptr, // asks the system, for messages alone
            "ask the site, or run it under Fujitsu's runtime"};
  case Missing::prefetchAccess:
    return {EACCES,
            "the prefetch registers are closed to programs: missing is el0ae "
            "of IMP_PF_CTRL_EL1"};
  case Missing::consent:
    return {ECANCELED, "FLIB_SCCR_CNTL=FALSE switches the sector cache off"};
  case Missing::cpu:
    return {EXDEV,
            "the thread is not bound to one CPU, and the registers are the "
            "CPU's",
            "bind the threads, such as by OMP_PROC_BIND=close"};
  case Missing::group:
    return {EXDEV,
            "the thread is not bound to one core memory group, and the ways of "
            "L2 are the group's",
            "bind the threads, such as by OMP_PROC_BIND=close"};
  case Missing::ownGroup:
    return {EBUSY,
            "the process does not have its core memory groups for itself, and "
            "the ways of L2 are for all that run there",
            "give each process whole groups, such as 12 CPUs of one NUMA node"};
  case Missing::ways:
    return {EINVAL, "more ways are asked for than the cache has"};
  case Missing::depth:
    return {EOVERFLOW, "too many regions inside each other"};
  case Missing::entry:
    return {EINVAL, "no such prefetch entry"};
  case Missing::flags:
    return {EINVAL, "a flag that this prefetch entry does not have"};
  case Missing::distance:
    return {ERANGE, "a distance or stride that the register cannot hold"};
  case Missing::nothing:
    break;
  }
  return {0, ""};
}

const char *mpg::getText(Missing what) {
  return what == Missing::sectorAccess ? sectorAccessText()
                                       : getInfo(what).text;
}

const char *mpg::getFix(Missing what) { return getInfo(what).fix; }

int mpg::failWith(Missing what) {
  last = what;
  return -getInfo(what).error;
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

const char *mpg_machine_error() { return getText(last); }

// Registers, tried. The name of a register is part of the instruction, so each
// register has its own function, made from the table of encodings.

#if defined(__aarch64__)
#include "base/ProcessLock.h"
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

// Access

template <unsigned number> static uint64_t readOne() {
  constexpr RegisterName name = getName(Register(number));
  uint64_t value = 0;
  __asm__ volatile("mrs %0, S3_%c1_C%c2_C%c3_%c4"
                   : "+r"(value)
                   : "i"(name.op1), "i"(name.crn), "i"(name.crm), "i"(name.op2)
                   : "memory");
  return value;
}

template <unsigned number> static void writeOne(uint64_t value) {
  constexpr RegisterName name = getName(Register(number));
  __asm__ volatile("msr S3_%c1_C%c2_C%c3_%c4, %0"
                   :
                   : "r"(value), "i"(name.op1), "i"(name.crn), "i"(name.crm),
                     "i"(name.op2)
                   : "memory");
  // A barrier takes effect by itself.
  if constexpr (Register(number) < Register::barrierWindow0)
    __asm__ volatile("isb" : : : "memory");
}

namespace {

constexpr unsigned registerCount = unsigned(Register::count);

struct Accessors {
  uint64_t (*read[registerCount])();
  void (*write[registerCount])(uint64_t);
};

template <unsigned number> constexpr void addAccessors(Accessors &all) {
  all.read[number] = readOne<number>;
  all.write[number] = writeOne<number>;
  if constexpr (number + 1 < registerCount)
    addAccessors<number + 1>(all);
}

constexpr Accessors makeAccessors() {
  Accessors all{};
  addAccessors<0>(all);
  return all;
}

} // namespace

static constexpr Accessors accessors = makeAccessors();

uint64_t mpg::readRegister(Register which) {
  return accessors.read[unsigned(which)]();
}

void mpg::writeRegister(Register which, uint64_t value) {
  accessors.write[unsigned(which)](value);
}

// Probe

static bool isA64fx() {
  if (!(getauxval(AT_HWCAP) & HWCAP_CPUID))
    return false;
  uint64_t midr;
  __asm__("mrs %0, MIDR_EL1" : "=r"(midr));              // the kernel answers
  return midr >> 24 == 0x46 && (midr >> 4 & 0xFFF) == 1; // HW:a64fx-midr
}

static long probingThread = 0;
static volatile bool wasRefused = false;
static struct sigaction usualAction;

/// Steps over the instruction of the probe. Everything else is the program's:
/// with its own handler back in place the instruction is met again.
static void onIllegal(int signal, siginfo_t *info, void *context) {
  bool isOurs = info->si_code > 0 && rawCall(SYS_gettid) == probingThread;
  if (isOurs) {
    wasRefused = true;
    static_cast<ucontext_t *>(context)->uc_mcontext.pc += 4;
    return;
  }
  if (usualAction.sa_flags & SA_SIGINFO)
    return usualAction.sa_sigaction(signal, info, context);
  if (usualAction.sa_handler != SIG_DFL && usualAction.sa_handler != SIG_IGN)
    return usualAction.sa_handler(signal);
  sigaction(signal, &usualAction, nullptr);
}

/// Blocked, the signal would end the process.
static Reach tryRegister(Register which) {
  struct sigaction action = {};
  action.sa_sigaction = onIllegal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigset_t illegal, blocked;
  sigemptyset(&illegal);
  sigaddset(&illegal, SIGILL);
  probingThread = rawCall(SYS_gettid);
  wasRefused = false;
  struct sigaction before;
  if (sigaction(SIGILL, &action, &before) != 0)
    return Reach::closed;
  // Ours where another thread was here when this process was forked.
  if (before.sa_sigaction != onIllegal)
    usualAction = before;
  pthread_sigmask(SIG_UNBLOCK, &illegal, &blocked);
  readRegister(which);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  sigaction(SIGILL, &usualAction, nullptr);
  return wasRefused ? Reach::closed : Reach::open;
}

static Reach found[size_t(Family::count)];

static void probe() {
  static constexpr Register ofFamily[] = {
      Register::sectorL1, Register::sectorL2, Register::streamDetect};
  bool isRight = isA64fx();
  for (size_t family = 0; family < size_t(Family::count); ++family)
    found[family] = isRight ? tryRegister(ofFamily[family]) : Reach::absent;
}

Reach mpg::getReach(Family family) {
  static Once once;
  once.run(probe);
  return found[size_t(family)];
}

#else

Reach mpg::getReach(Family) { return Reach::absent; }
uint64_t mpg::readRegister(Register) { return 0; }
void mpg::writeRegister(Register, uint64_t) {}

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ThisMachine.h: the real table. It reads the system's groups once, at
// first use; a program that sets no ways never pays for that.

#include "a64fx/ThisMachine.h"
#include "a64fx/A64fxRegisters.h"
#include "base/ProcessLock.h"
#include "numa/NodeCpus.h"
#include "pages/PagesNuma.h"
#include <sched.h>
#include <unistd.h>

using namespace mpg;

namespace {

struct Known {
  CoreGroups groups;
  cpu_set_t mine; ///< where the process might run when that was first asked
  bool isAlone;
  unsigned budgetL2;
};

} // namespace

static void learn(Known &known) {
  readCoreGroups(known.groups);
  if (sched_getaffinity(0, sizeof(known.mine), &known.mine) != 0)
    CPU_ZERO(&known.mine);
  known.isAlone =
      hasGroupsAlone(known.groups, known.mine, unsigned(allowedNodes().count()),
                     processesOfJob(environ));
  uint64_t value = 0;
  if (getReach(Family::sectorL2) == Reach::open)
    value = readRegister(Register::sectorL2);
  known.budgetL2 = budgetOfL2(known.groups.possibleCpus, value);
}

static const Known &knowledge() {
  static Once once;
  static Known known;
  once.run([] { learn(known); });
  return known;
}

static Place placeOfThread() {
  const Known &known = knowledge();
  unsigned cpu = 0, node = 0;
  rawCall(SYS_getcpu, long(&cpu), long(&node), 0);
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
    return {cpu, node, false, false};
  return {cpu, node, CPU_COUNT(&cpus) == 1, getNode(known.groups, cpus) >= 0};
}

static void visitNodes(void (*body)(void *), void *data) {
  const Known &known = knowledge();
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof(before), &before) != 0)
    return;
  for (const cpu_set_t &cpus : known.groups.cpus) {
    cpu_set_t there;
    CPU_AND(&there, &cpus, &known.mine);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &there) && goToCpu(cpu)) {
        body(data);
        break;
      }
  }
  sched_setaffinity(0, sizeof(before), &before);
}

static unsigned budget() { return knowledge().budgetL2; }
static bool isAlone() { return knowledge().isAlone; }

const Machine mpg::thisMachine = {getReach,      readRegister, writeRegister,
                                  placeOfThread, budget,       isAlone,
                                  visitNodes};

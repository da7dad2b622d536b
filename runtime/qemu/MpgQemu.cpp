// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MpgQemu.so, a plugin of qemu-aarch64 (7.2 or newer): writes what a program
// accesses into the ring of mpgsim, as code compiled with --mpg-sim does. Each
// instruction that QEMU translates gets a call for each access; the record has
// the instruction's address, and mpgsim finds out what is there.
//
// QEMU is under the GNU GPL, version 2. This folder is of no use without it and
// is under the licence of the project, whose exception lets both be combined.

#include "MpgQemu.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>

// QEMU's interface. The parts of QEMU's plugin interface used here, from its
// documentation (docs/devel/tcg-plugins). Debian has no package with QEMU's
// header, and these few functions are the same from QEMU 7.2 to 10. QEMU
// defines them.

extern "C" {
struct qemu_plugin_tb;   ///< a block that is being translated
struct qemu_plugin_insn; ///< an instruction of it
using QemuId = uint64_t;
/// Of one access.
using QemuAccess = uint32_t;

/// The first members of QEMU's description of itself.
struct QemuInfo {
  const char *target; ///< "aarch64"
  struct {
    int min, now;
  } interface;
};

/// Loads and stores. QEMU 7.2 mixes up what is one of them alone.
constexpr int qemuBoth = 3;
constexpr int qemuNoRegisters = 0;

using QemuBlockCall = void (*)(QemuId, qemu_plugin_tb *);
using QemuAccessCall = void (*)(unsigned cpu, QemuAccess, uint64_t address,
                                void *data);
using QemuInstructionCall = void (*)(unsigned cpu, void *data);
using QemuSystemCall = void (*)(QemuId, unsigned cpu, int64_t number, uint64_t,
                                uint64_t, uint64_t, uint64_t, uint64_t,
                                uint64_t, uint64_t, uint64_t);
using QemuSystemResult = void (*)(QemuId, unsigned cpu, int64_t number,
                                  int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(QemuId, QemuBlockCall);
void qemu_plugin_register_vcpu_syscall_cb(QemuId, QemuSystemCall);
void qemu_plugin_register_vcpu_syscall_ret_cb(QemuId, QemuSystemResult);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn *, QemuAccessCall,
                                      int flags, int directions, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn *,
                                            QemuInstructionCall, int flags,
                                            void *data);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *);
qemu_plugin_insn *qemu_plugin_tb_get_insn(const qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn *);
/// The instruction's address in QEMU's memory.
void *qemu_plugin_insn_haddr(const qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(QemuAccess);
bool qemu_plugin_mem_is_store(QemuAccess);
} // extern "C"

// The plugin

#define MPG_EXPORT extern "C" __attribute__((visibility("default")))

/// QEMU 7.2 takes versions up to 1, and 9 and newer ones from 2 on.
MPG_EXPORT int qemu_plugin_version;
int qemu_plugin_version = 1;

/// Whether QEMU reports the elements of SVE registers. It does from version 9
/// on, detected by a function that this version added.
static bool seesSve;

__attribute__((constructor)) static void chooseVersion() {
  seesSve = dlsym(RTLD_DEFAULT, "qemu_plugin_read_register") != nullptr;
  if (seesSve)
    qemu_plugin_version = 2;
}

/// Calls to report: lines of the text, and numbers of their places.
static constexpr char callees[] = "C\tDC ZVA\n"
                                  "C\tgathers and scatters of SVE\n";
static constexpr uint64_t zeroesPlace = 1, gathersPlace = 2;

static void write(QemuLane &lane, uint64_t address, uint64_t word) {
  if (lane.at == lane.end && !makeQemuRoom(lane, 1, false, address))
    return;
  *lane.at++ = {address, word};
}

static void onPlain(unsigned cpu, QemuAccess, uint64_t address, void *data) {
  write(qemuLane(cpu), address, reinterpret_cast<uint64_t>(data));
}

/// Two registers may come as one access.
static void onAny(unsigned cpu, QemuAccess access, uint64_t address,
                  void *data) {
  uint64_t word = reinterpret_cast<uint64_t>(data) |
                  uint64_t(qemu_plugin_mem_is_store(access))
                      << MPG_SIM_STORES_SHIFT;
  uint64_t shift = qemu_plugin_mem_size_shift(access);
  uint64_t max = word >> MPG_SIM_LOG_BYTES_SHIFT & 7;
  QemuLane &lane = qemuLane(cpu);
  if (shift < max)
    word ^= (max ^ shift) << MPG_SIM_LOG_BYTES_SHIFT;
  uint64_t end = address + (uint64_t(1) << shift);
  for (; address < end; address += uint64_t(1) << max)
    write(lane, address, word);
}

/// Consecutive pieces are one access, up to its size. Two registers are two
/// sites, as for a compiler: a pair that crosses the end of a line is not a
/// stream.
static void onPieces(unsigned cpu, QemuAccess access, uint64_t address,
                     void *data, bool isPair) {
  uint64_t bytes = uint64_t(1) << qemu_plugin_mem_size_shift(access);
  uint64_t word = reinterpret_cast<uint64_t>(data);
  QemuLane &lane = qemuLane(cpu);
  if (word == lane.nextWord && address == lane.nextAddress &&
      bytes <= lane.bytesLeft) {
    lane.nextAddress += bytes;
    lane.bytesLeft -= bytes;
    return;
  }
  lane.isSecond = isPair && !lane.isSecond && word == lane.nextWord &&
                  address == lane.nextAddress;
  uint64_t whole = uint64_t(1) << (word >> MPG_SIM_LOG_BYTES_SHIFT & 7);
  lane.nextWord = word;
  lane.nextAddress = address + bytes;
  lane.bytesLeft = whole - (bytes < whole ? bytes : whole);
  write(lane, address, word | uint64_t(lane.isSecond) << MPG_SIM_SECOND_SHIFT);
}

static void onWide(unsigned cpu, QemuAccess access, uint64_t address,
                   void *data) {
  onPieces(cpu, access, address, data, false);
}

static void onPair(unsigned cpu, QemuAccess access, uint64_t address,
                   void *data) {
  onPieces(cpu, access, address, data, true);
}

static void onUnseen(unsigned cpu, void *place) {
  write(qemuLane(cpu), 0,
        uint64_t(MPG_SIM_CALLED) << MPG_SIM_KIND_SHIFT |
            reinterpret_cast<uint64_t>(place));
}

static void watch(qemu_plugin_insn *instruction, uint64_t address,
                  const MemoryInstruction &what) {
  if (what.kind == MemoryInstruction::zeroes ||
      what.kind == MemoryInstruction::gathers)
    return qemu_plugin_register_vcpu_insn_exec_cb(
        instruction, onUnseen, qemuNoRegisters,
        reinterpret_cast<void *>(what.kind == MemoryInstruction::zeroes
                                     ? zeroesPlace
                                     : gathersPlace));
  uint64_t word = uint64_t(MPG_SIM_INSTRUCTION) << MPG_SIM_KIND_SHIFT |
                  (address & ((uint64_t(1) << 52) - 1)) / 4;
  word |= uint64_t(__builtin_ctz(what.bytes)) << MPG_SIM_LOG_BYTES_SHIFT;
  QemuAccessCall call = onAny;
  if (what.kind != MemoryInstruction::any) {
    call = what.kind == MemoryInstruction::plain ? onPlain
           : what.isPair                         ? onPair
                                                 : onWide;
    word |= uint64_t(what.stores) << MPG_SIM_STORES_SHIFT;
  }
  qemu_plugin_register_vcpu_mem_cb(instruction, call, qemuNoRegisters, qemuBoth,
                                   reinterpret_cast<void *>(word));
}

/// Reports the file of this code when its first block runs.
static void writeImage(uint64_t address, const void *host) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static QemuMap last; // of the block before: nearly always the same
  char line[sizeof(last.path) + 128] = "";
  pthread_mutex_lock(&mutex);
  if (address < last.begin || address >= last.end) {
    setQemuBase(reinterpret_cast<uint64_t>(host) - address);
    if (!findQemuMap(address, last))
      last.begin = last.end = 0;
    else if (last.path[0])
      snprintf(line, sizeof(line), "X\t%llu\t%llu\t%llu\t%s\n",
               static_cast<unsigned long long>(last.begin),
               static_cast<unsigned long long>(last.end - last.begin),
               static_cast<unsigned long long>(last.offset), last.path);
  }
  pthread_mutex_unlock(&mutex);
  if (line[0])
    writeQemuText(line);
}

static void onBlock(QemuId, qemu_plugin_tb *block) {
  for (size_t at = 0; at < qemu_plugin_tb_n_insns(block); ++at) {
    qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, at);
    const void *host = qemu_plugin_insn_haddr(instruction);
    if (!host || !qemuRing())
      continue;
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    if (at == 0)
      writeImage(address, host);
    uint32_t word;
    memcpy(&word, host, sizeof(word));
    MemoryInstruction what = decodeMemoryInstruction(word);
    if (what.isSve && !seesSve)
      writeQemuText("E\tsve\n");
    if (what.kind != MemoryInstruction::none)
      watch(instruction, address, what);
    uint64_t target = decodeBranchTarget(word, address);
    if (target < address) {
      char line[64];
      snprintf(line, sizeof(line), "J\t%llu\t%llu\n",
               static_cast<unsigned long long>(address),
               static_cast<unsigned long long>(target));
      writeQemuText(line);
    }
  }
}

/// Of Linux on AArch64.
enum {
  callExit = 93,
  callFutex = 98,
  callBrk = 214,
  callUnmap = 215,
  callRemap = 216,
  callClone = 220,
  callMap = 222
};
static constexpr uint64_t mapAnonymous = 0x20;

static void onCall(QemuId, unsigned cpu, int64_t number, uint64_t first,
                   uint64_t second, uint64_t third, uint64_t fourth, uint64_t,
                   uint64_t, uint64_t, uint64_t) {
  QemuLane &lane = qemuLane(cpu);
  lane.arguments[0] = first;
  lane.arguments[1] = second;
  lane.arguments[2] = number == callMap ? fourth : third;
  if (!lane.lane)
    return;
  int operation = int(second) & FUTEX_CMD_MASK;
  if (number == callClone && (first & CLONE_VM) && !(first & CLONE_VFORK)) {
    createQemuLane(lane);
  } else if (number == callExit) {
    endQemuLane(lane);
  } else if (number == callFutex &&
             (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)) {
    writeQemu(lane, 0, MPG_SIM_PAUSES, 0);
    handOverQemu(lane);
  }
}

/// Memory that the system gives, with its name, or takes (without).
static void writeMemory(QemuLane &lane, uint64_t begin, uint64_t bytes,
                        const char *name) {
  char line[128];
  snprintf(line, sizeof(line), "M\t%llu\t%llu\t%s\n",
           static_cast<unsigned long long>(begin),
           static_cast<unsigned long long>(bytes), name);
  writeQemuText(lane, line);
}

static void onResult(QemuId, unsigned cpu, int64_t number, int64_t result) {
  // malloc uses a mapping from 128 KiB on at the earliest.
  static constexpr uint64_t minBytes = 65536;
  static uint64_t heapBegin;
  QemuLane &lane = qemuLane(cpu);
  if (number == callClone && result < 0)
    dropQemuLane(lane);
  if (number == callClone)
    lane.created = 0;
  if (!qemuRing() || !lane.lane || result < 0)
    return;
  uint64_t address = uint64_t(result);
  const uint64_t *given = lane.arguments;
  switch (number) {
  case callMap: {
    bool isBlock = (given[2] & mapAnonymous) && given[1] >= minBytes;
    return writeMemory(lane, address, given[1], isBlock ? "block" : "");
  }
  case callUnmap:
    return writeMemory(lane, given[0], given[1], "");
  case callRemap:
    writeMemory(lane, given[0], given[1], "");
    return writeMemory(lane, address, given[2], "block");
  case callBrk:
    if (!heapBegin)
      heapBegin = address;
    else if (address > heapBegin)
      writeMemory(lane, heapBegin, address - heapBegin, "heap");
    return;
  }
}

MPG_EXPORT int qemu_plugin_install(QemuId id, const QemuInfo *info, int count,
                                   char **arguments) {
  const char *path = nullptr;
  for (int at = 0; at < count; ++at)
    if (!strncmp(arguments[at], "ring=", 5))
      path = arguments[at] + 5;
  if (strcmp(info->target, "aarch64")) {
    fprintf(stderr,
            "MpgQemu: error: this is qemu-%s, mpgsim needs "
            "qemu-aarch64; name one with --qemu=\n",
            info->target);
    return 1;
  }
  if (!path || !openQemuRing(path, callees)) {
    fprintf(stderr, "MpgQemu: error: no mpgsim of this version is running; "
                    "start it as 'mpgsim --engine=qemu PROGRAM'\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, onBlock);
  qemu_plugin_register_vcpu_syscall_cb(id, onCall);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, onResult);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the plugin MpgQemu.so: what an instruction does with memory, and
// where the threads of the program write what they access.

#pragma once

#include "mpg/sim.h"
#include <climits>

// Instructions (MemoryInstruction.cpp)

// How an instruction of AArch64 accesses memory, where QEMU does not report it:
// QEMU moves a vector register in pieces, two registers at once, and an SVE
// register element by element.

struct MemoryInstruction {
  enum Kind : uint8_t {
    none,
    plain,  ///< one access, of `bytes`
    wide,   ///< one or more of up to `bytes`, which QEMU reports in pieces
    any,    ///< as QEMU reports it, in accesses of at most `bytes`
    zeroes, ///< a cache line (DC ZVA)
    gathers ///< SVE elements anywhere; QEMU reports nothing of these two
  };
  Kind kind = none;
  uint8_t bytes = 0;   ///< a power of two, at most 64
  bool stores = false; ///< not known of `any`
  bool isPair = false; ///< wide: of two registers
  bool isSve = false;  ///< needs SVE registers of 512 bits to be `bytes` long
};

/// \p word: as in memory. Prefetches count as accesses here, although QEMU
/// reports none for them.
MemoryInstruction decodeMemoryInstruction(uint32_t word);

/// Where a direct branch at \p address goes; \p address: it is not one.
uint64_t decodeBranchTarget(uint32_t word, uint64_t address);

// Lanes (QemuLane.cpp)

// Where each thread of the program writes its records, its other reports, and
// the list of mappings. Only its thread uses a lane.

/// Of one of QEMU's processors, which is a thread of the program.
struct QemuLane {
  /// Where the next record goes, and where the chunk ends; the same: look.
  mpg_sim_record *at, *end;
  mpg_sim_lane *lane; ///< null: none yet, or none any more
  bool isRefused;     ///< every lane was taken
  /// Of the wide access that came last: what belongs to it as well.
  uint64_t nextAddress, nextWord, bytesLeft;
  bool isSecond;         ///< of a pair of registers
  uint64_t arguments[3]; ///< of the system call that it is in
  unsigned created;      ///< lane of the thread that the call begins
};

/// One lane for each possible processor; processors beyond that share one that
/// records nothing.
QemuLane &qemuLane(unsigned processor);

/// Opens the ring at \p path and records which program runs. False: the ring
/// has another version.
bool openQemuRing(const char *path, const char *text);
mpg_sim_ring *qemuRing();

/// Makes room for \p records, with \p always also while recording is off.
/// False: the thread writes nothing. \p address: of its first access, on its
/// stack.
bool makeQemuRoom(QemuLane &lane, unsigned records, bool always,
                  uint64_t address = 0);

/// Lines of a module's text (passes/sim/SimTable.h), which begins here.
void writeQemuText(QemuLane &lane, const char *lines);
/// The same by the thread that runs now, or later if it has no lane yet.
void writeQemuText(const char *lines);

void writeQemu(QemuLane &lane, uint64_t value, mpg_sim_kind kind,
               uint64_t number);
/// Makes the reports visible to mpgsim at once, not when the chunk is full.
void handOverQemu(QemuLane &lane);

/// The thread of \p parent begins another one, which gets a lane.
void createQemuLane(QemuLane &parent);
/// It did not.
void dropQemuLane(QemuLane &parent);
void endQemuLane(QemuLane &lane);

/// Memory of QEMU's own process in which an address of the program lies.
struct QemuMap {
  uint64_t begin, end; ///< addresses of the program
  uint64_t offset;     ///< in the file
  char path[PATH_MAX]; ///< empty: no file
};

/// Sets the offset to add to an address of the program, once it is known.
void setQemuBase(uint64_t base);
/// False: nothing is mapped there.
bool findQemuMap(uint64_t address, QemuMap &map);

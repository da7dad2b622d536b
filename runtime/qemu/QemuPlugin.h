// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of QEMU's plugin interface is used here, as its documentation has it
// (docs/devel/tcg-plugins): Debian has no package with QEMU's own header, and
// the few functions are the same from QEMU 7.2 to 10. QEMU defines them.

#ifndef MPG_RUNTIME_QEMU_QEMUPLUGIN_H
#define MPG_RUNTIME_QEMU_QEMUPLUGIN_H

#include <cstddef>
#include <cstdint>

extern "C" {
struct qemu_plugin_tb;   ///< a block that is being translated
struct qemu_plugin_insn; ///< an instruction of it
using QemuId = uint64_t;
/// Of one access.
using QemuAccess = uint32_t;

/// The first members of what QEMU says of itself.
struct QemuInfo {
  const char *target; ///< "aarch64"
  struct {
    int least, now;
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
/// Where the instruction lies in QEMU's own memory.
void *qemu_plugin_insn_haddr(const qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(QemuAccess);
bool qemu_plugin_mem_is_store(QemuAccess);
} // extern "C"

#endif // MPG_RUNTIME_QEMU_QEMUPLUGIN_H

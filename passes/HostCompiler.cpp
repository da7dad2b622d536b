// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler with the shared LLVM tells its version by LLVM's C interface. One
// that LLVM was linked into has of that interface only what it calls itself,
// mostly nothing: the number is not to be had, and what is missing would end
// the compiler at the first call, so all that the plugin calls is looked up
// here.

#include "HostCompiler.h"
#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"
#include <cstddef>
#include <cstdio>
#include <dlfcn.h>
#include <link.h>

#pragma weak LLVMGetVersion

/// The address in the entry \p tag of the dynamic section of \p library, which
/// the loader has made one of this process; or its number.
static size_t entryOf(const link_map &library, int tag) {
  for (const ElfW(Dyn) *entry = library.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag)
      return entry->d_un.d_val;
  return 0;
}

/// A function that this library calls and nobody has; null if there is none.
static const char *findMissingFunction() {
  Dl_info info;
  void *found = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(mpg::compilerFits), &info, &found,
               RTLD_DL_LINKMAP))
    return nullptr;
  const auto &library = *static_cast<const link_map *>(found);
  auto *symbols =
      reinterpret_cast<const ElfW(Sym) *>(entryOf(library, DT_SYMTAB));
  auto *names = reinterpret_cast<const char *>(entryOf(library, DT_STRTAB));
  auto *calls =
      reinterpret_cast<const ElfW(Rela) *>(entryOf(library, DT_JMPREL));
  size_t count = entryOf(library, DT_PLTRELSZ) / sizeof *calls;
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Sym) &symbol = symbols[ELF64_R_SYM(calls[i].r_info)];
    const char *name = names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF &&
        ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
        !dlsym(RTLD_DEFAULT, name))
      return name;
  }
  return nullptr;
}

bool mpg::compilerFits() {
  constexpr int own = LLVM_VERSION_MAJOR;
  if (!LLVMGetVersion) {
    const char *missing = findMissingFunction();
    if (missing)
      fprintf(
          stderr,
          "MpgPasses.so: this one is for LLVM %d, and the compiler has no "
          "%s: it is of another version, or LLVM was linked into it without "
          "that; build the plugin for it (cmake -DMPG_PARTS=plugin "
          "-DLLVM_DIR=, the lib/cmake/llvm of its LLVM)\n",
          own, missing);
    return !missing;
  }
  unsigned major = 0;
  LLVMGetVersion(&major, nullptr, nullptr);
  if (major != own)
    fprintf(
        stderr,
        "MpgPasses.so: this one is for LLVM %d, and the compiler is of LLVM "
        "%u: take the MpgPasses.so of the package mpgtools-plugin-%u, or "
        "build it (cmake -DMPG_PARTS=plugin -DLLVM_DIR=, the lib/cmake/llvm "
        "of LLVM %u)\n",
        own, major, major, major);
  return major == own;
}

/* Writes its own functions into the tables by which libraries call others, as
 * libfabric's memhooks do: what the C library calls within itself is not seen.
 */
#ifndef PATCH_TABLES_H
#define PATCH_TABLES_H

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct replaced {
  const char *name;
  void *target;
};

/* Of a dynamic section; the loader has added the place of the file. */
struct tables {
  const ElfW(Rela) * calls;
  const ElfW(Sym) * symbols;
  const char *names;
  size_t bytes;
};

static struct tables findTables(const struct dl_phdr_info *info) {
  struct tables tables = {0};
  const ElfW(Dyn) *entry = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  for (; entry && entry->d_tag; ++entry) {
    if (entry->d_tag == DT_JMPREL)
      tables.calls = (const ElfW(Rela) *)entry->d_un.d_ptr;
    else if (entry->d_tag == DT_SYMTAB)
      tables.symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
    else if (entry->d_tag == DT_STRTAB)
      tables.names = (const char *)entry->d_un.d_ptr;
    else if (entry->d_tag == DT_PLTRELSZ)
      tables.bytes = entry->d_un.d_val;
  }
  return tables;
}

static int patchFile(struct dl_phdr_info *info, size_t size, void *data) {
  const struct replaced *function = data;
  struct tables tables = findTables(info);
  (void)size;
  for (size_t i = 0; i < tables.bytes / sizeof *tables.calls; ++i) {
    const ElfW(Rela) *call = &tables.calls[i];
    uintptr_t place = info->dlpi_addr + call->r_offset;
    const ElfW(Sym) *symbol = &tables.symbols[ELF64_R_SYM(call->r_info)];
    if (strcmp(tables.names + symbol->st_name, function->name) != 0)
      continue;
    if (mprotect((void *)(place & -4096), 4096, PROT_READ | PROT_WRITE))
      return 1;
    *(void **)place = function->target;
  }
  return 0;
}

static int patchTables(const char *name, void *target) {
  struct replaced function = {name, target};
  return dl_iterate_phdr(patchFile, &function);
}

#endif

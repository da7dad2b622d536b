/* A library that asks for large pages for the program's code and constants before
 * libmpg does, as glibc 2.44 with glibc.elf.thp=1. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>

static int advise(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *load = &info->dlpi_phdr[i];
    ElfW(Addr) start = (info->dlpi_addr + load->p_vaddr) & -4096UL;
    if (load->p_type == PT_LOAD && !(load->p_flags & PF_W) &&
        madvise((void *)start, load->p_memsz, MADV_HUGEPAGE))
      perror("madvise");
  }
  return 1;
}

__attribute__((constructor)) static void start(void) {
  dl_iterate_phdr(advise, NULL);
  fputs("advised\n", stderr);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the symbol table by pread(): a file that becomes shorter meanwhile is
// an error then, and not a signal.

#include "base/Cgroup.h"
#include "base/Syscall.h"
#include "segments/TextCopy.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mpg;

namespace {

/// A part of a file, read into memory that it owns.
class FilePart {
public:
  FilePart(int file, uint64_t offset, uint64_t bytes);
  ~FilePart();
  FilePart(const FilePart &) = delete;
  FilePart &operator=(const FilePart &) = delete;

  /// Element \p index; null beyond the end, and where reading failed.
  template <typename Type> const Type *get(uint64_t index) const {
    return index < bytes / sizeof(Type)
               ? reinterpret_cast<const Type *>(start) + index
               : nullptr;
  }
  /// The string at \p offset, if it ends in this part; else null.
  const char *getString(uint64_t offset) const;

private:
  uintptr_t start = 0;
  uint64_t bytes = 0; ///< 0: it could not be read
};

/// Lines of the map on their way to the file.
class LineWriter {
public:
  explicit LineWriter(int fd) : fd(fd) {}
  ~LineWriter() { flush(); }
  LineWriter(const LineWriter &) = delete;
  LineWriter &operator=(const LineWriter &) = delete;
  void addHex(uint64_t value);
  void add(const char *text);

private:
  void add(char letter);
  void flush();

  const int fd;
  size_t used = 0;
  char buffer[4096];
};

} // namespace

/// No symbol table is larger.
static constexpr uint64_t maxPartBytes = uint64_t(1) << 31;

FilePart::FilePart(int file, uint64_t offset, uint64_t wanted) {
  if (wanted == 0 || wanted > maxPartBytes)
    return;
  long at =
      mapMemory(0, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (isError(at))
    return;
  start = uintptr_t(at);
  bytes = wanted;
  for (uint64_t done = 0; done < wanted;) {
    long count = rawCall(SYS_pread64, file, at + long(done),
                         long(wanted - done), long(offset + done));
    if (count <= 0) {
      bytes = 0;
      unmapMemory({start, start + wanted});
      return;
    }
    done += uint64_t(count);
  }
}

FilePart::~FilePart() { unmapMemory({start, start + bytes}); }

const char *FilePart::getString(uint64_t offset) const {
  auto *text = reinterpret_cast<const char *>(start);
  for (uint64_t at = offset; at < bytes; ++at)
    if (!text[at])
      return text + offset;
  return nullptr;
}

void LineWriter::flush() {
  rawCall(SYS_write, fd, long(buffer), long(used));
  used = 0;
}

void LineWriter::add(char letter) {
  if (used == sizeof(buffer))
    flush();
  buffer[used++] = letter;
}

void LineWriter::add(const char *text) {
  for (; *text; ++text)
    add(*text);
}

void LineWriter::addHex(uint64_t value) {
  int shift = 60;
  while (shift && !(value >> shift))
    shift -= 4;
  for (; shift >= 0; shift -= 4)
    add("0123456789abcdef"[(value >> shift) & 15]);
}

// The map

/// The section of symbols: all of them, or those for the loader if the file is
/// stripped.
static const ElfW(Shdr) * findSymbols(const FilePart &sections) {
  const ElfW(Shdr) *found = nullptr;
  for (uint64_t i = 0; auto *section = sections.get<ElfW(Shdr)>(i); ++i) {
    if (section->sh_type == SHT_SYMTAB)
      return section;
    if (section->sh_type == SHT_DYNSYM)
      found = section;
  }
  return found;
}

static bool isFunction(const ElfW(Sym) & symbol) {
  unsigned type = symbol.st_info & 15;
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_size &&
         symbol.st_shndx != SHN_UNDEF;
}

static void writeFunctions(int file, const TextSegment &segment, int map) {
  FilePart headers(file, 0, sizeof(ElfW(Ehdr)));
  auto *header = headers.get<ElfW(Ehdr)>(0);
  if (!header || header->e_shentsize != sizeof(ElfW(Shdr)))
    return;
  FilePart sections(file, header->e_shoff,
                    uint64_t(header->e_shnum) * sizeof(ElfW(Shdr)));
  const ElfW(Shdr) *table = findSymbols(sections);
  auto *strings = table ? sections.get<ElfW(Shdr)>(table->sh_link) : nullptr;
  if (!strings)
    return;
  FilePart symbols(file, table->sh_offset, table->sh_size);
  FilePart names(file, strings->sh_offset, strings->sh_size);
  LineWriter lines(map);
  for (uint64_t i = 0; auto *symbol = symbols.get<ElfW(Sym)>(i); ++i) {
    uintptr_t address = segment.loadAddress + symbol->st_value;
    const char *name = names.getString(symbol->st_name);
    if (!name || !isFunction(*symbol) || !segment.frames().contains(address))
      continue;
    lines.addHex(address);
    lines.add(" ");
    lines.addHex(symbol->st_size);
    lines.add(" ");
    lines.add(name);
    lines.add("\n");
  }
}

/// A map with this process id is left from an earlier process: deletes it.
/// Links and files of other users are left alone.
bool PerfMap::open() {
  if (wasTried)
    return fd >= 0;
  wasTried = true;
  Path path;
  path.add("/tmp/perf-").addNumber(uint64_t(rawCall(SYS_getpid))).add(".map");
  rawCall(SYS_unlinkat, AT_FDCWD, long(path.get()), 0);
  fd = int(rawCall(SYS_openat, AT_FDCWD, long(path.get()),
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  return fd >= 0;
}

PerfMap::~PerfMap() {
  if (fd >= 0)
    rawCall(SYS_close, fd);
}

void PerfMap::add(const TextSegment &segment) {
  if (!open())
    return;
  long file =
      rawCall(SYS_openat, AT_FDCWD, long(segment.path()), O_RDONLY | O_CLOEXEC);
  if (isError(file))
    return;
  writeFunctions(int(file), segment, fd);
  rawCall(SYS_close, file);
}

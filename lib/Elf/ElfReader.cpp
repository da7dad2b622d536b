// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elf/ElfReader.h"
#include "llvm/Support/SwapByteOrder.h"
#include <algorithm>
#include <ar.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

ElfReader::ElfReader(Elf *handle, int fd, uint64_t start, uint64_t bytes,
                     ArrayRef<uint8_t> head)
    : handle(handle), fd(fd), start(start), imageBytes(bytes), head(head) {
  const char *ident = elf_getident(handle, nullptr);
  native = ident && ident[EI_CLASS] == ELFCLASS64 &&
           ident[EI_DATA] == ELFDATA2LSB && sys::IsLittleEndianHost;
}

ElfReader::~ElfReader() { elf_end(handle); }

std::string ElfReader::lastError() {
  const char *text = elf_errmsg(-1);
  return text ? text : "unknown reason";
}

std::optional<Elf64_Ehdr> ElfReader::header() {
  GElf_Ehdr header;
  if (!gelf_getehdr(handle, &header))
    return std::nullopt;
  return header;
}

std::vector<Elf64_Phdr> ElfReader::programHeaders(uint64_t &declared) {
  size_t count = 0;
  if (elf_getphdrnum(handle, &count) != 0)
    count = 0;
  // libelf's count is what fits into the file; the header says what should.
  std::optional<Elf64_Ehdr> header = this->header();
  declared = header && header->e_phnum != PN_XNUM ? header->e_phnum : count;
  // The kernel takes at most 64 KiB of them; a count beyond is damage.
  std::vector<Elf64_Phdr> headers;
  if (const uint8_t *found =
          native && header && header->e_phentsize == sizeof(Elf64_Phdr)
              ? find(header->e_phoff, count * sizeof(Elf64_Phdr))
              : nullptr) {
    headers.resize(count);
    if (count)
      memcpy(headers.data(), found, count * sizeof(Elf64_Phdr));
    return headers;
  }
  for (size_t i = 0; i < std::min<size_t>(count, 1 << 20); ++i) {
    GElf_Phdr entry;
    if (!gelf_getphdr(handle, int(i), &entry))
      break;
    headers.push_back(entry);
  }
  return headers;
}

uint64_t ElfReader::sectionCount() {
  size_t count = 0;
  return elf_getshdrnum(handle, &count) == 0 ? count : 0;
}

uint64_t ElfReader::sectionNameIndex() {
  size_t index = 0;
  return elf_getshdrstrndx(handle, &index) == 0 ? index : 0;
}

static const uint8_t *inside(ArrayRef<uint8_t> bytes, uint64_t bytesOffset,
                             uint64_t offset, uint64_t count) {
  if (offset < bytesOffset || offset - bytesOffset > bytes.size() ||
      count > bytes.size() - (offset - bytesOffset))
    return nullptr;
  return bytes.data() + (offset - bytesOffset);
}

const uint8_t *ElfReader::find(uint64_t offset, uint64_t bytes) const {
  const uint8_t *found = inside(head, 0, offset, bytes);
  for (size_t i = 0; !found && i < windows.size(); ++i)
    found = inside(windows[i].bytes, windows[i].offset, offset, bytes);
  return found;
}

bool ElfReader::fill(Window &window, uint64_t from, uint64_t to) const {
  window.offset = from;
  window.bytes.resize(size_t(to - from));
  ssize_t got =
      pread(fd, window.bytes.data(), window.bytes.size(), off_t(start + from));
  if (got == ssize_t(window.bytes.size()))
    return true;
  window.bytes.clear(); // what is needed of it may be there all the same
  return false;
}

const uint8_t *ElfReader::readAround(uint64_t offset, uint64_t bytes) {
  constexpr uint64_t mostBytes = 64 << 10, around = 1 << 10;
  constexpr size_t mostWindows = 8;
  if (bytes > mostBytes || windows.size() == mostWindows)
    return nullptr;
  // The tables keep the alignment that they have in the file.
  uint64_t from = offset > around ? (offset - around) / 16 * 16 : 0;
  uint64_t to = std::min(imageBytes, offset + bytes + around);
  Window window;
  if (!fill(window, from, to))
    return nullptr;
  windows.push_back(std::move(window));
  return inside(windows.back().bytes, from, offset, bytes);
}

const void *ElfReader::chunk(uint64_t offset, uint64_t bytes, int elfType) {
  if (bytes == 0 || bytes > maxTableBytes || offset > imageBytes ||
      bytes > imageBytes - offset)
    return nullptr;
  if (native) {
    const uint8_t *found = find(offset, bytes);
    if (!found)
      found = readAround(offset, bytes);
    if (found && (elfType == ELF_T_BYTE ||
                  reinterpret_cast<uintptr_t>(found) % sizeof(uint64_t) == 0))
      return found;
  }
  Elf_Data *data = elf_getdata_rawchunk(handle, int64_t(offset), size_t(bytes),
                                        Elf_Type(elfType));
  if (!data)
    noteFailedRead(offset);
  return data ? data->d_buf : nullptr;
}

void ElfReader::noteFailedRead(uint64_t offset) const {
  if (!failedRead)
    failedRead = offset;
}

template <typename T>
ArrayRef<T> ElfReader::table(uint64_t offset, uint64_t count, int elfType) {
  if (count > maxTableBytes / sizeof(T))
    return {};
  const void *data = chunk(offset, count * sizeof(T), elfType);
  return data ? ArrayRef<T>(static_cast<const T *>(data), size_t(count))
              : ArrayRef<T>();
}

ArrayRef<Elf64_Shdr> ElfReader::sectionHeaders(uint64_t offset,
                                               uint64_t count) {
  return table<Elf64_Shdr>(offset, count, ELF_T_SHDR);
}

ArrayRef<Elf64_Dyn> ElfReader::dynamicEntries(uint64_t offset, uint64_t count) {
  return table<Elf64_Dyn>(offset, count, ELF_T_DYN);
}

ArrayRef<Elf64_Sym> ElfReader::symbols(uint64_t offset, uint64_t count) {
  return table<Elf64_Sym>(offset, count, ELF_T_SYM);
}

ArrayRef<Elf64_Rela> ElfReader::relocations(uint64_t offset, uint64_t count) {
  return table<Elf64_Rela>(offset, count, ELF_T_RELA);
}

ArrayRef<uint32_t> ElfReader::words(uint64_t offset, uint64_t count) {
  return table<uint32_t>(offset, count, ELF_T_WORD);
}

StringRef ElfReader::text(uint64_t offset, uint64_t bytes) {
  const void *data = chunk(offset, bytes, ELF_T_BYTE);
  return data ? StringRef(static_cast<const char *>(data), size_t(bytes))
              : StringRef();
}

bool ElfReader::copy(uint64_t offset, MutableArrayRef<uint8_t> buffer) const {
  if (offset > imageBytes || buffer.size() > imageBytes - offset)
    return false;
  const uint8_t *found = find(offset, buffer.size());
  if (!found)
    found = inside(lastCopied.bytes, lastCopied.offset, offset, buffer.size());
  constexpr size_t word = 16, stretch = 4096;
  if (!found && buffer.size() <= word &&
      fill(lastCopied, offset, std::min(imageBytes, offset + stretch)))
    found = lastCopied.bytes.data();
  if (found) {
    std::copy_n(found, buffer.size(), buffer.begin());
    return true;
  }
  size_t done = 0;
  while (done < buffer.size()) {
    ssize_t got = pread(fd, buffer.data() + done, buffer.size() - done,
                        off_t(start + offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      noteFailedRead(offset + done);
      return false;
    }
    done += size_t(got);
  }
  return true;
}

/// The size of the member whose header stands at \p at, or what is wrong with
/// that header. libelf takes a size that is no number for 0.
static std::optional<ArchiveDamage>
readMemberSize(int fd, uint64_t at, uint64_t fileBytes, uint64_t &bytes) {
  ar_hdr header;
  if (fileBytes - at < sizeof header)
    return ArchiveDamage{"ar_hdr", at,
                         "the file ends inside a member's header"};
  if (pread(fd, &header, sizeof header, off_t(at)) != ssize_t(sizeof header))
    return ArchiveDamage{"ar_hdr", at, "the member's header cannot be read"};
  if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0)
    return ArchiveDamage{
        "ar_fmag", at + offsetof(ar_hdr, ar_fmag),
        "the member's header does not end with its magic bytes"};
  StringRef size(header.ar_size, sizeof header.ar_size);
  if (size.rtrim(' ').getAsInteger(10, bytes))
    return ArchiveDamage{"ar_size", at + offsetof(ar_hdr, ar_size),
                         "the size of the member is no number"};
  if (bytes > fileBytes - at - sizeof header)
    return ArchiveDamage{"ar_size", at + offsetof(ar_hdr, ar_size),
                         "the member of " + std::to_string(bytes) +
                             " bytes passes the end of the archive"};
  return std::nullopt;
}

/// The name of a member. libelf takes the last byte of one that fills its field
/// to the end, as Go writes them.
static std::string memberName(const Elf_Arhdr &header) {
  if (!header.ar_name)
    return "?";
  constexpr size_t fieldBytes = sizeof(ar_hdr::ar_name);
  StringRef name = header.ar_name;
  StringRef raw = header.ar_rawname ? header.ar_rawname : "";
  if (raw.size() >= fieldBytes && name.size() == fieldBytes - 1 &&
      raw.take_front(fieldBytes - 1) == name && raw[fieldBytes - 1] != '/' &&
      raw[fieldBytes - 1] != ' ')
    return raw.take_front(fieldBytes).str();
  return name.str();
}

/// Walks the members of \p archive. Members that are no ELF files (the symbol
/// index, LLVM bitcode) are passed over. The end is known by position: libelf
/// reports the regular end and a damaged header with the same error.
static std::optional<ArchiveDamage>
readMembers(Elf *archive, int fd, uint64_t fileBytes,
            function_ref<void(ElfReader &, const std::string &)> visit) {
  uint64_t at = SARMAG;
  Elf_Cmd command = ELF_C_READ;
  while (at < fileBytes) {
    uint64_t bytes = 0;
    if (auto damage = readMemberSize(fd, at, fileBytes, bytes))
      return damage;
    Elf *member =
        command == ELF_C_NULL ? nullptr : elf_begin(fd, command, archive);
    Elf_Arhdr *header = elf_getarhdr(member);
    if (!header) {
      elf_end(member);
      return ArchiveDamage{"ar_hdr", at, ElfReader::lastError()};
    }
    // Copied, because elf_next overwrites it with the next member's header.
    std::string name = memberName(*header);
    command = elf_next(member);
    uint64_t start = at + sizeof(ar_hdr);
    if (elf_kind(member) == ELF_K_ELF) {
      ElfReader reader(member, fd, start, bytes, {});
      visit(reader, name);
    } else {
      elf_end(member);
    }
    at = start + bytes + (bytes & 1); // members begin at even offsets
  }
  return std::nullopt;
}

OpenedFile
mpg::readElf(int fd, uint64_t fileBytes, ArrayRef<uint8_t> head,
             function_ref<void(ElfReader &, const std::string &)> visit,
             std::optional<ArchiveDamage> &archiveDamage) {
  static const unsigned version = elf_version(EV_CURRENT);
  (void)version;
  Elf *handle = elf_begin(fd, ELF_C_READ, nullptr);
  if (!handle)
    return {OpenedFile::Content::refused, ElfReader::lastError()};
  switch (elf_kind(handle)) {
  case ELF_K_ELF: {
    ElfReader reader(handle, fd, 0, fileBytes, head);
    visit(reader, "");
    return {OpenedFile::Content::elf, ""};
  }
  case ELF_K_AR:
    archiveDamage = readMembers(handle, fd, fileBytes, visit);
    elf_end(handle);
    return {OpenedFile::Content::archive, ""};
  default:
    elf_end(handle);
    return {OpenedFile::Content::refused, "not a format that libelf reads"};
  }
}

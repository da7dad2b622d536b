// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ElfReader.h.

#include "Elf/ElfReader.h"
#include "llvm/Support/SwapByteOrder.h"
#include <algorithm>
#include <ar.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <gelf.h>
#include <libelf.h>
#include <new>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// No table of a real program comes near; a damaged size must not make us
/// allocate what the machine does not have.
static constexpr uint64_t maxTableBytes = uint64_t(1) << 30;

/// Null where any of them lies outside. Offsets and counts come from the file:
/// nothing is added that could wrap.
static const uint8_t *inside(ArrayRef<uint8_t> bytes, uint64_t bytesOffset,
                             uint64_t offset, uint64_t count) {
  if (offset < bytesOffset || offset - bytesOffset > bytes.size() ||
      count > bytes.size() - (offset - bytesOffset))
    return nullptr;
  return bytes.data() + (offset - bytesOffset);
}

static bool isNative(const char *ident) {
  return ident && ident[EI_CLASS] == ELFCLASS64 &&
         ident[EI_DATA] == ELFDATA2LSB && sys::IsLittleEndianHost;
}

static Elf64_Ehdr headerIn(ArrayRef<uint8_t> head) {
  Elf64_Ehdr header;
  memcpy(&header, head.data(), sizeof header);
  return header;
}

// Counts that overflow into section 0, odd sizes of entries, other byte orders
// and classes are libelf's: rare, and easy to get wrong.
bool ElfReader::headTellsAll(ArrayRef<uint8_t> head, uint64_t fileBytes) {
  if (head.size() < sizeof(Elf64_Ehdr) ||
      !isNative(reinterpret_cast<const char *>(head.data())))
    return false;
  Elf64_Ehdr header = headerIn(head);
  uint64_t programBytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  uint64_t sectionBytes = uint64_t(header.e_shnum) * sizeof(Elf64_Shdr);
  bool counted = header.e_phnum != PN_XNUM && header.e_shstrndx != SHN_XINDEX &&
                 (header.e_phnum == 0) == (header.e_phoff == 0) &&
                 (header.e_shnum == 0) == (header.e_shoff == 0);
  return header.e_ident[EI_VERSION] == EV_CURRENT && counted &&
         header.e_phentsize == (header.e_phnum ? sizeof(Elf64_Phdr) : 0) &&
         inside(head, 0, header.e_phoff, programBytes) &&
         header.e_shoff <= fileBytes &&
         sectionBytes <= fileBytes - header.e_shoff;
}

ElfReader::ElfReader(Elf *handle, int fd, uint64_t start, uint64_t bytes,
                     ArrayRef<uint8_t> head)
    : handle(handle), fd(fd), start(start), imageBytes(bytes), head(head),
      native(!handle || isNative(elf_getident(handle, nullptr))) {
  if (!handle)
    sectionTable = headerIn(head).e_shoff;
}

ElfReader::~ElfReader() { elf_end(handle); }

std::string ElfReader::lastError() {
  const char *text = elf_errmsg(-1);
  return text ? text : "unknown reason";
}

std::optional<Elf64_Ehdr> ElfReader::header() {
  if (!handle)
    return headerIn(head);
  GElf_Ehdr header;
  if (!gelf_getehdr(handle, &header))
    return std::nullopt;
  return header;
}

std::vector<Elf64_Phdr> ElfReader::programHeaders(uint64_t &declared) {
  std::optional<Elf64_Ehdr> header = this->header();
  size_t count = header ? header->e_phnum : 0;
  if (handle && elf_getphdrnum(handle, &count) != 0)
    count = 0;
  // libelf's count is what fits into the file; the header says what should.
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
  for (size_t i = 0; handle && i < std::min<size_t>(count, 1 << 20); ++i) {
    GElf_Phdr entry;
    if (!gelf_getphdr(handle, int(i), &entry))
      break;
    headers.push_back(entry);
  }
  return headers;
}

uint64_t ElfReader::sectionCount() {
  if (!handle)
    return headerIn(head).e_shnum;
  size_t count = 0;
  return elf_getshdrnum(handle, &count) == 0 ? count : 0;
}

uint64_t ElfReader::sectionNameIndex() {
  if (!handle)
    return headerIn(head).e_shstrndx;
  size_t index = 0;
  return elf_getshdrstrndx(handle, &index) == 0 ? index : 0;
}

const uint8_t *ElfReader::find(uint64_t offset, uint64_t bytes) const {
  const uint8_t *found = inside(head, 0, offset, bytes);
  for (size_t i = 0; !found && i < windows.size(); ++i)
    found = inside(windows[i].all(), windows[i].offset, offset, bytes);
  return found;
}

bool ElfReader::fill(Window &window, uint64_t from, uint64_t to) const {
  window.offset = from;
  window.bytes = size_t(to - from);
  // Not initialised, unlike a vector: all of it is read over.
  window.data.reset(new (std::nothrow) uint8_t[window.bytes]);
  if (window.data && pread(fd, window.data.get(), window.bytes,
                           off_t(start + from)) == ssize_t(window.bytes))
    return true;
  window = {}; // what is needed of it may be there all the same
  return false;
}

/// A system call costs as much as copying a few KiB.
static constexpr uint64_t worthReadingBytes = 8 << 10;
/// find() looks through all of them.
static constexpr size_t maxWindows = 8;

void ElfReader::expect(uint64_t from, uint64_t to) {
  constexpr uint64_t maxBytes = 24 << 10;
  // The tables keep the alignment that they have in the file.
  from = from / 16 * 16;
  if (!native || from >= to || to > imageBytes || to - from > maxBytes ||
      find(from, to - from) || windows.size() == maxWindows)
    return;
  // Do not read the first bytes again.
  if (from < head.size() && to > head.size() + worthReadingBytes)
    from = head.size() / 16 * 16;
  if (Window window; fill(window, from, to))
    windows.push_back(std::move(window));
}

const uint8_t *ElfReader::readAround(uint64_t offset, uint64_t bytes) {
  constexpr uint64_t maxBytes = 64 << 10, around = 1 << 10;
  Window window;
  if (bytes > maxBytes || windows.size() == maxWindows) {
    if (!fill(window, offset, offset + bytes))
      return nullptr;
    large.push_back(std::move(window));
    return large.back().data.get();
  }
  uint64_t from = offset > around ? (offset - around) / 16 * 16 : 0;
  uint64_t to = std::min(imageBytes, offset + bytes + around);
  // The section headers end most files, a little after the dynamic section.
  if (sectionTable >= offset && imageBytes - to <= worthReadingBytes)
    to = imageBytes;
  if (!fill(window, from, to) && !fill(window, offset, offset + bytes))
    return nullptr;
  windows.push_back(std::move(window));
  return inside(windows.back().all(), windows.back().offset, offset, bytes);
}

const void *ElfReader::chunk(uint64_t offset, uint64_t bytes, int elfType) {
  if (bytes == 0 || bytes > maxTableBytes || offset > imageBytes ||
      bytes > imageBytes - offset)
    return nullptr;
  const void *found = nullptr;
  if (native) {
    // Tables are used where they were read. In a damaged file they may begin
    // anywhere, and are then read again to a place of their own.
    auto isAligned = [&](const void *data) {
      return elfType == ELF_T_BYTE ||
             reinterpret_cast<uintptr_t>(data) % sizeof(uint64_t) == 0;
    };
    found = find(offset, bytes);
    if (!found)
      found = readAround(offset, bytes);
    if (found && !isAligned(found)) {
      Window aligned;
      found =
          fill(aligned, offset, offset + bytes) ? aligned.data.get() : nullptr;
      large.push_back(std::move(aligned));
    }
  } else if (Elf_Data *data = elf_getdata_rawchunk(
                 handle, int64_t(offset), size_t(bytes), Elf_Type(elfType))) {
    found = data->d_buf;
  }
  if (!found)
    noteFailedRead(offset);
  return found;
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
  // Where there is none, not a null pointer: memmem() may not have one.
  return data ? StringRef(static_cast<const char *>(data), size_t(bytes)) : "";
}

bool ElfReader::copy(uint64_t offset, MutableArrayRef<uint8_t> buffer) const {
  if (offset > imageBytes || buffer.size() > imageBytes - offset)
    return false;
  const uint8_t *found = find(offset, buffer.size());
  if (!found)
    found = inside(lastCopied.all(), lastCopied.offset, offset, buffer.size());
  constexpr size_t word = 16, readAhead = 4096;
  if (!found && buffer.size() <= word &&
      fill(lastCopied, offset, std::min(imageBytes, offset + readAhead)))
    found = lastCopied.data.get();
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

/// The size of the member whose header is at \p at, or the defect of that
/// header. libelf reads a size that is not a number as 0.
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
                         "the size of the member is not a number"};
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

/// Walks the members of \p archive. Skips members that are not ELF files (the
/// symbol index, LLVM bitcode). The position marks the end: libelf reports the
/// regular end and a damaged header with the same error.
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
      ElfReader reader(member, fd, start, bytes, {}); // ends the member
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
  if (ElfReader::headTellsAll(head, fileBytes)) {
    ElfReader reader(nullptr, fd, 0, fileBytes, head);
    visit(reader, "");
    return {OpenedFile::Content::elf, ""};
  }
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

StringTable::StringTable(const ElfReader &reader, uint64_t offset,
                         uint64_t bytes)
    : reader(&reader), offset(offset) {
  if (bytes > maxTableBytes || offset > reader.bytes() ||
      bytes > reader.bytes() - offset)
    return;
  data = reinterpret_cast<const char *>(reader.find(offset, bytes));
  isWhole = data;
  if (!isWhole) {
    memory.reset(static_cast<char *>(malloc(bytes)));
    data = memory.get();
    loaded.resize((bytes + pieceBytes - 1) / pieceBytes);
  }
  tableBytes = data ? bytes : 0;
}

/// Reads the piece and those after it, twice as many as the last read: a caller
/// that needs many pieces will need most of them.
bool StringTable::load(uint64_t piece) {
  constexpr uint64_t maxPieces = 4;
  uint64_t end = piece + 1;
  while (end < loaded.size() && end - piece < piecesAtOnce && !loaded[end])
    ++end;
  piecesAtOnce = std::min(2 * piecesAtOnce, maxPieces);
  if (!read(piece, end) && !read(piece, end = piece + 1))
    return false;
  std::fill(loaded.begin() + ptrdiff_t(piece), loaded.begin() + ptrdiff_t(end),
            true);
  return true;
}

/// The pieces [\p piece, \p end).
bool StringTable::read(uint64_t piece, uint64_t end) const {
  uint64_t start = piece * pieceBytes;
  uint64_t bytes = std::min(end * pieceBytes, tableBytes) - start;
  return reader->copy(
      offset + start,
      {reinterpret_cast<uint8_t *>(memory.get()) + start, size_t(bytes)});
}

std::optional<StringRef> StringTable::get(uint64_t index) {
  // The string may run on into the next pieces.
  for (uint64_t at = index; at < tableBytes;) {
    if (!has(at))
      return std::nullopt;
    uint64_t pieceEnd =
        isWhole ? tableBytes
                : std::min((at / pieceBytes + 1) * pieceBytes, tableBytes);
    const char *start = data + index;
    if (const void *end = memchr(data + at, 0, pieceEnd - at))
      return StringRef(start, static_cast<const char *>(end) - start);
    at = pieceEnd;
  }
  return std::nullopt;
}

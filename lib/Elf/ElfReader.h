// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only file that knows libelf: one open file, or one member of an archive,
// as a header, program headers and bounds-checked tables in host byte order.
//
// Nothing is mapped: a file that is truncated while it is mapped kills the
// reader with SIGBUS (mmap(2)). libelf is not used for 64-bit
// little-endian files with an ordinary header: the file holds the tables in
// memory's form, and a few reads fetch all of them. libelf reads archives,
// other machines and counts kept elsewhere, with ELF_C_READ. Tables are raw
// chunks at the offsets that the headers name, so it never trusts a section
// header that nobody asked for.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Elf;

namespace mpg {

class ElfReader;

class StringTable {
public:
  /// An empty table: every index is outside.
  StringTable() = default;
  /// [offset, offset + bytes) of \p reader's image; empty when that range is
  /// not in the image.
  StringTable(const ElfReader &reader, uint64_t offset, uint64_t bytes);

  uint64_t bytes() const { return tableBytes; }

  /// The NUL-terminated string at \p index, valid as long as the table; nothing
  /// when it leaves the table or cannot be read.
  std::optional<llvm::StringRef> get(uint64_t index);

  /// Whether the four bytes at \p index, the string's end among them, can begin
  /// a string that \p mayBe is true for. True as well where it takes get() to
  /// know.
  template <typename Filter> bool mayBegin(uint64_t index, Filter mayBe) {
    uint32_t first;
    if (index + sizeof first >= tableBytes ||
        !(has(index) && has(index + sizeof first - 1)))
      return true;
    memcpy(&first, data + index, sizeof first);
    return mayBe(first);
  }

private:
  /// Reads the byte at \p index if it has not been read.
  bool has(uint64_t index) {
    return isWhole || loaded[index / pieceBytes] || load(index / pieceBytes);
  }
  bool load(uint64_t piece);
  bool read(uint64_t piece, uint64_t end) const;

  /// A page: the names of imports are spread over a large table, and those of a
  /// small one come with the symbols in front of them.
  static constexpr uint64_t pieceBytes = 4 << 10;
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  const ElfReader *reader = nullptr;
  uint64_t offset = 0;
  uint64_t tableBytes = 0;
  const char *data = nullptr; ///< in memory, or where the reader has it
  bool isWhole = false;       ///< all of it has been read
  /// malloc, not new: pages of a large table that are not asked for are never
  /// touched.
  std::unique_ptr<char[], Free> memory;
  std::vector<char> loaded; ///< by piece
  uint64_t piecesAtOnce = 1;
};

class ElfReader {
public:
  /// Takes a handle from libelf; \p fd stays the caller's.
  /// \p start and \p bytes say where in the file this ELF image lies.
  /// \p head are its first bytes, if the caller has them: most of the small
  /// things lie there, and need not be read again. Outlives the reader.
  /// \p handle may be null where they say all that libelf would: see
  /// headTellsAll().
  ElfReader(Elf *handle, int fd, uint64_t start, uint64_t bytes,
            llvm::ArrayRef<uint8_t> head);
  /// Whether libelf adds nothing to the header in \p head: 64 bits, little
  /// endian, no count that is kept elsewhere, program headers within \p head,
  /// section headers within the file.
  static bool headTellsAll(llvm::ArrayRef<uint8_t> head, uint64_t fileBytes);
  ~ElfReader();
  ElfReader(const ElfReader &) = delete;

  uint64_t bytes() const { return imageBytes; }

  /// Where a read inside the image first failed or came back short: the file
  /// has changed since it was opened. Everything read from it is then
  /// invalid.
  std::optional<uint64_t> failedReadOffset() const { return failedRead; }

  /// The ELF header widened to 64 bits, or nothing when libelf refuses it.
  std::optional<Elf64_Ehdr> header();
  /// Entries up to the first one that cannot be read. \p declared receives the
  /// count that the file claims (the e_phnum escape is resolved).
  std::vector<Elf64_Phdr> programHeaders(uint64_t &declared);
  /// Number of section headers, the e_shnum escape resolved; 0 when unreadable.
  uint64_t sectionCount();
  /// Index of the section name table, the escape resolved; 0 when there is
  /// none.
  uint64_t sectionNameIndex();

  /// Tables of a 64-bit file; empty when any byte lies outside the file or
  /// cannot be read. Owned by this reader until it is destroyed.
  llvm::ArrayRef<Elf64_Shdr> sectionHeaders(uint64_t offset, uint64_t count);
  llvm::ArrayRef<Elf64_Dyn> dynamicEntries(uint64_t offset, uint64_t count);
  llvm::ArrayRef<Elf64_Sym> symbols(uint64_t offset, uint64_t count);
  llvm::ArrayRef<Elf64_Rela> relocations(uint64_t offset, uint64_t count);
  llvm::ArrayRef<uint32_t> words(uint64_t offset, uint64_t count);
  llvm::StringRef text(uint64_t offset, uint64_t bytes);

  /// Tables that lie in [from, to) are about to be asked for: reads them at
  /// once where they are not too many.
  void expect(uint64_t from, uint64_t to);

  /// Copies into \p buffer without keeping it. False on a short read.
  bool copy(uint64_t offset, llvm::MutableArrayRef<uint8_t> buffer) const;

  /// Why libelf last said no.
  static std::string lastError();

private:
  friend StringTable;
  /// A read with its surroundings: a table's names are next to it, and a system
  /// call costs more than a few extra bytes.
  struct Window {
    uint64_t offset = 0;
    size_t bytes = 0;
    std::unique_ptr<uint8_t[]> data; ///< not cleared, unlike a vector's
    llvm::ArrayRef<uint8_t> all() const { return {data.get(), bytes}; }
  };
  const void *chunk(uint64_t offset, uint64_t bytes, int elfType);
  /// Null if the bytes have not been read so far.
  const uint8_t *find(uint64_t offset, uint64_t bytes) const;
  /// Null if they cannot be read. Aligned as in the file, or to 16 bytes.
  const uint8_t *readAround(uint64_t offset, uint64_t bytes);
  bool fill(Window &window, uint64_t from, uint64_t to) const;
  void noteFailedRead(uint64_t offset) const;
  template <typename T>
  llvm::ArrayRef<T> table(uint64_t offset, uint64_t count, int elfType);

  Elf *handle;
  int fd;
  uint64_t start;
  uint64_t imageBytes;
  llvm::ArrayRef<uint8_t> head;
  /// The file holds tables in memory's form: 64 bits, little endian.
  bool native;
  std::vector<Window> windows; ///< what was handed out points into them
  std::vector<Window> large;   ///< tables read singly
  uint64_t sectionTable = 0;   ///< offset, where the header names it
  Window mutable lastCopied;   ///< copy() walks through tables word by word
  std::optional<uint64_t> mutable failedRead;
};

/// The kind of an open file, as far as its first bytes show.
struct OpenedFile {
  enum class Content { elf, archive, refused } content;
  std::string reason; ///< for refused: libelf's words
};

/// Where and why the members of an archive cannot be followed any further.
struct ArchiveDamage {
  const char *field; ///< as ar.h names it
  uint64_t offset;   ///< of the field in the file
  std::string reason;
};

/// Calls \p visit for the ELF image in \p fd, or for each ELF member of the
/// archive in it, with the member's name ("" for a plain file).
/// \p archiveDamage is set when an archive breaks off.
/// \p head are the first bytes of the file.
OpenedFile
readElf(int fd, uint64_t fileBytes, llvm::ArrayRef<uint8_t> head,
        llvm::function_ref<void(ElfReader &, const std::string &)> visit,
        std::optional<ArchiveDamage> &archiveDamage);

} // namespace mpg

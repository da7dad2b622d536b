// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of an Image that the loader sees, from the program headers alone:
// the dynamic section, its strings and its symbols.

#include "Elf/ImageState.h"
#include "Support/Format.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace mpg;

void Image::State::readDynamic() {
  if (triedDynamic)
    return;
  triedDynamic = true;
  const Segment *segment = nullptr;
  for (const Segment &candidate : segments) {
    if (candidate.type != PT_DYNAMIC)
      continue;
    if (segment)
      add(DefectKind::dynamicSection, true, segmentName(candidate) + ".p_type",
          programHeaderField(header, candidate.headerIndex, 0),
          "a second PT_DYNAMIC");
    else
      segment = &candidate;
  }
  if (!segment)
    return;
  uint64_t field = programHeaderField(header, segment->headerIndex,
                                      offsetof(Elf64_Phdr, p_offset));
  ArrayRef<Elf64_Dyn> entries = reader->dynamicEntries(
      segment->offset, segment->fileBytes / sizeof(Elf64_Dyn));
  if (entries.empty()) {
    add(DefectKind::dynamicSection, true, segmentName(*segment) + ".p_offset",
        field,
        "offset " + formatHex(segment->offset) + " + p_filesz " +
            formatHex(segment->fileBytes) +
            " is empty or passes the end of the "
            "file");
    return;
  }
  if (getOffset(segment->address, segment->fileBytes) != segment->offset)
    add(DefectKind::dynamicSection, true, segmentName(*segment) + ".p_vaddr",
        programHeaderField(header, segment->headerIndex,
                           offsetof(Elf64_Phdr, p_vaddr)),
        "address " + formatHex(segment->address) +
            " is not where a PT_LOAD maps "
            "offset " +
            formatHex(segment->offset));
  dynamic.present = true;
  dynamicOffset = segment->offset;
  dynamicEntries = entries.take_until(
      [](const Elf64_Dyn &entry) { return entry.d_tag == DT_NULL; });
  if (dynamicEntries.size() == entries.size())
    add(DefectKind::dynamicSection, true, "DT_NULL",
        segment->offset + entries.size() * sizeof(Elf64_Dyn),
        "the dynamic section has no end");
  readDynamicEntries();
  readDynamicStrings();
}

void Image::State::readDynamicEntries() {
  const std::pair<int64_t, uint64_t *> fields[] = {
      {DT_FLAGS, &dynamic.flags},
      {DT_FLAGS_1, &dynamic.flags1},
      {DT_SYMTAB, &dynamic.symbolTable},
      {DT_STRTAB, &dynamic.stringTable},
      {DT_STRSZ, &dynamic.stringBytes},
      {DT_HASH, &dynamic.hash},
      {DT_GNU_HASH, &dynamic.gnuHash},
      {DT_RELA, &dynamic.rela},
      {DT_RELASZ, &dynamic.relaBytes},
      {DT_JMPREL, &dynamic.pltRel},
      {DT_PLTRELSZ, &dynamic.pltRelBytes},
      {DT_RELACOUNT, &dynamic.relativeCount}};
  for (const Elf64_Dyn &entry : dynamicEntries) {
    dynamic.textrel |= entry.d_tag == DT_TEXTREL;
    for (auto [tag, field] : fields)
      if (entry.d_tag == tag)
        *field = entry.d_un.d_val;
  }
  dynamic.textrel |= (dynamic.flags & DF_TEXTREL) != 0;
}

/// Linkers write the hash table, the symbols and their names one after the
/// other.
void Image::State::expectDynamicTables(uint64_t stringsAt) const {
  uint64_t first = stringsAt;
  for (uint64_t table : {dynamic.gnuHash, dynamic.symbolTable})
    if (std::optional<uint64_t> at = getOffset(table, 0); table && at)
      first = std::min(first, *at);
  reader->expect(first, stringsAt + dynamic.stringBytes);
}

void Image::State::readDynamicStrings() {
  std::optional<uint64_t> at =
      getOffset(dynamic.stringTable, dynamic.stringBytes);
  if (at) {
    expectDynamicTables(*at);
    dynamicStrings = StringTable(*reader, *at, dynamic.stringBytes);
  }
  bool reported = false;
  for (size_t i = 0; i < dynamicEntries.size(); ++i) {
    int64_t tag = dynamicEntries[i].d_tag;
    if (tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH &&
        tag != DT_RUNPATH && tag != DT_FILTER && tag != DT_AUXILIARY)
      continue;
    std::optional<StringRef> name =
        dynamicStrings.get(dynamicEntries[i].d_un.d_val);
    if (!name) {
      if (!reported)
        add(DefectKind::stringOffset, true,
            "dynamic[" + std::to_string(i) + "].d_val",
            dynamicOffset + i * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un),
            formatHex(dynamicEntries[i].d_un.d_val) +
                " lies outside the dynamic string table (" +
                formatHex(dynamicStrings.bytes()) + " bytes)");
      reported = true;
      continue;
    }
    if (tag == DT_NEEDED)
      dynamic.needed.push_back(*name);
    else if (tag == DT_FILTER || tag == DT_AUXILIARY)
      dynamic.filtees.push_back({*name, tag == DT_AUXILIARY});
    else if (tag == DT_SONAME)
      dynamic.soname = *name;
    else if (tag == DT_RPATH)
      dynamic.rpath = *name;
    else
      dynamic.runpath = *name;
  }
}

// Symbols

/// The loader never needs the number of dynamic symbols, so no tag states it.
/// The section header does; files without one have it in a hash table.
uint64_t Image::State::countDynamicSymbols() {
  readSections();
  for (const Section &section : sections)
    if (section.type == SHT_DYNSYM && section.address == dynamic.symbolTable)
      return section.bytes / sizeof(Elf64_Sym);
  if (dynamic.hash) {
    std::optional<uint64_t> at = getOffset(dynamic.hash, 8);
    ArrayRef<uint32_t> words =
        at ? reader->words(*at, 2) : ArrayRef<uint32_t>();
    if (!words.empty())
      return words[1]; // nchain: one entry per symbol
  }
  return dynamic.gnuHash ? countByGnuHash() : 0;
}

/// No linker makes chains of a hash table nearly as long. Without a limit a
/// damaged one runs through all zeros of a sparse file.
static constexpr uint64_t maxChainSymbols = 1 << 16;

/// The hashed symbols end the table: walk the chain of the last bucket to its
/// end mark (lowest bit set).
uint64_t Image::State::countByGnuHash() {
  std::optional<uint64_t> at = getOffset(dynamic.gnuHash, 16);
  ArrayRef<uint32_t> head = at ? reader->words(*at, 4) : ArrayRef<uint32_t>();
  if (head.empty())
    return 0;
  uint32_t bucketCount = head[0], firstHashed = head[1], bloomWords = head[2];
  uint64_t bucketsAt = *at + 16 + uint64_t(bloomWords) * 8;
  ArrayRef<uint32_t> buckets = reader->words(bucketsAt, bucketCount);
  uint32_t last = 0;
  for (uint32_t bucket : buckets)
    last = std::max(last, bucket);
  if (last < firstHashed)
    return firstHashed;
  uint64_t chainAt = bucketsAt + uint64_t(bucketCount) * 4;
  // Chains are a few entries long; read them in small pieces.
  constexpr uint64_t pieceWords = 64;
  for (uint64_t index = last;; index += pieceWords) {
    uint64_t pieceAt = chainAt + (index - firstHashed) * 4;
    uint64_t left =
        pieceAt < reader->bytes() ? (reader->bytes() - pieceAt) / 4 : 0;
    ArrayRef<uint32_t> piece =
        reader->words(pieceAt, std::min(left, pieceWords));
    if (piece.empty() || index - last >= maxChainSymbols)
      return index;
    for (size_t i = 0; i < piece.size(); ++i)
      if (piece[i] & 1)
        return index + i + 1;
  }
}

std::optional<uint32_t> Image::State::readWord(uint64_t address) const {
  uint32_t word = 0;
  std::optional<uint64_t> at = getOffset(address, sizeof word);
  if (!at ||
      !reader->copy(*at, {reinterpret_cast<uint8_t *>(&word), sizeof word}))
    return std::nullopt;
  return word;
}

/// Whether dynamic symbol \p index is \p name, and defined here or not. A
/// program has undefined symbols in its hash table too: stubs whose address it
/// takes.
bool Image::State::isSymbol(uint64_t index, StringRef name, bool defined) {
  uint64_t address = dynamic.symbolTable + index * sizeof(Elf64_Sym);
  std::optional<uint32_t> nameIndex = readWord(address);
  std::optional<uint32_t> infoAndSection = readWord(address + 4);
  return nameIndex && infoAndSection &&
         (*infoAndSection >> 16 != SHN_UNDEF) == defined &&
         dynamicStrings.get(*nameIndex) == name;
}

/// The loader's own way to a name: the filter, the bucket, then the chain of
/// symbols whose hash values fall into it. Reads a few words, whatever the file
/// exports.
std::optional<uint64_t> Image::State::findByGnuHash(StringRef name,
                                                    bool defined) {
  uint32_t hash = 5381;
  for (char c : name)
    hash = hash * 33 + uint8_t(c);
  std::optional<uint32_t> bucketCount = readWord(dynamic.gnuHash);
  std::optional<uint32_t> firstHashed = readWord(dynamic.gnuHash + 4);
  std::optional<uint32_t> bloomWords = readWord(dynamic.gnuHash + 8);
  std::optional<uint32_t> shift = readWord(dynamic.gnuHash + 12);
  if (!bucketCount || *bucketCount == 0 || !firstHashed || !bloomWords ||
      *bloomWords == 0 || !shift)
    return std::nullopt;
  uint64_t filter = dynamic.gnuHash + 16 + (hash / 64 % *bloomWords) * 8;
  for (uint32_t bit : {hash % 64, (hash >> *shift % 32) % 64}) {
    std::optional<uint32_t> word = readWord(filter + bit / 32 * 4);
    if (!word || !(*word >> bit % 32 & 1))
      return std::nullopt;
  }
  uint64_t buckets = dynamic.gnuHash + 16 + uint64_t(*bloomWords) * 8;
  uint64_t chains = buckets + uint64_t(*bucketCount) * 4;
  std::optional<uint32_t> first =
      readWord(buckets + uint64_t(hash % *bucketCount) * 4);
  if (!first || *first < *firstHashed)
    return std::nullopt;
  for (uint64_t index = *first; index - *first < maxChainSymbols; ++index) {
    std::optional<uint32_t> value =
        readWord(chains + (index - *firstHashed) * 4);
    if (!value)
      return std::nullopt;
    if ((*value | 1) == (hash | 1) && isSymbol(index, name, defined))
      return index;
    if (*value & 1)
      return std::nullopt;
  }
  return std::nullopt;
}

void Image::State::visitHashedImport(StringRef name,
                                     function_ref<void(const Symbol &)> visit) {
  std::optional<uint64_t> index = findByGnuHash(name, /*defined=*/false);
  if (!index)
    return;
  Elf64_Sym symbol;
  std::optional<uint64_t> at =
      getOffset(dynamic.symbolTable + *index * sizeof symbol, sizeof symbol);
  if (at &&
      reader->copy(*at, {reinterpret_cast<uint8_t *>(&symbol), sizeof symbol}))
    visit(decode(symbol, dynamicStrings, "DT_SYMTAB", *index));
}

bool Image::State::findByScan(StringRef name) {
  readDynamicSymbols();
  for (const Elf64_Sym &symbol : dynamicSymbols)
    if (symbol.st_shndx != SHN_UNDEF &&
        dynamicStrings.get(symbol.st_name) == name)
      return true;
  return false;
}

/// How many symbols come before those of the GNU hash table, which holds only
/// what can be found: all imports of a library, nearly all of a program. 0
/// without such a table.
uint64_t Image::State::countImports() {
  if (!dynamic.gnuHash)
    return 0;
  uint32_t head[2];
  std::optional<uint64_t> at = getOffset(dynamic.gnuHash, sizeof head);
  if (!at ||
      !reader->copy(*at, {reinterpret_cast<uint8_t *>(head), sizeof head}))
    return 0;
  return head[1];
}

/// The whole dynamic table, of which a library's imports are a part.
ArrayRef<Elf64_Sym> Image::State::exports() {
  readDynamic();
  uint64_t count = dynamic.symbolTable ? countDynamicSymbols() : 0;
  if (count == 0 || count > reader->bytes() / sizeof(Elf64_Sym))
    return {};
  std::optional<uint64_t> at =
      getOffset(dynamic.symbolTable, count * sizeof(Elf64_Sym));
  return at ? reader->symbols(*at, count) : ArrayRef<Elf64_Sym>();
}

void Image::State::readDynamicSymbols() {
  if (triedDynamicSymbols)
    return;
  triedDynamicSymbols = true;
  readDynamic();
  if (!dynamic.present || !dynamic.symbolTable)
    return;
  uint64_t count = kind == ElfKind::library ? countImports() : 0;
  if (count == 0)
    count = countDynamicSymbols();
  // A program that exports much is read like a library; the few imports in its
  // hash table are looked up by their names.
  constexpr uint64_t manySymbols = 2048;
  if (uint64_t imports = count > manySymbols ? countImports() : 0;
      imports != 0 && imports < count) {
    count = imports;
    skipsHashed = kind != ElfKind::library;
  }
  if (count == 0)
    return;
  std::optional<uint64_t> at =
      count <= reader->bytes() / sizeof(Elf64_Sym)
          ? getOffset(dynamic.symbolTable, count * sizeof(Elf64_Sym))
          : std::nullopt;
  if (at)
    dynamicSymbols = reader->symbols(*at, count);
  if (dynamicSymbols.empty())
    addPointerDefect(DT_SYMTAB, "DT_SYMTAB",
                     std::to_string(count) + " symbols at address " +
                         formatHex(dynamic.symbolTable) +
                         " leave the loaded segments");
}

void Image::State::readHashedSymbols() {
  readDynamicSymbols();
  if (skipsHashed)
    dynamicSymbols = exports();
  skipsHashed = false;
}

bool mpg::isMuslLoader(StringRef path) {
  return sys::path::filename(path).starts_with("ld-musl-");
}

std::string mpg::findStranger(Image &program) {
  if (isMuslLoader(program.interpreter().value_or("")))
    return "is for musl, not for the GNU C library";
  if (program.needs("libtsan.so"))
    return "is built with gcc's ThreadSanitizer, which no library may precede";
  return "";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading one ELF file: which kind it is, and which defect is found at the last
// value that is right and the first that is wrong. The files are built here
// byte by byte, because linkers do not make wrong ones, and are read through a
// memory file, as a user's file is.

#include "Elf/Image.h"
#include "gtest/gtest.h"
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mpg;
using llvm::StringRef;

namespace {

// A small program: code at 0x400000, data at 0x401000, no section headers

constexpr uint64_t codeAddress = 0x400000, dataAddress = 0x401000;
constexpr uint64_t interpreterAt = 0x200, stringsAt = 0x300, symbolsAt = 0x400,
                   hashAt = 0x500, codeBytes = 0x1000, dynamicAt = 0x1000,
                   fileBytes = 0x2000;
enum Header : unsigned { interp, code, data, dynamic, headerCount };

/// The file offset of a field of program header \p index.
#define FIELD(index, field)                                                    \
  (sizeof(Elf64_Ehdr) + (index) * sizeof(Elf64_Phdr) +                         \
   offsetof(Elf64_Phdr, field))

struct File {
  std::string bytes;

  template <typename T> void set(uint64_t at, T value) {
    ASSERT_LE(at + sizeof value, bytes.size());
    memcpy(&bytes[at], &value, sizeof value);
  }
  void set64(uint64_t at, uint64_t value) { set<uint64_t>(at, value); }
  void setDynamic(unsigned index, int64_t tag, uint64_t value) {
    set<Elf64_Dyn>(dynamicAt + index * sizeof(Elf64_Dyn), {tag, {value}});
  }
};

Elf64_Ehdr fileHeader(uint16_t type) {
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = headerCount;
  return header;
}

/// Strings: 1 libc.so.6, 11 sbrk, 16 foo, 20 libx.so.1. Symbols: sbrk is
/// undefined, foo is defined. Dynamic entries 6 and 7 are free for a test.
File makeProgram(uint16_t type = ET_EXEC) {
  File file;
  file.bytes.assign(fileBytes, '\0');
  file.set(0, fileHeader(type));
  auto segment = [&](unsigned index, Elf64_Phdr header) {
    file.set(FIELD(index, p_type), header);
  };
  segment(interp, {PT_INTERP, PF_R, interpreterAt, codeAddress + interpreterAt,
                   0, 11, 11, 1});
  segment(code, {PT_LOAD, PF_R | PF_X, 0, codeAddress, 0, codeBytes, codeBytes,
                 4096});
  segment(data, {PT_LOAD, PF_R | PF_W, dynamicAt, dataAddress, 0, 0x1000,
                 0x3000, 4096});
  segment(dynamic, {PT_DYNAMIC, PF_R | PF_W, dynamicAt, dataAddress, 0,
                    9 * sizeof(Elf64_Dyn), 9 * sizeof(Elf64_Dyn), 8});
  const StringRef interpreter("/lib/ld.so\0", 11),
      strings("\0libc.so.6\0sbrk\0foo\0libx.so.1\0", 30);
  file.bytes.replace(interpreterAt, 11, interpreter.str());
  file.bytes.replace(stringsAt, 30, strings.str());
  const unsigned char global = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  file.set<Elf64_Sym>(symbolsAt + 24, {11, global, 0, SHN_UNDEF, 0, 0});
  file.set<Elf64_Sym>(symbolsAt + 48, {16, global, 0, 1, codeAddress, 4});
  const uint32_t hash[] = {1, 3, 1, 0, 2, 0}; // one bucket, three symbols
  memcpy(&file.bytes[hashAt], hash, sizeof hash);
  file.setDynamic(0, DT_NEEDED, 1);
  file.setDynamic(1, DT_STRTAB, codeAddress + stringsAt);
  file.setDynamic(2, DT_STRSZ, strings.size());
  file.setDynamic(3, DT_SYMTAB, codeAddress + symbolsAt);
  file.setDynamic(4, DT_HASH, codeAddress + hashAt);
  file.setDynamic(5, DT_SYMENT, sizeof(Elf64_Sym));
  file.setDynamic(6, DT_DEBUG, 0);
  file.setDynamic(7, DT_DEBUG, 0);
  return file;
}

File makeLibrary() {
  File file = makeProgram(ET_DYN);
  file.set<uint32_t>(FIELD(interp, p_type), PT_NULL);
  return file;
}

// Asking

/// Reads \p file and calls \p visit once for it.
template <typename Visit> void readFile(const File &file, Visit visit) {
  int fd = memfd_create("image", 0);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, file.bytes.data(), file.bytes.size()),
            ssize_t(file.bytes.size()));
  unsigned visits = 0;
  llvm::Error error =
      readImages("/proc/self/fd/" + std::to_string(fd), [&](Image &image) {
        ++visits;
        visit(image);
      });
  EXPECT_FALSE(bool(error));
  llvm::consumeError(std::move(error));
  EXPECT_EQ(visits, 1u);
  close(fd);
}

std::string getKind(const File &file) {
  std::string kind;
  readFile(file, [&](Image &image) { kind = kindName(image.kind()).str(); });
  return kind;
}

/// "905 PT_LOAD[1].p_filesz @0x88", with "warning " in front when the file can
/// still be used; all defects of a full read.
std::vector<std::string> listDefects(const File &file) {
  std::vector<std::string> defects;
  readFile(file, [&](Image &image) {
    image.readEverything();
    for (const Defect &defect : image.defects()) {
      char offset[32];
      snprintf(offset, sizeof offset, " @0x%llx",
               static_cast<unsigned long long>(defect.offset));
      defects.push_back((defect.fatal ? "" : "warning ") +
                        std::to_string(unsigned(defect.kind)) + " " +
                        defect.field + offset);
    }
  });
  return defects;
}

using Defects = std::vector<std::string>;

std::string defectAt(unsigned number, const char *field, uint64_t offset) {
  char text[128];
  snprintf(text, sizeof text, "%u %s @0x%llx", number, field,
           static_cast<unsigned long long>(offset));
  return text;
}

} // namespace

// Kinds

TEST(Image, ProgramsAreToldFromLibraries) {
  EXPECT_EQ(getKind(makeProgram(ET_EXEC)), "exec");
  File withoutInterpreter = makeLibrary();
  withoutInterpreter.set<uint16_t>(offsetof(Elf64_Ehdr, e_type), ET_EXEC);
  EXPECT_EQ(getKind(withoutInterpreter), "static");

  // ET_DYN with an interpreter and no flag: what Go and old linkers make.
  EXPECT_EQ(getKind(makeProgram(ET_DYN)), "pie");
  EXPECT_EQ(getKind(makeLibrary()), "library");
  // libc.so.6 can be run: an interpreter, but a name as well.
  File runnable = makeProgram(ET_DYN);
  runnable.setDynamic(6, DT_SONAME, 20);
  EXPECT_EQ(getKind(runnable), "library");
  // The flag beats the name.
  runnable.setDynamic(7, DT_FLAGS_1, DF_1_NOW | DF_1_PIE);
  EXPECT_EQ(getKind(runnable), "pie");
  File staticPie = makeLibrary();
  staticPie.setDynamic(7, DT_FLAGS_1, DF_1_PIE);
  EXPECT_EQ(getKind(staticPie), "static-pie");
}

TEST(Image, TheLastOfEqualTagsCounts) {
  File file = makeLibrary();
  file.setDynamic(6, DT_FLAGS_1, 0);
  file.setDynamic(7, DT_FLAGS_1, DF_1_PIE);
  EXPECT_EQ(getKind(file), "static-pie");
  file.setDynamic(6, DT_FLAGS_1, DF_1_PIE);
  file.setDynamic(7, DT_FLAGS_1, 0);
  EXPECT_EQ(getKind(file), "library");
}

TEST(Image, OtherKindsByHeader) {
  const struct {
    uint16_t type;
    const char *kind;
  } types[] = {{ET_REL, "object"},     {ET_CORE, "core"},
               {ET_NONE, "malformed"}, {ET_CORE + 1, "malformed"},
               {0xfe00, "malformed"},  {0xffff, "malformed"}};
  for (const auto &test : types)
    EXPECT_EQ(getKind(makeProgram(test.type)), test.kind) << test.type;
  const struct {
    uint64_t at;
    uint8_t value;
    const char *kind;
  } bytes[] = {
      {EI_CLASS, ELFCLASS32, "other-machine"},
      {EI_DATA, ELFDATA2MSB, "other-machine"},
      {offsetof(Elf64_Ehdr, e_machine), EM_RISCV, "other-machine"},
      {offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, "exec"},
      {EI_CLASS, 0, "malformed"},
      {EI_CLASS, 3, "malformed"},
      {EI_DATA, 0, "malformed"},
      {EI_DATA, 3, "malformed"},
      {EI_VERSION, 0, "malformed"},
      {EI_VERSION, 2, "malformed"},
      {EI_MAG3, 'f', "not-elf"},
  };
  for (const auto &test : bytes) {
    File file = makeProgram();
    file.set<uint8_t>(test.at, test.value);
    EXPECT_EQ(getKind(file), test.kind)
        << "byte " << test.at << " = " << unsigned(test.value);
  }
}

TEST(Image, TruncatedInTheHeader) {
  for (size_t size : {0u, 1u, 3u}) {
    File file = makeProgram();
    file.bytes.resize(size);
    EXPECT_EQ(getKind(file), "not-elf") << size;
  }
  for (size_t size : {4u, 15u, 16u, 17u, 52u, 63u}) {
    File file = makeProgram();
    file.bytes.resize(size);
    EXPECT_EQ(getKind(file), "malformed") << size;
    EXPECT_EQ(listDefects(file), Defects{defectAt(902, "e_ident", size)})
        << size;
  }
}

// Content

TEST(Image, ReadsTheDynamicSectionWithoutSectionHeaders) {
  File file = makeProgram();
  file.setDynamic(6, DT_RUNPATH, 20);
  readFile(file, [](Image &image) {
    EXPECT_FALSE(image.hasSections());
    ASSERT_EQ(image.dynamic().needed.size(), 1u);
    EXPECT_EQ(image.dynamic().needed[0], "libc.so.6");
    EXPECT_TRUE(image.needs("libc."));
    EXPECT_FALSE(image.needs("libx."));
    EXPECT_EQ(image.dynamic().runpath, StringRef("libx.so.1"));
    EXPECT_EQ(image.dynamic().rpath, std::nullopt);
    EXPECT_EQ(image.interpreter(), StringRef("/lib/ld.so"));
    std::vector<std::string> imports;
    image.forEachImport(
        [&](const Symbol &symbol) { imports.push_back(symbol.name.str()); });
    EXPECT_EQ(imports, std::vector<std::string>{"sbrk"});
    EXPECT_TRUE(image.exportsSymbol("foo"));
    EXPECT_FALSE(image.exportsSymbol("sbrk")); // undefined
    EXPECT_FALSE(image.exportsSymbol("fo"));
    EXPECT_TRUE(image.defects().empty());
  });
}

/// The hash function of DT_GNU_HASH.
static uint32_t gnuHash(StringRef name) {
  uint32_t hash = 5381;
  for (char c : name)
    hash = hash * 33 + uint8_t(c);
  return hash;
}

/// The program with a GNU hash table: one bucket, one Bloom word, symbol 2
/// (foo) is the first that is hashed.
static File makeGnuHashProgram(uint32_t bucket, uint32_t chain) {
  File file = makeProgram();
  file.setDynamic(4, DT_GNU_HASH, codeAddress + hashAt);
  const uint32_t table[] = {1, 2, 1, 0, ~0u, ~0u, bucket, chain};
  memcpy(&file.bytes[hashAt], table, sizeof table);
  return file;
}

TEST(Image, FindsExportsAsTheLoaderDoes) {
  const struct {
    uint32_t bucket, chain;
    const char *name;
    bool found;
  } cases[] = {
      {2, gnuHash("foo") | 1, "foo", true},
      {2, gnuHash("foo") | 1, "sbrk", false},
      {2, gnuHash("bar") | 1, "foo", false}, // another hash value
      {2, gnuHash("bar") | 1, "bar", false}, // the same, but another name
      {0, gnuHash("foo") | 1, "foo", false}, // an empty bucket
      {2, gnuHash("foo") & ~1u, "foo", true},
      {2, gnuHash("bar") & ~1u, "foo", false}, // no end: must stop
      {0xffffffff, 1, "foo", false},
  };
  for (const auto &test : cases)
    readFile(makeGnuHashProgram(test.bucket, test.chain), [&](Image &image) {
      EXPECT_EQ(image.exportsSymbol(test.name), test.found)
          << test.name << " in " << test.bucket << ", " << test.chain;
    });
}

TEST(Image, CountsSymbolsByTheGnuHashTable) {
  auto countImports = [](const File &file) {
    unsigned count = 0;
    readFile(file, [&](Image &image) {
      image.forEachImport([&](const Symbol &) { ++count; });
    });
    return count;
  };
  EXPECT_EQ(countImports(makeGnuHashProgram(2, 1)), 1u);
  EXPECT_EQ(countImports(makeGnuHashProgram(0, 1)), 1u);
  // Symbol 2 made undefined: a program may have imports after the hashed.
  File file = makeGnuHashProgram(2, 1);
  file.set<uint16_t>(symbolsAt + 48 + offsetof(Elf64_Sym, st_shndx), SHN_UNDEF);
  EXPECT_EQ(countImports(file), 2u);
}

TEST(Image, ReadsMemoryOnlyWhereTheFileHasIt) {
  readFile(makeProgram(), [](Image &image) {
    uint8_t bytes[16];
    llvm::MutableArrayRef<uint8_t> all(bytes);
    EXPECT_TRUE(image.readMemory(codeAddress, all));
    EXPECT_EQ(memcmp(bytes, ELFMAG, SELFMAG), 0);
    EXPECT_TRUE(image.readMemory(codeAddress + codeBytes - 16, all));
    EXPECT_FALSE(image.readMemory(codeAddress - 1, all));
    EXPECT_FALSE(image.readMemory(codeAddress + codeBytes - 15, all));
    EXPECT_TRUE(image.readMemory(dataAddress + 0x1000 - 16, all));
    EXPECT_FALSE(image.readMemory(dataAddress + 0x1000, all)); // .bss
    EXPECT_FALSE(image.readMemory(UINT64_MAX - 8, all));
  });
}

TEST(Image, SegmentEndDoesNotWrap) {
  Segment segment = {PT_LOAD, 0, 0, 0, UINT64_MAX - 5, 0, 5, 1};
  EXPECT_EQ(segment.end(), UINT64_MAX);
  segment.memoryBytes = 6;
  EXPECT_EQ(segment.end(), UINT64_MAX);
}

// Defects: the last right value and the first wrong one

namespace {

/// One 64-bit field of the file and what to put there.
struct Change {
  uint64_t at, value;
};

Defects defectsWith(File file, std::initializer_list<Change> changes) {
  for (Change change : changes)
    file.set64(change.at, change.value);
  return listDefects(file);
}

} // namespace

TEST(ImageDefects, HealthyFilesHaveNone) {
  EXPECT_EQ(listDefects(makeProgram()), Defects{});
  EXPECT_EQ(listDefects(makeLibrary()), Defects{});
}

TEST(ImageDefects, FileHeader) {
  auto withByte = [](File file, uint64_t at, uint8_t value) {
    file.set(at, value);
    return listDefects(file);
  };
  EXPECT_EQ(withByte(makeProgram(), offsetof(Elf64_Ehdr, e_version), 2),
            Defects{"902 e_version @0x14"});
  EXPECT_EQ(withByte(makeProgram(), offsetof(Elf64_Ehdr, e_ehsize), 63),
            Defects{"warning 902 e_ehsize @0x34"});
  EXPECT_EQ(withByte(makeProgram(), offsetof(Elf64_Ehdr, e_type), 9),
            Defects{"902 e_type @0x10"});
  EXPECT_EQ(withByte(makeProgram(), offsetof(Elf64_Ehdr, e_phentsize), 55),
            Defects{"903 e_phentsize @0x36"});
  EXPECT_EQ(withByte(makeProgram(), offsetof(Elf64_Ehdr, e_phnum), 0),
            Defects{"903 e_phnum @0x38"});
  EXPECT_EQ(withByte(makeProgram(), EI_CLASS, 3),
            Defects{"901 e_ident[EI_CLASS] @0x4"});
}

TEST(ImageDefects, LibraryForAnotherSystem) {
  for (uint8_t abi : {ELFOSABI_SYSV, ELFOSABI_GNU, ELFOSABI_FREEBSD}) {
    File library = makeLibrary(), program = makeProgram();
    library.set(EI_OSABI, abi);
    program.set(EI_OSABI, abi);
    EXPECT_EQ(listDefects(library), abi == ELFOSABI_FREEBSD
                                        ? Defects{"901 e_ident[EI_OSABI] @0x7"}
                                        : Defects{});
    EXPECT_EQ(listDefects(program), Defects{}); // the kernel does not look
  }
}

TEST(ImageDefects, ProgramHeaderTable) {
  File file = makeProgram();
  EXPECT_EQ(defectsWith(file, {{offsetof(Elf64_Ehdr, e_phoff), fileBytes}}),
            Defects{"903 e_phoff @0x20"});
  EXPECT_EQ(defectsWith(file, {{offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX}}),
            Defects{"903 e_phoff @0x20"});
  file.set<uint32_t>(FIELD(code, p_type), PT_NULL);
  file.set<uint32_t>(FIELD(data, p_type), PT_NULL);
  file.set<uint32_t>(FIELD(dynamic, p_type), PT_NULL);
  EXPECT_EQ(listDefects(file), Defects{"903 e_phnum @0x38"});
}

TEST(ImageDefects, KernelTakes64KiBOfProgramHeaders) {
  for (unsigned count : {1170u, 1171u}) {
    File file = makeProgram();
    // A separate table at the end, with the first headers copied to it.
    file.bytes.resize(fileBytes + count * sizeof(Elf64_Phdr));
    file.bytes.replace(fileBytes, headerCount * sizeof(Elf64_Phdr), file.bytes,
                       sizeof(Elf64_Ehdr), headerCount * sizeof(Elf64_Phdr));
    file.set64(offsetof(Elf64_Ehdr, e_phoff), fileBytes);
    file.set<uint16_t>(offsetof(Elf64_Ehdr, e_phnum), uint16_t(count));
    EXPECT_EQ(listDefects(file),
              count == 1170 ? Defects{} : Defects{"903 e_phnum @0x38"});
  }
}

TEST(ImageDefects, SegmentSizesAndAddresses) {
  File file = makeProgram();
  constexpr uint64_t userEnd = uint64_t(1) << 47;
  EXPECT_EQ(defectsWith(file, {{FIELD(data, p_memsz), 0x1000}}), Defects{});
  EXPECT_EQ(
      defectsWith(file, {{FIELD(data, p_memsz), 0xfff}}),
      Defects{defectAt(905, "PT_LOAD[2].p_filesz", FIELD(data, p_filesz))});
  EXPECT_EQ(
      defectsWith(file, {{FIELD(data, p_filesz), 0x1001}}),
      Defects{defectAt(904, "PT_LOAD[2].p_offset", FIELD(data, p_offset))});
  EXPECT_EQ(defectsWith(file, {{FIELD(data, p_memsz), userEnd - dataAddress}}),
            Defects{});
  EXPECT_EQ(
      defectsWith(file, {{FIELD(data, p_memsz), userEnd - dataAddress + 1}}),
      Defects{defectAt(906, "PT_LOAD[2].p_vaddr", FIELD(data, p_vaddr))});
  EXPECT_EQ(
      defectsWith(file, {{FIELD(data, p_memsz), UINT64_MAX - dataAddress + 1}}),
      Defects{defectAt(906, "PT_LOAD[2].p_memsz", FIELD(data, p_memsz))});
  // AArch64 gives programs twice as much.
  file.set<uint16_t>(offsetof(Elf64_Ehdr, e_machine), EM_AARCH64);
  EXPECT_EQ(
      defectsWith(file, {{FIELD(data, p_memsz), 2 * userEnd - dataAddress}}),
      Defects{});
  EXPECT_EQ(defectsWith(
                file, {{FIELD(data, p_memsz), 2 * userEnd - dataAddress + 1}}),
            Defects{defectAt(906, "PT_LOAD[2].p_vaddr", FIELD(data, p_vaddr))});
}

TEST(ImageDefects, SegmentOrder) {
  File file = makeProgram();
  // One byte more and the code ends inside the data.
  EXPECT_EQ(defectsWith(file, {{FIELD(code, p_memsz), 0x1001}}),
            Defects{defectAt(907, "PT_LOAD[2].p_vaddr", FIELD(data, p_vaddr))});
  uint64_t below = codeAddress - 0x10000;
  EXPECT_EQ(defectsWith(file, {{FIELD(data, p_vaddr), below},
                               {FIELD(dynamic, p_vaddr), below}}),
            Defects{defectAt(907, "PT_LOAD[2].p_vaddr", FIELD(data, p_vaddr))});
}

TEST(ImageDefects, SegmentAlignment) {
  File program = makeProgram(), library = makeLibrary();
  const std::string align =
      defectAt(908, "PT_LOAD[2].p_align", FIELD(data, p_align));
  const std::string address =
      defectAt(908, "PT_LOAD[2].p_vaddr", FIELD(data, p_vaddr));
  const struct {
    uint64_t align;
    Defects program, library;
  } cases[] = {
      {0, {}, {}},
      {1, {}, {align}},
      {2048, {}, {align}},
      {4096, {}, {}},
      {0x400000, {}, {}},
      {0x800000, {}, {address}}, // p_vaddr is 4 MiB away from p_offset
      {12288, {"warning " + align}, {align}},
      {UINT64_MAX, {"warning " + align}, {align}},
  };
  for (const auto &test : cases) {
    EXPECT_EQ(defectsWith(program, {{FIELD(data, p_align), test.align}}),
              test.program)
        << test.align;
    EXPECT_EQ(defectsWith(library, {{FIELD(data, p_align), test.align}}),
              test.library)
        << test.align;
  }
  // Half a page off cannot be mapped by anyone.
  EXPECT_EQ(
      defectsWith(program, {{FIELD(data, p_vaddr), dataAddress + 0x800},
                            {FIELD(dynamic, p_vaddr), dataAddress + 0x800}}),
      Defects{address});
}

TEST(ImageDefects, PathOfTheLoader) {
  File file = makeProgram();
  const Defects size = {
      defectAt(909, "PT_INTERP[0].p_filesz", FIELD(interp, p_filesz))};
  EXPECT_EQ(defectsWith(file, {{FIELD(interp, p_filesz), 1}}), size);
  EXPECT_EQ(defectsWith(file, {{FIELD(interp, p_filesz), 4097}}), size);
  EXPECT_EQ(defectsWith(file, {{FIELD(interp, p_filesz), 4096}}), Defects{});
  // "/lib/ld.so" without its end.
  EXPECT_EQ(defectsWith(file, {{FIELD(interp, p_filesz), 10}}),
            Defects{defectAt(909, "PT_INTERP[0]", interpreterAt + 9)});
  EXPECT_EQ(
      defectsWith(file, {{FIELD(interp, p_offset), fileBytes - 10}}),
      Defects{defectAt(904, "PT_INTERP[0].p_offset", FIELD(interp, p_offset))});
}

TEST(ImageDefects, DynamicSection) {
  File file = makeProgram(), library = makeLibrary();
  EXPECT_EQ(defectsWith(file, {{FIELD(dynamic, p_offset), fileBytes}}),
            Defects{defectAt(910, "PT_DYNAMIC[3].p_offset",
                             FIELD(dynamic, p_offset))});
  EXPECT_EQ(defectsWith(file, {{FIELD(dynamic, p_filesz), 15}}),
            Defects{defectAt(910, "PT_DYNAMIC[3].p_offset",
                             FIELD(dynamic, p_offset))});
  EXPECT_EQ(
      defectsWith(file, {{FIELD(dynamic, p_vaddr), dataAddress + 16}}),
      Defects{defectAt(910, "PT_DYNAMIC[3].p_vaddr", FIELD(dynamic, p_vaddr))});
  File endless = file;
  endless.setDynamic(8, DT_DEBUG, 0);
  EXPECT_EQ(listDefects(endless),
            Defects{defectAt(910, "DT_NULL", dynamicAt + 9 * 16)});
  // A static program has none, a library must have one.
  file.set<uint32_t>(FIELD(dynamic, p_type), PT_NULL);
  library.set<uint32_t>(FIELD(dynamic, p_type), PT_NULL);
  EXPECT_EQ(listDefects(file), Defects{});
  EXPECT_EQ(listDefects(library), Defects{"910 PT_DYNAMIC @0x40"});
}

TEST(ImageDefects, TablesOfTheDynamicSection) {
  File file = makeProgram();
  auto value = [](unsigned index) { return dynamicAt + index * 16 + 8; };
  constexpr uint64_t lastString = codeAddress + codeBytes - 30;
  // A table may end with the bytes of its segment and not later. The names are
  // gone then as well, which is a separate defect.
  auto pointerDefects = [&](Change change) {
    Defects defects;
    for (const std::string &defect : defectsWith(file, {change}))
      if (StringRef(defect).starts_with("911"))
        defects.push_back(defect);
    return defects;
  };
  EXPECT_EQ(pointerDefects({value(1), lastString}), Defects{});
  EXPECT_EQ(pointerDefects({value(1), lastString + 1}),
            Defects{defectAt(911, "DT_STRTAB", value(1))});
  EXPECT_EQ(pointerDefects({value(2), UINT64_MAX}),
            Defects{defectAt(911, "DT_STRTAB", value(1))});
  EXPECT_EQ(pointerDefects({value(4), codeAddress + codeBytes - 8}), Defects{});
  EXPECT_EQ(pointerDefects({value(4), codeAddress + codeBytes - 7}),
            Defects{defectAt(911, "DT_HASH", value(4))});
  // .bss is mapped, but the file has no bytes for it.
  EXPECT_EQ(pointerDefects({value(4), dataAddress + 0x1800}),
            Defects{defectAt(911, "DT_HASH", value(4))});
}

TEST(ImageDefects, NamesInTheStringTable) {
  File file = makeProgram();
  const Defects needed = {defectAt(912, "dynamic[0].d_val", dynamicAt + 8)};
  // The table has 30 bytes, the last one ends libx.so.1.
  EXPECT_EQ(defectsWith(file, {{dynamicAt + 8, 29}}), Defects{});
  EXPECT_EQ(defectsWith(file, {{dynamicAt + 8, 30}}), needed);
  EXPECT_EQ(defectsWith(file, {{dynamicAt + 8, UINT64_MAX}}), needed);
  // The names of the symbols, and that the last one has no end.
  File symbols = file;
  symbols.set<uint32_t>(symbolsAt + 48, 30);
  EXPECT_EQ(listDefects(symbols),
            Defects{defectAt(912, "DT_SYMTAB name", symbolsAt + 48)});
  File endless = file;
  endless.setDynamic(6, DT_RUNPATH, 20);
  endless.setDynamic(2, DT_STRSZ, 29);
  EXPECT_EQ(listDefects(endless),
            Defects{defectAt(912, "dynamic[6].d_val", dynamicAt + 6 * 16 + 8)});
}

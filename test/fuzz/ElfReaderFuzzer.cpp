// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer target for everything that a file can reach: reading it, all checks
// for all targets, and the reports. The input goes into a memory file, because
// the reader works on files; a file it stays, so that short reads and seeks are
// the real ones.
//
// The mutator knows where the tables of an ELF file are. Random bytes seldom
// get past the header; a wrong value in a field of a table is what breaks
// readers.

#include "Render/Report.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mpg;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Finds and reports everything about \p image for each target. The first
/// target determines what is read when, so it depends on the input.
static void auditForAllTargets(Image &image, unsigned first) {
  AuditSettings settings;
  settings.checks = defaultChecks();
  for (const FindingInfo &info : allFindings())
    settings.named.insert(info.id);
  settings.expectLibmpg = true;
  settings.wantFacts = true;
  settings.minBytes = 0;
  for (unsigned i = 0; i < targetCount; ++i) {
    settings.target = Target((first + i) % targetCount);
    FileReport report = auditImage(image, settings);
    if (report.kind == ElfKind::malformed && report.findings.empty())
      abort(); // a file that is called damaged without a word about how
    writeText(llvm::nulls(), report, /*colour=*/true);
    writeTextShort(llvm::nulls(), report, /*colour=*/false);
    writeJsonFile(llvm::nulls(), report);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int fd = memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != ssize_t(size))
    abort();
  llvm::Error error = readImages(path, [&](Image &image) {
    auditForAllTargets(image, size % targetCount);
  });
  if (error) // a regular file can always be read
    abort();
  return 0;
}

// Mutator

/// A table of the file: where it starts, and the size of its entries.
struct Table {
  uint64_t start, entries, entryBytes;
};

/// The tables that the headers of \p data name, as far as they lie inside.
static unsigned findTables(const uint8_t *data, size_t size, Table tables[4]) {
  Elf64_Ehdr header;
  if (size < sizeof header || memcmp(data, ELFMAG, SELFMAG) != 0)
    return 0;
  memcpy(&header, data, sizeof header);
  unsigned count = 0;
  auto add = [&](uint64_t start, uint64_t entries, uint64_t entryBytes) {
    if (entries != 0 && start < size && entries <= (size - start) / entryBytes)
      tables[count++] = {start, entries, entryBytes};
  };
  add(0, 1, sizeof header);
  add(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr));
  add(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr));
  if (count < 2 || tables[1].entryBytes != sizeof(Elf64_Phdr))
    return count;
  for (uint64_t i = 0; i < tables[1].entries; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, data + tables[1].start + i * sizeof segment,
           sizeof segment);
    if (segment.p_type != PT_DYNAMIC)
      continue;
    add(segment.p_offset, segment.p_filesz / sizeof(Elf64_Dyn),
        sizeof(Elf64_Dyn));
    break;
  }
  return count;
}

/// Half of the time, libFuzzer's own mutations; else a value that readers
/// stumble over, in one field of one table.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Table tables[4];
  unsigned tableCount = findTables(data, size, tables);
  if (seed % 2 == 0 || tableCount == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  srand(seed);
  const Table &table = tables[unsigned(rand()) % tableCount];
  uint64_t fieldBytes = uint64_t(1) << rand() % 4; // 1, 2, 4 or 8
  uint64_t field = uint64_t(rand()) % (table.entryBytes / fieldBytes);
  uint8_t *at = data + table.start +
                uint64_t(rand()) % table.entries * table.entryBytes +
                field * fieldBytes;
  uint64_t old = 0;
  memcpy(&old, at, fieldBytes);
  const uint64_t values[] = {0,
                             1,
                             UINT64_MAX,
                             old + 1,
                             old - 1,
                             old * 2,
                             size,
                             size - 1,
                             uint64_t(1) << rand() % 64,
                             uint64_t(rand()) % 64};
  uint64_t value = values[unsigned(rand()) % std::size(values)];
  memcpy(at, &value, fieldBytes);
  return size;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimSources.h. The line tables are libdw's; which compilation unit has an
// address is looked up here, because not every compiler writes a table of that
// (.debug_aranges).

#include "SimSources.h"
#include "Elf/FunctionTable.h"
#include "Support/StableSort.h"
#include <algorithm>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

using namespace mpg;

namespace {
struct UnitRange {
  Dwarf_Addr start, end;
  Dwarf_Die unit;
};
} // namespace

struct SimSources::File {
  explicit File(const std::string &path);
  ~File();
  File(const File &) = delete;
  /// Fills in file and line.
  void addLine(uint64_t address, sim::SimSource &source);

  FunctionTable functions;
  int fd;
  Dwarf *dwarf;                 ///< null: there is no debug information
  std::vector<UnitRange> units; ///< by address
};

SimSources::File::File(const std::string &path)
    : functions(path), fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      dwarf(fd < 0 ? nullptr : dwarf_begin(fd, DWARF_C_READ)) {
  Dwarf_CU *unit = nullptr;
  Dwarf_Die die;
  while (dwarf && dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die,
                                  nullptr) == 0) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
      units.push_back({start, end, die});
  }
  stableSort(units, [](const UnitRange &a, const UnitRange &b) {
    return a.start < b.start;
  });
}

SimSources::File::~File() {
  dwarf_end(dwarf);
  if (fd >= 0)
    close(fd);
}

void SimSources::File::addLine(uint64_t address, sim::SimSource &source) {
  auto next = std::partition_point(
      units.begin(), units.end(),
      [&](const UnitRange &one) { return one.start <= address; });
  if (next == units.begin() || std::prev(next)->end <= address)
    return;
  Dwarf_Line *found = dwarf_getsrc_die(&std::prev(next)->unit, address);
  int line = 0;
  const char *file = found ? dwarf_linesrc(found, nullptr, nullptr) : nullptr;
  if (!file || dwarf_lineno(found, &line) || line <= 0)
    return;
  source.file = file;
  source.line = unsigned(line);
}

SimSources::SimSources() = default;
SimSources::~SimSources() = default;

sim::SimSource SimSources::find(const std::string &path, uint64_t address) {
  std::unique_ptr<File> &file = files[path];
  if (!file)
    file = std::make_unique<File>(path);
  sim::SimSource source;
  file->addLine(address, source);
  if (const FunctionTable::Function *function = file->functions.find(address)) {
    source.function = function->name;
    source.functionAt = function->start;
  }
  return source;
}

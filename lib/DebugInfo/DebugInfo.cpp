// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DebugInfo.h. Of libdw only what reads one file is used, no libdwfl: which
// compilation unit has an address is looked up here, because not every compiler
// writes a table of that (.debug_aranges).

#include "DebugInfo/DebugInfo.h"
#include "DebugInfo/Dwarf.h"
#include "Support/StableSort.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dwarf.h>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// "std::vector<int, std::allocator<int>>::resize": without arguments and, of a
/// template, what it returns, which would come in front.
static std::string functionName(const std::string &symbol) {
  ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(symbol.c_str()) || !demangler.isFunction())
    return demangle(symbol);
  char *name = demangler.getFunctionName(nullptr, nullptr);
  std::string text = name ? name : symbol;
  free(name);
  return text;
}

// Files

/// Where the debug information of \p path may be if it is separate.
static std::vector<std::string> separateFiles(const std::string &path) {
  std::vector<std::string> files;
  Error error = readImages(path, [&](Image &image) {
    if (const Section *id = image.findSection(".note.gnu.build-id")) {
      StringRef note = image.sectionData(*id, 4096);
      constexpr size_t headBytes = 16; // three numbers and "GNU"
      if (note.size() > headBytes + 1) {
        std::string hex = toHex(note.drop_front(headBytes), true);
        files.push_back("/usr/lib/debug/.build-id/" + hex.substr(0, 2) + "/" +
                        hex.substr(2) + ".debug");
      }
    }
    const Section *link = image.findSection(".gnu_debuglink");
    if (!link)
      return;
    std::string name = image.sectionData(*link, 65536)
                           .take_until([](char letter) { return letter == 0; })
                           .str();
    std::string folder = sys::path::parent_path(path).str();
    folder = folder.empty() ? "." : folder;
    for (const std::string &in :
         {folder, folder + "/.debug", "/usr/lib/debug" + folder})
      files.push_back(in + "/" + name);
  });
  consumeError(std::move(error));
  return files;
}

DwarfFile::DwarfFile(const std::string &path) : path(path) {
  if (open(path))
    return;
  for (const std::string &file : separateFiles(path))
    if (file != path && open(file))
      return;
}

DwarfFile::~DwarfFile() {
  dwarf_end(info);
  if (fd >= 0)
    close(fd);
}

/// False: it has no units.
bool DwarfFile::open(const std::string &file) {
  fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  info = fd < 0 ? nullptr : dwarf_begin(fd, DWARF_C_READ);
  addUnits();
  if (!units.empty())
    return true;
  dwarf_end(info);
  info = nullptr;
  if (fd >= 0)
    close(fd);
  fd = -1;
  return false;
}

void DwarfFile::addUnits() {
  Dwarf_CU *unit = nullptr;
  Dwarf_Die die, split;
  uint8_t kind;
  while (info && dwarf_get_units(info, unit, &unit, nullptr, &kind, &die,
                                 &split) == 0) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    // A skeleton has the addresses, the file beside it all else.
    bool isSplit =
        kind == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid;
    allUnits.push_back(isSplit ? split : die);
    while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
      units.push_back({start, end, allUnits.back()});
  }
  sortBy(units, &Unit::start);
}

DwarfFile::Unit *DwarfFile::findUnit(uint64_t address) {
  auto next =
      std::partition_point(units.begin(), units.end(), [&](const Unit &one) {
        return one.start <= address;
      });
  if (next == units.begin() || std::prev(next)->end <= address)
    return nullptr;
  return &*std::prev(next);
}

// Frames

std::optional<uint64_t> mpg::getNumber(Dwarf_Die &die, unsigned attribute) {
  Dwarf_Attribute memory;
  Dwarf_Word value;
  Dwarf_Attribute *found = dwarf_attr_integrate(&die, attribute, &memory);
  if (!found || dwarf_formudata(found, &value))
    return std::nullopt;
  return value;
}

std::optional<Dwarf_Die> mpg::getType(Dwarf_Die &die) {
  Dwarf_Attribute memory;
  Dwarf_Die type, plain;
  Dwarf_Attribute *found = dwarf_attr_integrate(&die, DW_AT_type, &memory);
  if (!found || !dwarf_formref_die(found, &type) ||
      dwarf_peel_type(&type, &plain))
    return std::nullopt;
  return plain;
}

bool mpg::isFunction(Dwarf_Die die) {
  int tag = dwarf_tag(&die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/// Puts what is in \p scope and encloses \p address in front of \p result, the
/// innermost first. dwarf_getscopes() does not look into Fortran's modules.
static void addScopes(Dwarf_Die scope, uint64_t address, unsigned depth,
                      std::vector<Dwarf_Die> &result) {
  Dwarf_Die child;
  if (!depth || dwarf_child(&scope, &child))
    return;
  do {
    int tag = dwarf_tag(&child);
    bool hasScopes = tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
                     tag == DW_TAG_inlined_subroutine ||
                     tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    if (tag == DW_TAG_module || tag == DW_TAG_namespace)
      addScopes(child, address, depth - 1, result);
    if (!hasScopes)
      continue;
    bool encloses = dwarf_haspc(&child, address) > 0;
    // Fortran nests functions, and each has its own code.
    if (encloses || tag == DW_TAG_subprogram)
      addScopes(child, address, depth - 1, result);
    if (encloses)
      result.push_back(child);
  } while (result.empty() && !dwarf_siblingof(&child, &child));
}

std::vector<Dwarf_Die> DwarfFile::findScopes(uint64_t address) {
  constexpr unsigned maxDepth = 200;
  std::vector<Dwarf_Die> result;
  if (Unit *unit = findUnit(address))
    addScopes(unit->die, address, maxDepth, result);
  auto function = find_if(result, [](Dwarf_Die &die) {
    return dwarf_tag(&die) == DW_TAG_subprogram;
  });
  if (function == result.end())
    return {};
  result.erase(function + 1, result.end());
  return result;
}

/// "solve", "Grid::Grid": as the linker knows it, or as the source has it.
static std::string findName(Dwarf_Die &die) {
  Dwarf_Attribute memory;
  for (unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (Dwarf_Attribute *found = dwarf_attr_integrate(&die, attribute, &memory))
      if (const char *name = dwarf_formstring(found))
        return functionName(name);
  const char *name = dwarf_diename(&die);
  if (!name)
    return "";
  // A constructor has no name for the linker: its class is around its
  // declaration.
  Dwarf_Die declared = die, next;
  for (unsigned attribute : {DW_AT_abstract_origin, DW_AT_specification})
    if (dwarf_attr(&declared, attribute, &memory) &&
        dwarf_formref_die(&memory, &next))
      declared = next;
  std::string text = name;
  Dwarf_Die *scopes = nullptr;
  int count = dwarf_getscopes_die(&declared, &scopes);
  for (int i = 1; i < count; ++i) {
    int tag = dwarf_tag(&scopes[i]);
    const char *outer = dwarf_diename(&scopes[i]);
    if (outer && (tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
                  tag == DW_TAG_namespace))
      text = std::string(outer) + "::" + text;
  }
  free(scopes);
  return text;
}

/// An inlined function has many entries with one name, which takes a search
/// through the unit if the linker does not know it.
const std::string &DwarfFile::nameOfFunction(Dwarf_Die &die) {
  Dwarf_Attribute memory;
  Dwarf_Die origin = die;
  if (dwarf_attr(&die, DW_AT_abstract_origin, &memory))
    dwarf_formref_die(&memory, &origin);
  auto [entry, isNew] = names.try_emplace(origin.addr);
  if (isNew)
    entry->second = findName(die);
  return entry->second;
}

/// The call of the inlined function \p die.
static void addCallPlace(Dwarf_Die &unit, Dwarf_Die &die, SourceFrame &frame) {
  Dwarf_Files *files = nullptr;
  size_t count = 0;
  uint64_t file = getNumber(die, DW_AT_call_file).value_or(0);
  const char *name = nullptr;
  if (!dwarf_getsrcfiles(&unit, &files, &count) && file < count)
    name = dwarf_filesrc(files, file, nullptr, nullptr);
  frame.file = name ? name : "";
  frame.line = unsigned(getNumber(die, DW_AT_call_line).value_or(0));
  frame.column = unsigned(getNumber(die, DW_AT_call_column).value_or(0));
}

static SourceFrame readLine(Dwarf_Die &unit, uint64_t address) {
  SourceFrame frame;
  Dwarf_Line *found = dwarf_getsrc_die(&unit, address);
  int line = 0, column = 0;
  const char *file = found ? dwarf_linesrc(found, nullptr, nullptr) : nullptr;
  if (!file || dwarf_lineno(found, &line) || line <= 0)
    return frame;
  frame.file = file;
  frame.line = unsigned(line);
  if (!dwarf_linecol(found, &column) && column > 0)
    frame.column = unsigned(column);
  return frame;
}

DebugInfo::DebugInfo(const std::string &path)
    : theFunctions(path), dwarf(std::make_unique<DwarfFile>(path)) {}

DebugInfo::~DebugInfo() = default;

SourceFrame DebugInfo::line(uint64_t address) {
  DwarfFile::Unit *unit = dwarf->findUnit(address);
  return unit ? readLine(unit->die, address) : SourceFrame();
}

const std::vector<SourceFrame> &DebugInfo::frames(uint64_t address) {
  auto [entry, isNew] = known.try_emplace(address);
  std::vector<SourceFrame> &result = entry->second;
  if (!isNew)
    return result;
  const FunctionTable::Function *function = theFunctions.find(address);
  DwarfFile::Unit *unit = dwarf->findUnit(address);
  SourceFrame next = line(address);
  for (Dwarf_Die &scope : dwarf->findScopes(address)) {
    if (!isFunction(scope))
      continue;
    next.function = dwarf->nameOfFunction(scope);
    next.isInlined = dwarf_tag(&scope) == DW_TAG_inlined_subroutine;
    std::optional<Dwarf_Die> type = getType(scope);
    next.returnsPointer = type && dwarf_tag(&*type) == DW_TAG_pointer_type;
    result.push_back(next);
    next = SourceFrame();
    if (result.back().isInlined)
      addCallPlace(unit->die, scope, next);
  }
  if (result.empty() && (function || next.line)) {
    next.function = function ? functionName(function->name) : "";
    result.push_back(next);
  }
  return result;
}

/// The scopes of the call, from those of function \p number of \p frames on;
/// none: it has no such function.
static std::vector<Dwarf_Die>
selectScopes(DwarfFile &dwarf, const std::vector<SourceFrame> &frames,
             uint64_t returnAddress, size_t number) {
  std::vector<Dwarf_Die> scopes = dwarf.findScopes(returnAddress - 1);
  if (scopes.empty() || number >= frames.size())
    return {};
  auto outer = scopes.begin();
  for (size_t inner = 0; inner < number; ++outer)
    inner += dwarf_tag(&*outer) == DW_TAG_inlined_subroutine;
  scopes.erase(scopes.begin(), outer);
  return scopes;
}

std::string DebugInfo::receiver(uint64_t returnAddress, size_t number) {
  const std::vector<SourceFrame> &all = frames(returnAddress - 1);
  std::vector<Dwarf_Die> scopes =
      selectScopes(*dwarf, all, returnAddress, number);
  return scopes.empty()
             ? ""
             : findReceiver(*dwarf, {returnAddress, scopes, all[number]}).text;
}

bool DebugInfo::mayPassOn(uint64_t returnAddress, size_t number) {
  std::optional<size_t> keeper = findKeeper(returnAddress);
  if (keeper && *keeper <= number)
    return false;
  const std::vector<SourceFrame> &all = frames(returnAddress - 1);
  std::vector<Dwarf_Die> scopes =
      selectScopes(*dwarf, all, returnAddress, number);
  auto function = find_if(scopes, isFunction);
  if (function == scopes.end())
    return true;
  std::optional<Dwarf_Die> result = getType(*function);
  Named variable = findReceiver(*dwarf, {returnAddress, scopes, all[number]});
  return !result || !variable.type || mayReturn(*result, *variable.type);
}

std::string DebugInfo::object(uint64_t returnAddress, size_t number,
                              StringRef className) {
  const std::vector<SourceFrame> &all = frames(returnAddress - 1);
  std::vector<Dwarf_Die> scopes =
      selectScopes(*dwarf, all, returnAddress, number);
  return scopes.empty()
             ? ""
             : findObject(*dwarf, {returnAddress, scopes, all[number]},
                          className);
}

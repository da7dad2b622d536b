// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses of libdw that the files of this folder share.

#pragma once

#include "DebugInfo/DebugInfo.h"
#include <elfutils/libdw.h>
#include <map>
#include <optional>

namespace mpg {

/// One file's debug information.
struct DwarfFile {
  struct Unit {
    Dwarf_Addr start, end;
    Dwarf_Die die;
  };

  explicit DwarfFile(const std::string &path);
  ~DwarfFile();
  DwarfFile(const DwarfFile &) = delete;

  /// Null: none has it.
  Unit *findUnit(uint64_t address);
  /// The scopes around \p address, innermost first, up to the function that has
  /// its code.
  std::vector<Dwarf_Die> findScopes(uint64_t address);
  /// As in the source: "solve", "Grid::Grid".
  const std::string &nameOfFunction(Dwarf_Die &die);

  std::string path; ///< of the program or library
  int fd = -1;
  Dwarf *info = nullptr;   ///< null: there is none
  std::vector<Unit> units; ///< by address
  std::vector<Dwarf_Die> allUnits;

private:
  bool open(const std::string &path);
  void addUnits();

  std::map<const void *, std::string> names; ///< of functions, by entry
};

/// A number of \p die or of what it is an instance of.
std::optional<uint64_t> getNumber(Dwarf_Die &die, unsigned attribute);
/// The type of \p die without typedefs and qualifiers.
std::optional<Dwarf_Die> getType(Dwarf_Die &die);

/// With its own code, or inlined.
bool isFunction(Dwarf_Die die);

/// A call, and the place in the source to which its block is attributed.
struct CallPlace {
  uint64_t returnAddress;
  const std::vector<Dwarf_Die> &scopes; ///< \see DwarfFile::findScopes
  const SourceFrame &frame;
};

/// A variable or a part of one.
struct Named {
  std::string text; ///< empty: none was found
  std::optional<Dwarf_Die> type;
};

/// \see DebugInfo::receiver
Named findReceiver(DwarfFile &dwarf, const CallPlace &call);
/// Whether a function that returns \p result may return a pointer that \p type
/// has: not if they point to different things.
bool mayReturn(Dwarf_Die result, Dwarf_Die type);
/// \see DebugInfo::object
std::string findObject(DwarfFile &dwarf, const CallPlace &call,
                       llvm::StringRef className);

} // namespace mpg

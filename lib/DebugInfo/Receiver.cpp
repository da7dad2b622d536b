// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variable gets what a call returns. There are three signs: a declaration
// on the line of the call, the instruction that stores the result, and a
// variable that comes to life in a register right after the call.

#include "DebugInfo/ReturnedValue.h"
#include "Support/Files.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <dwarf.h>

using namespace llvm;
using namespace mpg;

/// Whether a variable of the type can hold a block of memory, or own one.
static bool mayHold(Dwarf_Die &variable) {
  std::optional<Dwarf_Die> type = getType(variable);
  if (!type)
    return false;
  switch (dwarf_tag(&*type)) {
  case DW_TAG_pointer_type:
  case DW_TAG_class_type:
  case DW_TAG_structure_type:
    return true;
  case DW_TAG_array_type: // Fortran's allocatable, or its elements hold them
    return dwarf_hasattr(&*type, DW_AT_data_location) || mayHold(*type);
  default:
    return false;
  }
}

bool mpg::isReservedName(StringRef name) {
  return name.size() > 1 && name[0] == '_' &&
         (name[1] == '_' || isUpper(name[1]));
}

static bool isReserved(Dwarf_Die &die) {
  const char *name = dwarf_diename(&die);
  return name && isReservedName(name);
}

/// Calls \p visit with each variable of \p scope that may hold a block.
static void forEachVariable(Dwarf_Die scope,
                            function_ref<void(Dwarf_Die &)> visit) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child))
    return;
  do
    if (dwarf_tag(&child) == DW_TAG_variable && !isReserved(child) &&
        mayHold(child))
      visit(child);
  while (!dwarf_siblingof(&child, &child));
}

/// As forEachVariable(), for pointers and references, also to parameters.
static void forEachPointer(Dwarf_Die scope,
                           function_ref<void(Dwarf_Die &)> visit) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child))
    return;
  do {
    int tag = dwarf_tag(&child);
    std::optional<Dwarf_Die> type = getType(child);
    int kind = type ? dwarf_tag(&*type) : DW_TAG_invalid;
    if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
        !isReserved(child) &&
        (kind == DW_TAG_pointer_type || kind == DW_TAG_reference_type))
      visit(child);
  } while (!dwarf_siblingof(&child, &child));
}

static std::string getName(Dwarf_Die &die) {
  const char *name = dwarf_diename(&die);
  return name ? name : "";
}

// A declaration

/// The file that \p die is declared in; empty: not known. As
/// dwarf_decl_file(), which ends the process for some split debug information.
static std::string declaringFile(Dwarf_Die die) {
  Dwarf_Attribute memory;
  Dwarf_Word number;
  for (int depth = 0; depth < 4; ++depth) {
    if (Dwarf_Attribute *found = dwarf_attr(&die, DW_AT_decl_file, &memory)) {
      Dwarf_Die unit;
      Dwarf_Files *files;
      size_t count;
      if (dwarf_formudata(found, &number) ||
          !dwarf_diecu(&die, &unit, nullptr, nullptr) ||
          dwarf_getsrcfiles(&unit, &files, &count) || number >= count)
        return "";
      const char *name = dwarf_filesrc(files, number, nullptr, nullptr);
      return name ? name : "";
    }
    Dwarf_Attribute *origin = dwarf_attr(&die, DW_AT_abstract_origin, &memory);
    if (!origin)
      origin = dwarf_attr(&die, DW_AT_specification, &memory);
    if (!origin || !dwarf_formref_die(origin, &die))
      return "";
  }
  return "";
}

/// Whether the source has \p word at the place of \p frame, if the source is
/// there. clang writes no columns of declarations.
static bool isAt(const SourceFrame &frame, StringRef word) {
  auto file = readUnmapped(frame.file);
  if (!file || !frame.column)
    return false;
  StringRef text = (*file)->getBuffer();
  for (unsigned line = 1; line < frame.line; ++line)
    text = text.split('\n').second;
  text = text.split('\n').first.drop_front(
      std::min<size_t>(frame.column - 1, text.size()));
  if (!text.consume_front(word))
    return false;
  return text.empty() || !(isAlnum(text[0]) || text[0] == '_');
}

/// The variable that is declared on the call's line; the last one in front of
/// the call if there are several.
static Named findDeclared(const CallPlace &call) {
  Named best, here;
  int bestColumn = -1;
  bool isClear = true;
  auto inspect = [&](Dwarf_Die &variable) {
    int line = 0, column = 0;
    if (dwarf_decl_line(&variable, &line) ||
        unsigned(line) != call.frame.line ||
        declaringFile(variable) != call.frame.file)
      return;
    dwarf_decl_column(&variable, &column);
    if (!column && isAt(call.frame, getName(variable)))
      here = {getName(variable), getType(variable)};
    if (call.frame.column && unsigned(column) > call.frame.column)
      return;
    isClear = best.text.empty() || (call.frame.column && column != bestColumn);
    if (column > bestColumn) {
      best = {getName(variable), getType(variable)};
      bestColumn = column;
    }
  };
  for (const Dwarf_Die &scope : call.scopes)
    forEachVariable(scope, inspect);
  return isClear ? best : here;
}

// A store

/// The operation of the place of \p variable, with its offset added; DW_OP_addr
/// for all forms of an address. None: the place needs more, or there is none.
static std::optional<Dwarf_Op> findPlace(Dwarf_Die &variable,
                                         uint64_t address) {
  Dwarf_Attribute memory;
  Dwarf_Op *operations[1];
  size_t counts[1];
  Dwarf_Attribute *found =
      dwarf_attr_integrate(&variable, DW_AT_location, &memory);
  if (!found ||
      dwarf_getlocation_addr(found, address, operations, counts, 1) != 1)
    return std::nullopt;
  // gfortran keeps variables that nested functions share in one structure.
  bool isSum = counts[0] == 2 && operations[0][1].atom == DW_OP_plus_uconst;
  if (counts[0] != 1 && !isSum)
    return std::nullopt;
  Dwarf_Op operation = operations[0][0];
  Dwarf_Attribute indexed;
  Dwarf_Addr value;
  if ((operation.atom == DW_OP_addrx ||
       operation.atom == DW_OP_GNU_addr_index) &&
      !dwarf_getlocation_attr(found, operations[0], &indexed) &&
      !dwarf_formaddr(&indexed, &value)) {
    operation.atom = DW_OP_addr;
    operation.number = value;
  }
  if (isSum)
    operation.number += operations[0][1].number;
  return operation;
}

static bool isAggregate(Dwarf_Die &type) {
  int kind = dwarf_tag(&type);
  return kind == DW_TAG_structure_type || kind == DW_TAG_class_type;
}

/// "name[3]", if \p array is one of C with one dimension that has pointers.
static std::optional<Named> findElement(const std::string &name,
                                        Dwarf_Die &array, uint64_t offset) {
  constexpr uint64_t pointerBytes = 8;
  Dwarf_Die dimension;
  Dwarf_Word bytes;
  std::optional<Dwarf_Die> element = getType(array);
  bool isKnown = dwarf_tag(&array) == DW_TAG_array_type && element &&
                 dwarf_tag(&*element) == DW_TAG_pointer_type &&
                 !dwarf_hasattr(&array, DW_AT_data_location) &&
                 !dwarf_child(&array, &dimension) &&
                 dwarf_siblingof(&dimension, &dimension) &&
                 !dwarf_aggregate_size(&array, &bytes);
  if (!isKnown || offset >= bytes || offset % pointerBytes)
    return std::nullopt;
  return Named{name + "[" + std::to_string(offset / pointerBytes) + "]",
               element};
}

/// The member of \p type at \p offset, with a dot in front, without what it is
/// made of in the library.
static Named memberAt(Dwarf_Die type, uint64_t offset, unsigned depth) {
  Dwarf_Die child;
  if (!depth || dwarf_child(&type, &child))
    return {};
  do {
    int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
      continue;
    uint64_t start = getNumber(child, DW_AT_data_member_location).value_or(0);
    std::optional<Dwarf_Die> of = getType(child);
    Dwarf_Word bytes = 8;
    if (!of || offset < start ||
        (dwarf_aggregate_size(&*of, &bytes) == 0 && offset >= start + bytes))
      continue;
    if (tag == DW_TAG_member && isReserved(child))
      return {};
    std::string name = tag == DW_TAG_member ? "." + getName(child) : "";
    if (name == ".") // a union or structure without a name
      name = "";
    if (isAggregate(*of)) {
      Named inner = memberAt(*of, offset - start, depth - 1);
      return {name + inner.text, inner.text.empty() ? of : inner.type};
    }
    if (std::optional<Named> element = findElement(name, *of, offset - start))
      return *element;
    return offset - start < 8 ? Named{name, of} : Named();
  } while (!dwarf_siblingof(&child, &child));
  return {};
}

static constexpr unsigned maxDepth = 8;

/// "grid", "grid.cells"; none: \p offset is not in \p variable.
static Named nameAt(Dwarf_Die &variable, int64_t offset) {
  std::optional<Dwarf_Die> type = getType(variable);
  if (!type || offset < 0)
    return {};
  std::string name = getName(variable);
  if (std::optional<Named> element = findElement(name, *type, uint64_t(offset)))
    return *element;
  if (!isAggregate(*type))
    return offset == 0 ? Named{name, type} : Named();
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&*type, &bytes) || uint64_t(offset) >= bytes)
    return {};
  Named member = memberAt(*type, uint64_t(offset), maxDepth);
  return {name + member.text, member.text.empty() ? type : member.type};
}

/// "atoms->r", "r" of this object, "*table": what is \p offset bytes from where
/// \p pointer points to.
static Named findBehind(Named pointer, int64_t offset) {
  int kind = pointer.type ? dwarf_tag(&*pointer.type) : DW_TAG_invalid;
  bool isPointer = kind == DW_TAG_pointer_type;
  if (!(isPointer || kind == DW_TAG_reference_type) || offset < 0)
    return {};
  std::optional<Dwarf_Die> type = getType(*pointer.type);
  if (!type)
    return {};
  if (!isAggregate(*type)) {
    bool isOne = offset == 0 && dwarf_tag(&*type) == DW_TAG_pointer_type;
    return isOne ? Named{(isPointer ? "*" : "") + pointer.text, type} : Named();
  }
  Named member = memberAt(*type, uint64_t(offset), maxDepth);
  if (member.text.empty()) // an object of the library
    return offset || pointer.text == "this"
               ? Named()
               : Named{(isPointer ? "*" : "") + pointer.text, type};
  std::string name = StringRef(member.text).drop_front().str();
  if (pointer.text == "this")
    return {name, member.type};
  if (pointer.text[0] == '*')
    pointer.text = "(" + pointer.text + ")";
  return {pointer.text + (isPointer ? "->" : ".") + name, member.type};
}

/// The variable of a unit, a namespace or a module that is at \p address.
static Named findGlobal(Dwarf_Die scope, uint64_t address, unsigned depth) {
  Named result;
  forEachVariable(scope, [&](Dwarf_Die &variable) {
    std::optional<Dwarf_Op> place = findPlace(variable, 0);
    if (result.text.empty() && place && place->atom == DW_OP_addr)
      result = nameAt(variable, int64_t(address - place->number));
  });
  Dwarf_Die child;
  if (!result.text.empty() || !depth || dwarf_child(&scope, &child))
    return result;
  do {
    int tag = dwarf_tag(&child);
    if (tag == DW_TAG_namespace || tag == DW_TAG_module)
      result = findGlobal(child, address, depth - 1);
  } while (result.text.empty() && !dwarf_siblingof(&child, &child));
  return result;
}

static Named findGlobal(DwarfFile &dwarf, const CallPlace &call,
                        uint64_t address) {
  Named result;
  for (const Dwarf_Die &scope : call.scopes)
    if (result.text.empty())
      result = findGlobal(scope, address, 0);
  // Fortran nests functions.
  Dwarf_Die function = call.scopes.back(), *around = nullptr;
  int count = dwarf_getscopes_die(&function, &around);
  for (int at = 1; at < count && result.text.empty(); ++at)
    result = findGlobal(around[at], address, 0);
  free(around);
  for (const Dwarf_Die &unit : dwarf.allUnits)
    if (result.text.empty())
      result = findGlobal(unit, address, maxDepth);
  return result;
}

/// Bytes from what variables of the frame count from to \p place; none: it is
/// elsewhere.
static std::optional<int64_t> getVariableOffset(Dwarf_Die function,
                                                const MemoryPlace &place) {
  Dwarf_Attribute memory;
  Dwarf_Op *base;
  size_t count;
  if (!dwarf_attr_integrate(&function, DW_AT_frame_base, &memory) ||
      dwarf_getlocation(&memory, &base, &count) || count != 1)
    return std::nullopt;
  if (base->atom == DW_OP_call_frame_cfa)
    return place.fromFrame;
  if (base->atom == DW_OP_reg0 + place.base)
    return place.offset;
  return std::nullopt;
}

/// Whether \p call is in front of the declaration in the same function, which
/// is that of the first scopes.
static bool isDeclaredLater(const CallPlace &call, const Dwarf_Die &scope,
                            Dwarf_Die &variable) {
  int line = 0;
  auto function = find_if(call.scopes, isFunction);
  return &scope <= &*function && !dwarf_decl_line(&variable, &line) &&
         unsigned(line) > call.frame.line &&
         declaringFile(variable) == call.frame.file;
}

static Named findOnStack(const CallPlace &call, const MemoryPlace &place) {
  std::optional<int64_t> offset = getVariableOffset(call.scopes.back(), place);
  Named result;
  for (const Dwarf_Die &scope : call.scopes) {
    auto inspect = [&](Dwarf_Die &variable) {
      // Until the store the place may be that of another variable.
      std::optional<Dwarf_Op> its = findPlace(variable, place.validAt);
      if (!result.text.empty() || !its ||
          isDeclaredLater(call, scope, variable))
        return;
      if (offset && its->atom == DW_OP_fbreg)
        result = nameAt(variable, *offset - int64_t(its->number));
      else if (place.fromFrame && its->atom == DW_OP_breg0 + place.base)
        result = nameAt(variable, place.offset - int64_t(its->number));
    };
    forEachVariable(scope, inspect);
    forEachPointer(scope, inspect);
  }
  return result;
}

/// The object that the base register of \p place points to.
static Named findPointedTo(const CallPlace &call, const MemoryPlace &place) {
  Named result;
  auto inspect = [&](Dwarf_Die &variable) {
    std::optional<Dwarf_Op> its = findPlace(variable, place.at);
    if (result.text.empty() && its && its->atom == DW_OP_reg0 + place.base)
      result = findBehind({getName(variable), getType(variable)}, place.offset);
  };
  for (const Dwarf_Die &scope : call.scopes)
    forEachPointer(scope, inspect);
  return result;
}

/// The object that a parameter of the function pointed to when it began.
static Named findBehindParameter(const CallPlace &call,
                                 const MemoryPlace &place) {
  Named result;
  Dwarf_Die function = call.scopes.back();
  Dwarf_Addr entry;
  if (!place.fromEntry || dwarf_entrypc(&function, &entry))
    return result;
  auto inspect = [&](Dwarf_Die &variable) {
    std::optional<Dwarf_Op> its = findPlace(variable, entry);
    if (result.text.empty() && its &&
        its->atom == DW_OP_reg0 + place.fromEntry->number)
      result = findBehind({getName(variable), getType(variable)},
                          place.fromEntry->offset);
  };
  forEachPointer(function, inspect);
  return result;
}

/// The variable or member at \p place: "grid", "atoms->r".
static Named findAt(DwarfFile &dwarf, const CallPlace &call,
                    const MemoryPlace &place, unsigned depth) {
  if (place.address)
    return findGlobal(dwarf, call, place.address);
  Named result = findOnStack(call, place);
  if (result.text.empty())
    result = findPointedTo(call, place);
  if (result.text.empty())
    result = findBehindParameter(call, place);
  if (result.text.empty() && place.baseFrom && depth)
    result = findBehind(findAt(dwarf, call, *place.baseFrom, depth - 1),
                        place.offset);
  return result;
}

// A register

static constexpr uint64_t soonInRegister = 24; // bytes of code

/// The variable that first of all has a register with the value as its place,
/// before \p bytes of code after the call.
static Named findInRegister(const CallPlace &call,
                            const ReturnedValue &returned, uint64_t bytes) {
  Named result;
  Dwarf_Addr first = call.returnAddress + bytes;
  auto isHeld = [&](uint64_t address, unsigned number) {
    return !returned.isKnown || returned.isHeld(address, number);
  };
  auto inspect = [&](Dwarf_Die &variable) {
    Dwarf_Attribute memory;
    Dwarf_Attribute *found =
        dwarf_attr_integrate(&variable, DW_AT_location, &memory);
    Dwarf_Addr base = 0, start = 0, end = 0;
    Dwarf_Op *operation;
    size_t count = 0;
    ptrdiff_t at = 0;
    while (found && (at = dwarf_getlocations(found, at, &base, &start, &end,
                                             &operation, &count)) > 0)
      if (start >= call.returnAddress && start < first && count &&
          operation->atom >= DW_OP_reg0 && operation->atom <= DW_OP_reg31 &&
          isHeld(start, operation->atom - DW_OP_reg0)) {
        first = start;
        result = {getName(variable), getType(variable)};
      }
  };
  for (const Dwarf_Die &scope : call.scopes)
    forEachVariable(scope, inspect);
  return result;
}

Named mpg::findReceiver(DwarfFile &dwarf, const CallPlace &call) {
  Named found = findDeclared(call);
  if (!found.text.empty())
    return found;
  ReturnedValue returned = followReturned(dwarf, call.returnAddress);
  auto findStored = [&](uint64_t begin, uint64_t end) {
    for (const MemoryPlace &store : returned.stores)
      if (found.text.empty() && store.at >= begin && store.at < end)
        found = findAt(dwarf, call, store, maxDepth);
  };
  uint64_t soon = call.returnAddress + soonAfterCall;
  findStored(0, soon);
  if (found.text.empty())
    found = findInRegister(call, returned, soonInRegister);
  if (found.text.empty())
    findStored(soon, ~uint64_t(0));
  return found.text.empty() && returned.isKnown
             ? findInRegister(call, returned, ~uint64_t(0) >> 1)
             : found;
}

bool mpg::mayReturn(Dwarf_Die result, Dwarf_Die type) {
  std::optional<Dwarf_Die> one = result, other = type;
  while (dwarf_tag(&*one) == DW_TAG_pointer_type &&
         dwarf_tag(&*other) == DW_TAG_pointer_type) {
    one = getType(*one);
    other = getType(*other);
    if (!one || !other) // void
      return true;
  }
  Dwarf_Word bytes = 0, otherBytes = 0;
  dwarf_aggregate_size(&*one, &bytes);
  dwarf_aggregate_size(&*other, &otherBytes);
  if (bytes == 1 || otherBytes == 1) // anything
    return true;
  if (isAggregate(*one) || isAggregate(*other)) // or a base of the other
    return isAggregate(*one) && isAggregate(*other);
  return dwarf_tag(&*one) == dwarf_tag(&*other) && bytes == otherBytes;
}

std::string mpg::findObject(DwarfFile &dwarf, const CallPlace &call,
                            StringRef className) {
  ReturnedValue returned = followReturned(dwarf, call.returnAddress);
  if (!returned.argument)
    return "";
  Named found = findAt(dwarf, call, *returned.argument, maxDepth);
  if (found.text.empty() || !found.type)
    return "";
  std::string type = getName(*found.type);
  return StringRef(type).take_until([](char c) { return c == '<'; }) ==
                 className
             ? found.text
             : "";
}

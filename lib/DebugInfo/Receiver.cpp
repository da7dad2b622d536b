// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variable gets what a call returns. Three things tell: a declaration on
// the line of the call, the instruction that stores the result, and a variable
// that comes to life in a register right after the call.

#include "Code/MachineCode.h"
#include "DebugInfo/Dwarf.h"
#include "Support/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
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
  case DW_TAG_array_type: // Fortran's allocatable
    return true;
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

//===----------------------------------------------------------------------===//
// A declaration
//===----------------------------------------------------------------------===//

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
/// there. clang tells no columns of declarations.
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

/// Of several on one line the last one in front of the call.
static std::string findDeclared(const CallPlace &call) {
  std::string best, here;
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
      here = getName(variable);
    if (call.frame.column && unsigned(column) > call.frame.column)
      return;
    isClear = best.empty() || (call.frame.column && column != bestColumn);
    if (column > bestColumn) {
      best = getName(variable);
      bestColumn = column;
    }
  };
  for (const Dwarf_Die &scope : call.scopes)
    forEachVariable(scope, inspect);
  return isClear ? best : here;
}

//===----------------------------------------------------------------------===//
// A store
//===----------------------------------------------------------------------===//

namespace {
/// Where the returned value is stored: at an address, or beside a register.
struct Store {
  uint64_t at;   ///< address of the instruction
  int base = -1; ///< as Instruction counts them; below 0: none
  int64_t offset = 0;
  uint64_t address = 0;
};

/// What the code after a call does with the value that it returned.
struct Returned {
  bool isKnown = false;       ///< x86-64 only
  std::optional<Store> store; ///< the first
  /// From an address on: the registers that have the value, a bit for each.
  std::vector<std::pair<uint64_t, uint32_t>> held;
};
} // namespace

/// The store of one of the registers in \p held, if \p code is one: REX.W 89.
static std::optional<Store>
decodeStore(ArrayRef<uint8_t> code, const Instruction &decoded, uint32_t held) {
  if (code.size() < 3 || (code[0] & 0xf8) != 0x48 || code[1] != 0x89)
    return std::nullopt;
  unsigned mode = code[2] >> 6, from = (code[2] >> 3 & 7) | (code[0] & 4) << 1;
  if (mode == 3 || !(held >> from & 1))
    return std::nullopt;
  Store store;
  store.address = decoded.memory;
  if (store.address)
    return store;
  store.base = (code[2] & 7) | (code[0] & 1) << 3;
  if (held >> store.base & 1) // in the block itself
    return std::nullopt;
  size_t at = 3;
  if ((code[2] & 7) == 4) { // a second byte: only rsp or r12 without an index
    if (code.size() < 4 || (code[3] & 0x3f) != 0x24)
      return std::nullopt;
    ++at;
  }
  if (mode == 1 && code.size() > at)
    store.offset = int64_t(code[at] ^ 0x80) - 0x80; // with its sign
  else if (mode == 2 && code.size() >= at + 4)
    store.offset = support::endian::read32le(&code[at]);
  if (mode == 2)
    store.offset = int32_t(store.offset);
  return store;
}

/// Follows the value that a call has returned to \p address.
static Returned follow(const DwarfFile &dwarf, uint64_t address) {
  Returned result;
  uint8_t code[96];
  Error error = readImages(dwarf.path, [&](Image &image) {
    result.isKnown =
        image.machine() == Machine::x86_64 && image.readMemory(address, code);
  });
  consumeError(std::move(error));
  ArrayRef<uint8_t> rest = code;
  uint32_t held = 1; // rax
  while (result.isKnown && held && !rest.empty()) {
    result.held.push_back({address, held});
    Instruction next = decodeX86(rest, address);
    if (!next.valid())
      break;
    result.store = decodeStore(rest, next, held);
    if (result.store) {
      result.store->at = address;
      break;
    }
    bool isJump = next.flow == Flow::jump && next.target > address &&
                  next.target - address < rest.size();
    if (next.flow == Flow::stop || (next.flow == Flow::jump && !isJump))
      break;
    bool isCopy =
        next.copyTo >= 0 && next.copyFrom >= 0 && held >> next.copyFrom & 1;
    held &= ~next.writes;
    if (next.flow == Flow::call)
      held &= 1 << 3 | 1 << 5 | 0xf000; // those that calls keep
    if (isCopy)
      held |= 1u << next.copyTo;
    uint64_t bytes = isJump ? next.target - address : next.bytes;
    rest = rest.drop_front(bytes);
    address += bytes;
  }
  return result;
}

static constexpr int rbp = 5, rsp = 4;

/// Whether \p store keeps the value elsewhere than in a variable of the
/// function.
static bool isKept(const Store &store) {
  return store.address ||
         (store.base != rsp && (store.base != rbp || store.offset >= 0));
}

/// DWARF's number of a register of x86-64 as Instruction counts them.
static unsigned decodeRegister(unsigned number) {
  static constexpr uint8_t first[] = {0, 2, 1, 3, 6, 7, 5, 4};
  return number < 8 ? first[number] : number;
}

/// The one operation that says where \p variable is, DW_OP_addr whatever its
/// form; none: it is somewhere else or nowhere.
static std::optional<Dwarf_Op> findPlace(Dwarf_Die &variable,
                                         uint64_t address) {
  Dwarf_Attribute memory;
  Dwarf_Op *operations[1];
  size_t counts[1];
  Dwarf_Attribute *found =
      dwarf_attr_integrate(&variable, DW_AT_location, &memory);
  if (!found ||
      dwarf_getlocation_addr(found, address, operations, counts, 1) != 1 ||
      counts[0] != 1)
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
  return operation;
}

/// The member of \p type at \p offset, with a dot in front, without what it is
/// made of in the library; empty: there is none.
static std::string memberAt(Dwarf_Die type, uint64_t offset, unsigned depth) {
  Dwarf_Die child;
  if (!depth || dwarf_child(&type, &child))
    return "";
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
    int kind = dwarf_tag(&*of);
    if (tag == DW_TAG_member && isReserved(child))
      return "";
    std::string name = tag == DW_TAG_member ? "." + getName(child) : "";
    if (name == ".") // a union or structure without a name
      name = "";
    if (kind == DW_TAG_structure_type || kind == DW_TAG_class_type)
      return name + memberAt(*of, offset - start, depth - 1);
    return offset - start < 8 ? name : "";
  } while (!dwarf_siblingof(&child, &child));
  return "";
}

static constexpr unsigned maxDepth = 8;

/// "grid", "grid.cells"; empty: \p offset is not in \p variable.
static std::string nameAt(Dwarf_Die &variable, int64_t offset) {
  std::optional<Dwarf_Die> type = getType(variable);
  if (!type || offset < 0)
    return "";
  int kind = dwarf_tag(&*type);
  if (kind != DW_TAG_structure_type && kind != DW_TAG_class_type)
    return offset == 0 ? getName(variable) : "";
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&*type, &bytes) || uint64_t(offset) >= bytes)
    return "";
  return getName(variable) + memberAt(*type, uint64_t(offset), maxDepth);
}

/// The variable of a unit, a namespace or a module that is at \p address.
static std::string findGlobal(Dwarf_Die scope, uint64_t address,
                              unsigned depth) {
  std::string result;
  forEachVariable(scope, [&](Dwarf_Die &variable) {
    std::optional<Dwarf_Op> place = findPlace(variable, 0);
    if (result.empty() && place && place->atom == DW_OP_addr)
      result = nameAt(variable, int64_t(address - place->number));
  });
  Dwarf_Die child;
  if (!result.empty() || !depth || dwarf_child(&scope, &child))
    return result;
  do {
    int tag = dwarf_tag(&child);
    if (tag == DW_TAG_namespace || tag == DW_TAG_module)
      result = findGlobal(child, address, depth - 1);
  } while (result.empty() && !dwarf_siblingof(&child, &child));
  return result;
}

/// Whether \p place is the register \p number.
static bool isRegister(const Dwarf_Op &place, int number) {
  return place.atom >= DW_OP_reg0 && place.atom <= DW_OP_reg31 &&
         int(decodeRegister(place.atom - DW_OP_reg0)) == number;
}

/// Whether \p variable is at one place all the time, as without optimization.
static bool staysInPlace(Dwarf_Die &variable) {
  Dwarf_Attribute memory;
  Dwarf_Attribute *found =
      dwarf_attr_integrate(&variable, DW_AT_location, &memory);
  return found && dwarf_whatform(found) == DW_FORM_exprloc;
}

/// Whether the base of \p store has the value of \p pointer: it is there, or
/// on the stack, from where code without optimization loads it. Other code,
/// such as an inlined copy, may have another pointer in the register meanwhile.
static bool isStoredThrough(const Store &store, Dwarf_Die &pointer,
                            Dwarf_Die &function) {
  std::optional<Dwarf_Op> place = findPlace(pointer, store.at);
  return place && (isRegister(*place, store.base) ||
                   (place->atom == DW_OP_fbreg && staysInPlace(pointer) &&
                    dwarf_tag(&function) == DW_TAG_subprogram));
}

/// The member that \p store writes, of the object whose member function is \p
/// function.
static std::string findMember(Dwarf_Die function, const Store &store) {
  Dwarf_Die child;
  int64_t offset = store.offset;
  if (offset < 0 || dwarf_child(&function, &child))
    return "";
  do {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
        getName(child) != "this" || !isStoredThrough(store, child, function))
      continue;
    std::optional<Dwarf_Die> pointer = getType(child);
    std::optional<Dwarf_Die> type = pointer ? getType(*pointer) : std::nullopt;
    std::string name = type ? memberAt(*type, uint64_t(offset), maxDepth) : "";
    return name.empty() ? "" : name.substr(1);
  } while (!dwarf_siblingof(&child, &child));
  return "";
}

/// The variable of the frame at \p offset from rbp, which compilers without
/// optimization keep two words below the frame's end.
static std::string findOnStack(const CallPlace &call, int64_t offset) {
  constexpr int64_t savedBytes = 16; // return address and rbp
  Dwarf_Die function = call.scopes.back();
  Dwarf_Attribute memory;
  Dwarf_Op *base;
  size_t count;
  if (dwarf_attr_integrate(&function, DW_AT_frame_base, &memory) &&
      !dwarf_getlocation(&memory, &base, &count) && count == 1 &&
      base->atom == DW_OP_call_frame_cfa)
    offset -= savedBytes;
  std::string result;
  for (const Dwarf_Die &scope : call.scopes)
    forEachVariable(scope, [&](Dwarf_Die &variable) {
      std::optional<Dwarf_Op> place = findPlace(variable, call.returnAddress);
      if (result.empty() && place && place->atom == DW_OP_fbreg)
        result = nameAt(variable, offset - int64_t(place->number));
    });
  return result;
}

/// "atoms->r": the member of what a pointer in the base register of \p store
/// points to.
static std::string findPointedTo(const CallPlace &call, const Store &store) {
  std::string result;
  auto inspect = [&](Dwarf_Die &variable) {
    std::optional<Dwarf_Die> pointer = getType(variable);
    std::optional<Dwarf_Op> place = findPlace(variable, store.at);
    if (!result.empty() || !pointer || !place ||
        !isRegister(*place, store.base))
      return;
    std::optional<Dwarf_Die> type = getType(*pointer);
    std::string member =
        type ? memberAt(*type, uint64_t(store.offset), maxDepth) : "";
    if (!member.empty())
      result = getName(variable) +
               (dwarf_tag(&*pointer) == DW_TAG_pointer_type ? "->" : ".") +
               member.substr(1);
  };
  for (const Dwarf_Die &scope : call.scopes)
    forEachPointer(scope, inspect);
  return result;
}

static std::string findStored(DwarfFile &dwarf, const CallPlace &call,
                              const std::optional<Store> &store) {
  if (!store)
    return "";
  std::string result;
  if (store->address) {
    for (const Dwarf_Die &scope : call.scopes)
      if (result.empty())
        result = findGlobal(scope, store->address, 0);
    for (const Dwarf_Die &unit : dwarf.allUnits)
      if (result.empty())
        result = findGlobal(unit, store->address, maxDepth);
    return result;
  }
  if (store->base == rbp)
    result = findOnStack(call, store->offset);
  if (result.empty() && store->base != rsp)
    for (const Dwarf_Die &scope : call.scopes)
      if (result.empty())
        result = findMember(scope, *store);
  if (result.empty() && store->offset >= 0)
    result = findPointedTo(call, *store);
  return result;
}

//===----------------------------------------------------------------------===//
// A register
//===----------------------------------------------------------------------===//

/// The variable that first of all has a register with the value as its place
/// from right after the call on.
static std::string findInRegister(const CallPlace &call,
                                  const Returned &returned) {
  constexpr uint64_t soon = 24; // bytes of code
  std::string result;
  Dwarf_Addr first = call.returnAddress + soon;
  auto isHeld = [&](uint64_t address, unsigned number) {
    return !returned.isKnown || any_of(returned.held, [&](const auto &one) {
      return one.first >= call.returnAddress && one.first <= address &&
             one.second >> decodeRegister(number) & 1;
    });
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
        result = getName(variable);
      }
  };
  for (const Dwarf_Die &scope : call.scopes)
    forEachVariable(scope, inspect);
  return result;
}

std::string mpg::findReceiver(DwarfFile &dwarf, const CallPlace &call) {
  std::string name = findDeclared(call);
  if (!name.empty())
    return name;
  Returned returned = follow(dwarf, call.returnAddress);
  name = findStored(dwarf, call, returned.store);
  return name.empty() ? findInRegister(call, returned) : name;
}

std::optional<size_t> DebugInfo::findKeeper(uint64_t returnAddress) {
  std::optional<Store> store = follow(*dwarf, returnAddress).store;
  if (!store || !isKept(*store))
    return std::nullopt;
  size_t inner = frames(returnAddress - 1).size();
  size_t outer = frames(store->at).size();
  if (!outer)
    return std::nullopt;
  return inner > outer ? inner - outer : 0;
}

//===----------------------------------------------------------------------===//
// The call before
//===----------------------------------------------------------------------===//

/// The end of the last call in \p code, which starts at \p address, but for one
/// at its very end; 0: there is none.
static uint64_t findLastCall(ArrayRef<uint8_t> code, uint64_t address) {
  uint64_t end = address + code.size(), found = 0;
  while (!code.empty()) {
    Instruction next = decodeX86(code, address);
    if (!next.valid() || next.bytes > code.size())
      return 0;
    address += next.bytes;
    code = code.drop_front(next.bytes);
    if (next.flow == Flow::call && address < end)
      found = address;
  }
  return found;
}

uint64_t DebugInfo::getPreviousReturn(uint64_t returnAddress) {
  constexpr uint64_t maxBytes = 1 << 20;
  const FunctionTable::Function *function =
      theFunctions.find(returnAddress - 1);
  if (!function || returnAddress - function->start > maxBytes)
    return returnAddress;
  std::vector<uint8_t> code(returnAddress - function->start);
  bool isRead = false;
  Error error = readImages(dwarf->path, [&](Image &image) {
    isRead = image.machine() == Machine::x86_64 &&
             image.readMemory(function->start, code);
  });
  consumeError(std::move(error));
  uint64_t found = isRead ? findLastCall(code, function->start) : 0;
  if (!found)
    return returnAddress;
  std::vector<SourceFrame> before = frames(found - 1);
  const std::vector<SourceFrame> &here = frames(returnAddress - 1);
  bool isSame = before.size() == here.size();
  for (size_t at = 0; isSame && at < here.size(); ++at)
    isSame = before[at].function == here[at].function &&
             before[at].file == here[at].file &&
             before[at].line == here[at].line;
  return isSame ? found : returnAddress;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Diagnostics.h.

#include "base/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

std::string SourceLine::text() const {
  return file.empty() ? "" : file + ":" + std::to_string(line) + ": ";
}

namespace {
class Diagnostic : public DiagnosticInfo {
public:
  Diagnostic(const Twine &text, DiagnosticSeverity severity)
      : DiagnosticInfo(kind(), severity), text(text.str()) {}
  void print(DiagnosticPrinter &printer) const override { printer << text; }

private:
  static int kind() {
    static int kind = getNextAvailablePluginDiagnosticKind();
    return kind;
  }
  std::string text;
};
} // namespace

void mpg::warn(LLVMContext &context, const SourceLine &where,
               const Twine &text) {
  context.diagnose(Diagnostic(where.text() + text, DS_Warning));
}

void mpg::fail(LLVMContext &context, const Twine &text) {
  context.diagnose(Diagnostic(text, DS_Error));
}

/// Debug information does not say which headers are the system's.
static bool isSystemHeader(const DIScope *scope) {
  if (!scope)
    return false;
  // Clang cuts off what the file and the current folder have in common.
  SmallString<128> path(scope->getDirectory());
  if (sys::path::is_absolute(scope->getFilename()))
    path.clear();
  sys::path::append(path, scope->getFilename());
  StringRef file = path;
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         file.contains("/include/c++/") || file.contains("/lib/clang/");
}

void mpg::remarkNoEffect(Module &module, StringRef option, StringRef reason) {
  auto isDefined = [](Function &one) { return !one.isDeclaration(); };
  auto function = find_if(module, [&](Function &one) {
    return isDefined(one) && !isSystemHeader(one.getSubprogram());
  });
  if (function == module.end())
    function = find_if(module, isDefined);
  if (function == module.end())
    return;
  OptimizationRemarkMissed remark(remarkPass, "NoEffect",
                                  DiagnosticLocation(function->getSubprogram()),
                                  &function->getEntryBlock());
  remark << ore::NV("Option", option)
         << " has no effect: " << ore::NV("Reason", reason);
  OptimizationRemarkEmitter(&*function).emit(remark);
}

/// Only what a message shows: copies of code by the optimiser differ in other
/// things, and their messages would be taken for different ones.
static DILocation *plainLocation(DILocation *at) {
  DILocalScope *scope = at->getScope()->getNonLexicalBlockFileScope();
  DISubprogram *function = scope->getSubprogram();
  // A block may be in a file that was included into the function.
  if (function && function->getFile() == at->getFile())
    scope = function;
  else
    scope = at->getScope();
  return DILocation::get(at->getContext(), at->getLine(), at->getColumn(),
                         scope);
}

DebugLoc mpg::userLocation(DebugLoc location) {
  for (DILocation *at = location.get(); at; at = at->getInlinedAt())
    if (!isSystemHeader(at->getScope()))
      return plainLocation(at);
  return location;
}

bool mpg::isUserCode(const DebugLoc &location) {
  return !location || !isSystemHeader(location->getScope());
}

bool RemarkPlaces::isNew(StringRef name, const DebugLoc &location,
                         const BasicBlock &block, StringRef subject) {
  // Without lines a place is its function.
  Place place(name.str(), block.getParent()->getName().str(), 0, 0,
              subject.str());
  if (location)
    place = Place(name.str(), location->getFilename().str(), location.getLine(),
                  location.getCol(), subject.str());
  return places.insert(place).second;
}

void RemarkPlaces::missed(StringRef name, const DebugLoc &location,
                          const BasicBlock &block, AddText addText) {
  DebugLoc where = userLocation(location);
  if (!isUserCode(where))
    return;
  if (!isNew(name, where, block))
    return;
  OptimizationRemarkMissed remark(remarkPass, name, where, &block);
  addText(remark);
  OptimizationRemarkEmitter(block.getParent()).emit(remark);
}

void RemarkPlaces::missed(StringRef name, const Instruction &at,
                          AddText addText) {
  missed(name, at.getDebugLoc(), *at.getParent(), addText);
}

SmallVector<DbgVariableRecord *, 4> mpg::findDebugRecords(Value &value) {
  SmallVector<DbgVariableRecord *, 4> records;
#if LLVM_VERSION_MAJOR >= 22
  findDbgUsers(&value, records);
#else
  SmallVector<DbgVariableIntrinsic *, 1> calls; // of old bitcode
  findDbgUsers(calls, &value, &records);
#endif
  return records;
}

static std::string nameOfGlobal(const GlobalVariable &global) {
  SmallVector<DIGlobalVariableExpression *, 1> infos;
  global.getDebugInfo(infos);
  // A common block has an entry for each of its variables.
  if (infos.size() == 1)
    return infos.front()->getVariable()->getName().str();
  StringRef name = global.getName();
  // Flang: _QM<module>E<variable>, _QF<procedure>E<variable>; block_
  if (name.starts_with("_Q"))
    // Descriptors are taken apart into variables with a number.
    return name.rsplit('E').second.split('.').first.str();
  return demangle(name.str());
}

/// Whether \p a comes before \p b, in the same block.
static bool isBefore(const DbgVariableRecord *a, const DbgVariableRecord *b) {
  if (a->getInstruction() != b->getInstruction())
    return a->getInstruction()->comesBefore(b->getInstruction());
  for (const DbgRecord &record : a->getInstruction()->getDbgRecordRange())
    if (&record == a || &record == b)
      return &record == a && a != b;
  return false;
}

/// Sorts by the order of the code. Only blocks that hold a record get a place:
/// a map of all blocks for each array made a long function take quadratic time.
static void sortByCode(const Function &function,
                       SmallVectorImpl<const DbgVariableRecord *> &records) {
  SmallDenseMap<const BasicBlock *, unsigned, 4> places;
  for (const DbgVariableRecord *record : records)
    places.try_emplace(record->getParent());
  unsigned found = 0;
  if (places.size() > 1)
    for (const BasicBlock &block : function)
      if (auto place = places.find(&block); place != places.end()) {
        place->second = found++;
        if (found == places.size())
          break;
      }
  llvm::sort(records, [&](const auto *a, const auto *b) {
    return a->getParent() == b->getParent()
               ? isBefore(a, b)
               : places.lookup(a->getParent()) < places.lookup(b->getParent());
  });
}

/// Debug records of \p function about the place of \p value, in the order of
/// the code. Found by the uses of the value, because every array of a file is
/// queried, and the function may be the whole file.
static SmallVector<const DbgVariableRecord *, 4>
recordsIn(const Function &function, const Value &value) {
  SmallVector<const DbgVariableRecord *, 4> records;
  for (const DbgVariableRecord *record :
       findDebugRecords(const_cast<Value &>(value)))
    if (record->getFunction() == &function && record->getInstruction() &&
        is_contained(record->location_ops(), &value))
      records.push_back(record);
  sortByCode(function, records);
  return records;
}

/// The source variable that holds \p value according to the debug information
/// of \p function.
static std::string nameInDebugInfo(const Function &function,
                                   const Value &value) {
  for (const DbgVariableRecord *record : recordsIn(function, value))
    if (isUserCode(record->getDebugLoc()))
      return record->getVariable()->getName().str();
  return "";
}

namespace {
/// The class that a pointer leads to, behind so many pointers.
struct Pointee {
  const DICompositeType *whole = nullptr;
  unsigned pointers = 0;
};
} // namespace

static Pointee getPointee(const DIType *type, unsigned pointers) {
  for (;;) {
    auto *whole = dyn_cast_or_null<DICompositeType>(type);
    if (whole && whole->getTag() == dwarf::DW_TAG_array_type) {
      // Fortran's descriptors begin with a pointer to the data.
      pointers += whole->getRawDataLocation() != nullptr;
      type = whole->getBaseType();
      continue;
    }
    auto *derived = dyn_cast_or_null<DIDerivedType>(type);
    if (!derived)
      return {whole, pointers};
    unsigned tag = derived->getTag();
    pointers += tag == dwarf::DW_TAG_pointer_type ||
                tag == dwarf::DW_TAG_reference_type;
    type = derived->getBaseType();
  }
}

/// Where variables have the value \p pointer, or are there: the largest.
static Pointee findPointee(const Value &pointer, const Function &function) {
  // isDbgDeclare is not const in LLVM 19.
  constexpr auto declared = DbgVariableRecord::LocationType::Declare;
  Pointee found;
  SmallVector<DIGlobalVariableExpression *, 1> globals;
  if (auto *global = dyn_cast<GlobalVariable>(&pointer))
    global->getDebugInfo(globals);
  if (globals.size() == 1)
    return getPointee(globals.front()->getVariable()->getType(), 1);
  for (const DbgVariableRecord *record : recordsIn(function, pointer)) {
    Pointee here = getPointee(record->getVariable()->getType(),
                              record->getType() == declared ? 1 : 0);
    if (here.whole && (!found.whole || here.whole->getSizeInBits() >
                                           found.whole->getSizeInBits()))
      found = here;
  }
  return found;
}

/// The member of \p whole at \p bits, or of a class that it is derived from.
static const DIDerivedType *findMember(const DICompositeType &whole,
                                       uint64_t bits) {
  for (const DINode *element : whole.getElements()) {
    auto *part = dyn_cast<DIDerivedType>(element);
    if (!part || part->isStaticMember() || part->isVirtual())
      continue;
    uint64_t inside = bits - part->getOffsetInBits();
    if (part->getTag() == dwarf::DW_TAG_member &&
        inside < part->getSizeInBits())
      return part;
    auto *base = dyn_cast_or_null<DICompositeType>(part->getBaseType());
    if (part->getTag() == dwarf::DW_TAG_inheritance && base &&
        inside < base->getSizeInBits())
      if (const DIDerivedType *found = findMember(*base, inside))
        return found;
  }
  return nullptr;
}

/// \p address less what it is a constant distance from.
static std::pair<const Value *, uint64_t>
splitAddress(const Value &address, const DataLayout &layout) {
  APInt offset(layout.getIndexTypeSizeInBits(address.getType()), 0);
  const Value *base =
      address.stripAndAccumulateConstantOffsets(layout, offset, true);
  return {base, offset.getZExtValue()};
}

/// What \p pointer leads to, also if it is allocated here, or loaded from a
/// member or through a pointer to it.
static Pointee resolvePointee(const Value &pointer, const Function &function,
                              unsigned depth = 4) {
  Pointee found = findPointee(pointer, function);
  // Clang tells what a `new` is for.
  if (auto *call = dyn_cast<CallBase>(&pointer); call && !found.whole)
    found = getPointee(
        dyn_cast_or_null<DIType>(call->getMetadata("heapallocsite")), 1);
  auto *load = dyn_cast<LoadInst>(&pointer);
  auto *element = dyn_cast<GEPOperator>(&pointer);
  if (found.whole || !depth)
    return found;
  if (element && element->getNumIndices() == 1) {
    Pointee array =
        resolvePointee(*element->getPointerOperand(), function, depth - 1);
    uint64_t bits = function.getDataLayout().getTypeSizeInBits(
        element->getSourceElementType());
    return array.whole && bits == array.whole->getSizeInBits() ? array
                                                               : Pointee();
  }
  if (!load)
    return found;
  auto [base, offset] =
      splitAddress(*load->getPointerOperand(), function.getDataLayout());
  Pointee from = resolvePointee(*base, function, depth - 1);
  if (!from.whole)
    return {};
  if (from.pointers > 1)
    return offset ? Pointee() : Pointee{from.whole, from.pointers - 1};
  const DIDerivedType *member = findMember(*from.whole, offset * 8);
  return member ? getPointee(member->getBaseType(), 0) : Pointee();
}

/// "field.density": down to a member without members, or a class of a library.
static std::string getMemberPath(const DICompositeType &whole, uint64_t bits) {
  const DIDerivedType *member = findMember(whole, bits);
  if (!member || member->getName().starts_with("_"))
    return "";
  auto *inner = dyn_cast_or_null<DICompositeType>(member->getBaseType());
  bool isClass = inner && inner->getTag() != dwarf::DW_TAG_array_type;
  std::string rest =
      isClass ? getMemberPath(*inner, bits - member->getOffsetInBits()) : "";
  return member->getName().str() + (rest.empty() ? "" : "." + rest);
}

std::string mpg::getMemberName(const Value &address) {
  auto *at = dyn_cast<Instruction>(&address);
  auto *argument = dyn_cast<Argument>(&address);
  const Function *function = at         ? at->getFunction()
                             : argument ? argument->getParent()
                                        : nullptr;
  if (!function)
    return getVariableName(address);
  auto [base, offset] = splitAddress(address, function->getDataLayout());
  Pointee whole = resolvePointee(*base, *function);
  if (std::string name; whole.whole && whole.pointers == 1) {
    name = getMemberPath(*whole.whole, offset * 8);
    if (!name.empty())
      return name;
  }
  return getVariableName(address);
}

std::string mpg::getVariableName(const Value &address) {
  const Value *object = getUnderlyingObject(&address);
  if (auto *global = dyn_cast<GlobalVariable>(object))
    return nameOfGlobal(*global);
  const Function *function = nullptr;
  if (auto *argument = dyn_cast<Argument>(object))
    function = argument->getParent();
  if (auto *instruction = dyn_cast<Instruction>(object))
    function = instruction->getFunction();
  if (!function)
    return "";
  std::string name = nameInDebugInfo(*function, *object);
  // A pointer that is shared by reference is loaded from the variable.
  if (auto *load = dyn_cast<LoadInst>(object); load && name.empty())
    name = getVariableName(*load->getPointerOperand());
  return name;
}

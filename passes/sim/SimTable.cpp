// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim/SimTable.h"
#include "base/Diagnostics.h"
#include "mpg/sim.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace mpg;

/// Names may hold anything; a line must stay one.
static std::string oneWord(StringRef name) {
  std::string word = name.str();
  for (char &letter : word)
    if (static_cast<unsigned char>(letter) < ' ')
      letter = '?';
  return word.empty() ? "?" : word;
}

SimTable::SimTable(Module &module) : module(module) {
  Type *number = Type::getInt64Ty(module.getContext());
  first = new GlobalVariable(module, number, /*isConstant=*/false,
                             GlobalValue::InternalLinkage,
                             ConstantInt::get(number, 0), "mpg.sim.first");
  sampled = new GlobalVariable(module, Type::getInt8Ty(module.getContext()),
                               /*isConstant=*/false,
                               GlobalValue::ExternalLinkage, nullptr);
  text = ("mpgsim\t" + Twine(MPG_SIM_VERSION) + "\t" +
          Triple(module.getTargetTriple()).str() + "\n")
             .str();
}

unsigned SimTable::getNumber(StringMap<unsigned> &numbers, const Twine &line) {
  std::string words = line.str();
  auto [place, isNew] = numbers.try_emplace(words, numbers.size());
  if (isNew)
    text += words + "\n";
  return place->second;
}

unsigned SimTable::getFile(const DebugLoc &location, const Function &function) {
  StringRef path = module.getSourceFileName();
  if (location)
    path = location->getFilename();
  else if (const DISubprogram *subprogram = function.getSubprogram())
    path = subprogram->getFilename();
  return numberOfFile(path);
}

unsigned SimTable::numberOfFile(StringRef path) {
  return getNumber(files, "F\t" + Twine(oneWord(path)));
}

/// The source variable in \p memory; null: none.
static const DILocalVariable *variableIn(const AllocaInst &memory) {
  for (const Instruction &instruction : instructions(memory.getFunction()))
    for (const DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange())) {
      bool isIt = is_contained(record.location_ops(), &memory) ||
                  (record.isDbgAssign() && record.getAddress() == &memory);
      if (isIt && !record.getVariable()->isArtificial())
        return record.getVariable();
    }
  return nullptr;
}

/// The array or object on the stack that \p address is in: its number, or "".
std::string SimTable::getLocal(const Value &address) {
  auto *memory = dyn_cast<AllocaInst>(getUnderlyingObject(&address));
  if (!memory || !memory->getAllocatedType()->isAggregateType())
    return "";
  auto [known, isNew] = knownLocals.try_emplace(memory);
  if (const DILocalVariable *variable = isNew ? variableIn(*memory) : nullptr) {
    unsigned file = numberOfFile(variable->getFilename());
    known->second = std::to_string(getNumber(
        locals, "V\t" + Twine(file) + "\t" + Twine(variable->getLine()) + "\t" +
                    oneWord(variable->getName())));
  }
  return known->second;
}

/// The source name of a C++ function, with its scopes; "": not a C++ name.
static std::string demangledName(const std::string &mangled) {
  ItaniumPartialDemangler parsed; // refers to its text
  if (parsed.partialDemangle(mangled.c_str()) || !parsed.isFunction())
    return "";
  // It allocates; null is for what it cannot print.
  char *text = parsed.getFunctionName(nullptr, nullptr);
  std::string name = text ? text : "";
  free(text);
  return name;
}

/// Clang names the function that it makes of a parallel region of C++ by the
/// mangled name of the one that has it: NAME.omp_outlined.
static std::string getName(const DISubprogram &subprogram) {
  StringRef name = subprogram.getName();
  std::string region = demangledName(name.split('.').first.str());
  return region.empty() ? name.str() : region;
}

/// Of a loop its first line: that of its head, not of what was inlined.
unsigned SimTable::getCode(const Instruction &instruction, const Loop *loop) {
  const Function &function = *instruction.getFunction();
  DebugLoc location = loop ? loop->getStartLoc() : DebugLoc();
  unsigned line = location ? location.getLine() : 0;
  std::string name = function.getName().str();
  if (const DISubprogram *subprogram = function.getSubprogram()) {
    name = getName(*subprogram);
    if (!loop)
      line = subprogram->getLine();
  }
  if (location)
    if (auto *scope = location->getScope()->getSubprogram())
      name = getName(*scope);
  unsigned file = getFile(location, function);
  return getNumber(codes, "L\t" + Twine(file) + "\t" + Twine(line) +
                              (loop ? "\tloop\t" : "\tcode\t") + oneWord(name));
}

unsigned mpg::simPrefetchLevel(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call || call->getIntrinsicID() != Intrinsic::prefetch ||
      !cast<ConstantInt>(call->getArgOperand(3))->isOne())
    return 0;
  // Locality, as AArch64 has it: 1 is L3, which A64FX lacks.
  static constexpr unsigned levels[] = {1, 0, 2, 1};
  return levels[cast<ConstantInt>(call->getArgOperand(2))->getZExtValue()];
}

unsigned SimTable::addAccess(const Instruction &instruction,
                             const Value &address, const Loop *loop, bool store,
                             uint64_t bytes) {
  std::string local = getLocal(address);
  unsigned code = getCode(instruction, loop);
  const DebugLoc &location = instruction.getDebugLoc();
  StringRef kind = zeroedAddress(instruction) ? "z" : store ? "s" : "l";
  if (unsigned level = simPrefetchLevel(instruction))
    kind = level == 1 ? "p1" : "p2";
  text += ("A\t" + kind + "\t" + Twine(bytes) + "\t" +
           Twine(location ? location.getLine() : 0) + "\t" + Twine(code) +
           "\t" + local + "\n")
              .str();
  return places++;
}

void SimTable::addBundle(unsigned place, ArrayRef<Member> members) {
  text += ("B\t" + Twine(place)).str();
  for (const Member &member : members)
    text += ("\t" + Twine(member.address) + "\t" + Twine(member.offset)).str();
  text += "\n";
}

/// Of a variable, or else of what the pointer is stored in: a member, or a
/// descriptor of Fortran.
static std::string allocatedName(const CallBase &call) {
  std::string name = getVariableName(call);
  for (const User *user : call.users())
    if (auto *store = dyn_cast<StoreInst>(user);
        name.empty() && store && store->getValueOperand() == &call)
      name = getMemberName(*store->getPointerOperand());
  return name == "this" ? "" : name;
}

static bool isStructure(const GlobalVariable &global) {
  SmallVector<DIGlobalVariableExpression *, 1> known;
  global.getDebugInfo(known);
  return any_of(known, [](const DIGlobalVariableExpression *one) {
    const DIType *type = one->getVariable()->getType();
    return type && type->getTag() == dwarf::DW_TAG_structure_type;
  });
}

/// Of the variable that has \p descriptor. "": it is a part of one; or it is
/// known by a dummy argument, whose name is not the actual one's.
static std::string describedName(const Value &descriptor) {
  std::string name = getMemberName(descriptor);
  const Value *whole = getUnderlyingObject(&descriptor);
  auto *global = dyn_cast<GlobalVariable>(whole);
  bool isUnknown = (global && isStructure(*global)) ||
                   (isa<Argument>(whole) && name == getVariableName(*whole));
  return isUnknown ? "" : name;
}

unsigned SimTable::addAllocation(const CallBase &call, bool isPart,
                                 const Value *descriptor) {
  StringRef kind = isPart ? "R" : "H";
  // A system header allocates on behalf of others, in its own variables.
  DebugLoc location = userLocation(call.getDebugLoc());
  if (!isUserCode(location)) { // only the callers know for whom
    text += (kind + "\n").str();
    return places++;
  }
  unsigned file = getFile(location, *call.getFunction());
  std::string name;
  if (isUserCode(call.getDebugLoc()))
    name = descriptor ? describedName(*descriptor) : allocatedName(call);
  text += (kind + "\t" + Twine(file) + "\t" +
           Twine(location ? location.getLine() : 0) + "\t" +
           (name.empty() ? std::string() : oneWord(name)) + "\n")
              .str();
  return places++;
}

unsigned SimTable::addCallee(StringRef name) {
  auto [place, isNew] = callees.try_emplace(name, places);
  if (isNew) {
    text += ("C\t" + Twine(oneWord(name)) + "\n").str();
    ++places;
  }
  return place->second;
}

/// As the source calls it, with the scopes of C++.
static std::string shownName(const Function &function) {
  StringRef rest = function.getName();
  if (std::string name = demangledName(rest.str()); !name.empty())
    return name;
  if (const DISubprogram *subprogram = function.getSubprogram())
    return subprogram->getName().str();
  if (rest.consume_front("_Q")) // a procedure of a Fortran module
    return rest.rsplit('P').second.str();
  return rest.rtrim('_').str(); // another one of Fortran
}

Value *SimTable::addFunction(const Function &function) {
  text += "P\t" + oneWord(function.getName()) + "\t" +
          oneWord(shownName(function)) + "\n";
  Type *byte = sampled->getValueType();
  return ConstantExpr::getGetElementPtr(
      byte, sampled,
      ConstantInt::get(Type::getInt64Ty(module.getContext()), functions++));
}

/// Whether \p object is memory of the program at one address, which a table of
/// the module may name.
static bool isObject(const GlobalVariable &object) {
  if (object.isDeclarationForLinker() || object.isThreadLocal() ||
      object.getName().starts_with("llvm.") ||
      object.getName().starts_with("mpg.sim.") ||
      object.getAddressSpace() != 0 ||
      object.hasMetadata(LLVMContext::MD_associated))
    return false;
  // A linker that drops its group would miss it. Texts have no name to show.
  return !object.hasLocalLinkage() ||
         (!object.hasComdat() && !object.hasPrivateLinkage());
}

static std::string shownName(const GlobalVariable &object) {
  SmallVector<DIGlobalVariableExpression *, 1> found;
  object.getDebugInfo(found);
  return oneWord(found.empty() ? object.getName()
                               : found.front()->getVariable()->getName());
}

GlobalVariable *SimTable::writeObjects(uint64_t &count) {
  LLVMContext &context = module.getContext();
  const DataLayout &layout = module.getDataLayout();
  Type *number = Type::getInt64Ty(context);
  StructType *type =
      StructType::get(context, {PointerType::getUnqual(context), number});
  SmallVector<Constant *, 0> objects;
  for (GlobalVariable &object : module.globals()) {
    if (!isObject(object) || !object.getValueType()->isSized())
      continue;
    uint64_t bytes = layout.getTypeAllocSize(object.getValueType());
    if (!bytes)
      continue;
    objects.push_back(
        ConstantStruct::get(type, {&object, ConstantInt::get(number, bytes)}));
    text += "G\t" + shownName(object) + "\n";
  }
  count = objects.size();
  ArrayType *list = ArrayType::get(type, count);
  return new GlobalVariable(
      module, list, /*isConstant=*/true, GlobalValue::InternalLinkage,
      ConstantArray::get(list, objects), "mpg.sim.objects");
}

/// The bytes of all functions of the table.
GlobalVariable *SimTable::writeSampled() {
  ArrayType *list = ArrayType::get(sampled->getValueType(), functions);
  auto *bytes = new GlobalVariable(
      module, list, /*isConstant=*/false, GlobalValue::InternalLinkage,
      ConstantAggregateZero::get(list), "mpg.sim.sampled");
  sampled->replaceAllUsesWith(bytes);
  sampled->eraseFromParent();
  return bytes;
}

void SimTable::write() {
  for (const Function &function : module)
    if (!function.isDeclarationForLinker() && !function.hasLocalLinkage())
      text += "D\t" + oneWord(function.getName()) + "\n";
  uint64_t count = 0;
  GlobalVariable *objects = writeObjects(count);
  LLVMContext &context = module.getContext();
  auto *words = ConstantDataArray::getString(context, text, /*AddNull=*/false);
  auto *string =
      new GlobalVariable(module, words->getType(), true,
                         GlobalValue::InternalLinkage, words, "mpg.sim.text");
  Type *none = Type::getVoidTy(context);
  Type *number = Type::getInt64Ty(context);
  Type *pointer = PointerType::getUnqual(context);
  Function *constructor = Function::createWithDefaultAttr(
      FunctionType::get(none, false), GlobalValue::InternalLinkage, 0,
      "mpg.sim.begin", &module);
  constructor->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
  FunctionCallee call =
      module.getOrInsertFunction("mpg_sim_module", none, pointer, number,
                                 number, pointer, number, pointer, pointer);
  builder.CreateCall(call, {string, builder.getInt64(text.size()),
                            builder.getInt64(places), objects,
                            builder.getInt64(count), first, writeSampled()});
  builder.CreateRetVoid();
  // Not as a constructor of LLVM: flang makes those .ctors, which lld drops.
  auto *entry = new GlobalVariable(module, pointer, /*isConstant=*/true,
                                   GlobalValue::InternalLinkage, constructor,
                                   "mpg.sim.entry");
  entry->setSection(".init_array.0");
  appendToCompilerUsed(module, {entry});
}

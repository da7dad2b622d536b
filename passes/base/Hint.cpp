// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Hint.h.

#include "base/Hint.h"
#include "mpg/hints.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

uint8_t Hint::tagByte() const {
  unsigned tag = sector.value_or(0);
  // The number of the entry takes the place of the switches in the byte, so
  // contradiction() refuses both together.
  if (injection)
    return tag | MPG_TAG_INJECTION | *injection << 4;
  if (noL1Prefetch)
    tag |= MPG_TAG_NO_L1_HWPF;
  if (noL2Prefetch)
    tag |= MPG_TAG_NO_L2_HWPF;
  if (weakPrefetch)
    tag |= MPG_TAG_WEAK_SWPF;
  return tag;
}

std::string Hint::contradiction() const {
  bool switches = noL1Prefetch || noL2Prefetch || weakPrefetch;
  if (injection && switches)
    return "inject= decides about prefetching alone; leave out the other "
           "prefetch hints";
  if (off && (sector || injection || switches))
    return "off and another hint; leave out one of them";
  return "";
}

std::string Ways::add(const Ways &other) {
  if (l1 && other.l1 && *l1 != *other.l1)
    return "l1=" + utostr(*l1) + " and l1=" + utostr(*other.l1) +
           "; leave out one of them";
  if (l2 && other.l2 && *l2 != *other.l2)
    return "l2=" + utostr(*l2) + " and l2=" + utostr(*other.l2) +
           "; leave out one of them";
  if (other.l1)
    l1 = other.l1;
  if (other.l2)
    l2 = other.l2;
  return "";
}

std::string Hint::add(const Hint &other) {
  if (sector && other.sector && *sector != *other.sector)
    return "sector " + utostr(*sector) + " and sector " +
           utostr(*other.sector) + "; leave out one of them";
  if (injection && other.injection && *injection != *other.injection)
    return "inject=" + utostr(*injection) +
           " and inject=" + utostr(*other.injection) +
           "; leave out one of them";
  // A copy: where the two contradict each other *this stays as it was.
  Hint both = *this;
  if (other.sector)
    both.sector = other.sector;
  if (other.injection)
    both.injection = other.injection;
  both.noL1Prefetch |= other.noL1Prefetch;
  both.noL2Prefetch |= other.noL2Prefetch;
  both.weakPrefetch |= other.weakPrefetch;
  both.off |= other.off;
  std::string wrong = both.contradiction();
  if (wrong.empty())
    *this = both;
  return wrong;
}

std::string mpg::describeTag(uint8_t tag) {
  std::string text = "0x" + utohexstr(tag, /*LowerCase=*/true, 2) +
                     ": sector " + utostr(tag & MPG_TAG_SECTOR_MASK);
  if (tag & MPG_TAG_INJECTION)
    return text + ", prefetch injection entry " + utostr(tag >> 4 & 7);
  bool noL1 = tag & MPG_TAG_NO_L1_HWPF, noL2 = tag & MPG_TAG_NO_L2_HWPF;
  if (noL1 && noL2)
    text += ", no hardware prefetch";
  else if (noL1 || noL2)
    text += noL1 ? ", no L1 hardware prefetch" : ", no L2 hardware prefetch";
  if (tag & MPG_TAG_WEAK_SWPF)
    text += ", weak software prefetch";
  return text;
}

static constexpr StringLiteral markPrefix = "mpg";
static constexpr StringLiteral basePrefix = "mpg-base";
static constexpr StringLiteral globalMarks = "mpg.bases";
static constexpr StringLiteral moduleFlag = "mpg.marks";

static std::string digitsFor(uint8_t tag) {
  return utohexstr(tag, /*LowerCase=*/true, 2);
}

/// Adds another \p digits of an access. Two different ones are a conflict:
/// which of the two accesses was meant is unknown by now.
static void addTo(Mark &mark, StringRef digits) {
  unsigned tag;
  if (digits.getAsInteger(16, tag) || tag > 0xff)
    return;
  bool isFirst = mark.kind == Mark::none;
  mark.kind = isFirst || mark.tag == tag ? Mark::one : Mark::conflict;
  mark.tag = tag;
}

// --- As an alias scope: !{!"mpg.41", !{!"mpg"}}

static constexpr StringLiteral scopePrefix = "mpg.";

static MDNode *getScope(LLVMContext &context, StringRef digits) {
  MDNode *domain = MDNode::get(context, MDString::get(context, markPrefix));
  std::string name = (scopePrefix + digits).str();
  return MDNode::get(context, {MDString::get(context, name), domain});
}

/// The digits in \p scope if it is ours, else "".
static StringRef getDigits(const Metadata *scope) {
  auto *node = dyn_cast_or_null<MDNode>(scope);
  auto *name = node && node->getNumOperands() == 2
                   ? dyn_cast<MDString>(node->getOperand(0))
                   : nullptr;
  StringRef digits = name ? name->getString() : "";
  return digits.consume_front(scopePrefix) ? digits : "";
}

/// The scopes of \p access without ours.
static SmallVector<Metadata *, 4> otherScopesOn(const Instruction &access) {
  SmallVector<Metadata *, 4> others;
  if (MDNode *scopes = access.getMetadata(LLVMContext::MD_alias_scope))
    for (const MDOperand &scope : scopes->operands())
      if (getDigits(scope).empty())
        others.push_back(scope);
  return others;
}

static void setScopes(Instruction &access, ArrayRef<Metadata *> scopes) {
  access.setMetadata(LLVMContext::MD_alias_scope,
                     scopes.empty() ? nullptr
                                    : MDNode::get(access.getContext(), scopes));
}

// --- As memory model relaxation annotation

/// The tags of \p access that have the prefix \p ours, or all others.
static SmallVector<MMRAMetadata::TagT, 2>
tagsOn(const Instruction &access, StringRef ours, bool wantsOurs) {
  SmallVector<MMRAMetadata::TagT, 2> tags;
  if (MDNode *node = access.getMetadata(LLVMContext::MD_mmra))
    for (const MMRAMetadata::TagT &tag : MMRAMetadata(node))
      if ((tag.first == ours) == wantsOurs)
        tags.push_back(tag);
  return tags;
}

static SmallVector<MMRAMetadata::TagT, 2> otherTagsOn(const Instruction &access,
                                                      StringRef ours) {
  return tagsOn(access, ours, /*wantsOurs=*/false);
}

static void setTags(Instruction &access, ArrayRef<MMRAMetadata::TagT> tags) {
  access.setMetadata(LLVMContext::MD_mmra,
                     MMRAMetadata::getMD(access.getContext(), tags));
}

static Mark readTags(const Instruction &access, StringRef ours) {
  Mark mark;
  if (MDNode *node = access.getMetadata(LLVMContext::MD_mmra))
    for (const auto &[prefix, suffix] : MMRAMetadata(node))
      if (prefix == ours)
        addTo(mark, suffix);
  return mark;
}

static void addTag(Instruction &access, StringRef ours, uint8_t tag) {
  SmallVector<MMRAMetadata::TagT, 2> tags = otherTagsOn(access, ours);
  std::string digits = digitsFor(tag);
  tags.push_back({ours, digits});
  setTags(access, tags);
}

// --- Both

Mark mpg::readMark(const Instruction &access) {
  // Read the second form only where the first is lost (Hint.h).
  Mark mark = readTags(access, markPrefix);
  if (mark.kind != Mark::none)
    return mark;
  if (MDNode *scopes = access.getMetadata(LLVMContext::MD_alias_scope))
    for (const MDOperand &scope : scopes->operands())
      addTo(mark, getDigits(scope));
  return mark;
}

void mpg::writeMark(Instruction &access, uint8_t tag) {
  addTag(access, markPrefix, tag);
  SmallVector<Metadata *, 4> scopes = otherScopesOn(access);
  scopes.push_back(getScope(access.getContext(), digitsFor(tag)));
  setScopes(access, scopes);
}

void mpg::writePrefetch(const Instruction &access, bool isWritten,
                        unsigned level, Value *address,
                        IRBuilderBase &builder) {
  builder.SetCurrentDebugLocation(access.getDebugLoc());
  // Locality 3 is L1, 2 is L2; data, not code.
  CallInst *call = builder.CreateIntrinsic(
      Intrinsic::prefetch, {address->getType()},
      {address, builder.getInt32(isWritten), builder.getInt32(4 - level),
       builder.getInt32(1)});
  // LLVM warns of any other !mmra that a prefetch still has when code is
  // generated.
  setTags(*call, tagsOn(access, markPrefix, /*wantsOurs=*/true));
}

void mpg::eraseMark(Instruction &access) {
  setTags(access, otherTagsOn(access, markPrefix));
  setScopes(access, otherScopesOn(access));
}

// --- Bases

void mpg::writeBaseMark(Value &base, Function &function, uint8_t tag) {
  std::string digits = digitsFor(tag);
  if (auto *argument = dyn_cast<Argument>(&base))
    argument->addAttr(
        Attribute::get(function.getContext(), basePrefix, digits));
  else if (auto *instruction = dyn_cast<Instruction>(&base);
           instruction && canInstructionHaveMMRAs(*instruction))
    addTag(*instruction, basePrefix, tag);
}

void mpg::writeGlobalMarks(
    Function &function, ArrayRef<std::pair<GlobalVariable *, uint8_t>> marks) {
  SmallVector<Metadata *, 8> pairs;
  for (auto [global, tag] : marks) {
    pairs.push_back(ValueAsMetadata::get(global));
    pairs.push_back(MDString::get(function.getContext(), digitsFor(tag)));
  }
  function.setMetadata(globalMarks, MDNode::get(function.getContext(), pairs));
}

BaseMarks::BaseMarks(const Function &function) : function(function) {
  const MDNode *pairs = function.getMetadata(globalMarks);
  for (unsigned next = 0; pairs && next + 1 < pairs->getNumOperands();
       next += 2)
    // A variable that was removed leaves a hole.
    if (auto *value =
            dyn_cast_or_null<ValueAsMetadata>(pairs->getOperand(next).get()))
      if (auto *digits = dyn_cast<MDString>(pairs->getOperand(next + 1)))
        addTo(globals[value->getValue()], digits->getString());
}

Mark BaseMarks::of(const Value &base) const {
  Mark mark;
  // Without the attribute its text is empty, which is not a mark.
  if (auto *argument = dyn_cast<Argument>(&base))
    addTo(mark, function.getAttributes()
                    .getParamAttr(argument->getArgNo(), basePrefix)
                    .getValueAsString());
  else if (auto *instruction = dyn_cast<Instruction>(&base))
    return readTags(*instruction, basePrefix);
  else
    mark = globals.lookup(&base);
  return mark;
}

// --- Modules

bool mpg::hasMarks(const Module &module) {
  return module.getNamedMetadata(moduleFlag);
}

void mpg::noteThatThereAreMarks(Module &module) {
  module.getOrInsertNamedMetadata(moduleFlag);
}

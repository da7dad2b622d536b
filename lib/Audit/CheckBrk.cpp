// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG130 to MPG132: memory taken by moving the program break is never on large
// pages. Three ways to see it: a file imports brk or sbrk, code makes the
// system call itself, or a static program has glibc's malloc, which does.

#include "Audit/Checks.h"
#include "Code/CodeScan.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

static std::vector<CodeRange> codeRanges(const Image &image) {
  std::vector<CodeRange> ranges;
  for (const Segment &load : image.loads())
    if (load.executable())
      ranges.push_back({load.address, load.fileBytes});
  return ranges;
}

static std::vector<CodeRange> stubRanges(Image &image) {
  std::vector<CodeRange> ranges;
  for (const Section &section : image.sections())
    if (section.name == ".plt" || section.name == ".plt.sec" ||
        section.name == ".plt.got")
      ranges.push_back({section.address, section.bytes});
  return ranges;
}

static bool isSbrk(StringRef name) {
  return name == "sbrk" || name == "__sbrk";
}

static bool neverReturns(StringRef name) {
  static constexpr StringLiteral names =
      "_Exit __assert_fail __cxa_throw __fortify_fail __stack_chk_fail _exit "
      "_Unwind_Resume abort exit longjmp pthread_exit quick_exit xexit";
  return hasWord(names, name);
}

namespace {

/// The paths from the code of a file to sbrk.
struct SbrkUse {
  std::vector<uint64_t> jumpSlots, gotSlots, noReturnSlots;
  bool addressTaken = false;
};

} // namespace

static SbrkUse findSbrkUse(Image &image) {
  bool x86 = image.machine() == Machine::x86_64;
  uint32_t jumpSlot = x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT;
  uint32_t gotSlot = x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT;
  SbrkUse use;
  auto wanted = [&](const Symbol &symbol) {
    // A stub that stands for the function: its address was taken.
    use.addressTaken |= isSbrk(symbol.name) && symbol.value != 0;
    return isSbrk(symbol.name) || neverReturns(symbol.name);
  };
  for (const Relocation &relocation : image.findRelocations(wanted)) {
    bool slot = relocation.type == jumpSlot || relocation.type == gotSlot;
    if (!isSbrk(relocation.name)) {
      if (slot)
        use.noReturnSlots.push_back(relocation.address);
    } else if (relocation.type == jumpSlot) {
      use.jumpSlots.push_back(relocation.address);
    } else if (relocation.type == gotSlot) {
      use.gotSlots.push_back(relocation.address);
    } else {
      use.addressTaken = true;
    }
  }
  return use;
}

/// Whether every call of sbrk in \p image passes the constant 0, which asks
/// for the break and does not move it.
static bool onlyAsks(Image &image) {
  SbrkUse use = findSbrkUse(image);
  std::vector<CodeRange> stubs = stubRanges(image);
  auto read = [&](uint64_t address, MutableArrayRef<uint8_t> buffer) {
    return image.readMemory(address, buffer);
  };
  CallTarget target = {use.jumpSlots, use.gotSlots, use.addressTaken, stubs,
                       use.noReturnSlots};
  // Where functions begin and end, as the unwinder knows it.
  if (const Segment *table = image.findSegment(PT_GNU_EH_FRAME))
    target.functionTable = {table->address, table->fileBytes};
  return classifyCalls(image.machine(), codeRanges(image), read, target) !=
         CallArguments::other;
}

/// Whether \p image has more code than this run looks through, or than any
/// file of its size.
static bool tooMuchCode(const Subject &subject) {
  uint64_t bytes = 0;
  for (const CodeRange &range : codeRanges(subject.image))
    bytes = SaturatingAdd(bytes, range.bytes);
  if (bytes > getMaxOverlaidBytes(subject.image.fileBytes()))
    return true;
  return subject.settings.codeLimitBytes &&
         bytes > *subject.settings.codeLimitBytes;
}

static void checkImports(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  std::vector<StringRef> used = subject.symbols().findImports(brkSymbols());
  if (used.empty())
    return;
  // brk has no harmless use; to look at the break is one.
  bool onlySbrk = all_of(
      used, [](StringRef name) { return isSbrk(name) || name == "__curbrk"; });
  bool callsSbrk = any_of(used, isSbrk);
  bool tooMuch =
      callsSbrk && onlySbrk && image.isLoadable() && tooMuchCode(subject);
  // UCX's hooks also bring a malloc, which they take only where they cannot see
  // the program's (measured, UCX 1.13: neither glibc's nor libmpg's).
  bool watches = image.exportsSymbol("ucm_set_event_handler");
  bool harmless =
      watches ||
      (onlySbrk &&
       (!callsSbrk || (image.isLoadable() && !tooMuch && onlyAsks(image))));
  Finding &finding =
      findings.add(FindingId::mpg130,
                   !harmless   ? "the file takes memory by " + join(used, ", ")
                   : watches   ? "the file watches " + join(used, ", ")
                   : callsSbrk ? "the file calls " + join(used, ", ") +
                                     " only to ask where the break is"
                               : "the file looks where the break is, by " +
                                     join(used, ", "));
  finding.sub = harmless ? "query" : "moves";
  finding.where.symbol = used.front().str();
  finding.evidence = "imports " + join(used, ", ");
  if (tooMuch)
    finding.evidence += "; too much code to look through its calls in a run "
                        "over many files, or segments of it in one place";
  if (!harmless)
    return;
  finding.severity = Severity::note;
  finding.evidence += watches     ? "; exports ucm_set_event_handler, UCX's"
                      : callsSbrk ? "; every call passes 0"
                                  : ", a variable, and nothing that moves it";
  finding.cost = "nothing: the break does not move";
  finding.setFix("");
}

/// Code that could reach the kernel past any library: programs and libraries
/// that need no C library, the C library and the loader themselves left out.
static bool needsNoLibc(Image &image) {
  if (image.isStatic())
    return true;
  if (!image.isLoadable() || image.needs("libc."))
    return false;
  StringRef soname = image.dynamic().soname.value_or("");
  return !soname.starts_with("libc.") && !soname.starts_with("ld-") &&
         !soname.starts_with("linux-vdso");
}

static void checkSystemCall(const Subject &subject, Findings &findings) {
  Image &image = subject.image;
  auto read = [&](uint64_t address, MutableArrayRef<uint8_t> buffer) {
    return image.readMemory(address, buffer);
  };
  std::optional<uint64_t> call =
      findBrkSystemCall(image.machine(), codeRanges(image), read);
  if (!call)
    return;
  bool glibc = image.isStatic() &&
               subject.ownSymbols().defines(KnownSymbol::__libc_malloc);
  FindingId id = glibc ? FindingId::mpg132 : FindingId::mpg131;
  if (!findings.wants(id))
    return;
  Finding &finding =
      findings.add(id, glibc ? "the heap of this static program is taken by brk"
                             : "the code makes the brk system call itself");
  finding.where.address = call;
  finding.evidence = "brk system call at " + formatHex(*call);
  if (glibc)
    finding.evidence += ", __libc_malloc in the symbol table";
}

void mpg::checkBrk(const Subject &subject, Findings &findings) {
  if (findings.wants(FindingId::mpg130))
    checkImports(subject, findings);
  // After libmpgrt.a's malloc the C library's is not called.
  if (findings.wantsAny(131, 132) && needsNoLibc(subject.image) &&
      !subject.carriesLibmpgMalloc() && !tooMuchCode(subject))
    checkSystemCall(subject, findings);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG170 to MPG172: the hints that the compiler passes have put into the code,
// as the file's hint note sums them up. Can the tags live with what else is in
// the file, does the machine have what they ask for, and will anything act on
// them?
//
// The code itself is not searched for tags: they are built once, far from the
// accesses, and look like any other constant.

#include "Audit/Checks.h"
#include "Elf/Image.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

namespace {

/// A cache that is divided into sectors, and how a note asks for its ways.
struct SectorCache {
  StringRef name;
  unsigned ways; ///< that programs have
  const uint8_t (mpg_note_hints::*asked)[4];
};

} // namespace

static constexpr SectorCache sectorCaches[] = {
    {"L1", 4, &mpg_note_hints::waysL1},  // HW:a64fx-l1d-way
    {"L2", 14, &mpg_note_hints::waysL2}, // HW:a64fx-l2-ways-job
};

static unsigned askedWays(const uint8_t (&ways)[4]) {
  unsigned sum = 0;
  for (uint8_t count : ways)
    sum += count == MPG_WAYS_NOT_ASKED ? 0 : count;
  return sum;
}

static unsigned getMaxWays(const uint8_t (&ways)[4]) {
  unsigned max = 0;
  for (uint8_t count : ways)
    max = std::max<unsigned>(max, count == MPG_WAYS_NOT_ASKED ? 0 : count);
  return max;
}

static bool asksForWays(const mpg_note_hints &hints) {
  return !describeWays(hints.waysL1).empty() ||
         !describeWays(hints.waysL2).empty();
}

/// "L1 sector 1: 2; L2 sector 0: 4, sector 1: 10".
static std::string describeAllWays(const mpg_note_hints &hints) {
  std::string text;
  for (const SectorCache &cache : sectorCaches)
    if (std::string ways = describeWays(hints.*cache.asked); !ways.empty())
      text += (text.empty() ? "" : "; ") + cache.name.str() + " " + ways;
  return text + " ways";
}

/// A finding about the hint note of \p sub.
static Finding &addAbout(Findings &findings, FindingId id, StringRef sub,
                         const Twine &title, std::string evidence) {
  Finding &finding = findings.add(id, title);
  finding.sub = sub.str();
  finding.where.section = MPG_NOTE_SECTION_HINTS;
  finding.evidence = std::move(evidence);
  return finding;
}

// MPG170

static void checkConflicts(const Subject &subject, const mpg_note_hints &hints,
                           Findings &findings) {
  if (hints.taggedAccesses == 0)
    return;
  Image &image = subject.image;
  if (image.machine() != Machine::aarch64) {
    Finding &finding =
        addAbout(findings, FindingId::mpg170, "machine",
                 "accesses are tagged in code for " + image.machineName(),
                 describeTags(hints));
    finding.cost = "an address with a tag is none there: the first tagged "
                   "access ends the program by SIGSEGV";
    finding.setFix("Compile again with this version of the passes, which leave "
                   "all machines but AArch64 alone.");
  }
  for (const TopByteUser &user : findTopByteUsers(image))
    addAbout(findings, FindingId::mpg170, user.sub,
             "HPC tags and " + user.name + " both use the top byte of pointers",
             user.evidence + "; " + describeTags(hints));
}

// MPG171

/// A note holds the most that any function of its module asks for, sector by
/// sector. So one sector alone can ask for too much, but a sum that is too
/// large may be that of functions which run one after the other.
static void checkWayCount(const SectorCache &cache, const Notes &notes,
                          Findings &findings) {
  const mpg_note_hints *worst = nullptr;
  for (const mpg_note_hints &module : notes.modules)
    if (askedWays(module.*cache.asked) >
        (worst ? askedWays(worst->*cache.asked) : cache.ways))
      worst = &module;
  if (!worst)
    return;
  const uint8_t (&asked)[4] = worst->*cache.asked;
  bool isCertain = getMaxWays(asked) > cache.ways;
  Finding &finding = addAbout(
      findings, FindingId::mpg171, cache.name == "L1" ? "l1-ways" : "l2-ways",
      "the sectors of a module ask for " + Twine(askedWays(asked)) + " " +
          cache.name + " ways; programs have " + Twine(cache.ways),
      describeWays(asked));
  finding.cost = "sectors that are in use together take each other's ways: the "
                 "protection is weaker than asked for";
  finding.setFix("Ask for at most " + std::to_string(cache.ways) + " " +
                 cache.name.str() + " ways over all sectors.");
  if (isCertain)
    return;
  finding.severity = Severity::note;
  finding.cost += "; no harm if these are functions that ask for different "
                  "ways at different times";
}

static void checkInjection(const Subject &subject, const mpg_note_hints &hints,
                           Findings &findings) {
  Image &image = subject.image;
  constexpr KnownSymbol setter = KnownSymbol::mpg_prefetch_set;
  if (hints.injectionMask == 0 || !image.isLoadable() ||
      subject.symbols().imports(setter) ||
      (image.isStatic() && findStaticSymbols(image).defines(setter)))
    return;
  std::string entries;
  for (unsigned entry : listBits(hints.injectionMask))
    entries += (entries.empty() ? "" : ", ") + std::to_string(entry);
  bool several = (hints.injectionMask & (hints.injectionMask - 1)) != 0;
  Finding &finding = addAbout(
      findings, FindingId::mpg171, "injection",
      "accesses use the injection " + Twine(several ? "entries " : "entry ") +
          entries + ", and the file never sets " + (several ? "them" : "it"),
      describeTags(hints));
  // Its program may do that.
  if (!image.isProgram())
    finding.severity = Severity::note;
  finding.cost = "without a value in the entry the hardware prefetches nothing "
                 "for these accesses, and says nothing";
  finding.setFix("Call mpg_prefetch_set for each entry in every thread before "
                 "the loop, or drop the inject hints.");
}

static void checkRequests(const Subject &subject, Findings &findings) {
  const Notes &notes = subject.notes();
  for (const std::string &unread : notes.unreadHints) {
    Finding &finding =
        addAbout(findings, FindingId::mpg171, "unread-note", unread, "");
    finding.cost = "what these hints ask for is not known, so nothing about "
                   "them is checked";
    finding.setFix("Audit the file with the mpgtools that compiled it, or a "
                   "later one.");
  }
  if (!notes.hints)
    return;
  for (const SectorCache &cache : sectorCaches)
    checkWayCount(cache, notes, findings);
  if (!notes.wayConflicts.empty()) {
    // Each module sets its own where it runs, so this may well be meant.
    Finding &finding = addAbout(findings, FindingId::mpg171, "modules-differ",
                                "modules ask for different ways of one sector",
                                notes.wayConflicts.front());
    finding.severity = Severity::note;
    finding.cost = "each change lets go of what the sector held; all cores of "
                   "a core memory group share the ways of L2";
    finding.setFix("Ask for the same ways everywhere, or in one place around "
                   "all of the loops.");
  }
  checkInjection(subject, *notes.hints, findings);
}

// MPG172

/// True if something in the process sets the ways that the code requests. The
/// calls are weak: without a runtime they are skipped.
static bool hasRuntime(Image &image) {
  if (image.isStatic())
    return findStaticSymbols(image).defines(KnownSymbol::mpg_sector_begin);
  return image.needs("libmpgrt.so");
}

/// A sector that has all ways, or none, is not limited.
static void checkLimits(const SectorCache &cache, const mpg_note_hints &hints,
                        Findings &findings) {
  unsigned asked = (hints.*cache.asked)[1];
  if (asked != 0 && asked != cache.ways)
    return;
  addAbout(findings, FindingId::mpg172, "no-limit",
           "sector 1 is given " + Twine(asked) + " of " + Twine(cache.ways) +
               " " + cache.name + " ways, which keeps nothing apart",
           describeWays(hints.*cache.asked))
      .setFix("Give both sectors at least one way.");
}

static void checkWays(const Subject &subject, const mpg_note_hints &hints,
                      Findings &findings) {
  Image &image = subject.image;
  bool usesSectors = (hints.sectorsMask & ~1u) != 0;
  bool asks = asksForWays(hints);
  for (const SectorCache &cache : sectorCaches)
    checkLimits(cache, hints, findings);
  // Of an object alone it is not known what the others bring.
  if (!image.isLoadable())
    return;
  if (usesSectors && !asks)
    addAbout(findings, FindingId::mpg172, "no-ways",
             "accesses use cache sectors, and nothing asks for their ways",
             describeTags(hints))
        .setFix("Say how many ways sector 1 has, with MPG_WAYS(l2=10) on the "
                "function or a pragma around the loop, or for the whole "
                "program with FLIB_L2_SECTOR_NWAYS_INIT=4,10 in the job.");
  if (asks && !usesSectors)
    addAbout(findings, FindingId::mpg172, "no-tags",
             "ways are asked for, and no access uses the sector",
             describeAllWays(hints))
        .setFix("Give an array of that function a sector; -Rpass-missed=mpg "
                "says why a hint was not used.");
  if (!asks || !image.isProgram() || hasRuntime(image))
    return;
  Finding &finding = addAbout(
      findings, FindingId::mpg172, "no-runtime",
      "the program asks for cache ways, and does not load libmpg itself",
      describeAllWays(hints));
  finding.cost = "without libmpg nothing sets the ways, and the sectors do "
                 "nothing";
  finding.setFix(image.isStatic()
                     ? "Link the program with -u mpg_start -lmpgrt."
                     : "Start it with mpgrun, or link it with -lmpgrt.");
}

/// HW:monaka. More than a note: what the machine does with tags is unknown.
static void refuseHints(const mpg_note_hints &hints, Findings &findings) {
  Finding &finding = addAbout(
      findings, FindingId::mpg172, "monaka",
      "no public document says that FUJITSU-MONAKA acts on the hints",
      hints.taggedAccesses ? describeTags(hints) : describeAllWays(hints));
  finding.severity = Severity::warning;
  finding.setFix("Compile for it with -mcpu=fujitsu-monaka, which leaves hints "
                 "out, or with --mpg-sector=off.");
}

static void checkReach(const Subject &subject, const mpg_note_hints &hints,
                       Findings &findings) {
  if (subject.settings.onMonaka)
    return refuseHints(hints, findings);
  if (hints.taggedAccesses && subject.image.machine() == Machine::aarch64 &&
      subject.target != Target::fugaku)
    addAbout(findings, FindingId::mpg172, "target",
             "the hints act only on an A64FX whose system honours HPC tags",
             describeTags(hints))
        .setFix("On the node, mpginfo says whether it does.");
  checkWays(subject, hints, findings);
}

void mpg::checkHints(const Subject &subject, Findings &findings) {
  // Debug information that was split off repeats the notes of its program.
  ElfKind kind = subject.image.kind();
  if (!subject.image.isLoadable() && kind != ElfKind::object &&
      kind != ElfKind::archiveMember)
    return;
  const std::optional<mpg_note_hints> &hints = subject.notes().hints;
  if (hints && findings.wants(FindingId::mpg170))
    checkConflicts(subject, *hints, findings);
  if (findings.wants(FindingId::mpg171))
    checkRequests(subject, findings);
  if (hints && findings.wants(FindingId::mpg172))
    checkReach(subject, *hints, findings);
}

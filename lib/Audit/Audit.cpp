// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Audit.h. Which checks run for which target, what of their findings stays,
// and what the report has beside them.

#include "Audit/Audit.h"
#include "Audit/Checks.h"
#include "Audit/Launch.h"
#include "Elf/Machine.h"
#include "Support/Format.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

FindingSet mpg::defaultChecks() {
  FindingSet checks;
  for (const FindingInfo &info : allFindings())
    for (Severity severity : info.severity)
      if (severity != Severity::off)
        checks.insert(info.id);
  return checks;
}

Severity FileReport::worst() const { return findWorst(findings); }

bool FileReport::has(FindingId id, Severity min) const {
  return any_of(findings, [&](const Finding &finding) {
    return finding.id == id && finding.severity >= min;
  });
}

const Region *FileReport::region(StringRef name) const {
  for (const Region &one : regions)
    if (one.name == name)
      return &one;
  return nullptr;
}

uint64_t FileReport::dataBytes() const {
  const Region *data = region("data"), *bss = region("bss");
  return (data ? data->bytes : 0) + (bss ? bss->bytes : 0);
}

uint64_t FileReport::eligibleDataBytes() const {
  const Region *data = region("data"), *bss = region("bss");
  return (data ? data->eligibleBytes : 0) + (bss ? bss->eligibleBytes : 0);
}

bool FileReport::unusable() const {
  if (kind == ElfKind::notElf || kind == ElfKind::malformed)
    return true;
  return any_of(findings, [](const Finding &finding) {
    return finding.severity == Severity::error &&
           getInfo(finding.id).group == FindingGroup::malformed;
  });
}

/// HW:fugaku-paths
static bool vendorFilesInstalled() {
  static const bool installed = access("/opt/FJSVxos/mmm", F_OK) == 0;
  return installed;
}

/// True if the program loads Fujitsu's library or, where nothing more is known,
/// needs its name, which may be ours. It is for AArch64: preloaded into another
/// program it does nothing.
static bool loadsVendorLibrary(Image &image, const ProgramClosure *closure) {
  if (!closure)
    return image.needs("libmpg.so");
  bool preloads = image.machine() == Machine::aarch64;
  return any_of(closure->libraries, [&](const LoadedLibrary &library) {
    return library.name.starts_with("libmpg.so") && !library.isOurs() &&
           (preloads || library.entry->askedBy != ClosureEntry::preload);
  });
}

static bool loadsPeer(Image &image, const ProgramClosure *closure) {
  if (!closure)
    return image.needs("libhugetlbfs.so");
  return any_of(closure->libraries, [](const LoadedLibrary &library) {
    return library.name.starts_with("libhugetlbfs.so");
  });
}

static Target decideTarget(Image &image, const ProgramClosure *closure,
                           bool fujitsuJob) {
  if (!image.fullyRead())
    return Target::mpg;
  if (image.isLoadable()) {
    if (loadsVendorLibrary(image, closure))
      return Target::fugaku;
    if (loadsPeer(image, closure))
      return Target::libhugetlbfs;
  }
  if (image.machine() == Machine::aarch64 &&
      (fujitsuJob || vendorFilesInstalled()))
    return Target::fugaku;
  return Target::mpg;
}

uint64_t mpg::usualPageBytes(Target target) {
  return target == Target::fugaku ? 65536 : 4096; // HW:fugaku-base-page
}

/// A file that changed while it was read gets no verdict: what was found may
/// be about a mixture of two files.
static void reportFailedRead(uint64_t offset, const Subject &subject,
                             FileReport &report) {
  report.findings.clear();
  report.facts = {};
  report.regions.clear();
  report.largestSymbols.clear();
  Findings findings(subject, report.findings);
  Finding &finding = findings.add(FindingId::mpg918,
                                  "the file cannot be read at offset " +
                                      formatHex(offset) + ", although it had " +
                                      formatHex(subject.image.fileBytes()) +
                                      " bytes when it was opened");
  finding.offset = offset;
}

/// Checks that the table of regions needs, without those of damage.
static FindingSet regionChecks() {
  FindingSet checks = defaultChecks();
  for (const FindingInfo &info : allFindings())
    if (info.group == FindingGroup::malformed)
      checks.erase(info.id);
  return checks;
}

/// Fatal damage stays: it is reported whatever was asked for.
static void dropUnasked(const AuditSettings &settings, FileReport &report) {
  erase_if(report.findings, [&](const Finding &finding) {
    bool damage = getInfo(finding.id).group == FindingGroup::malformed &&
                  finding.severity == Severity::error;
    return !damage && !settings.checks.contains(finding.id) &&
           !settings.named.contains(finding.id);
  });
}

/// A branch may not be taken; then nothing of it is certain but that a file is
/// damaged.
static void lowerErrors(std::vector<Finding> &findings) {
  for (Finding &finding : findings)
    if (finding.severity == Severity::error &&
        getInfo(finding.id).group != FindingGroup::malformed) {
      finding.severity = Severity::warning;
      finding.title += ", if the job comes to this program";
    }
}

/// Where the job wants no large pages, nothing that keeps them away is wrong;
/// where it may not, that is one level less.
static void lowerUnwanted(const Launch &launch, Target target,
                          std::vector<Finding> &findings) {
  PageSwitch pages = pageSwitch(launch, target);
  if (pages == PageSwitch::on)
    return;
  bool isOff = pages == PageSwitch::off;
  for (Finding &finding : findings) {
    unsigned number = unsigned(finding.id);
    bool aboutPages =
        (number >= 102 && number <= 120) || (number >= 130 && number <= 143);
    if (!aboutPages || finding.severity <= Severity::note)
      continue;
    finding.severity =
        isOff ? Severity::note : Severity(unsigned(finding.severity) - 1);
    finding.title += isOff ? "; the job switches large pages off"
                           : ", if the job does not switch large pages off";
  }
}

/// libhugetlbfs moves data only where HUGETLB_ELFMAP asks for it.
static void lowerUnaskedLayout(const Launch &launch,
                               std::vector<Finding> &findings) {
  if (launch.environment.find("HUGETLB_ELFMAP") ||
      launch.mayChange("HUGETLB_ELFMAP"))
    return;
  for (Finding &finding : findings)
    if (getInfo(finding.id).group == FindingGroup::layout &&
        finding.severity > Severity::note) {
      finding.severity = Severity::note;
      finding.title += "; the job does not ask for HUGETLB_ELFMAP";
    }
}

/// Who compiled \p image, as .comment says; "" if it does not. GCC's line is in
/// nearly every program, from its start-up files: others win over it.
static StringRef findCompiler(Image &image, Target target) {
  constexpr uint64_t maxBytes = 64 << 10;
  const Section *section = image.findSection(".comment");
  if (!section)
    return "";
  StringRef comment = image.sectionData(*section, maxBytes);
  const std::pair<StringRef, StringRef> makers[] = {
      {"flang version", "flang"}, {"clang version", "clang"}, {"GCC:", "gcc"}};
  for (auto [words, compiler] : makers)
    if (comment.contains(words))
      return target == Target::fugaku && compiler == "gcc" ? "" : compiler;
  return "";
}

/// \p parts as they serve a program for \p machine, whose libmpg has a
/// folder to itself. Where it is not installed the printed text says
/// so.
static std::shared_ptr<const InstalledParts>
partsFor(Machine machine, const std::shared_ptr<const InstalledParts> &parts) {
  if (!parts || parts->libraries.empty() || machine == ownMachine)
    return parts;
  InstalledParts fitting = *parts;
  std::string triple = getTriple(machine);
  fitting.libraries += "/mpgtools/" + triple;
  if (access((fitting.libraries + "/libmpgrt.so").c_str(), R_OK) != 0)
    fitting.libraries = "<libmpg for " + triple + ": none here>";
  return std::make_shared<InstalledParts>(std::move(fitting));
}

static FixContext collectFixContext(const Subject &subject,
                                    const FileReport &report) {
  // ld.mpg's own limit, and some more: start-up files of another compiler
  // have a little less in .data.
  constexpr uint64_t enoughBytes = (2 << 20) + (64 << 10);
  FixContext context;
  context.hugeBytes = report.hugeBytes;
  context.parts = partsFor(subject.image.machine(), subject.settings.parts);
  bool layout = any_of(report.findings, [](const Finding &finding) {
    return getInfo(finding.id).group == FindingGroup::layout;
  });
  bool flags = any_of(report.findings, [](const Finding &finding) {
    return getInfo(finding.id).remedy.contains("\n  gcc:");
  });
  if (flags && !subject.settings.allCompilers)
    context.compiler = findCompiler(subject.image, subject.target);
  if (!layout)
    return context; // no fix asks
  const LinkFacts &facts = subject.linkFacts();
  context.noData = facts.dataBytes == 0;
  context.smallData = facts.dataBytes < enoughBytes ||
                      (facts.note && (facts.note->flags & MPG_LAYOUT_SKIPPED));
  context.scriptsFit = facts.hasData && facts.hasBss;
  return context;
}

/// The libraries of a dynamic program, as its launch would find them.
static std::optional<Closure> findClosure(Image &image,
                                          const AuditSettings &settings) {
  if (!settings.libraries || !image.fullyRead() || !image.isProgram() ||
      image.isStatic())
    return std::nullopt;
  LoaderSettings loader;
  if (settings.launch) {
    loader.sysroot = settings.launch->sysroot;
    const Environment &environment = settings.launch->environment;
    if (const Variable *path = environment.find("LD_LIBRARY_PATH"))
      loader.libraryPath = path->known ? path->value : path->knownFolders;
    loader.preload = environment.getValue("LD_PRELOAD").str();
    loader.setsVariables =
        environment.find("LD_LIBRARY_PATH") || environment.find("LD_PRELOAD");
  }
  return resolveClosure(image, loader, *settings.libraries);
}

FileReport mpg::auditImage(Image &image, const AuditSettings &settings) {
  FileReport report = {};
  report.path = image.path();
  report.kind = image.kind();
  report.machine = image.machineName();
  report.notElfReason = image.notElfReason().str();
  report.closure = findClosure(image, settings);
  std::optional<ProgramClosure> closure;
  if (report.closure)
    closure.emplace(*report.closure);
  report.target = settings.target
                      ? *settings.target
                      : decideTarget(image, closure ? &*closure : nullptr,
                                     settings.fujitsuJob);
  report.pageBytes = settings.pageBytes.value_or(usualPageBytes(report.target));
  report.hugeBytes = settings.hugeBytes;
  report.launchKnown = settings.launch != nullptr;
  // The table of regions must not look better because less was asked for.
  AuditSettings wide = settings;
  if (settings.wantFacts && image.isProgram())
    wide.checks.insert(regionChecks());
  Subject subject(image, wide, report.target, report.pageBytes,
                  report.hugeBytes, closure ? &*closure : nullptr);
  runChecks(subject, report.findings);
  if (subject.launch())
    lowerUnwanted(*subject.launch(), report.target, report.findings);
  if (subject.launch() && report.target == Target::libhugetlbfs)
    lowerUnaskedLayout(*subject.launch(), report.findings);
  if (subject.launch() && subject.launch()->uncertain)
    lowerErrors(report.findings);
  report.fixContext = collectFixContext(subject, report);
  if (settings.wantFacts) {
    report.facts = collectFacts(image, report.target);
    report.memory = findMemoryUse(subject);
    report.carriesLibmpg = subject.carriesLibmpg();
    report.regions = collectRegions(subject, report.memory, report.findings);
    dropUnasked(settings, report);
    if (image.isProgram())
      report.largestSymbols = findLargestSymbols(image, 3);
  }
  if (std::optional<uint64_t> offset = image.failedReadOffset())
    reportFailedRead(*offset, subject, report);
  return report;
}

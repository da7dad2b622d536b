// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG242: settings of other libraries that ask for large pages and do nothing:
// libhugetlbfs's malloc from glibc 2.34 on, libhugetlbfs's variables without
// the library, tunables of glibc that it does not know.

#include "Audit/ClosureFacts.h"
#include "Audit/PageMeans.h"
#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// glibc's, of 2.26 to 2.42, and elf.thp of 2.44: "The GNU C Library",
/// Tunables, and ld.so --list-tunables.
static constexpr StringLiteral tunables =
    "glibc.cpu.aarch64_gcs glibc.cpu.cached_memopt glibc.cpu.hwcap_mask "
    "glibc.cpu.hwcaps glibc.cpu.name glibc.cpu.plt_rewrite "
    "glibc.cpu.prefer_map_32bit_exec glibc.cpu.x86_data_cache_size "
    "glibc.cpu.x86_ibt glibc.cpu.x86_memset_non_temporal_threshold "
    "glibc.cpu.x86_non_temporal_threshold glibc.cpu.x86_rep_movsb_threshold "
    "glibc.cpu.x86_rep_stosb_threshold glibc.cpu.x86_shared_cache_size "
    "glibc.cpu.x86_shstk glibc.elf.thp glibc.elision.enable "
    "glibc.elision.skip_lock_after_retries glibc.elision.skip_lock_busy "
    "glibc.elision.skip_lock_internal_abort "
    "glibc.elision.skip_trylock_internal_abort glibc.elision.tries "
    "glibc.gmon.maxarcs glibc.gmon.minarcs glibc.malloc.arena_max "
    "glibc.malloc.arena_test glibc.malloc.check glibc.malloc.hugetlb "
    "glibc.malloc.mmap_max glibc.malloc.mmap_threshold glibc.malloc.mxfast "
    "glibc.malloc.perturb glibc.malloc.tcache_count glibc.malloc.tcache_max "
    "glibc.malloc.tcache_unsorted_limit glibc.malloc.top_pad "
    "glibc.malloc.trim_threshold glibc.mem.decorate_maps glibc.mem.tagging "
    "glibc.pthread.mutex_spin_count glibc.pthread.rseq "
    "glibc.pthread.stack_cache_size glibc.pthread.stack_hugetlb "
    "glibc.rtld.dynamic_sort glibc.rtld.enable_secure glibc.rtld.execstack "
    "glibc.rtld.nns glibc.rtld.optional_static_tls";

static Finding &addAbout(JobContext &job, const JobLaunch &launch,
                         StringRef name, const Variable &variable,
                         StringRef sub, const Twine &title) {
  return job.add(FindingId::mpg242, launch, name, variable, sub, title);
}

/// Whether a module sets it (setHugePagesModule of JobBuiltins).
static bool isOfModule(const JobContext &job, StringRef name,
                       const Variable &variable) {
  const JobSetting *setting = job.settingAt(name, variable.line);
  return setting && setting->how == "module load";
}

static std::string settingWords(const JobContext &job, StringRef name,
                                const Variable &variable) {
  return isOfModule(job, name, variable)
             ? "the module craype-hugepages, which sets " + name.str() + ","
             : name.str();
}

/// The one that \p name was probably meant to be; "" if none is near.
static StringRef nearestTunable(StringRef name) {
  StringRef nearest;
  unsigned best = 4;
  for (StringRef tunable : split(tunables, ' '))
    if (unsigned here = editDistance(name, tunable); here < best) {
      best = here;
      nearest = tunable;
    }
  return nearest;
}

/// The program's C library: N of glibc 2.N as LibraryCheckFacts has it.
static unsigned getGlibcMinor(const JobContext &job, const JobLaunch &launch) {
  const FileReport *report = job.findReport(launch);
  if (!report || !report->closure)
    return 0;
  return ProgramClosure(*report->closure).glibcMinor();
}

/// A line of the system's file that no program can change. pre: the program's
/// libraries are known.
static void checkFixed(JobContext &job, const JobLaunch &launch,
                       const Variable &variable, StringRef name,
                       StringRef value) {
  const FileReport *report = job.findReport(launch);
  std::optional<SystemTunable> system =
      findSystemTunable(report->closure->sysroot, name, report->path);
  if (!system || !system->isFixed || value == system->value)
    return;
  Finding &finding = addAbout(
      job, launch, "GLIBC_TUNABLES", variable, "system: " + name.str(),
      name + " of GLIBC_TUNABLES does nothing: " + system->file + ", line " +
          Twine(system->line) + ", sets " + shortened(system->value, 20) +
          " and lets no program change "
          "it");
  finding.cost = "The program gets the value of that file.";
  finding.severity = Severity::note; // the job's nodes may have another file
  finding.setFix("Start the program with mpgrun, which needs no tunable, or "
                 "ask the administrator of the machine.");
}

static void checkTunable(JobContext &job, const JobLaunch &launch,
                         const Variable &variable, StringRef part) {
  auto [name, value] = part.split('=');
  if (!hasWord(tunables, name)) {
    StringRef nearest = nearestTunable(name);
    Finding &finding = addAbout(
        job, launch, "GLIBC_TUNABLES", variable, "tunable: " + name.str(),
        "glibc has no tunable " + shortened(name, 40) +
            (nearest.empty() ? "" : "; did you mean " + nearest.str() + "?"));
    finding.cost = "glibc ignores it.";
    // A later release may know it.
    if (nearest.empty())
      finding.severity = Severity::note;
    finding.setFix(nearest.empty()
                       ? "ld.so --list-tunables prints those that there are."
                       : "Write " + nearest.str() + ".");
    return;
  }
  unsigned minor = getGlibcMinor(job, launch);
  if (name == "glibc.malloc.hugetlb" && minor && minor < 35) {
    Finding &finding =
        addAbout(job, launch, "GLIBC_TUNABLES", variable, "too-old",
                 "glibc.malloc.hugetlb does nothing: it came with glibc 2.35");
    finding.cost = "The heap stays on normal pages.";
  }
  if (name == "glibc.elf.thp" && value != "0" && minor && minor < 44) {
    Finding &finding =
        addAbout(job, launch, "GLIBC_TUNABLES", variable, "too-old",
                 "glibc.elf.thp does nothing: it came with glibc 2.44");
    finding.cost = "Code stays on normal pages.";
    finding.severity = Severity::note;
    finding.setFix("Write mpgrun --text, or MPG_TEXT=auto with libmpg.");
  }
  if (minor >= systemTunablesMinor)
    checkFixed(job, launch, variable, name, value);
}

static void checkTunables(JobContext &job, const JobLaunch &launch) {
  const Variable *variable = launch.launch.environment.find("GLIBC_TUNABLES");
  if (!variable || !variable->known)
    return;
  for (StringRef part : split(variable->value, ':'))
    if (part.contains('='))
      checkTunable(job, launch, *variable, part);
}

static bool loads(const FileReport &report, StringRef start) {
  return any_of(report.closure->libraries, [&](const ClosureEntry &entry) {
    return baseName(entry.name).starts_with(start);
  });
}

/// A variable of a library that the program loads in a release without it. \p
/// text: what files that know it have. Null: nothing to say.
static Finding *checkRelease(JobContext &job, const JobLaunch &launch,
                             StringRef library, StringRef name,
                             StringRef text) {
  const Variable *variable = launch.launch.environment.find(name);
  const FileReport *report = job.findReport(launch);
  if (!variable || !report || !report->closure)
    return nullptr;
  for (const ClosureEntry &entry : report->closure->libraries)
    if (baseName(entry.name).starts_with(library) && !entry.path.empty() &&
        !hasText(entry.path, text))
      return &addAbout(job, launch, name, *variable, library.drop_front(3),
                       name + " does nothing: " + baseName(entry.name) +
                           " has no option of that name");
  return nullptr;
}

/// Releases before 2.1 know MIMALLOC_LARGE_OS_PAGES alone (tried: 2.0.9).
static void checkMimalloc(JobContext &job, const JobLaunch &launch) {
  constexpr StringLiteral library = "libmimalloc";
  if (!launch.launch.environment.find("MIMALLOC_LARGE_OS_PAGES"))
    if (Finding *finding =
            checkRelease(job, launch, library, "MIMALLOC_ALLOW_LARGE_OS_PAGES",
                         "allow_large_os_pages")) {
      finding->cost = "The heap stays on normal pages.";
      finding->setFix("Write MIMALLOC_LARGE_OS_PAGES.");
    }
  if (Finding *finding = checkRelease(job, launch, library,
                                      "MIMALLOC_ALLOW_THP", "allow_thp")) {
    finding->cost = "mimalloc does as without it.";
    finding->setFix("Take it out, or use mimalloc 3.");
  }
}

static void checkMorecore(JobContext &job, const JobLaunch &launch) {
  const Variable *variable = launch.launch.environment.find("HUGETLB_MORECORE");
  if (!variable || !variable->known || !asksForMorecore(launch.launch))
    return;
  unsigned minor = getGlibcMinor(job, launch);
  if (minor == 33)
    return;
  Finding &finding = addAbout(
      job, launch, "HUGETLB_MORECORE", *variable, "morecore",
      settingWords(job, "HUGETLB_MORECORE", *variable) +
          (minor ? " does nothing with the glibc of " + launch.program.text +
                       ": from 2.34 on malloc has no hook for it"
                 : " does nothing from glibc 2.34 on"));
  finding.cost = "The heap stays on normal pages.";
  // Cray's glibc may be another one.
  if (!minor || isOfModule(job, "HUGETLB_MORECORE", *variable))
    finding.severity = Severity::note;
}

/// Only where the program's libraries are all known.
static void checkPeerMissing(JobContext &job, const JobLaunch &launch) {
  const FileReport *report = job.findReport(launch);
  const Variable *map = launch.launch.environment.find("HUGETLB_ELFMAP");
  if (!map || !map->known || map->value == "no" || !report ||
      !report->closure ||
      (launch.launch.mayChange("LD_PRELOAD") &&
       !isOfModule(job, "HUGETLB_ELFMAP", *map)) ||
      loads(*report, "libhugetlbfs.so"))
    return;
  Finding &finding = addAbout(job, launch, "HUGETLB_ELFMAP", *map, "no-library",
                              settingWords(job, "HUGETLB_ELFMAP", *map) +
                                  " does nothing: " + launch.program.text +
                                  " does not load libhugetlbfs");
  finding.cost = "Data stays on normal pages.";
  if (!isOfModule(job, "HUGETLB_ELFMAP", *map))
    return;
  finding.severity = Severity::note;
  finding.setFix("Load the module when you link the program, too.");
}

void mpg::checkOtherMeans(JobContext &job) {
  if (!job.wants(FindingId::mpg242))
    return;
  for (const JobLaunch *launch : job.launches) {
    checkTunables(job, *launch);
    checkMorecore(job, *launch);
    checkPeerMissing(job, *launch);
    checkMimalloc(job, *launch);
  }
}

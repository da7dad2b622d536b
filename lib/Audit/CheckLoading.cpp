// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks which files the loader would miss, and which it would load by
// mistake. MPG121: a library, or the loader itself, is missing; all other
// findings are then about less than the job will load. MPG230: settings that
// lead to another C library or large page library, or that the loader
// ignores.

#include "Audit/Checks.h"
#include "Loader/LoaderSearch.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// Where the loader looks for what \p asker needs, as far as a user decides it.
static std::string searchedFolders(const Subject &subject,
                                   const ClosureEntry &entry) {
  std::optional<std::string> runpath, rpath;
  if (entry.askedBy >= 0) {
    const LibraryFacts *asker =
        subject.closure->closure.libraries[unsigned(entry.askedBy)].facts;
    if (asker) {
      runpath = asker->runpath;
      rpath = asker->rpath;
    }
  } else if (entry.askedBy == ClosureEntry::program) {
    const Dynamic &dynamic = subject.image.dynamic();
    if (dynamic.runpath)
      runpath = dynamic.runpath->str();
    else if (dynamic.rpath)
      rpath = dynamic.rpath->str();
  }
  std::string text;
  if (rpath)
    text += "RPATH " + *rpath + ", ";
  if (const Launch *launch = subject.launch())
    if (const Variable *path = launch->environment.find("LD_LIBRARY_PATH");
        path && !subject.closure->closure.secure) {
      const std::string &list = path->known ? path->value : path->knownFolders;
      if (!list.empty())
        text += "LD_LIBRARY_PATH " + list + ", ";
    }
  if (runpath)
    text += "RUNPATH " + *runpath + ", ";
  return text + "ld.so.cache and the default folders";
}

static std::string describeRequest(const Subject &subject,
                                   const ClosureEntry &entry) {
  if (entry.askedBy == ClosureEntry::preload)
    return "LD_PRELOAD names it";
  if (entry.askedBy == ClosureEntry::program)
    return "the program needs it";
  return subject.closure->libraries[unsigned(entry.askedBy)].name.str() +
         " needs it";
}

/// Whether the folders that the job will search are those that were searched.
static bool knowsSearchPath(const Subject &subject) {
  return subject.launch() && !subject.launch()->mayChange("LD_LIBRARY_PATH");
}

/// The script names folders that are not known here: the library may well be in
/// one of them.
static bool addUnknownPath(const Launch &launch, Finding &finding) {
  const Variable *path = launch.environment.find("LD_LIBRARY_PATH");
  unsigned line = launch.unknownFromLine;
  std::string what = launch.unknownFrom;
  if (!line && path) {
    line = path->line;
    what = "LD_LIBRARY_PATH=" + path->value;
  }
  if (!line)
    return false;
  finding.severity = std::min(finding.severity, Severity::note);
  finding.title += " here; line " + std::to_string(line) + " of the script (" +
                   what + ") may name its folder";
  finding.cost = "none if it does; what this library does is not checked";
  finding.setFix("Nothing, if the job runs. To have the library checked: "
                 "--env=LD_LIBRARY_PATH=FOLDER.");
  return true;
}

/// A folder of the script's LD_LIBRARY_PATH that is not here: only the job's
/// machine has it, or none; "" if there is none.
static std::string absentFolder(const Launch &launch) {
  const Variable *path = launch.environment.find("LD_LIBRARY_PATH");
  SmallVector<StringRef, 8> folders;
  if (path && path->known && path->line)
    StringRef(path->value).split(folders, ':');
  constexpr size_t max = 64; // a list of thousands was made to take time
  for (StringRef folder : ArrayRef(folders).take_front(max))
    if (folder.starts_with("/") &&
        access(
            followLinks(launch.sysroot + folder.str(), launch.sysroot).c_str(),
            F_OK) != 0)
      return folder.str();
  return "";
}

static void addMissing(const Subject &subject, const LoadedLibrary &library,
                       Findings &findings) {
  const ClosureEntry &entry = *library.entry;
  Finding &finding = findings.add(
      FindingId::mpg121, library.name + " cannot be loaded: " + entry.reason);
  bool searched = !StringRef(entry.name).contains('/');
  finding.evidence =
      describeRequest(subject, entry) +
      (searched ? "; searched: " + searchedFolders(subject, entry)
                : ", by its path: " + entry.name);
  subject.closure->setVia(finding, library);
  std::string absent = subject.launch() ? absentFolder(*subject.launch()) : "";
  if (searched && !absent.empty() && entry.reason == "not found") {
    finding.severity = std::min(finding.severity, Severity::warning);
    finding.title += " here, where there is no " + absent +
                     ", which the script has in LD_LIBRARY_PATH";
  }
  if (entry.askedBy == ClosureEntry::preload) {
    finding.severity = std::min(finding.severity, Severity::warning);
    finding.where.symbol = "LD_PRELOAD";
    if (searched && !knowsSearchPath(subject) && subject.launch() &&
        addUnknownPath(*subject.launch(), finding))
      return;
    finding.cost = "the loader says so and goes on without the library";
    finding.setFix("Correct the name or the path in LD_PRELOAD.");
  } else if (!knowsSearchPath(subject)) {
    if (subject.launch() && addUnknownPath(*subject.launch(), finding))
      return;
    // A module of the job may well name the folder.
    finding.severity = std::min(finding.severity, Severity::warning);
    finding.cost = "the program does not start, unless the job's "
                   "LD_LIBRARY_PATH names the folder; what this library does "
                   "is not checked";
    finding.setFix("Name the folder as the job does: --env=LD_LIBRARY_PATH="
                   "FOLDER. Or link the program with -Wl,-rpath,FOLDER.");
  }
  if (StringRef(entry.reason).starts_with("/")) // a file has the name
    finding.setFix("Put the library in place of that file, for this machine "
                   "and readable by the job's user.");
}

/// The kernel looks for it, so no variable of the job matters.
static void checkInterpreter(const Subject &subject, Findings &findings) {
  std::optional<StringRef> loader = subject.image.interpreter();
  if (!loader || !loader->starts_with("/"))
    return;
  std::string sysroot = subject.launch() ? subject.launch()->sysroot : "";
  std::string path = sysroot + loader->str();
  bool wasRead =
      any_of(subject.closure->libraries, [&](const LoadedLibrary &library) {
        return library.entry->facts && library.entry->path == path;
      });
  if (wasRead || access(followLinks(path, sysroot).c_str(), F_OK) == 0 ||
      (errno != ENOENT && errno != ENOTDIR))
    return;
  Finding &finding =
      findings.add(FindingId::mpg121,
                   "the loader of the program, " + *loader + ", is not there");
  finding.sub = "loader";
  if (!sysroot.empty()) // perhaps it was not copied
    finding.severity = Severity::warning;
  finding.evidence = path + " does not exist; PT_INTERP names it";
  finding.cost = "the program does not start: \"No such file or directory\"";
  finding.setFix("Link the program on the machine that shall run it, or for "
                 "the loader that is there: -Wl,--dynamic-linker=LOADER.");
}

void mpg::checkMissing(const Subject &subject, Findings &findings) {
  // Without the machine's own libraries there is nothing to compare.
  if (!subject.closure || subject.closure->closure.foreign)
    return;
  checkInterpreter(subject, findings);
  for (const LoadedLibrary &library : subject.closure->libraries)
    if (library.entry->path.empty())
      addMissing(subject, library, findings);
}

/// The folder of \p library without the sysroot in front of it.
static StringRef getFolder(const Subject &subject,
                           const LoadedLibrary &library) {
  StringRef folder = sys::path::parent_path(library.entry->path);
  if (subject.launch())
    folder.consume_front(subject.launch()->sysroot);
  return folder;
}

static bool isSystemFolder(StringRef folder) {
  return folder == "/lib" || folder == "/lib64" || folder == "/usr/lib" ||
         folder == "/usr/lib64" || folder.starts_with("/lib/") ||
         folder.starts_with("/lib64/") || folder.starts_with("/usr/lib/") ||
         folder.starts_with("/usr/lib64/");
}

static void checkPlaces(const Subject &subject, Findings &findings) {
  // A program that brings its own loader brings its own C library on purpose.
  StringRef loader = sys::path::parent_path(
      subject.image.interpreter().value_or("/lib/ld.so"));
  for (const LoadedLibrary &library : subject.closure->libraries) {
    bool libc = library.name.starts_with("libc.so");
    bool vendor = library.name.starts_with("libmpg.so") && library.checks &&
                  !library.isOurs();
    if (!libc && !vendor)
      continue;
    StringRef folder = getFolder(subject, library);
    if (folder.empty() ||
        (libc && (isSystemFolder(folder) || folder == loader)) ||
        (vendor && folder.starts_with("/opt/FJSVxos/"))) // HW:fugaku-paths
      continue;
    Finding &finding = findings.add(
        FindingId::mpg230,
        library.name + " comes from " + folder +
            (libc ? ", not from the system" : ", not from /opt/FJSVxos/mmm"));
    finding.sub = libc ? "libc" : "libmpg";
    finding.where.symbol = library.name.str();
    finding.evidence = library.name.str() + " is " + library.entry->path;
    subject.closure->setVia(finding, library);
  }
}

/// Two large page libraries in one process: the first one serves malloc, and
/// both move memory.
static void checkTwo(const Subject &subject, Findings &findings) {
  const LoadedLibrary *first = subject.closure->findLibmpg();
  for (const LoadedLibrary &library : subject.closure->libraries) {
    if (!library.isLibmpg() || &library == first)
      continue;
    // A name that is loaded already is not loaded again; which file it is stays
    // open where one of them is not here.
    if (library.name == first->name &&
        !(library.entry->facts && first->entry->facts))
      continue;
    Finding &finding = findings.add(FindingId::mpg230,
                                    "two large page libraries: " + first->name +
                                        " and " + library.name);
    finding.sub = "two";
    finding.evidence = first->name.str() + " is found first, and " +
                       library.name.str() + " is loaded as well";
    finding.cost = "both want to move the same memory; the first one serves "
                   "malloc";
    finding.setFix("Load one of them.");
    subject.closure->setVia(finding, library);
    return;
  }
}

static void checkSecure(const Subject &subject, Findings &findings) {
  const Launch *launch = subject.launch();
  if (!subject.closure->closure.secure || !launch)
    return;
  std::string ignored;
  for (StringRef name : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    if (launch->environment.find(name))
      ignored += (ignored.empty() ? "" : " and ") + name.str();
  if (ignored.empty())
    return;
  Finding &finding = findings.add(
      FindingId::mpg230, "the loader ignores " + ignored + " of the job");
  finding.sub = "secure";
  finding.where.symbol = ignored.substr(0, ignored.find(' '));
  finding.evidence = "the program is set-uid or set-gid, or has file "
                     "capabilities";
  finding.cost = "libraries come from the folders that the program itself "
                 "names and from the system; nothing is preloaded";
  finding.setFix("Start a copy without these rights, or link the program with "
                 "what the variables were to bring.");
}

void mpg::checkSearchPath(const Subject &subject, Findings &findings) {
  if (!subject.closure || subject.closure->libraries.empty())
    return;
  checkPlaces(subject, findings);
  checkTwo(subject, findings);
  checkSecure(subject, findings);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG230: the loader's settings lead to another C library or large page library
// than the one that was meant, or the loader will not listen to them at all.

#include "Audit/Checks.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// The folder of \p library without the sysroot in front of it.
static StringRef folderOf(const Subject &subject,
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
    StringRef folder = folderOf(subject, library);
    bool libc = library.name.starts_with("libc.so");
    bool vendor = library.name.starts_with("libmpg.so") && library.checks &&
                  !library.isOurs();
    if (folder.empty() || (!libc && !vendor) ||
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

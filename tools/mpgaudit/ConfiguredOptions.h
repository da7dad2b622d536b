// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line with what the site's and the project's file add to it: all
// of them parsed options, to which one reader gives their meaning.

#ifndef MPG_TOOLS_MPGAUDIT_CONFIGUREDOPTIONS_H
#define MPG_TOOLS_MPGAUDIT_CONFIGUREDOPTIONS_H

#include "Options.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"

namespace mpg {

class ConfiguredOptions {
public:
  /// Both must live as long.
  ConfiguredOptions(const llvm::opt::OptTable &table,
                    const llvm::opt::InputArgList &commandLine)
      : table(table), commandLine(commandLine), all(commandLine) {}

  /// Reads the files that belong to the command line. pre: called once.
  llvm::Error read();

  /// In an order in which the last one of a kind counts.
  const llvm::opt::ArgList &args() const { return all; }
  /// "FILE:LINE: " of what a file says, else "".
  std::string placeOf(const llvm::opt::Arg *arg) const {
    return places.lookup(arg);
  }
  /// The files' accepted findings.
  std::vector<Suppression> suppressions;

private:
  llvm::Error readSite();
  llvm::Error readProject(const std::string &path);
  llvm::Expected<Configuration> readFile(const std::string &path,
                                         bool mayLock) const;
  llvm::Error lock(const Configuration &site);
  bool isLocked(llvm::StringRef key) const;
  bool isGiven(llvm::StringRef key) const;
  void add(const Configuration &file, const Configuration::Entry &entry);

  const llvm::opt::OptTable &table;
  const llvm::opt::InputArgList &commandLine;
  llvm::opt::DerivedArgList all;
  llvm::DenseMap<const llvm::opt::Arg *, std::string> places;
  std::vector<std::string> locked; ///< keys that only the site's file decides
};

/// Fills \p options. Returns the first error, "" when there is none; the others
/// usually follow from it.
std::string readOptions(const ConfiguredOptions &configured, Options &options);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_CONFIGUREDOPTIONS_H

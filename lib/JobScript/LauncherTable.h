// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of Launchers.def: which commands start another program, and which of
// their options have a value.

#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace mpg {

enum class LauncherFamily : uint8_t {
  mpi,   ///< mpiexec of all kinds
  srun,  ///< options in getopt's way
  aprun, ///< -N is per node
  jsrun,
  charm, ///< options begin with + as well
  env,   ///< assignments in front of the program
  mpgrun,
  container, ///< its first two words are a verb and an image
  loader,    ///< ld.so PROGRAM
  places,    ///< tool; in front of the program places, "core:0"
  setarch,   ///< tool; an architecture may be in front of the program
  tool,      ///< measures or binds: what follows is a program of the job
  remote,    ///< what follows may be a line for a shell
  shell,     ///< starts a shell; programs are in the text of -c alone
  wrapper    ///< changes little: "time cp a b" is cp
};

enum class Launcher : uint8_t {
#define MPG_LAUNCHER(key, family, operands, names) key,
#include "JobScript/Launchers.def"
};

/// The meaning of an option's value.
enum class OptionMeaning : uint8_t {
  none,
  ranks,
  ranksPerNode,
  nodes,
  mapBy,        ///< ppr:4:node
  variable,     ///< A=b, or A whose value is the shell's
  variableList, ///< A=b,C
  exportList,   ///< the same; the others are taken away without ALL
  assign,       ///< two values: the name and its value
  unset,
  image,
  libraryPath,
  preload,
  programFile, ///< a file that names the programs
  command      ///< a line for a shell
};

struct LauncherRow {
  Launcher key;
  LauncherFamily family;
  unsigned operands; ///< words in front of the program that are not options
  llvm::StringLiteral names; ///< with a blank between each two
};

struct OptionRow {
  Launcher key;
  OptionMeaning meaning;
  unsigned values;
  llvm::StringLiteral names; ///< with a blank between each two
};

const LauncherRow &launcherRow(Launcher key);

/// The row of a command by its name, without a folder; null: it is none.
const LauncherRow *findLauncher(llvm::StringRef name);

/// Null: the option \p name, without dashes, has no value.
const OptionRow *findLauncherOption(Launcher key, llvm::StringRef name);

} // namespace mpg

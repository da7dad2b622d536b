// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LauncherTable.h.

#include "JobScript/LauncherTable.h"
#include "Support/Format.h"

using namespace llvm;
using namespace mpg;

static constexpr LauncherRow rows[] = {
#define MPG_LAUNCHER(key, family, operands, names)                             \
  {Launcher::key, LauncherFamily::family, operands, names},
#include "JobScript/Launchers.def"
};

static constexpr OptionRow optionRows[] = {
#define MPG_OPTION(key, meaning, values, names)                                \
  {Launcher::key, OptionMeaning::meaning, values, names},
#include "JobScript/Launchers.def"
};

const LauncherRow &mpg::launcherRow(Launcher key) { return rows[size_t(key)]; }

const OptionRow *mpg::findLauncherOption(Launcher key, StringRef name) {
  for (const OptionRow &row : optionRows)
    if (row.key == key && hasWord(row.names, name))
      return &row;
  return nullptr;
}

const LauncherRow *mpg::findLauncher(StringRef name) {
  // "mpiexec -n 4" in quotes
  if (name.contains(' '))
    return nullptr;
  // ld-linux-x86-64.so.2, ld-musl-aarch64.so.1, ld64.so.2
  if (name.starts_with("ld") && name.contains(".so."))
    return &launcherRow(Launcher::loader);
  if (name.starts_with("mpirun") || name.starts_with("mpiexec"))
    return &launcherRow(Launcher::mpi);
  for (const LauncherRow &row : rows)
    if (hasWord(row.names, name))
      return &row;
  return nullptr;
}

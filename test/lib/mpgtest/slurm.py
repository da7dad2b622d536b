# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a Slurm can be started here: the daemons, Lua's filter, the rights."""

from __future__ import annotations

import glob
import shutil
import subprocess

DAEMONS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "setpriv")
FOLDERS = ("/usr/lib*/slurm*", "/usr/lib/*/slurm*")


def has_plugin(name: str) -> bool:
    return any(glob.glob(f"{folder}/{name}.so") for folder in FOLDERS)


def may_start() -> bool:
    # As root of an unprivileged container one is no other user.
    return subprocess.run(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
         "setpriv", "--reuid=1", "--clear-groups", "true"],
        stderr=subprocess.DEVNULL, check=False).returncode == 0


def features(path: str) -> set[str]:
    """The features for lit; `path` as PATH, with the folders of daemons."""
    found = set()
    if has_plugin("lua"):
        found.add("slurm-spank-lua")
    if (all(shutil.which(name, path=path) for name in DAEMONS)
            and has_plugin("cli_filter_lua") and may_start()):
        found.add("slurm-as-root")
        if has_plugin("mpi_pmix"):
            found.add("slurm-pmix")
    return found

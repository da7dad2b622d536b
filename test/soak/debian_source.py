# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source packages of this machine's own Debian release, unpacked.

The machine's package sources usually name binary packages only. This module copies them into a
private folder with the type changed to deb-src, and points apt-get at that folder. /etc/apt and
apt's lists stay unchanged, and the machine's mirror, proxy and signing keys are used here too.
Versions are not chosen: users build the release's versions.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import time
from typing import List


class SourceError(Exception):
    """No source: what was missing, what it costs and what helps."""


def as_deb_src(name: str, text: str) -> str:
    """One file of apt's sources with deb replaced by deb-src.

    Omits other vendors' archives: they hold none of the packages wanted here, and one that is down
    would make the update fail.
    """
    if name.endswith(".sources"):
        stanzas = [stanza for stanza in re.split(r"\n\s*\n", text)
                   if re.search(r"(?mi)^uris:.*/\S*debian", stanza)]
        return "\n\n".join(re.sub(r"(?mi)^types:.*$", "Types: deb-src", stanza)
                           for stanza in stanzas) + "\n"
    lines = [line for line in text.splitlines() if re.match(r"deb\s.*/\S*debian", line)]
    return "".join(re.sub(r"^deb\s", "deb-src ", line) + "\n" for line in lines)


def files_of_apt() -> List[pathlib.Path]:
    """The files that name this machine's package sources."""
    text = subprocess.run(
        ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f",
         "PARTS", "Dir::Etc::sourceparts/d"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    values = dict(word.split("=", 1) for word in shlex.split(text))
    parts = pathlib.Path(values["PARTS"])
    files = [pathlib.Path(values["LIST"])]
    if parts.is_dir():
        files += sorted(path for path in parts.iterdir() if path.suffix in (".list", ".sources"))
    return [path for path in files if path.is_file()]


class Sources:
    """Downloads into a folder and keeps what it has."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.log = folder / "apt.log"
        self.lists_are_new = False

    def unpacked(self, package: str) -> pathlib.Path:
        """The source tree of the package; pre: no other process changes files there."""
        target = self.folder / package
        if target.is_dir():
            return target
        for tool in ("apt-get", "dpkg-source"):
            if not shutil.which(tool):
                raise SourceError(
                    f"{tool} is not installed, so the source of {package} "
                    "cannot be had; install apt and dpkg-dev")
        download = self.folder / "download" / package
        download.mkdir(parents=True, exist_ok=True)
        if not self.download(package, download):
            # Mirrors have bad moments; a second failure is a real one.
            time.sleep(10)
            self.lists_are_new = False
            if not self.download(package, download):
                raise SourceError(
                    f"the source of {package} could not be downloaded, so "
                    "nothing was tested with it; look at the end of "
                    f"{self.log}: is the network there, and do the machine's "
                    "package sources name a Debian archive?")
        return self.unpack(package, download, target)

    def unpack(self, package: str, download: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
        descriptions = sorted(download.glob("*.dsc"))
        scratch = self.folder / f"{package}.unpacking"
        shutil.rmtree(scratch, ignore_errors=True)
        status = self.run(["dpkg-source", "--no-check", "-x",
                           str(descriptions[-1]), str(scratch)], self.folder)
        if status != 0:
            raise SourceError(f"{descriptions[-1].name} cannot be unpacked; "
                              f"the end of {self.log} says why")
        # Renamed last: a tree under this name is complete.
        scratch.rename(target)
        return target

    def download(self, package: str, folder: pathlib.Path) -> bool:
        if not self.lists_are_new:
            self.write_parts()
            # Status ignored: one archive of several may be down. It only matters whether the
            # package is known.
            self.run(self.apt_get() + ["update"], folder)
            self.lists_are_new = True
        fetch = self.apt_get() + ["source", "--download-only", package]
        return self.run(fetch, folder) == 0 and any(folder.glob("*.dsc"))

    def write_parts(self) -> None:
        parts = self.folder / "apt" / "parts"
        parts.mkdir(parents=True, exist_ok=True)
        (self.folder / "apt" / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        for path in files_of_apt():
            text = as_deb_src(path.name, path.read_text(encoding="utf-8"))
            if text.strip():
                (parts / path.name).write_text(text, encoding="utf-8")

    def apt_get(self) -> List[str]:
        apt = self.folder / "apt"
        settings = {
            "Dir::Etc::sourcelist": "/dev/null",
            "Dir::Etc::sourceparts": f"{apt}/parts",
            "Dir::State::lists": f"{apt}/lists",
            "Dir::Cache": str(apt),
            # The download user of apt may not write into a private folder.
            "APT::Sandbox::User": "root",
            "Acquire::http::Timeout": "30",
            "Acquire::Retries": "1",
        }
        command = ["apt-get", "-q"]
        for name, value in settings.items():
            command += ["-o", f"{name}={value}"]
        return command

    def run(self, command: List[str], folder: pathlib.Path) -> int:
        with open(self.log, "a", encoding="utf-8") as log:
            print("$", shlex.join(command), file=log, flush=True)
            return subprocess.run(command, cwd=folder, stdout=log,
                                  stderr=subprocess.STDOUT, timeout=600,
                                  check=False).returncode

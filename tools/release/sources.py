# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of a release beside this repository: pinned by checksum, fetched
from Debian's archive and from PyPI by pip, or taken from a folder of downloads."""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import urllib.request
from typing import Dict, List, NamedTuple, NoReturn

HERE = pathlib.Path(__file__).resolve().parent
# Not https, which some of its mirrors do not speak: the checksums decide.
DEBIAN = "http://deb.debian.org/debian/pool/main"


class Archive(NamedTuple):
    folder: str  # of Debian's archive
    file: str
    sha256: str
    wanted: List[str]  # what of it is unpacked


ARCHIVES: Dict[str, Archive] = {
    "llvm": Archive(
        "l/llvm-toolchain-22", "llvm-toolchain-22_22.1.8.orig.tar.xz",
        "b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe",
        ["*/llvm/*", "llvm-toolchain*/cmake/*", "*/third-party/siphash/*"]),
    "elfutils": Archive(
        "e/elfutils", "elfutils_0.188.orig.tar.bz2",
        "fb8b0e8d0802005b9a309c60c1d8de32dd2951b56f0c3a3cb56d21ce01595dff",
        ["*"]),
    "zlib": Archive(
        "z/zlib", "zlib_1.2.13.dfsg.orig.tar.bz2",
        "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
        ["*"]),
}
# Brings clang and the C library of each machine and age. As pip wants it.
COMPILER = ("ziglang==0.17.1 --hash=sha256:"
            "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54")


def die(text: str) -> NoReturn:
    sys.exit(f"make-release: error: {text}")


def run(*command: object, **options: object) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, **options)  # type: ignore
    if done.returncode != 0:
        die(f"{' '.join(words[:3])} ... ended with status {done.returncode}; "
            "its messages are above")


class Pinned:
    """Unpacked below one folder, each once."""

    def __init__(self, work: pathlib.Path, downloads: pathlib.Path) -> None:
        self.work = work
        self.downloads = downloads
        downloads.mkdir(parents=True, exist_ok=True)

    def archive(self, name: str) -> pathlib.Path:
        """The file, fetched if it is not there, with its checksum seen."""
        archive = ARCHIVES[name]
        path = self.downloads / archive.file
        if not path.is_file():
            self.fetch(archive, path)
        if hashlib.sha256(path.read_bytes()).hexdigest() != archive.sha256:
            die(f"{path} is another file than the pinned one (SHA-256 "
                f"{archive.sha256}); remove it")
        return path

    @staticmethod
    def fetch(archive: Archive, path: pathlib.Path) -> None:
        url = f"{DEBIAN}/{archive.folder}/{archive.file}"
        scratch = path.with_suffix(".part")
        try:
            with urllib.request.urlopen(url, timeout=60) as answer, \
                    open(scratch, "wb") as file:
                shutil.copyfileobj(answer, file)
        except OSError as error:
            die(f"{url} cannot be had: {error}; put the file into {path.parent}, "
                "from any archive of Debian's sources that has it")
        scratch.rename(path)

    def source(self, name: str) -> pathlib.Path:
        target = self.work / "source" / name
        if target.is_dir():
            return target
        scratch = target.with_suffix(".unpacking")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        run("tar", "-C", scratch, "--strip-components=1", "--wildcards",
            "--exclude=*/llvm/test", "--exclude=*/llvm/unittests",
            "--exclude=*/llvm/docs", "-xf", self.archive(name),
            *ARCHIVES[name].wanted)
        # Renamed last: a tree under this name is complete.
        return scratch.rename(target)

    def zig(self) -> pathlib.Path:
        """The compilers."""
        venv = self.work / "zig"
        if not (venv / "complete").is_file():
            run(sys.executable, "-m", "venv", "--clear", venv)
            # pip takes checksums from a file alone.
            pinned = venv / "requirements.txt"
            pinned.write_text(COMPILER + "\n", encoding="utf-8")
            run(venv / "bin" / "pip", "install", "-q", "--require-hashes",
                "--only-binary=:all:", "--find-links", self.downloads,
                "-r", pinned)
            (venv / "complete").touch()
        return next(venv.glob("lib/python*/site-packages/ziglang/zig"))

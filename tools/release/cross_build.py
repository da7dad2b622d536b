# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the programs and libmpg for a machine of another kind or age, and of the
sources of others what they link: libelf and libdw with zlib, and a third of LLVM's Support."""

import pathlib
import shlex
import shutil
import struct
from typing import Dict

from sources import HERE, Pinned, die, run

ROOT = HERE.parents[1]
GLIBC = "2.28"
# A missing file is named by the linker.
LLVM_FILES: Dict[str, str] = {
    "Demangle": """DLangDemangle Demangle ItaniumDemangle MicrosoftDemangle
        MicrosoftDemangleNodes RustDemangle""",
    "Option": "Arg ArgList OptTable Option",
    "Support": """ABIBreak APFloat APInt CommandLine ConvertUTF
        ConvertUTFWrapper CrashRecoveryContext Debug DebugCounter Errno Error
        ErrorHandling ExtensibleRTTI FormatVariadic GraphWriter
        IntegerInclusiveInterval JSON Jobserver MD5 ManagedStatic MemAlloc
        MemoryBuffer NativeFormatting OptionStrCmp Optional Path Process Program
        RandomNumberGenerator Regex SHA256 Signals Signposts SmallPtrSet
        SmallVector SourceMgr Statistic StringExtras StringMap StringRef
        StringSaver Threading Timer Twine Unicode VirtualFileSystem WithColor
        YAMLParser raw_ostream regcomp.c regerror.c regexec.c regfree.c
        regstrlcpy.c xxhash""",
}
LLVM_OFF = """ENABLE_ZLIB ENABLE_ZSTD ENABLE_LIBXML2 ENABLE_LIBEDIT ENABLE_LIBPFM
    ENABLE_CURL ENABLE_HTTPLIB ENABLE_BINDINGS ENABLE_RTTI INCLUDE_TESTS
    INCLUDE_BENCHMARKS INCLUDE_EXAMPLES INCLUDE_DOCS INCLUDE_UTILS INCLUDE_TOOLS
    INCLUDE_RUNTIMES""".split()
# One word, as CMake wants it. zig writes an architecture as a processor with
# features.
COMPILER = """#!/bin/sh
for word; do
  shift
  [ "$word" = -march=armv8.2-a+sve ] && word=-mcpu=generic+v8_2a+sve
  set -- "$@" "$word"
done
exec "{zig}" {name} -target {machine}-linux-gnu.{glibc} "$@"
"""


def find_llvm_tools() -> pathlib.Path:
    """The folder of the machine's own LLVM, with which nothing is linked."""
    found = shutil.which("llvm-tblgen-22") or "/usr/lib/llvm-22/bin/llvm-tblgen"
    folder = pathlib.Path(found).resolve().parent
    for program in ("llvm-tblgen", "llvm-strip"):
        if not (folder / program).exists():
            die(f"{program} of LLVM 22 is missing; in Debian: apt-get install llvm-22")
    return folder


def initialize_first(library: pathlib.Path) -> None:
    """What -z initfirst does, which zig's linker refuses: a bit of DT_FLAGS_1, which
    -z now has made."""
    content = bytearray(library.read_bytes())
    table, size, count = (struct.unpack_from(form, content, at)[0]
                          for form, at in (("<Q", 32), ("<H", 54), ("<H", 56)))
    for header in range(table, table + size * count, size):
        kind, = struct.unpack_from("<I", content, header)
        start, = struct.unpack_from("<Q", content, header + 8)
        length, = struct.unpack_from("<Q", content, header + 32)
        for entry in range(start, start + length, 16) if kind == 2 else ():
            tag, flags = struct.unpack_from("<QQ", content, entry)
            if tag == 0x6FFFFFFB:  # DT_FLAGS_1
                struct.pack_into("<Q", content, entry + 8, flags | 0x20)
                library.write_bytes(content)
                return
    die(f"{library} has no DT_FLAGS_1")


class CrossBuild:
    """For one machine; everything below one folder, which may be kept."""

    def __init__(self, pinned: Pinned, machine: str) -> None:
        self.pinned = pinned
        self.machine = machine
        self.folder = pinned.work / machine
        self.tools = find_llvm_tools()
        self.write_compilers()

    def write_compilers(self) -> None:
        zig, folder = self.pinned.zig(), self.folder / "compiler"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("cc", "c++", "ar", "ranlib"):
            text = f'#!/bin/sh\nexec "{zig}" {name} "$@"\n'
            if name.startswith("c"):
                text = COMPILER.format(zig=zig, name=name, machine=self.machine,
                                       glibc=GLIBC)
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)

    def configure(self, source: pathlib.Path, build: pathlib.Path,
                  *options: str) -> None:
        compilers = self.folder / "compiler"
        maps = [shlex.quote(f"-ffile-prefix-map={folder}=.")
                for folder in (self.pinned.work, ROOT)]
        flags = f"-g0 {' '.join(maps)} -Wno-unused-command-line-argument"
        run("cmake", "-GNinja", "-S", source, "-B", build,
            f"-DCMAKE_C_COMPILER={compilers}/cc",
            f"-DCMAKE_CXX_COMPILER={compilers}/c++",
            f"-DCMAKE_ASM_COMPILER={compilers}/cc",
            f"-DCMAKE_AR={compilers}/ar", f"-DCMAKE_RANLIB={compilers}/ranlib",
            f"-DCMAKE_STRIP={self.tools}/llvm-strip",
            "-DCMAKE_SYSTEM_NAME=Linux",
            f"-DCMAKE_SYSTEM_PROCESSOR={self.machine}",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}", *options)

    def build_libelf(self) -> pathlib.Path:
        folder = self.folder / "elf"
        if not (folder / "libdw.a").is_file():
            self.configure(HERE / "elf", folder,
                           f"-DELFUTILS={self.pinned.source('elfutils')}",
                           f"-DZLIB={self.pinned.source('zlib')}")
            run("cmake", "--build", folder)
        return folder / "libelf.a"

    def build_llvm(self) -> pathlib.Path:
        """LLVM's build folder, with archives of what the programs link."""
        folder = self.folder / "llvm"
        if (folder / "complete").is_file():
            return folder
        self.configure(self.pinned.source("llvm") / "llvm", folder,
                       f"-DLLVM_TABLEGEN={self.tools}/llvm-tblgen",
                       "-DLLVM_TARGETS_TO_BUILD=", "-DLLVM_BUILD_TOOLS=OFF",
                       f"-DLLVM_HOST_TRIPLE={self.machine}-linux-gnu",
                       *[f"-DLLVM_{name}=OFF" for name in LLVM_OFF])
        members = {
            library: [f"lib/{library}/CMakeFiles/LLVM{library}.dir/"
                      f"{name if name.endswith('.c') else name + '.cpp'}.o"
                      for name in names.split()]
            for library, names in LLVM_FILES.items()}
        run("cmake", "--build", folder, "--target",
            *[file for files in members.values() for file in files])
        (folder / "lib").mkdir(exist_ok=True)
        for library, files in members.items():
            archive = folder / "lib" / f"libLLVM{library}.a"
            archive.unlink(missing_ok=True)
            run(self.folder / "compiler" / "ar", "rcs", archive, *files, cwd=folder)
        (folder / "complete").touch()
        return folder

    def build(self) -> pathlib.Path:
        libelf, llvm = self.build_libelf(), self.build_llvm()
        folder = self.folder / "mpgtools"
        self.configure(
            ROOT, folder, "-DMPG_PARTS=tools,runtime", "-DMPG_UNITY=ON",
            f"-DLLVM_DIR={llvm}/lib/cmake/llvm",
            f"-DMPG_LLVM_TOOLS={self.tools}",
            f"-DLIBELF_INCLUDE_DIR={self.pinned.source('elfutils')}/libelf",
            f"-DLIBELF_LIBRARY={libelf}",
            f"-DLIBDW_INCLUDE_DIR={libelf.parent}",
            f"-DLIBDW_LIBRARY={libelf.parent}/libdw.a",
            "-DCMAKE_INSTALL_PREFIX=/usr",
            "-DCMAKE_INSTALL_LIBDIR=lib")
        run("cmake", "--build", folder)
        initialize_first(folder / "lib/libmpgrt.so.1")
        return folder

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of Debian source packages that random-hints compiles.

Chosen because they check themselves or print all they compute, run for about a
second, and compile without a configure script: sources and flags are all there
is. Paths are relative to the unpacked package. Nothing here knows of tags.
"""

import dataclasses
from typing import Dict, List, Union


@dataclasses.dataclass
class Run:
    """One call of a program. Its input: text, or the output of the call before
    (BEFORE), or a file of the package (behind FILE)."""

    arguments: List[str] = dataclasses.field(default_factory=list)
    stdin: Union[str, bytes] = ""
    status: int = 0


BEFORE = "<before>"
FILE = "<file>"


@dataclasses.dataclass
class Program:
    name: str
    sources: List[str]
    runs: List[Run] = dataclasses.field(default_factory=lambda: [Run()])
    files: str = ""  # folder that the program is run in a copy of
    noise: str = ""  # expression for what differs from run to run in the output


@dataclasses.dataclass
class Package:
    """Programs with common flags and a common library."""

    name: str  # of the Debian source package
    programs: List[Program]
    library: List[str] = dataclasses.field(default_factory=list)  # patterns
    without: List[str] = dataclasses.field(default_factory=list)  # patterns
    flags: List[str] = dataclasses.field(default_factory=list)
    # Patterns of more files of the library, compiled into one object: for
    # hundreds of small ones.
    joined: List[str] = dataclasses.field(default_factory=list)
    # Headers that a configure script would have written: name -> text.
    headers: Dict[str, str] = dataclasses.field(default_factory=dict)


def points(count: int, dimensions: int) -> str:
    """Input of qhull: the same pseudo-random points on every machine."""
    state, lines = 20261, [str(dimensions), str(count)]
    for _ in range(count):
        words = []
        for _ in range(dimensions):
            state = (state * 1103515245 + 12345) % (1 << 31)
            words.append(f"{state / (1 << 31):.9f}")
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


PROSE = "".join(f"line {n}: {n * n % 977} bottles, {n % 7} boxes and "
                f"{'ab' * (n % 13)}\n" for n in range(4000))

LUA = """
local t, h = {}, 7
for i = 1, 20000 do h = (h * 31 + i) % 1000003; t[i] = h end
table.sort(t)
local s = {}
for i = 1, 200 do s[#s + 1] = string.format('%d:%x', t[i * 100], t[i]) end
local u = table.concat(s, ',')
print(#u, select(2, u:gsub('%d+', function(d) return '<' .. d .. '>' end)))
print(u:sub(1, 300):upper(), u:rep(2):find('ff', 100, true))
local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
print(fib(20), pcall(error, {1}), math.floor(1e15 / 7), 2^0.5)
local c = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end)
print(c(), c(), c(), utf8.char(228, 8364))
print(string.pack('<i4d', 7, 0.5):byte(1, 12))
""".replace("\n", " ")

JAVASCRIPT = """
var a = [], h = 7;
for (var i = 0; i < 3000; ++i) { h = (h * 31 + i) % 1000003; a.push(h); }
a.sort(function (x, y) { return x - y; });
print(a.slice(0, 40).join());
print(JSON.stringify({ k: a.slice(5, 9), s: 'x\\u00e4'.toUpperCase() }));
print(a.join('-').replace(/(\\d)(\\d)/g, '$2$1').substr(0, 400));
print(Math.sqrt(2), parseFloat('1e300') * 10, (255).toString(16), isNaN('q'));
try { null.x; } catch (e) { print(e); }
"""


def blas(letter: str) -> List[Program]:
    """The tests of level 1, 2 and 3 for one type of numbers."""
    return [
        Program(f"x{letter}blat1", [f"BLAS/TESTING/{letter}blat1.f"]),
        Program(f"x{letter}blat2", [f"BLAS/TESTING/{letter}blat2.f"],
                [Run([], FILE + f"BLAS/TESTING/{letter}blat2.in")]),
        Program(f"x{letter}blat3", [f"BLAS/TESTING/{letter}blat3.f"],
                [Run([], FILE + f"BLAS/TESTING/{letter}blat3.in")]),
    ]


# The quickest first: a short run takes the first ones.
PACKAGES = [
    Package("minpack", [
        Program(name, [f"ex/{name}.f"]) for name in
        ("thybrd", "thybrj1", "tlmder1", "tlmdif", "tlmstr")],
        joined=["*.f"]),
    Package("cjson", [
        Program("cjson-test", ["test.c"]),
        Program("cjson-parse_examples", [
            "tests/parse_examples.c", "tests/unity/src/unity.c"],
            files="tests"),
        Program("cjson-print_number", [
            "tests/print_number.c", "tests/unity/src/unity.c"]),
        Program("cjson-misc_tests", [
            "tests/misc_tests.c", "tests/unity/src/unity.c"]),
        Program("cjson-minify_tests", [
            "tests/minify_tests.c", "tests/unity/src/unity.c"]),
    ], library=["cJSON.c"],
        flags=["-Itests/unity/src", "-DUNITY_EXCLUDE_SETJMP_H"]),
    Package("zlib", [
        Program("zlib-example", ["test/example.c"]),
        Program("zlib-minigzip", ["test/minigzip.c"],
                [Run([], PROSE), Run(["-d"], BEFORE)]),
        Program("zlib-zpipe", ["examples/zpipe.c"],
                [Run([], PROSE), Run(["-d"], BEFORE)]),
        Program("zlib-infcover", ["test/infcover.c"]),
        Program("zlib-enough", ["examples/enough.c"]),
    ], library=["*.c"], flags=["-I.", "-DHAVE_UNISTD_H"]),
    Package("utf8proc", [
        Program("utf8proc-case", ["test/case.c", "test/tests.c"]),
        Program("utf8proc-iterate", ["test/iterate.c", "test/tests.c"]),
        Program("utf8proc-valid", ["test/valid.c", "test/tests.c"]),
    ], library=["utf8proc.c"], flags=["-DUTF8PROC_STATIC"]),
    Package("ent", [
        Program("ent", ["ent.c", "iso8859.c", "randtest.c", "chisq.c"],
                [Run([], PROSE), Run(["-b"], PROSE), Run(["-c"], PROSE)])]),
    Package("bzip2", [
        Program("bzip2", ["bzip2.c"], [
            Run(["-c"], PROSE), Run(["-dc"], BEFORE),
            Run(["-dc"], FILE + "sample1.bz2"),
            Run(["-2c"], FILE + "sample2.ref")])],
        library=["blocksort.c", "huffman.c", "crctable.c", "randtable.c",
                 "compress.c", "decompress.c", "bzlib.c"],
        flags=["-D_FILE_OFFSET_BITS=64"]),
    Package("lz4", [
        Program("lz4-decompress-partial", ["tests/decompress-partial.c"]),
        Program("lz4-decompress-partial-usingDict",
                ["tests/decompress-partial-usingDict.c"]),
        Program("lz4-datagen", ["tests/datagencli.c", "programs/datagen.c"],
                [Run(["-g1000000", "-s3"])]),
        Program("lz4-roundTripTest", ["tests/roundTripTest.c"],
                [Run(["fuzzer.c"]), Run(["-9", "frametest.c"])],
                files="tests"),
    ], library=["lib/*.c"], flags=["-Ilib", "-Iprograms"]),
    Package("libdeflate", [
        Program(f"libdeflate-{name}", [f"programs/{name}.c"])
        for name in ("test_custom_malloc", "test_litrunlen_overflow",
                     "test_overread", "test_trailing_bytes")],
        library=["lib/*.c", "lib/*/*.c", "programs/test_util.c",
                 "programs/prog_util.c"],
        flags=["-I.", "-D_DEFAULT_SOURCE", "-D_FILE_OFFSET_BITS=64"],
        headers={"config.h": ""}),
    Package("kissfft", [
        Program("kissfft-twotonetest", [
            "test/twotonetest.c", "kiss_fft.c", "kiss_fftr.c"]),
    ], flags=["-I.", "-Dkiss_fft_scalar=float"]),
    Package("dsfmt", [Program("dsfmt-test", ["test.c"], [Run(["-v"])])],
            library=["dSFMT.c"], flags=["-DDSFMT_MEXP=19937"]),
    Package("libyaml", [
        Program("libyaml-test-reader", ["tests/test-reader.c"]),
        Program("libyaml-run-parser-test-suite",
                ["tests/run-parser-test-suite.c"],
                [Run([], FILE + f"examples/{name}.yaml")
                 for name in ("anchors", "json", "strings", "tags")]),
        Program("libyaml-reformatter", ["tests/example-reformatter.c"],
                [Run([], FILE + f"examples/{name}.yaml")
                 for name in ("mapping", "array", "numbers")]),
    ], library=["src/*.c"], flags=["-Iinclude", "-DHAVE_CONFIG_H"],
        headers={"config.h": '#define YAML_VERSION_MAJOR 0\n'
                 '#define YAML_VERSION_MINOR 2\n#define YAML_VERSION_PATCH 5\n'
                 '#define YAML_VERSION_STRING "0.2.5"\n'}),
    Package("tinyxml2", [
        Program("tinyxml2-xmltest", ["xmltest.cpp"], files=".",
                noise=r"(?m)^.*(clocks|milli|ms|Parsing dream).*$")],
        library=["tinyxml2.cpp"]),
    Package("tinyxml", [
        Program("tinyxml-xmltest", ["xmltest.cpp"], files=".")],
        library=["tinystr.cpp", "tinyxml*.cpp"], flags=["-DTIXML_USE_STL"]),
    Package("lua5.4", [
        Program("lua", ["src/lua.c"], [Run(["-e", LUA])])],
        library=["src/*.c"], without=["src/lua.c", "src/luac.c"],
        flags=["-DLUA_COMPAT_5_3"],
        headers={"lua5.4-deb-multiarch.h":
                 '#define DEB_HOST_MULTIARCH ""\n'}),
    Package("glm", [
        Program(f"glm-{name}", [f"test/*/{name}.cpp"], noise=r"\d+")
        for name in ("core_func_integer", "gtc_packing", "gtc_bitfield")],
        flags=["-I."]),
    Package("lzip", [
        Program("lzip", ["*.cc"],
                [Run(["-c"], PROSE), Run(["-dc"], BEFORE),
                 Run(["-0c"], PROSE), Run(["-9c"], PROSE)])],
        flags=['-DPROGVERSION="1"']),
    Package("mujs", [
        Program("mujs", ["main.c", "one.c"], [Run([], JAVASCRIPT)])]),
    Package("qhull", [
        Program("qhull-rbox", ["src/rbox/rbox_r.c"],
                [Run(["300", "D3", "t7"]),
                 Run(["100", "s", "W0", "D4", "t3"])]),
        Program("qhull-qconvex", ["src/qconvex/qconvex_r.c"],
                [Run(["s", "o", "FA"], points(300, 3)),
                 Run(["n", "Fv"], points(80, 4))],
                noise=r"(?m)^.*CPU seconds.*$"),
        Program("qhull-qvoronoi", ["src/qvoronoi/qvoronoi_r.c"],
                [Run(["o", "Fv"], points(120, 3))]),
    ], library=["src/libqhull_r/*.c"], flags=["-Isrc"]),
    Package("xxhash", [
        Program("xxhsum", ["cli/*.c"],
                [Run([f"-H{n}"], PROSE) for n in range(4)])],
        library=["xxhash.c"], flags=["-Icli", "-I."]),
    Package("muparser", [
        Program("muparser-selftest", ["samples/example1/example1.cpp"],
                [Run([], "2*sin(0.5)+3^2\nquit\n")])],
        library=["src/*.cpp"], flags=["-Iinclude"]),
    Package("pugixml", [
        Program("pugixml-tests", [
            "tests/main.cpp", "tests/test.cpp", "tests/allocator.cpp",
            "tests/writer_string.cpp", "tests/test_dom_traverse.cpp",
            "tests/test_xpath_paths.cpp", "tests/test_parse.cpp"])],
        library=["src/pugixml.cpp"], flags=["-Isrc"]),
    Package("lapack", blas("d") + blas("z"),
            library=["BLAS/SRC/[dz]*.f90", "BLAS/SRC/xerbla.f"],
            joined=["BLAS/SRC/[dz]*.f", "BLAS/SRC/i[dz]*.f",
                    "BLAS/SRC/lsame.f"]),
    Package("http-parser", [
        Program("http-parser-test", ["test.c"])],
        library=["http_parser.c"]),
]

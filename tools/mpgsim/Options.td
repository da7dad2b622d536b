// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgsim: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def machine : LongValue<"machine", "NAME|FILE",
    "the machine to model: a64fx (default), another one of\n"
    "share/mpgtools/machines such as zen4, or a file.yaml">,
    Manual<[{Selects the machine to model: `a64fx` (default), another one of
`share/mpgtools/machines` such as `zen4`, or a file. A word with a slash or with the
ending `.yaml` is a file.}]>;
def pages : LongValue<"pages", "SIZE,...",
    "page sizes to model, such as 64K,2M (default: all that the\n"
    "machine has)">,
    Manual<[{Selects the page sizes to model, such as `64K,2M`. The default is all sizes of the
machine; each one takes time.}]>;
def maps : LongValue<"maps", "N",
    "number of random maps of physical pages, 1 (default) to 8;\n"
    "with more than one, affected counts are intervals">,
    Manual<[{Sets the number of random maps of physical pages to model side by side, 1 (default)
to 8. With more than one, counts that depend on the placement of pages are intervals.}]>;
def threads : LongValue<"threads", "compact|spread",
    "fill one core group after another (compact, default), or\n"
    "place threads on the groups in turn (spread)">,
    Manual<[{Places the threads: `compact` (default) fills one core group after another, `spread`
uses the core groups in turn.}]>;
def stream : LongValue<"stream", "ARRAY,...",
    "arrays to put into sector 1 of the sector cache, such as\n"
    "'table' or, for a heap block, 'app.c:12'; adds a table of\n"
    "the ways that sector 1 may get">,
    Manual<[{Puts these arrays into sector 1 of the sector cache. The report then shows the misses
and the memory traffic for several numbers of ways of that sector (1, 2, 4, 7, 10 of the
14 ways of A64FX's L2; sector 0 gets the others). Name an array as the report does. A
heap block or an array on the stack can also be named by its line:
`--stream=values,app.c:12`. Choose arrays that are read once while the program reuses
others that do not fit beside them. If it pays, put `name: stream` and `ways:l2=N` into
a side file (`docs/hints.md`).}]>;
def advise : LongValue<"advise", "FILE",
    "run the program a second time with its large arrays in\n"
    "sector 1; if that pays, write FILE for mpg-clang --mpg-hints">,
    Manual<[{After the report, runs the program a second time. Arrays that L2 cannot hold go into
sector 1 if L2 can hold others, and mpgsim finds the best number of ways. If that saves
2 % of the memory traffic with large pages, mpgsim writes the hints to FILE, each with
its reason, and the settings for the run. `mpg-clang --mpg-hints=FILE` reads it.
Otherwise mpgsim writes no file and prints the reason. The second run reads standard
input from its beginning if that is a file, and its output is dropped. If the program
does something else the second time, the advice is wrong. FILE names heap blocks by
the line that allocates them; where a line could mean several blocks, the advice is a
sentence.}]>;
def sample : LongFlag<"sample",
    "record only between mpg_sim_begin() and mpg_sim_end()\n"
    "(mpg/mpg.h, and the module mpg of Fortran)">,
    Manual<[{Records and reports only the part between `mpg_sim_begin()` and `mpg_sim_end()`, which
the program calls (`mpg/mpg.h`; `use mpg` in Fortran). Both apply to all threads, from
the first begin to the last end. A region without an end lasts until the program ends.
The last 4 million records before a region warm up the model's caches and TLBs and are
not counted (see `--cold`). The line *Sample* of the report gives the number of regions
and the upper bound of their share of the processor time; recording lengthens that.}]>;
def cold : LongFlag<"cold",
    "with --sample: record nothing before a region, which starts\n"
    "with the caches that the previous one left; faster">,
    Manual<[{With `--sample`: records nothing before a region. The region starts with the caches and
TLBs that the previous one left; the first one starts with empty ones. A short region
then misses data that the program would find in a cache. Outside regions the program
runs nearly as fast as without `--mpg-sim`.}]>;
def sample_what : LongValue<"sample", "FUNCTION|SECONDS[@DELAY]",
    "record only while FUNCTION runs, or for SECONDS, from DELAY\n"
    "seconds after the start of the program">,
    Manual<[{FUNCTION: records only while it runs, with everything that it calls, in all threads.
Give a name of the source (`solve`, `Grid::relax`) or a symbol. The function must be
compiled with `--mpg-sim` and not inlined (`__attribute__((noinline))`). After an
exception or longjmp out of the function, recording continues until the next call
returns. SECONDS, such as `2` or `0.5@10`: records for that time by the clock, from DELAY
seconds after the start of the program (default 0).}]>;
def engine : LongValue<"engine", "compiled|qemu",
    "what records: the program itself (default), or qemu-aarch64,\n"
    "for AArch64 programs not compiled with --mpg-sim">,
    Manual<[{Selects what records the accesses. `compiled` (default) is the program itself, compiled
with `--mpg-sim`. `qemu` is `qemu-aarch64` with mpgsim's plugin, for any AArch64 program
of any compiler. QEMU must support plugins; before version 9 (Debian 12 has 7.2) it
cannot run programs that need SVE. mpgsim then counts the whole program and its
libraries. Arrays are the variables of its symbol table, its mappings (malloc blocks
from 128 KiB on) and the rest of its heap; lines need debug information. A dynamic
program needs the libraries of its machine (QEMU reads `QEMU_LD_PREFIX`; mpgsim finds
`/usr/aarch64-linux-gnu`).}]>;
def qemu : LongValue<"qemu", "PATH",
    "the qemu-aarch64 for --engine=qemu, with plugins (default:\n"
    "that of the search path)">,
    Manual<[{Names the `qemu-aarch64` for `--engine=qemu`. The default is that of the search path.}]>;
def merge : LongFlag<"merge",
    "merge the --json files of an MPI job's ranks into one report:\n"
    "mpirun ... mpgsim --json --output=rank-%r.json PROGRAM">,
    Manual<[{Runs no program. The arguments are files of `--json`, one for each rank of an MPI job
(`mpirun -n 4 mpgsim --json --output=rank-%r.json ./app.sim`). Counts are summed. Times
are those of the busiest core and core group, since each rank has its own core groups
here. The line *Ranks* shows how evenly the accesses are spread. All files must come
from one build of a program, one version of mpgsim and the same options; name a machine
other than a64fx here, too. Goes with `--machine=`, `--json`, `--csv`, `--html=` and
`--output=`; without the last, the report goes to standard output.}]>;
def json : LongFlag<"json", "print JSON, schema mpgsim-1">,
    Manual<[{Prints JSON instead of text, schema `mpgsim-1` (`docs/schema/mpgsim-1.schema.json`).}]>;
def csv : LongFlag<"csv", "print CSV: a line for each array and loop with each page size">,
    Manual<[{Prints CSV: a line for the whole program, each array and each loop with each page size,
and with `--stream` a line for the whole program with each number of ways. Columns: what
(`all`, `global`, `heap`, `stack`, `other`, `loop`, `code`), name, file, line, bytes,
accesses, ways of sector 1 (0: not divided), page size in bytes, misses of each TLB,
and the minimum and maximum over all maps of each cache's misses and of the lines that
memory reads and writes.}]>;
def html : LongValue<"html", "FILE",
    "also write the report to FILE as a page for a browser">,
    Manual<[{Also writes the report to FILE as an HTML page that loads nothing else. It shows misses
by page size, the tables, and, with `--stream`, traffic by ways of sector 1. For arrays
of at least 4 pages of 2 MiB it shows which parts are used (not with `--merge`).}]>;
def output : LongValue<"output", "FILE",
    "write the report to FILE instead of standard error; %h, %j,\n"
    "%r, %p in names of files are host, job, rank, pid">,
    Manual<[{Writes the report to FILE instead of standard error. In this name, and in those of
`--html=` and `--record=`, %h is the host, %j the job (otherwise no-job), %r the MPI
rank (otherwise 0), %p the process id of mpgsim, and %% a percent sign.}]>;
def record : LongValue<"record", "FILE",
    "also write the recorded accesses to FILE: large; for tests\n"
    "of the model">,
    Manual<[{Also writes everything that the program records to FILE: 64 KiB for 4,096 accesses.
With `--sample`, but not with `--cold`, that includes the parts before and between
regions. The first access empties FILE; after an error it has a part. For tests of the model.}]>;

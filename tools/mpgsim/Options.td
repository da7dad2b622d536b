// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgsim: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def machine : LongValue<"machine", "NAME|FILE",
    "the machine that is modelled: a64fx (default), another\n"
    "one of share/mpgtools/machines, as zen4, or a file.yaml">,
    Manual<[{The machine: `a64fx` (default), another one of `share/mpgtools/machines`, as `zen4`,
or a file; a word with a slash or that ends in `.yaml` is a file.}]>;
def pages : LongValue<"pages", "SIZE,...",
    "the page sizes to model, as 64K,2M; without it all that the\n"
    "machine has">,
    Manual<[{The page sizes to model, as `64K,2M`, of those that the machine has. Without it
all of them; each costs time.}]>;
def maps : LongValue<"maps", "N",
    "number of random maps of physical pages, 1 (default) to 8;\n"
    "with more than one, counts that depend on it are intervals">,
    Manual<[{How many random maps of physical pages are modelled side by side, 1 (default)
to 8. With more than one, what depends on where pages lie is an interval.}]>;
def threads : LongValue<"threads", "compact|spread",
    "where threads run: one core group after another is filled\n"
    "(compact, default), or each gets one in turn">,
    Manual<[{Where threads run: on the cores of one core group until it is full, then of the
next (`compact`, default), or on each core group in turn (`spread`).}]>;
def stream : LongValue<"stream", "ARRAY,...",
    "arrays to put into sector 1 of the sector cache, as 'table' or\n"
    "'app.c:12' for a block of the heap; the report then has a table\n"
    "of the ways that sector 1 may get">,
    Manual<[{Put these arrays into sector 1 of the sector cache, and report for several
numbers of its ways (of L2 on A64FX: 1, 2, 4, 7, 10 of 14; sector 0 gets the
others) what is missed and how much goes to and from memory. An array is named
as in the report, a block of the heap or an array on the stack also by its line:
`--stream=values,app.c:12`. Take arrays that are read once, beside others that
are read again and do not fit beside them. Worth it? Then
`name: stream` and `ways:l2=N` go into a side file (`docs/hints.md`).}]>;
def advise : LongValue<"advise", "FILE",
    "run the program a second time with its large arrays in sector\n"
    "1; if that is worth it, write FILE, which mpg-clang\n"
    "--mpg-hints= takes as it is">,
    Manual<[{After the report, run the program a second time with the arrays in sector 1 that
L2 cannot hold, if there are others that it can, and find the best number of ways.
If that saves 2 % of the traffic to memory with large pages, FILE gets the hints,
each with its reason, and the settings for the run. `mpg-clang --mpg-hints=FILE`
takes it as it is. If not, no file is written, and mpgsim says why. The second
run reads standard input from its beginning if that is a file, and its output is
dropped; a program that does something else the second time gets wrong advice.
Blocks of the heap are named by the line that allocates them; where that may mean
several, the advice is a sentence.}]>;
def sample : LongFlag<"sample",
    "record only what is between mpg_sim_begin() and mpg_sim_end()\n"
    "(mpg/mpg.h, and the module mpg of Fortran)">,
    Manual<[{Record only what is between `mpg_sim_begin()` and `mpg_sim_end()`, which the
program calls (`mpg/mpg.h`; `use mpg` in Fortran), and report that. Both count for
all threads, from the first begin to the last end. The last 4 million records before
a region fill the model's caches and TLBs and are not counted (see `--cold`). The line
*Sample* of the report says how often that was, and what share of the processor
time of the run it was at most: recording makes it longer. A region without its end
goes on to the end of the program.}]>;
def cold : LongFlag<"cold",
    "with --sample: record nothing before a region, which begins\n"
    "with the caches that the one before has left; quicker">,
    Manual<[{With `--sample`: record nothing before a region. It begins with the caches and
TLBs that the region before has left, the first one with empty ones, so that a short
region misses what the program would find there. Outside of regions the program runs
nearly as fast as without `--mpg-sim`.}]>;
def sample_what : LongValue<"sample", "FUNCTION|SECONDS[@DELAY]",
    "record only while FUNCTION runs, or for so many seconds from\n"
    "DELAY seconds after the start of the program">,
    Manual<[{Record only while FUNCTION runs, with all that it calls and in all threads. It is
a name of the source (`solve`, `Grid::relax`) or a symbol, of a function that was
compiled with `--mpg-sim`; calls that the compiler has inlined are none
(`__attribute__((noinline))`). One that is left by an exception or by longjmp goes on
until it is entered and left again. SECONDS, as `2` or `0.5@10`: record for so long by
the clock, from DELAY seconds after the start of the program (0).}]>;
def engine : LongValue<"engine", "compiled|qemu",
    "what records: the program itself (default), or qemu-aarch64,\n"
    "for a program of AArch64 that was not compiled with --mpg-sim">,
    Manual<[{What records: the program, which was compiled with `--mpg-sim` (`compiled`,
default), or `qemu-aarch64` with a plugin of mpgsim (`qemu`), for a program of
AArch64 as it is, whatever compiler it comes from. QEMU must have plugins; one before version 9
(Debian 12 has 7.2) does not run programs that need SVE. All of the program is
counted then, its libraries as well. Arrays are the variables of its symbol table,
what it maps (blocks of malloc from 128 KiB on) and the rest of its heap; lines need
debug information. A dynamic program needs the libraries of its machine
(`QEMU_LD_PREFIX`, which qemu reads; `/usr/aarch64-linux-gnu` is found).}]>;
def qemu : LongValue<"qemu", "PATH",
    "the qemu-aarch64 for --engine=qemu, which has to have plugins;\n"
    "without it that of the search path">,
    Manual<[{The `qemu-aarch64` to run for `--engine=qemu`; without it that of the search path.}]>;
def merge : LongFlag<"merge",
    "report on an MPI job: the arguments are the --json files of its\n"
    "ranks, mpirun ... mpgsim --json --output=rank-%r.json PROGRAM">,
    Manual<[{Run no program: the arguments are files that `--json` has written, one for each
rank of an MPI job (`mpirun -n 4 mpgsim --json --output=rank-%r.json ./app.sim`).
Counts are summed; times are those of the core and the core group that have most to
do, as each rank has its own core groups here. The line *Ranks* says how evenly
the accesses are spread. All must be of one build of a program, one version of mpgsim
and the same options; a machine other than a64fx has to be named here, too. Goes with
`--machine=`, `--json`, `--csv`, `--html=` and `--output=`; without the last the
report is on standard output.}]>;
def json : LongFlag<"json", "print JSON, schema mpgsim-1">,
    Manual<[{Print JSON instead of text, schema `mpgsim-1`
(`docs/schema/mpgsim-1.schema.json`).}]>;
def csv : LongFlag<"csv", "print CSV: a line for each array and loop with each page size">,
    Manual<[{Print CSV: a line for the whole program, each array and each loop, with each page
size, and with `--stream` for the whole with each number of ways. Columns: what
(`all`, `global`, `heap`, `stack`, `other`, `loop`, `code`), name, file, line,
bytes, accesses, ways of sector 1 (0: not divided), bytes of a page, misses of each
TLB, and the least and the most of all maps of each cache's misses and of the lines
that memory reads and writes.}]>;
def html : LongValue<"html", "FILE",
    "write the report to FILE as a page for a browser as well">,
    Manual<[{Write the report to FILE as a page for a browser as well. It is one file that
loads nothing: misses over the size of a page, with `--stream` the traffic over
the ways of sector 1, for arrays of 4 pages of 2 MiB and more which parts of these
they use (not with `--merge`), and the tables.}]>;
def output : LongValue<"output", "FILE",
    "write the report to FILE instead of standard error; in the\n"
    "names of files %h, %j, %r, %p are host, job, rank, pid">,
    Manual<[{Write the report to FILE. Without it it is on standard error. In this name, and in
those of `--html=` and `--record=`, %h becomes the host, %j the job (else no-job), %r the rank under MPI (else
0), %p the process id of mpgsim, %% a percent sign.}]>;
def record : LongValue<"record", "FILE",
    "write what the program records to FILE as well: large, and\n"
    "for tests of the model">,
    Manual<[{Write all that the program records to FILE as well: 64 KiB for 4,096 accesses.
With `--sample` that is also what was before and between regions, without `--cold`.
For tests of the model.}]>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgrun: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def mode : LongValue<"mode", "auto|hugetlb|thp|none",
    "which large pages: of the pool, transparent ones, none; auto\n"
    "(default) takes the pool while it lasts, then the others">,
    Manual<[{Which large pages. `hugetlb` are those of the pool that the administrator
has set up, `thp` are transparent ones, which need no pool, `none` leaves all
as it is. The default is `auto`: the pool while it lasts, then transparent
ones where the system allows them. Without this option MPG_MODE of the
environment counts.}]>;
def policy : LongValue<"policy", "BSS:STACK:MMAP",
    "page in at the start (prepage) or at the first touch\n"
    "(demand), for each of the three">,
    Manual<[{When pages come: `prepage` at the start, `demand` at the first touch; a word
each for .bss, stacks and the heap. Same as XOS_MMM_L_PAGING_POLICY.}]>;
def text : LongFlag<"text",
    "code and constants on large pages, too, if the program is\n"
    "linked for it (MPG_TEXT=auto)">,
    Manual<[{Code and constants on large pages of the page cache, too (MPG_TEXT=auto), where
the program is linked for it: MPG153 of mpgaudit has the line for the linker.
Before the start mpgrun has the file read anew in large pages if it is in the
page cache in small ones; what was just written goes to the disk first. Nothing
is copied: debuggers and profilers see the file as before. It is worth it for
programs with many MiB of code in use, such as compilers and interpreters. Later
starts have the pages without it as long as the page cache keeps the file.}]>;
def text_how : LongValue<"text", "copy",
    "code and constants of any program on large pages, by\n"
    "copies with memory for each process (MPG_TEXT=copy)">,
    Manual<[{Code and constants on transparent large pages that each process has alone
(MPG_TEXT=copy). It needs nothing of the link and the file system. It costs memory and the time of
a copy for each process, kernel probes (uprobes) do not see the code, and profilers that are attached later find its
names in /tmp/perf-PID.map, which libmpg writes. The one value is `copy`.}]>;
def move : LongValue<"move", "next-touch",
    "for programs that initialise in one thread: let the kernel\n"
    "move pages to the NUMA nodes of the threads that use them">,
    Manual<[{The one value is `next-touch`. For a program whose one thread initialises what others work on, and that cannot
be compiled again: transparent large pages (`--mode=thp`; with `--mode=none`
normal ones), which the kernel's NUMA balancing moves, as a whole, to the nodes
of the threads that use them. Pages of the pool it never moves. Bind the threads
(OMP_PROC_BIND), else the kernel moves them to the pages. Where nothing will be
moved (one node, kernel.numa_balancing off, a policy of numactl) a line says why
and the program runs.}]>;
def children : LongFlag<"children",
    "large pages for the programs that the program starts, too">,
    Manual<[{Large pages also for the programs that PROGRAM starts.}]>;
def hpc_tags : LongValue<"hpc-tags", "on|off",
    "A64FX: switch the HPC tag override on or off for the run;\n"
    "acts on all cores of the job">,
    Manual<[{A64FX with Fujitsu's system software: switches the HPC tag override with
fhetbo, `on` or `off`, before the run and on again after it, also when the
program fails. It acts on all cores of the job on this node. It is an error
where fhetbo is not installed. MPG_FHETBO names another command.}]>;

def report : LongFlag<"report",
    "print on standard error what was on large pages at the end">,
    Manual<[{Print on standard error, after the end, how much of each region was in use,
how much of that on large pages, on which NUMA nodes, and why not the rest.
With `--children` also a line for each other process that had libmpg.}]>;
def report_file : LongValue<"report", "FILE",
    "print what --report or --compare does into FILE; %h, %j,\n"
    "%r, %p in FILE are host, job, rank, pid">,
    Manual<[{The same into FILE, or the report of `--compare`. In FILE, %h is the name of the
host, %j the number of the job (SLURM_JOB_ID, PJM_JOBID, PBS_JOBID, LSB_JOBID; else
no-job), %r the rank of the process under MPI (else 0), %p the process id, %% a
percent sign. A missing folder is made where its name has one of them. mpgrun reports a file that it cannot write before PROGRAM starts. PROGRAM
runs; if the file cannot be written at the end either, a status of 0 becomes 125.
`--compare`, which is there for its report alone, does not begin. A named pipe needs a reader by the end. `--report=json:FILE` is the older name of
`--report --json=FILE` without the report.}]>;
def profile : LongFlag<"profile",
    "print which arrays there are, and on which pages they lie">,
    Manual<[{Print on standard error, after the end, the program's large objects, 1 MiB and
more: variables by name, blocks of the heap by the function that allocates
them, stacks, mappings; the most there was of each at one time, what was left
at the end, how much of that was in use, and on which pages it lay.}]>;
def profile_file : LongValue<"profile", "FILE",
    "print what --profile does into FILE; %h, %j, %r, %p as\n"
    "for --report=FILE">,
    Manual<[{The same into FILE, in whose name %h, %j, %r, %p and %% mean what they do for
`--report=FILE`.}]>;
def compare_modes : LongValue<"compare", "MODE,MODE...",
    "run the program in turn in these modes and say whether large\n"
    "pages make it faster: none, thp, hugetlb, interleave, auto,\n"
    "copy; the others are compared with the first one">,
    Manual<[{Run PROGRAM in turn in these modes and report on standard output whether large
pages make it faster. The first mode is what the others are compared with.
`none` is PROGRAM as it is, without libmpg; `thp`, `hugetlb` and `auto` are
those of `--mode`; `copy` is `thp` with `--text=copy`; `interleave` is `hugetlb` with memory from all allowed NUMA
nodes in turn, and is not run where there is one.}]>;
def compare : LongFlag<"compare",
    "the same as --compare=none,thp,hugetlb">,
    Manual<[{The same as `--compare=none,thp,hugetlb`.}]>;
def repeat : LongValue<"repeat", "N",
    "rounds of --compare that count (default 7)">,
    Manual<[{Rounds of `--compare` that count (default 7); a warm-up comes before them. Below
6 there are no intervals and no verdict.}]>;
def seed : LongValue<"seed", "N",
    "of the order in which --compare runs the modes">,
    Manual<[{Of the random order in which `--compare` runs the modes in each round. The
report names the seed that was used, so that the order can be had again.}]>;
def metric : LongValue<"metric", "[more:]REGEX",
    "compare the number that PROGRAM prints where REGEX has its\n"
    "one group ( ); less is better, with more: more is">,
    Manual<[{With `--compare`: compare a number that PROGRAM prints in place of the time
from its start to its end, such as `--metric='Solve time: *([0-9.]+)'`. REGEX is an
expression of grep -E with one group `( )`, which holds the number; it is that of
the last line that matches, of standard output or, if none does there, of standard
error. Less is better; of a rate more is: `--metric='more:([0-9.]+) GB/s'`.
(`less:` says what is so anyway, for a REGEX that itself begins with `more:`.)}]>;
def json : LongValue<"json", "FILE",
    "what --compare, --profile, --report or --merge found as JSON">,
    Manual<[{Write what `--compare` found as JSON, schema mpgcompare-1, with every run. FILE
is written whole or not at all. With `-` it goes to standard output, and the
report to standard error. With `--profile` it is the profile, schema mpgprofile-1,
to a file whose name is as for `--report=FILE`, beside the table; with `--report`
it is the report, schema mpgreport-1. With `--merge` it is the merged one, schema
mpgmerge-1; `-` is as with `--compare`.}]>;
def advise : LongFlag<"advise",
    "run once, then say in five lines or less what to do next">,
    Manual<[{After the end, print on standard error at most five lines: what to do next,
what is about most memory first, each with the command to type. From what
`--report` and `--profile` know; they are not printed unless they are asked for.}]>;
def working_set : LongFlag<"working-set",
    "for --profile and --advise: which of its memory PROGRAM\n"
    "accesses from second to second; implies --mode=none">,
    Manual<[{With `--profile` or `--advise`: tell of each object how much of it is accessed
within a second, and how much of a 2 MiB frame that is accessed is not (skew):
what does not deserve large pages. By the processor's accessed bits, which need
base pages: `--mode=none` is implied, and the kernel gives PROGRAM no transparent
large pages. Costs time: page faults and mmap may wait while the bits are read and
cleared, each second or as often as takes a fiftieth of the time. A core file of
such a run lacks parts of large blocks.}]>;
def html : LongValue<"html", "FILE",
    "what --profile, --compare or --merge found as a page">,
    Manual<[{Write what `--profile`, `--compare` or `--merge` found as a page for a browser,
which loads nothing and can be mailed; of a profile FILE is as for `--report=FILE`.}]>;
def merge : LongFlag<"merge",
    "fold the JSON reports of the ranks of a job into one screen:\n"
    "mpgrun --merge FOLDER|FILE...">,
    Manual<[{Run nothing. The words after the options are files that the ranks of a job
left, written by `--report --json=%j/%h-%r`, or folders of such files (not what
is in folders in them). Prints on standard output what all reports have in common,
each region over all of them, and the nodes that differ.}]>;
def verify : LongFlag<"verify",
    "end with status 124 if data or stacks were not on large\n"
    "pages although the program ended with 0">,
    Manual<[{End with status 124 if .data, .bss, heap or stacks were not on large pages
although the program ended with 0. Up to 4 MiB a region are forgiven: the edges
of a program that was not linked with ld.mpg; of heap and stack 6 MiB, which begin
on normal pages where the pool has none. The heap counts where malloc is libmpg's; stacks of threads where they were to be large and some are not
(`docs/environment.md`, "Stacks of threads"). So it is where nothing is known:
libmpg was not at work, or transparent pages were asked for in a program that may
not be traced and ended in a way that no library notices (`_exit`).}]>;
def verify_text : LongValue<"verify", "text",
    "end with status 124 if code or constants of 2 MiB and\n"
    "more were not on large pages">,
    Manual<[{End with status 124 if none of 2 MiB and more of the program's code, or of its
constants, was on large pages, or 4 MiB and more were not, although the program
ended with 0. The one value is `text`; `--verify --verify=text` looks at both.}]>;
def quiet : LongFlag<"quiet",
    "print errors only (MPG_QUIET=1); also -q">,
    Manual<[{Print errors only, of libmpg (MPG_QUIET=1) and of mpgrun.}]>;
def q : Flag<["-"], "q">, Alias<quiet>;
def print_env : LongFlag<"print-env",
    "print all settings of libmpg as it understood them">,
    Manual<[{Let libmpg print all its settings with their effective values. Same as
XOS_MMM_L_PRINT_ENV=on.}]>;
def dry_run : LongFlag<"dry-run",
    "print what would be run, and run nothing">,
    Manual<[{Print the changes of the environment and the command, and run nothing.}]>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgrun: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def mode : LongValue<"mode", "auto|hugetlb|thp|none",
    "which large pages to use: the pool's, transparent ones, none;\n"
    "auto (default): the pool while it lasts, then transparent">,
    Manual<[{Selects the large pages. `hugetlb` uses the pool that the administrator has set
up. `thp` uses transparent large pages, which need no pool. `none` changes nothing.
The default is `auto`: the pool while it lasts, then transparent pages where the
system allows them. Without this option, MPG_MODE in the environment decides.}]>;
def policy : LongValue<"policy", "BSS:STACK:MMAP",
    "page in at the start (prepage) or at the first touch\n"
    "(demand), for each of the three">,
    Manual<[{Sets when pages are allocated: `prepage` at the start, `demand` at the first touch.
One word each for .bss, stacks and the heap. Same as XOS_MMM_L_PAGING_POLICY.}]>;
def text : LongFlag<"text",
    "put code and constants on large pages, too, if the program\n"
    "is linked for it (MPG_TEXT=auto)">,
    Manual<[{Also puts code and constants on large pages of the page cache (MPG_TEXT=auto). The
program must be linked for it; mpgaudit's finding MPG153 prints the link line. If
the page cache holds the file in small pages, mpgrun has it read again in large
ones before the start, and first writes new data to the disk. Nothing is copied, so
debuggers and profilers see the file as before. Use it for programs that run many
MiB of code, such as compilers and interpreters. Later starts get the large pages
without this option, as long as the page cache keeps the file.}]>;
def text_how : LongValue<"text", "copy",
    "copy code and constants of any program to large pages;\n"
    "costs memory in each process (MPG_TEXT=copy)">,
    Manual<[{Copies code and constants to transparent large pages that belong to one process
(MPG_TEXT=copy). This works with any link and any file system. Each process pays for
the memory and the time of a copy. Kernel probes (uprobes) do not see the copied
code. Profilers that attach later find its symbols in /tmp/perf-PID.map, which
libmpg writes; the file stays after the run. The only value is `copy`.}]>;
def move : LongValue<"move", "next-touch",
    "let the kernel move pages to the NUMA nodes of the threads\n"
    "that use them, for programs that initialise in one thread">,
    Manual<[{The only value is `next-touch`. Use it for a program that you cannot recompile and
in which one thread initialises what the others work on. The kernel's NUMA
balancing then moves whole transparent large pages (`--mode=thp`; with `--mode=none`
base pages) to the nodes of the threads that use them. It never moves pages of the
pool. Bind the threads (OMP_PROC_BIND); otherwise the kernel moves threads to their
pages. If nothing can move (one node, kernel.numa_balancing off, a numactl policy),
mpgrun prints the reason and runs the program.}]>;
def children : LongFlag<"children",
    "use large pages in programs that the program starts, too">,
    Manual<[{Also uses large pages in the programs that PROGRAM starts.}]>;
def hpc_tags : LongValue<"hpc-tags", "on|off",
    "A64FX: switch the HPC tag override on or off for the run;\n"
    "acts on all cores of the job">,
    Manual<[{For A64FX with Fujitsu's system software. Runs fhetbo to switch the HPC tag override
`on` or `off` before the run, and switches it on again afterwards, also when the
program fails. It acts on all cores of the job on this node. Without fhetbo this is
an error. MPG_FHETBO names a different command.}]>;

def report : LongFlag<"report",
    "print to standard error what was on large pages at the end">,
    Manual<[{After the program ends, prints to standard error how much of each region was in use,
how much of that was on large pages, on which NUMA nodes, and why the rest was not.
With `--children` there is also a line for each other process that used libmpg.}]>;
def report_file : LongValue<"report", "FILE",
    "write the output of --report or --compare to FILE; %h, %j,\n"
    "%r, %p in FILE are host, job, rank, pid">,
    Manual<[{Writes the same to FILE, or the report of `--compare`. In FILE, %h is the host name,
%j the job number (SLURM_JOB_ID, PJM_SUBJOBID, PBS_JOBID, LSB_JOBID; otherwise no-job),
%r the MPI rank (otherwise 0), %p the process id, and %% a percent sign. If the
folder's name has one of these, mpgrun creates the folder. If FILE cannot be
written, mpgrun says so before PROGRAM starts and runs it anyway; if FILE still
cannot be written at the end, status 0 becomes 125. `--compare` does not start
without its report. A named pipe needs a reader by the end. `--report=json:FILE` is
the older spelling of `--report --json=FILE` without the printed report.}]>;
def profile : LongFlag<"profile",
    "print the program's large arrays and the pages they are on">,
    Manual<[{After the program ends, prints its objects of 1 MiB and more to standard error:
variables by name, heap blocks by the function that allocates them, stacks, and
mappings. For each object it gives the peak size, the size at the end, how much of
that was in use, and on which pages. Code of the program and of libraries, from 2 MiB
on, has its share of the user time, too.}]>;
def profile_file : LongValue<"profile", "FILE",
    "write the output of --profile to FILE; %h, %j, %r, %p as for\n"
    "--report=FILE">,
    Manual<[{Writes the same to FILE. %h, %j, %r, %p and %% mean the same as in `--report=FILE`.}]>;
def compare_modes : LongValue<"compare", "MODE,MODE...",
    "run the program in these modes and say whether large pages\n"
    "make it faster: none, thp, hugetlb, interleave, auto, text,\n"
    "copy; the first mode is the baseline">,
    Manual<[{Runs PROGRAM in each of these modes in turn and reports to standard output whether
large pages make it faster. The first mode is the baseline. `none` is PROGRAM
without libmpg. `thp`, `hugetlb` and `auto` are the modes of `--mode`. `copy` is
`thp` with `--text=copy`. `text` is `none` with code and constants on large pages of the
page cache; the other modes then have them on small ones. `interleave` is `hugetlb` with memory from all allowed NUMA
nodes in turn; mpgrun skips it on a machine with one node.}]>;
def compare : LongFlag<"compare",
    "the same as --compare=none,thp,hugetlb">,
    Manual<[{The same as `--compare=none,thp,hugetlb`.}]>;
def repeat : LongValue<"repeat", "N",
    "number of measured rounds of --compare (default 7 to 28)">,
    Manual<[{Sets the number of measured rounds of `--compare`. A warm-up run precedes them. With
fewer than 6 there are no intervals and no verdict. The default is 7, and 14 or 28 where
fewer leave the verdict undecided.}]>;
def seed : LongValue<"seed", "N",
    "seed of the order in which --compare runs the modes">,
    Manual<[{Sets the seed of the random order in which `--compare` runs the modes in each round.
The report prints the seed, so that you can repeat the order.}]>;
def metric : LongValue<"metric", "[more:]REGEX",
    "compare a number that PROGRAM prints, in place of the time:\n"
    "what the ( ) of REGEX match; smaller is better, with more:\n"
    "larger is">,
    Manual<[{With `--compare`: compares a number that PROGRAM prints instead of its run time, for
example `--metric='Solve time: *([0-9.]+)'`. REGEX is a `grep -E` expression with one
group `( )` around the number. The last matching line of standard output counts, or
of standard error if none matches there. Less is better. For rates, where more is
better, write `--metric='more:([0-9.]+) GB/s'`. Write `less:` in front of a REGEX that
itself begins with `more:`.}]>;
def json : LongValue<"json", "FILE",
    "write the result of --compare, --profile, --report or\n"
    "--merge as JSON">,
    Manual<[{Writes the result as JSON: of `--compare` with every run (schema mpgcompare-1), of
`--profile` (mpgprofile-1), of `--report` (mpgreport-1), or of `--merge`
(mpgmerge-1). FILE is written completely or not at all. With `--compare` and
`--merge`, `-` writes the JSON to standard output and the report to standard error.
With `--profile` and `--report`, FILE may hold %h, %j, %r and %p, and the printed
table stays.}]>;
def advise : LongFlag<"advise",
    "run once and print up to five lines of what to do next">,
    Manual<[{After the program ends, prints to standard error up to five lines of advice. Each
has a command to type; the line about the most memory comes first. The advice uses
the data of `--report` and `--profile`, without printing those.}]>;
def working_set : LongFlag<"working-set",
    "for --profile and --advise: how much memory PROGRAM accesses\n"
    "from second to second; implies --mode=none">,
    Manual<[{With `--profile` or `--advise`: also measures how much of each object PROGRAM
accesses within a second, and how much of each accessed 2 MiB frame it does not
access (skew). Objects with much skew do not deserve large pages. The measurement
reads the processor's accessed bits, which needs base pages: it implies
`--mode=none`, and the kernel gives PROGRAM no transparent large pages. Page faults
and mmap may wait while mpgrun reads and clears the bits. It does so each second, or
less often if that would take more than a fiftieth of the time. A core file of such a
run lacks parts of large blocks.}]>;
def html : LongValue<"html", "FILE",
    "write the result of --profile, --compare or --merge as a page">,
    Manual<[{Writes the result of `--profile`, `--compare` or `--merge` as an HTML page that loads
nothing else, so you can mail it. With `--profile`, FILE may hold what
`--report=FILE` may.}]>;
def merge : LongFlag<"merge",
    "merge the JSON reports of a job's ranks into one screen:\n"
    "mpgrun --merge FOLDER|FILE...">,
    Manual<[{Runs nothing. Reads the files that the ranks of a job wrote with
`--report --json=%j/%h-%r`, or all such files in a folder (not in its subfolders).
Prints to standard output what all reports have in common, each region over all
reports, and the nodes that differ. Files of `--profile --json=%j/%h-%r` become one
table: the same object of all ranks is a row of sums.}]>;
def verify : LongFlag<"verify",
    "end with status 124 if data or stacks were not on large\n"
    "pages although the program ended with 0">,
    Manual<[{Ends with status 124 if .data, .bss, heap or stacks were not on large pages although
the program ended with 0. Up to 4 MiB a region are tolerated, for the edges of a
program that was not linked with ld.mpg; for heap and stack 6 MiB, since they begin
on base pages where the pool is empty. The heap counts if malloc is libmpg's. Stacks
of threads count if they were to be large (`docs/environment.md`, "Stacks of
threads"). The status is also 124 if nothing is known: libmpg was not active, or
transparent pages were requested in a program that may not be traced and that left
by `_exit`.}]>;
def verify_text : LongValue<"verify", "text",
    "end with status 124 if code or constants of 2 MiB and\n"
    "more were not on large pages">,
    Manual<[{Ends with status 124 if the program ended with 0, but its code or its constants, of
2 MiB and more, had nothing on large pages, or 4 MiB or more of them were not. The
only value is `text`; `--verify --verify=text` checks both.}]>;
def quiet : LongFlag<"quiet",
    "print errors only (MPG_QUIET=1); also -q">,
    Manual<[{Prints only errors, of libmpg (MPG_QUIET=1) and of mpgrun.}]>;
def q : Flag<["-"], "q">, Alias<quiet>;
def print_env : LongFlag<"print-env",
    "print the settings of libmpg that are in effect">,
    Manual<[{Makes libmpg print all its settings with their effective values. Same as
XOS_MMM_L_PRINT_ENV=on.}]>;
def dry_run : LongFlag<"dry-run",
    "print what would be run, and run nothing">,
    Manual<[{Prints the changes to the environment and the command, and runs nothing.}]>;

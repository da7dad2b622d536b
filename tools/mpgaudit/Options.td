// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgaudit: parsing, --help, "did you mean", completion and the
// keys of .mpgaudit.yaml are made from this file.

include "OptionClasses.td"

// What a configuration file may have, by the option's name (Options.h).
def fileKey : OptionFlag;
def fileList : OptionFlag; // a list, or one value
def filePath : OptionFlag; // from the folder of the file on
class Key : Flags<[fileKey]>;
class ListKey : Flags<[fileKey, fileList]>;
class PathKey : Flags<[fileKey, filePath]>;

def target : LongValue<"target", "fugaku|mpg|libhugetlbfs|thp|monaka|auto",
    "what puts the program on large pages (default auto:\n"
    "decided for each file)">, Key,
    Manual<[{Names what puts the program on large pages: `fugaku` is Fujitsu's library
libmpg.so.1, `mpg` the runtime of mpgtools, `libhugetlbfs` that library with
HUGETLB_ELFMAP, `thp` the kernel's transparent huge pages without a library. `monaka`
is `mpg` on FUJITSU-MONAKA: base pages of 4 and 64 KiB, SVE with 256 bits, and hints
for A64FX on which nothing acts as far as is published. `auto`,
the default, decides for each file. It is `fugaku` if the file or one of its libraries
needs Fujitsu's library. It is also `fugaku` for an AArch64 file if the job script is
for PJM or preloads that library, or if the vendor's files are on this machine. It is
`libhugetlbfs` if the file needs that library, and `mpg` otherwise.}]>, Section<"Target">;
def page : LongValue<"page", "4K|16K|64K",
    "the size of the kernel's base page (default 64K for\n"
    "fugaku and monaka, else 4K)">, Key,
    Manual<[{Sets the kernel's base page. Default: 64K for `fugaku` and `monaka`, 4K otherwise. A
file that is right for 64K is so for 4K.}]>;
def huge : LongValue<"huge", "2M|32M|512M|1G|16G",
    "the size of a large page (default 2M)">, Key,
    Manual<[{Sets the large page, 2M by default. Facts in JSON always refer to 2 MiB.}]>;
def min : LongValue<"min", "SIZE",
    "do not warn below this size of data (default 2M)">, Key,
    Manual<[{Suppresses warnings about less writable data than SIZE. Default: 2M.}]>;
def memory : LongValue<"memory", "SIZE",
    "memory of a node that a job may use (default: 28G for\n"
    "fugaku, else no limit)">, Key,
    Manual<[{Sets the memory of a node that a job may use. A start-up that needs more is an error.
A start-up that does not fit four times is reported one level lower. Default: 28G for
`fugaku`, otherwise no limit. A SIZE is an integer followed by K, M, G or T, in powers
of 1,024.}]>;
def expect_libmpg : LongFlag<"expect-libmpg",
    "report a program that loads no large page library">, Key,
    Manual<[{Reports a program that loads no large page library as an error.}]>;

def require_large_pages : LongFlag<"require-large-pages",
    "report a program of a job that gets no large pages, as\n"
    "an error">, Key,
    Manual<[{Reports a program of the job script that gets no large pages at all as an error
(MPG241). Without this option, the report's first sentence says so, without a finding.}]>;

def closure : LongFlag<"closure",
    "check the libraries that a program loads, too (default)">, Key,
    Manual<[{Checks the libraries that a program loads as well (the default), or only the file.
mpgaudit finds libraries by the rules of glibc's loader and executes nothing. A
finding in a library gives the chain of libraries that leads to it.}]>;
def no_closure : LongFlag<"no-closure",
    "check only the file, not the libraries that it loads">;
def tree : LongFlag<"tree",
    "print the libraries that each program loads, no report">,
    Manual<[{Prints the libraries that each program loads instead of a report.}]>;
def sysroot : LongValue<"sysroot", "DIR",
    "search for libraries in the system under DIR">, PathKey,
    Manual<[{Searches for libraries in the system under DIR, a copy of another machine's files.}]>;
def env : LongValue<"env", "NAME=VALUE",
    "a variable in the environment of the program">, ListKey,
    Manual<[{Adds a variable to the environment in which the program will start, for example
LD_LIBRARY_PATH or XOS_MMM_L_PAGING_POLICY. mpgaudit ignores its own environment,
because the job runs elsewhere.}]>;
def job : LongValue<"job", "SCRIPT",
    "audit a job script and the programs that it starts\n"
    "(PJM, Slurm, PBS, Grid Engine, plain shell, or Kubernetes)">,
    Manual<[{Audits a job script for PJM, Slurm, PBS, Grid Engine or a plain shell, or a Kubernetes
manifest (`*.yaml`, `*.yml`). mpgaudit reads the script and does not run it. Without
FILE it audits the programs that the script starts, with the settings that they get.}]>, Section<"Jobs and processes">;
def recommend : LongFlag<"recommend",
    "print the settings to use, with reasons, no report">,
    Manual<[{Prints the settings to use, as lines for a job script with a reason for each, instead
of a report. For the target mpg on x86-64 there are at most five lines; `-v` adds the
reasons. `--format=json` and `jsonl` are for programs.}]>;
def profile : LongValue<"profile", "FILE",
    "for --recommend: measurements of a profiler; repeat the\n"
    "option to combine several">,
    Manual<[{For `--recommend`: reads measurements of a run, or a model's results. FILE comes from
perf stat -x, perf script, likwid-perfctr -O, fapppx -txml, mpgrun --profile --json or
mpgsim --json. mpgaudit recognises the format by its content; `-` is standard input.
It prints each conclusion with the file and the rule. If a file is about another
program, mpgaudit ignores it and ends with status 2. You can give several `--profile`.}]>;
def forecast : LongFlag<"forecast",
    "print how many large pages and what memory a node needs">,
    Manual<[{Prints how many pages of 2 MiB and how much memory a process and a node need, instead
of a report. The forecast adds up static data, stacks (`ulimit -s`, OMP_STACKSIZE, the
number of threads), the processes on a node, `-Xmx`, `shared_buffers`, and the heap if
`--report-from` gives it. Lines to set for the system, Slurm, PJM and Kubernetes follow.
The numbers are for mpgrun with pages of the pool; actual use of data and stacks does
not exceed them. `--format=json` is for programs (schema mpgforecast-1).}]>;
def report_from : LongValue<"report-from", "FILE",
    "for --forecast: the heap, from mpgrun --report --json=FILE">,
    Manual<[{For `--forecast`: takes the heap's peak from an earlier run, in a file of `mpgrun
--report --json=FILE`. With several `--report-from`, for the ranks of a job, the maximum
counts.}]>;
def pid : LongValue<"pid", "N",
    "audit a running process and its large pages now">,
    Manual<[{Audits a running process with its environment and limits, and prints how much of each
region is on large pages now.}]>;
def diff : LongFlag<"diff",
    "print what changed in two builds: --diff BEFORE AFTER">,
    Manual<[{Compares two files, BEFORE and AFTER, and prints which findings came, went or changed.
The exit status is 1 if something became worse. `--diff` excludes `--baseline` and
`--write-baseline`, and ignores a baseline that `.mpgaudit.yaml` names.}]>;

def checks : LongValue<"checks", "GROUP|ID[,+ID,-ID...]",
    "which checks to run: groups (layout loader heap tags\n"
    "hygiene job malformed) or findings such as MPG103;\n"
    "+ adds to the default, - removes from it">, ListKey,
    Manual<[{Selects the checks. Groups are `layout`, `loader`, `heap`, `tags`, `hygiene`, `job` and
`malformed`. A list that begins with a name replaces the default. `+` adds a group or a
finding, `-` removes it. A finding that is off by default for the target is a note if
you name it. Several `--checks` form one list. Damaged files are always reported.}]>, Section<"Checks">;
def fail_on : LongValue<"fail-on", "error|warning|note|never",
    "end with status 1 from this severity on (default error)">, Key,
    Manual<[{Ends with status 1 if there is a finding of this severity or above: `error` (the default),
`warning` or `note`. With `never`, findings do not change the status.}]>;

def config : LongValue<"config", "FILE",
    "the project's settings (default: .mpgaudit.yaml beside\n"
    "the first file, or above it)">,
    Manual<[{Reads the project's settings from FILE. The default is the nearest `.mpgaudit.yaml` in
the folder of the first file or above it, if this user or root owns it. Its keys are
these options. The command line wins.}]>, Section<"Project settings">;
def no_config : LongFlag<"no-config", "read no .mpgaudit.yaml">,
    Manual<[{Ignores `.mpgaudit.yaml`.}]>;
def suppress : LongValue<"suppress", "ID;reason=TEXT[;path=GLOB][;symbol=GLOB][;expires=DATE]",
    "accept findings">,
    Manual<[{Accepts findings with the number ID, for a stated reason. `path` and `symbol` limit it
to matching findings, and `expires` to the time before a date such as 2027-01-31.
mpgaudit names suppressions that have expired or match nothing on standard error.}]>;
def baseline : LongValue<"baseline", "FILE",
    "count only findings that are not in FILE">, PathKey,
    Manual<[{Counts and shows only findings that are not in FILE.}]>;
def write_baseline : LongValue<"write-baseline", "FILE",
    "write all findings to FILE, for --baseline">,
    Manual<[{Writes all findings to FILE, for `--baseline`. FILE stays as it was if one of the
inputs cannot be audited.}]>;

def recursive : LongFlag<"recursive", "audit all ELF files in directories">,
    Manual<[{Audits all ELF files in directories.}]>, Section<"Input">;
def r : Flag<["-"], "r">, Alias<recursive>,
    HelpText<"same as --recursive">;
def files0_from : LongValue<"files0-from", "FILE",
    "read NUL-separated paths from FILE; - is standard input">,
    Manual<[{Reads NUL-separated paths from FILE, as `find -print0` writes them. `-` is standard
input, and `-0` is short for `--files0-from=-`.}]>;
def null_input : Flag<["-"], "0">,
    HelpText<"same as --files0-from=-">;
def jobs : LongValue<"jobs", "N",
    "number of threads (default: the number of processors)">, Key,
    Manual<[{Sets the number of threads, by default the number of processors. The output is the
same for every number.}]>;
def j : JoinedOrSeparate<["-"], "j">, Alias<jobs>, MetaVarName<"N">,
    HelpText<"same as --jobs=N">;

def format : LongValue<"format", "text|line|json|jsonl|sarif|html",
    "format of the report (default text)">, Key,
    Manual<[{Sets the format of the report, `text` by default. See OUTPUT.}]>, Section<"Report">;
def json : LongFlag<"json", "same as --format=json">, Alias<format>,
    AliasArgs<["json"]>;
def color : LongValue<"color", "auto|always|never",
    "whether to colour text (default auto: on a terminal)">,
    Manual<[{Colours the formats `text` and `line`. With `auto`, the default, they are coloured on a
terminal unless NO_COLOR is set or TERM is `dumb`. Use `always` for a pager:
`mpgaudit --color=always FILE | less -R`.}]>;
def verbose : LongFlag<"verbose",
    "print everything: findings that cost the target nothing,\n"
    "the flags of every compiler, the table of regions">,
    Manual<[{Prints everything: findings that cost the target nothing (for `mpg` MPG102, MPG103 with
less than `--min` to gain, and MPG161 beside MPG103), the flags of every compiler
instead of the one that made the file, and the table of regions also for programs
whose memory is heap.}]>;
def v : Flag<["-"], "v">, Alias<verbose>, HelpText<"same as --verbose">;
def stats : LongFlag<"stats",
    "print to standard error what was audited and skipped">,
    Manual<[{Prints to standard error what was audited and what was skipped.}]>;
def explain : LongValue<"explain", "CODE",
    "explain a finding or a vendor's message: MPG103,\n"
    "\"LPG 2003\", 2003, a word of fcc's, or a pasted line\n"
    "of a report, a job script or a build">,
    Manual<[{Explains a finding or a vendor's message, with its rule, cost, remedy and source:
`MPG103`, `"LPG 2003"`, `"FHE 1113"`. Case and spaces do not matter. `2003` alone works,
and so does a pasted line of a report or of a job's output. It also explains words of
Fujitsu's compilers, such as `-Kzfill` or `"!OCL NOVREC"`, and lines of job scripts and
builds, word for word.}]>;

/// For the shells' completion: what the last word may become.
def autocomplete : Joined<["--"], "autocomplete=">, Flags<[HelpHidden]>;

/// What follows is no option, whatever it looks like.
def dash_dash : Option<["--"], "", KIND_REMAINING_ARGS>;

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

def target : LongValue<"target", "fugaku|mpg|libhugetlbfs|thp|auto",
    "what shall put the program on large pages (default auto:\n"
    "by the file)">, Key,
    Manual<[{What shall put the program on large pages. The default is `auto`: `fugaku`
when the file or one of its libraries needs Fujitsu's libmpg.so.1, or is for
AArch64 and the job script is one for PJM or preloads that library, or the
vendor's files are on this machine; `libhugetlbfs` when the file needs it;
else `mpg`.}]>, Section<"What the program will run on">;
def page : LongValue<"page", "4K|16K|64K",
    "the kernel's base page (default 64K for fugaku, else 4K)">, Key,
    Manual<[{The base page of the kernel. Default: 64K for `fugaku`, else 4K.}]>;
def huge : LongValue<"huge", "2M|32M|512M|1G|16G",
    "the large page (default 2M)">, Key,
    Manual<[{The large page, 2M by default. Facts in JSON are at 2 MiB in any case.}]>;
def min : LongValue<"min", "SIZE",
    "writable data below this is worth no warning (default 2M)">, Key,
    Manual<[{Writable data below this is worth no warning. Default: 2M.}]>;
def memory : LongValue<"memory", "SIZE",
    "what a job may use of a node's memory (default: 28G for\n"
    "fugaku, else no limit)">, Key,
    Manual<[{What a job may use of a node's memory. Start-up that needs more is an error,
start-up that does not fit four times is reported one level lower. Default:
28G for `fugaku`, else no limit. A SIZE is a whole number and K, M, G or T,
in powers of 1,024.}]>;
def expect_libmpg : LongFlag<"expect-libmpg",
    "report a program that loads no large page library">, Key,
    Manual<[{Report a program that loads no large page library, as an error.}]>;

def require_large_pages : LongFlag<"require-large-pages",
    "report a program of a job of which nothing will be on\nlarge pages, as an error"
    >, Key,
    Manual<[{Report a program that the job script starts and of which nothing will be on
large pages, as an error (MPG241). Without it that is the sentence that the
report begins with, and no finding.}]>;

def closure : LongFlag<"closure",
    "look at the libraries that a program loads as well\n"
    "(default)">, Key,
    Manual<[{Look at the libraries that a program loads as well, which is the default,
or at the file alone. The libraries are found by the rules of glibc's
loader; nothing is executed. A finding that comes from a library says how
the program comes to it.}]>;
def no_closure : LongFlag<"no-closure",
    "look at the file alone, not at the libraries it loads">;
def tree : LongFlag<"tree",
    "print the libraries that each program loads, no report">,
    Manual<[{Print the libraries that each program loads instead of a report.}]>;
def sysroot : LongValue<"sysroot", "DIR",
    "look for libraries in the system under DIR">, PathKey,
    Manual<[{Look for libraries in the system under DIR, that of another machine.}]>;
def env : LongValue<"env", "NAME=VALUE",
    "a variable that the program will be started with">, ListKey,
    Manual<[{A variable that the program will be started with, LD_LIBRARY_PATH or
XOS_MMM_L_PAGING_POLICY for example. mpgaudit's own environment does not
count: the job runs elsewhere.}]>;
def job : LongValue<"job", "SCRIPT",
    "audit a job script and the programs that it starts\n"
    "(PJM, Slurm, PBS, Grid Engine, plain shell, or Kubernetes)">,
    Manual<[{Audit a job script: PJM, Slurm, PBS, Grid Engine or plain shell, or a manifest
of Kubernetes (`*.yaml`, `*.yml`). It is read, not run. Without FILE the
programs that it starts are audited, with the settings that they are started
with.}]>, Section<"The job">;
def recommend : LongFlag<"recommend",
    "print the settings to use, with reasons, no report">,
    Manual<[{Print the settings to use instead of a report, as lines for a job script,
each with the reason. For the target mpg on x86-64 it is five lines at most,
and the reasons come with `-v`. With `--format=json` or `jsonl` it is for
programs.}]>;
def profile : LongValue<"profile", "FILE",
    "for --recommend: what a profiler has measured; several are\n"
    "taken together">,
    Manual<[{For `--recommend`: what was measured in a run of the program, or modelled. The
file is from perf stat -x, perf script, likwid-perfctr -O, fapppx -txml,
mpgrun --profile --json or mpgsim --json, which is seen by its content; `-` is
standard input. Each thing that a rule finds in it is printed with the file
and the rule. A file that names another program is not used, and the exit
status is 2. Several `--profile` are taken together.}]>;
def forecast : LongFlag<"forecast",
    "print how many large pages and how much memory a node needs"
    >,
    Manual<[{Print how many pages of 2 MiB and how much memory a process and a node need, no
report: of static data, stacks (`ulimit -s`, OMP_STACKSIZE and the number of threads),
the processes that the script starts on a node, `-Xmx`, `shared_buffers`, and the heap if
`--report-from` tells it. Then the lines for the system, Slurm, PJM and Kubernetes. The
numbers are for mpgrun with pages of the pool; data and stacks need not more.}]>;
def report_from : LongValue<"report-from", "FILE",
    "for --forecast: the heap, from mpgrun --report --json=FILE"
    >,
    Manual<[{For `--forecast`: the heap's peak in an earlier run, from what `mpgrun --report
--json=FILE` wrote. Of several `--report-from`, of the ranks of a job, the largest counts.}]>;
def pid : LongValue<"pid", "N",
    "audit a running process and say what of it is on large\npages now">,
    Manual<[{Audit a running process, with its environment and limits, and say how much
of each region is on large pages now.}]>;
def diff : LongFlag<"diff",
    "say what changed between two builds: --diff BEFORE AFTER">,
    Manual<[{Take two files, BEFORE and AFTER, and say which findings came, went or
changed. The exit status is 1 when something became worse. The two are
compared with each other: `--baseline` and `--write-baseline` cannot be given
with it, and a baseline that `.mpgaudit.yaml` names does not count.}]>;

def checks : LongValue<"checks", "GROUP|ID[,+ID,-ID...]",
    "what to look for: groups layout loader heap tags hygiene\n"
    "job malformed, findings such as MPG103; + adds, - removes">, ListKey,
    Manual<[{Groups are `layout`, `loader`, `heap`, `tags`, `hygiene`, `job` and `malformed`. A
list that begins with a name replaces the default; `+` in front of a group
or a finding adds it, `-` takes it away. A finding that is off by default
for the target is looked for when it is named, and is then a note. Several
`--checks` are one list. A damaged file is reported in any case.}]>, Section<"What to look for">;
def fail_on : LongValue<"fail-on", "error|warning|note|never",
    "exit with status 1 from this severity on (default error)">, Key,
    Manual<[{The exit status is 1 when there is a finding of this severity or a worse
one: `error` (the default), `warning` or `note`. With `never` findings do
not change it.}]>;

def config : LongValue<"config", "FILE",
    "the project's settings (default: .mpgaudit.yaml beside\n"
    "the first file, or above it)">,
    Manual<[{Read the project's settings from FILE. Default: `.mpgaudit.yaml`, of this user or of root, in the
folder of the first file, or the nearest one above it. Its keys are these
options; what stands on the command line wins.}]>, Section<"What a project has decided">;
def no_config : LongFlag<"no-config", "read no .mpgaudit.yaml">,
    Manual<[{Read no `.mpgaudit.yaml`.}]>;
def suppress : LongValue<"suppress", "ID;reason=TEXT[;path=GLOB][;symbol=GLOB][;expires=DATE]",
    "accept findings">,
    Manual<[{Accept findings of the number ID, for a reason: all of them, or those whose
path and symbol agree, up to the day DATE, written as 2027-01-31. A suppression
that is not needed any more, or has expired, is named on standard error.}]>;
def baseline : LongValue<"baseline", "FILE",
    "only findings that are not in FILE count">, PathKey,
    Manual<[{Only findings that are not in FILE count and are shown.}]>;
def write_baseline : LongValue<"write-baseline", "FILE",
    "write all findings to FILE, for --baseline">,
    Manual<[{Write all findings to FILE, for `--baseline`.}]>;

def recursive : LongFlag<"recursive", "audit all ELF files in directories">,
    Manual<[{Audit all ELF files in directories.}]>, Section<"Input">;
def r : Flag<["-"], "r">, Alias<recursive>,
    HelpText<"same as --recursive">;
def files0_from : LongValue<"files0-from", "FILE",
    "read NUL-separated paths from FILE; - is standard input">,
    Manual<[{Read NUL-separated paths from FILE, as `find -print0` writes them; `-` is
standard input, and `-0` stands for `--files0-from=-`.}]>;
def null_input : Flag<["-"], "0">,
    HelpText<"same as --files0-from=-">;
def jobs : LongValue<"jobs", "N",
    "number of threads (default: the number of processors)">, Key,
    Manual<[{Number of threads, by default the number of processors. The output is the
same for every number.}]>;
def j : JoinedOrSeparate<["-"], "j">, Alias<jobs>, MetaVarName<"N">,
    HelpText<"same as --jobs=N">;

def format : LongValue<"format", "text|line|json|jsonl|sarif|html",
    "form of the report (default text)">, Key,
    Manual<[{Form of the report, `text` by default. See OUTPUT.}]>, Section<"Report">;
def color : LongValue<"color", "auto|always|never",
    "whether text is coloured (default auto: on a terminal)">,
    Manual<[{Whether the formats `text` and `line` are coloured. With `auto`, the default,
they are on a terminal, unless NO_COLOR is set or TERM is `dumb`; `always` is
for a pager: `mpgaudit --color=always FILE | less -R`.}]>;
def verbose : LongFlag<"verbose",
    "all that is known: findings that cost the target nothing,\n"
    "the flags of every compiler, the table of regions">,
    Manual<[{Print all that is known: what costs the target nothing (for `mpg` MPG102,
MPG103 where less than `--min` is to be gained, and MPG161 beside MPG103),
the flags of every compiler instead of those for the one that made the file,
and the table of regions also where the memory is heap.}]>;
def v : Flag<["-"], "v">, Alias<verbose>, HelpText<"same as --verbose">;
def stats : LongFlag<"stats",
    "say on standard error what was audited and skipped">,
    Manual<[{Say on standard error what was audited and skipped.}]>;
def explain : LongValue<"explain", "CODE",
    "explain a finding or a vendor's message: MPG103,\n\"LPG 2003\", 2003, a word "
    "of fcc's, or a pasted line\nof a report, a job script or a build">,
    Manual<[{Explain a finding or a vendor's message, with its rule, cost, remedy and
source: `MPG103`, `"LPG 2003"`, `"FHE 1113"`. Case and spaces do not matter;
`2003` alone and a pasted line of a report or of a job's output do as well.
Also a word of Fujitsu's compilers, `-Kzfill` or `"!OCL NOVREC"`, and a line
of a job script or of a build: what is known in it, word for word.}]>;

/// For the shells' completion: what the last word may become.
def autocomplete : Joined<["--"], "autocomplete=">, Flags<[HelpHidden]>;

/// What follows is no option, whatever it looks like.
def dash_dash : Option<["--"], "", KIND_REMAINING_ARGS>;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpginfo: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def need : LongValue<"need", "SIZE",
    "end with status 1 unless a program can have SIZE on 2 MiB\n"
    "pages of the pool, and print the command that provides them">,
    Manual<[{Sets how much memory a program needs on pages of the pool. If the node has fewer, the
exit status is 1, and the report has the command for this many. A SIZE is an integer
followed by K, M, G or T, in powers of 1,024. Without this option, the command is for
half of the available memory.}]>;
def for_product : LongValue<"for", "postgres|mongodb|redis|jvm|rhel|oracle",
    "what the makers of this recommend about large pages, and\n"
    "whether this node follows it">,
    Manual<[{Prints what the makers of PostgreSQL (`postgres`), MongoDB (`mongodb`), Redis (`redis`),
Java (`jvm`), Red Hat Enterprise Linux (`rhel`) or Oracle's database (`oracle`) recommend
about transparent pages and the pool, with the source, and whether the node's setting of
transparent pages agrees. If it does not, the exit status is 1.}]>;
def format : LongValue<"format", "text|json|prometheus",
    "format of the report (default text)">,
    Manual<[{Sets the format of the report: `text` (default) for people, `json` with schema mpginfo-1,
or `prometheus` for the textfile collector of node_exporter. See OUTPUT.}]>;
def json : LongFlag<"json", "same as --format=json">, Alias<format>,
    AliasArgs<["json"]>;
def root : LongValue<"root", "DIRECTORY",
    "read proc, sys, dev and opt in DIRECTORY, a copy from\n"
    "another node, and try nothing on this one">,
    Manual<[{Reads `proc`, `sys`, `dev` and `opt` in DIRECTORY, a copy from another node, instead of
this machine's. mpginfo then tries nothing: it derives the kernel's features from the
version and does not touch A64FX registers.}]>;
def fold : LongFlag<"fold",
    "merge mpginfo --json of many nodes (from clush, pdsh, srun):\n"
    "equal nodes once, the others by what differs">,
    Manual<[{Reads reports of many nodes from FILEs or standard input, as clush, pdsh and `srun --label` print
them: `mpginfo --json` or `mpgbench --json=-`, with or without `NODE: ` in front. See
OUTPUT.}]>;
def expect : LongValue<"expect", "NODES",
    "name those of NODES (node[1-96]) that --fold does not find">,
    Manual<[{With `--fold`: lists the nodes that should answer, such as `login,node[1-96]` or
`$SLURM_JOB_NODELIST`. The report names those that do not.}]>;

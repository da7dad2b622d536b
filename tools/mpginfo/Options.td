// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpginfo: parsing, --help and "did you mean" are made from this
// file.

include "OptionClasses.td"

def need : LongValue<"need", "SIZE",
    "end with status 1 unless a program can have SIZE on 2 MiB\n"
    "pages of the pool, and say what to type for it">,
    Manual<[{How much of the program's memory shall be on pages of the pool. The exit
status is 1 if fewer can be had, and the command is for this many. A SIZE is
a whole number and K, M, G or T, in powers of 1,024. Without it the command
is for half of the memory that is available.}]>;
def for_product : LongValue<"for", "postgres|mongodb|redis|jvm|rhel|oracle",
    "what the makers of this ask about large pages, and whether\n"
    "this node is so">,
    Manual<[{Print what the makers of PostgreSQL (`postgres`), MongoDB (`mongodb`), Redis
(`redis`), Java (`jvm`), Red Hat Enterprise Linux (`rhel`) or Oracle's database (`oracle`) ask
about transparent pages and the pool, with the source, and whether the node has this setting
of transparent pages; the exit status is 1 if it has another.}]>;
def format : LongValue<"format", "text|json|prometheus",
    "form of the report (default text)">,
    Manual<[{Form of the report: `text`, the default, for people; `json`, schema
mpginfo-1; `prometheus` for the textfile collector of node_exporter. See OUTPUT.}]>;
def json : LongFlag<"json", "same as --format=json">, Alias<format>,
    AliasArgs<["json"]>;
def root : LongValue<"root", "DIRECTORY",
    "look at proc, sys, dev and opt in DIRECTORY, a copy from\n"
    "another node, and try nothing on this one">,
    Manual<[{Read `proc`, `sys`, `dev` and `opt` in DIRECTORY, a copy from another node,
instead of this machine's. Nothing is tried then: what the kernel can do
follows from its version, and A64FX registers are not touched.}]>;
def fold : LongFlag<"fold",
    "read what mpginfo --json said on many nodes (from clush, pdsh,\n"
    "srun): equal nodes once, the others by what differs">,
    Manual<[{Read answers of many nodes, from FILEs or standard input, as clush, pdsh and
`srun` print them: `mpginfo --json`, `mpgbench --json=-`, with or without `NODE: ` in front.
See OUTPUT.}]>;
def expect : LongValue<"expect", "NODES",
    "name those of NODES (node[1-96]) that --fold does not find">,
    Manual<[{With `--fold`: the nodes that are to answer, such as `login,node[1-96]` or
`$SLURM_JOB_NODELIST`. Those that do not are named.}]>;

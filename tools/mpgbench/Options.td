// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpgbench; see OptionClasses.td.

include "OptionClasses.td"

def quick : LongFlag<"quick",
    "small arrays: all experiments together take about\n"
    "two minutes">,
    Manual<[{Uses small arrays: all experiments together take about two minutes. Effects that need more
memory than the TLBs and caches reach are smaller then. On slow machines and those with
many NUMA nodes, mpgbench starts no round after the first that would end after five
minutes, and says so.}]>;
def repeat : LongValue<"repeat", "N",
    "measure each point N times, 7 if not given; below 6 there are\n"
    "no intervals and no verdicts">,
    Manual<[{Measures each point N times, 7 by default, at most 1,000. With fewer than 6 there is no 95 %
interval and no verdict.}]>;
def seed : LongValue<"seed", "N", "seed of the order of measurements; 1 if not given">,
    Manual<[{Sets the seed of the random order of the points, 1 by default. The report has it.}]>;

def json : LongValue<"json", "FILE",
    "also write everything as JSON, schema mpgbench-1; - is\n"
    "standard output, and the report goes to standard error">,
    Manual<[{Also writes everything, with each measurement, as JSON, schema mpgbench-1
(`docs/schema/mpgbench-1.schema.json`).}]>;
def csv : LongValue<"csv", "FILE", "also write each measurement as CSV">,
    Manual<[{Also writes one line for each measurement.}]>;
def html : LongValue<"html", "FILE",
    "also write a page with plots; needs no network">,
    Manual<[{Also writes a page with plots, which needs neither network nor scripts.}]>;

def compare : LongFlag<"compare",
    "compare two files written by --json: which differences are\n"
    "real; status 1 if something became worse">,
    Manual<[{Compares two files of `--json`: ratio and interval of each point that both have, and which
differences are real.}]>;

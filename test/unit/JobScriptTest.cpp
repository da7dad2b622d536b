// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts known after reading a job script. A wrong fact here becomes wrong
// advice about a job; a guess is as bad as an error.

#include "JobScript/JobScript.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mpg;

static JobScript read(StringRef text) { return readJobScript(text, "job.sh"); }

/// The value of A in the program of a script that ends with ./a: the text,
/// "?text" if it is unknown, "-" if A is not set.
static std::string valueOfA(StringRef body) {
  JobScript script = read((body + "\nexport A\n./a\n").str());
  if (script.launches.empty())
    return "no launch";
  const Variable *a = script.launches.back().launch.environment.find("A");
  if (!a)
    return "-";
  return (a->known ? "" : "?") + a->value;
}

TEST(JobScript, ValuesAreExpandedAsTheShellDoes) {
  const std::pair<const char *, const char *> cases[] = {
      {"A=1", "1"},
      {"A='a b'\"c\"d", "a bcd"},
      {"A=$'a\\tb'", "a\tb"},
      {"A=a\\\nb", "ab"},
      {"B=x; A=$B-${B}y", "x-xy"},
      {"B=x; A='$B'", "$B"},
      {"A=1 # comment", "1"},
      {"A=a#b", "a#b"},
      {"B=; A=${B:-d}", "d"},
      {"B=; A=${B-d}", ""},
      {"unset B; A=${B-d}", "d"},
      {"B=x; A=${B:+y}", "y"},
      {"B=a.out; A=${B%.out}", "a"},
      {"A=$((48 / 4 - 2 * (1 + 2)))", "6"},
      {"B=12; A=$(( B*4 ))", "48"},
      {"B=12; A=$[2 * B]x", "24x"},
      {"A=\"$[ 7 - 5 ]\"", "2"},
      {"A=1; A+=2", "12"},
      {"unset A; A=3", "3"},
      {"readonly A=1; A=2", "1"},
      {"B='1 2'; export A=$B", "1 2"},
      {"A=1; B=2 A=3 true", "1"},
      {"f() { A=$1; }; f 7", "7"},
      {"f() { local A=2; }; A=1; f", "1"},
      {"A=1; (A=2)", "1"},
      {"A=1; A=2 | cat", "1"},
      {"A=1; echo 2 | A=2", "1"},
      {"A=1; echo 2 | cat | A=2", "1"},
      {"A=1; A=2 &", "1"},
      {"if x; then A=1; else A=1; fi", "1"},
      {"if x; then A=2; exit; fi; A=1", "1"},
      {"case $x in a) A=1;; *) A=1;; esac", "1"},
      {"cat <<EOF\nA=2\nEOF\nA=1", "1"},
      {"cat <<-'E'\n\tA=2\n\tE\nA=1", "1"},
      {"A=1 <<< 'x'", "1"},
  };
  for (const auto &[text, value] : cases)
    EXPECT_EQ(valueOfA(text), value) << text;
}

TEST(JobScript, WhatIsNotKnownIsNamed) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "?$A"},
      {"A=$(nproc)", "?$(nproc)"},
      {"A=`nproc`", "?`nproc`"},
      {"A=$B/c", "?$B/c"},
      {"A=${B:-c}", "?${B:-c}"},
      {"A=~/x", "?~/x"},
      {"A=1; x && A=2", "?$A"},
      {"A=1; if x; then A=2; fi", "?$A"},
      {"if x; then A=1; elif y; then A=1; fi", "?$A"},
      {"for i in 1 2; do A=$i; done", "?$A"},
      {"A=1; while x; do A=2; done", "?$A"},
      {"A=1; read A", "?$A"},
      {"REPLY=1; read; A=$REPLY", "?$REPLY"},
      {"A=1; (( A++ ))", "?$A"},
      {"f() { if x; then A=1; return; fi; A=2; }; f", "?$A"},
      {"RANDOM=1; A=$RANDOM", "?$RANDOM"},
      {"A=$((08 + 1))", "?$((08 + 1))"},
      {"A=$[B[1] + 1]", "?$[B[1] + 1]"},
      {"A=$((9223372036854775807 + 1))", "?$((9223372036854775807 + 1))"},
      {"A=(1 2)", "?(1 2 )"},
      {"B=2; A=(1 $B $C)", "?(1 2 \"$C\" )"},
      {"A=([1]=2)", "?([1]=2)"},
      {"declare -i A=1+1", "?$A"},
      {"A=/x:$A; A=/y:$A", "?/y:/x:$A"},
      {"A=/x${A:+:$A}", "?/x:$A"},
      {"export A=/a; module load b; A=$A", "/a"},
  };
  for (const auto &[text, value] : cases)
    EXPECT_EQ(valueOfA(text), value) << text;
  JobScript script = read("export LD_LIBRARY_PATH=$HOME/lib:$X:/a\n./a\n");
  ASSERT_EQ(script.settings.size(), 1u);
  EXPECT_EQ(script.settings[0].value.unknown, "$HOME, $X");
}

TEST(JobScript, OnlyExportedVariablesReachTheProgram) {
  JobScript script =
      read("A=1\nB=2 ./a\nset -a\nC=3\nset +a\nD=4\nexport -n C\n"
           "export D\n./b\nenv -u D E=5 ./c\nenv -i F=6 ./d\n");
  ASSERT_EQ(script.launches.size(), 4u);
  const char *expected[] = {"B=2 ", "D=4 ", "E=5 ", "F=6 "};
  for (size_t i = 0; i < 4; ++i) {
    std::string all;
    for (const auto &[name, variable] :
         script.launches[i].launch.environment.all())
      all += name + "=" + variable.value + " ";
    EXPECT_EQ(all, expected[i]);
  }
}

TEST(JobScript, DirectivesSayWhatIsAskedFor) {
  auto facts = [](StringRef text) {
    JobScript script = read(text);
    auto number = [](auto value) { return value ? utostr(*value) : "-"; };
    return number(script.nodes) + " " + number(script.ranks) + " " +
           number(script.ranksPerNode) + " " + number(script.cpusPerTask) +
           " " + number(script.nodeMemoryBytes);
  };
  const std::pair<const char *, const char *> cases[] = {
      {"#PJM -L \"node=2x3:torus,elapse=1:00\"\n#PJM --mpi max-proc-per-node=4",
       "6 24 4 - -"},
      {"#PJM --rsc-list node=2\n#PJM --mpi \"proc=9\"", "2 9 5 - -"},
      {"#PJM -L node=1,node-mem=28Gi", "1 - - - 30064771072"},
      {"#SBATCH -N2 -n 8 -c12", "2 8 4 12 -"},
      {"#SBATCH --nodes=2 --ntasks-per-node 4 # c", "2 8 4 - -"},
      {"#SBATCH --mem=2000\n#SBATCH -N 2-4", "- - - - 2097152000"},
      {"#SBATCH -N1 -n2 -c2 --mem-per-cpu=1G", "1 2 2 2 4294967296"},
      {"#SBATCH --mem=0", "- - - - -"},
      {"#SBATCH -n1 -c48\n#SBATCH hetjob\n#SBATCH -N4 -n4 -c12", "- - - - -"},
      {"#PBS -l select=2:ncpus=48:mpiprocs=4:ompthreads=12:mem=28gb",
       "2 8 4 12 30064771072"},
      {"#PBS -l nodes=2:ppn=4,walltime=1:00", "2 8 4 - -"},
      {"#PBS -l nodes=2:ppn=4,mem=8gb", "2 8 4 - 4294967296"},
      {"#PBS -l nodes=1:ppn=4+2:ppn=8,mem=8gb", "- - - - -"},
      {"#$ -pe mpi 48 -cwd", "- 48 - - -"},
      {"#PJM -L node=65536x65536", "- - - - -"},
      {"##PJM -L node=2\n # SBATCH -N 2\n#PJMX -L node=3", "- - - - -"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_EQ(facts(text), expected) << text;
  JobScript late = read("#SBATCH -N 2\ntrue\n#SBATCH -n 9\n");
  EXPECT_FALSE(late.ranks);
  ASSERT_EQ(late.problems.size(), 1u);
  EXPECT_EQ(late.problems[0].line, 3u);
}

TEST(JobScript, LaunchKnowsThreadsRanksAndStack) {
  JobScript script = read("#SBATCH -N 2 --ntasks-per-node=4 -c 12\n"
                          "#SBATCH --export=ALL,MPG_X=1\n"
                          "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\n"
                          "./a\nulimit -s unlimited\nsrun ./b\n"
                          "ulimit -Hs 1\nulimit -s 8192\n"
                          "OMP_NUM_THREADS=4,2 mpirun -npernode 2 ./c\n"
                          "OMP_NUM_THREADS=$N srun -N 1 -n 3 ./d\n"
                          "srun -N 2 -n 7 ./e\nsrun -N 2 -n 8 ./f\n");
  ASSERT_EQ(script.launches.size(), 6u);
  auto launch = [&](size_t i) -> const Launch & {
    return script.launches[i].launch;
  };
  EXPECT_EQ(launch(0).threads, 12u);
  EXPECT_EQ(launch(0).ranksPerNode, 1u);
  EXPECT_FALSE(launch(0).stackBytes);
  EXPECT_EQ(launch(0).environment.getValue("MPG_X"), "1");
  EXPECT_EQ(launch(1).ranksPerNode, 4u);
  EXPECT_EQ(launch(1).stackBytes, UINT64_MAX);
  EXPECT_EQ(launch(2).threads, 4u);
  EXPECT_EQ(launch(2).ranksPerNode, 2u);
  EXPECT_EQ(launch(2).stackBytes, 8192u * 1024);
  EXPECT_FALSE(launch(3).threads);
  EXPECT_EQ(launch(3).ranksPerNode, 3u);
  // The node that has most of them.
  EXPECT_EQ(launch(4).ranksPerNode, 4u);
  EXPECT_EQ(launch(5).ranksPerNode, 4u);
}

TEST(JobScript, EverySettingSaysHow) {
  JobScript script =
      read("#PJM -x P=1\nA=1\nexport A\nB=2 ./a\nunset A\n"
           "mpiexec -x C=3 ./a\nx && export D=4\nsrun --export=ALL,E=5 ./a\n"
           "module load craype-hugepages2M\nmodule unload craype-hugepages2M");
  std::string all;
  for (const JobSetting &setting : script.settings)
    all += utostr(setting.line) + (setting.conditional ? "?" : "") + " " +
           setting.how + " " + setting.name + "=" + setting.value.text + "\n";
  EXPECT_EQ(all, "1 #PJM -x P=1\n2 assignment A=1\n3 export A=1\n"
                 "4 command B=2\n5 unset A=\n6 mpiexec -x C=3\n"
                 "7? export D=4\n8 srun --export E=5\n"
                 "9 module load HUGETLB_DEFAULT_PAGE_SIZE=2M\n"
                 "9 module load HUGETLB_MORECORE=yes\n"
                 "9 module load HUGETLB_ELFMAP=W\n"
                 "10 unset HUGETLB_DEFAULT_PAGE_SIZE=\n"
                 "10 unset HUGETLB_MORECORE=\n10 unset HUGETLB_ELFMAP=\n");
}

TEST(JobScript, ProblemsNameTheLineAndTheRestIsRead) {
  const struct {
    const char *text;
    unsigned line;
    const char *problem;
  } cases[] = {
      {"true\nexport A=\"x\nexport B=1\n./a\n", 2, "quote \" is not closed"},
      {"true\nexport A='x\nexport B=1\n./a\n", 2, "quote ' is not closed"},
      {"A=$(x\nexport B=1\n./a\n", 1, "$( is not closed"},
      {"A=${x\nexport B=1\n./a\n", 1, "${ is not closed"},
      {"export B=1\n./a\nif x; then\n", 3, "if is not closed with fi"},
      {"fi\nexport B=1\n./a\n", 1, "fi closes nothing"},
      {"export B=1\n./a\ncat <<EOF\nx\n", 3, "no line is \"EOF\""},
      {"export B=1\r\n./a\r\n", 1, "CR LF"},
      {"export B=1\nsource env.sh\n./a\n", 2, "not read: env.sh"},
      {"#!/bin/csh\nsetenv B 1\n./a\n", 1, "csh"},
  };
  for (const auto &test : cases) {
    JobScript script = read(test.text);
    ASSERT_EQ(script.problems.size(), 1u) << test.text;
    EXPECT_EQ(script.problems[0].line, test.line) << test.text;
    EXPECT_TRUE(StringRef(script.problems[0].text).contains(test.problem))
        << script.problems[0].text;
    ASSERT_EQ(script.launches.size(), 1u) << test.text;
    EXPECT_EQ(script.launches[0].launch.environment.getValue("B"), "1")
        << test.text;
  }
  EXPECT_TRUE(read("export A=1\n./a\n").problems.empty());
  JobScript zero = read(StringRef("export A\0=1\n./a\n", 16));
  ASSERT_EQ(zero.problems.size(), 1u);
  EXPECT_EQ(zero.launches[0].launch.environment.getValue("A"), "1");
}

TEST(JobScript, CshSettingsAreRead) {
  JobScript script = read("#!/bin/tcsh -f\nsetenv A 1\nif ($x == 1) then\n"
                          "  setenv B 2\nendif\nif ($y) setenv C 3\n"
                          "limit stacksize unlimited\nmpiexec ./a\n");
  ASSERT_EQ(script.launches.size(), 1u);
  const Launch &launch = script.launches[0].launch;
  EXPECT_EQ(launch.environment.getValue("A"), "1");
  ASSERT_TRUE(launch.environment.find("B"));
  EXPECT_FALSE(launch.environment.find("B")->known);
  EXPECT_FALSE(launch.environment.find("C")->known);
  EXPECT_EQ(launch.stackBytes, UINT64_MAX);
  EXPECT_FALSE(script.launches[0].conditional);
}

/// Each would take minutes, gigabytes or all of the stack if a part of the
/// reader were not bounded.
TEST(JobScript, HugeScriptsAreRead) {
  constexpr size_t size = 1 << 20;
  std::string line = "export A=" + std::string(size, 'x') + "\n./a\n";
  ASSERT_EQ(read(line).launches.size(), 1u);
  EXPECT_EQ(read(line).launches[0].launch.environment.getValue("A").size(),
            size);
  for (StringRef unit : {"(",
                         "$(",
                         "${",
                         "\"$(",
                         "\"",
                         "if ",
                         "{ ",
                         "((",
                         "case x in ",
                         "for i in a;do ",
                         "`",
                         "done;",
                         "${A:-",
                         "\"$(\n",
                         "[[ ",
                         "A=$A$A\n",
                         "f() { f; f; }\n",
                         "export A=b; ./a\n",
                         "<<E\n",
                         "A=(",
                         "fi\n"}) {
    std::string text = "export B=1\n./a\n";
    while (text.size() < size / 16)
      text += unit;
    JobScript script = read(text);
    ASSERT_GE(script.launches.size(), 1u) << unit.str();
    EXPECT_EQ(script.launches[0].launch.environment.getValue("B"), "1");
    EXPECT_LE(script.problems.size(), 101u);
  }
}

TEST(JobScript, FilesThatAreNoScriptsAreErrors) {
  for (const char *path : {"/nonexistent", "/", "/proc/self/exe"}) {
    Expected<JobScript> script = readJobScriptFile(path);
    ASSERT_FALSE(bool(script)) << path;
    EXPECT_FALSE(toString(script.takeError()).empty());
  }
}

TEST(JobScript, ProgramsAreFoundWhereTheScriptGoes) {
  auto found = [](StringRef text) {
    JobScript script = read(text);
    return script.launches.empty() ? "none"
                                   : findLaunched(script.launches[0], "/usr");
  };
  EXPECT_EQ(found("mpiexec /bin/sh"), "/bin/sh");
  EXPECT_EQ(found("cd bin; ./sh"), "/usr/bin/sh");
  EXPECT_EQ(found("cd $PJM_O_WORKDIR; bin/sh"), "/usr/bin/sh");
  EXPECT_EQ(found("$SLURM_SUBMIT_DIR/bin/sh"), "/usr/bin/sh");
  EXPECT_EQ(found("export PATH=/bin; srun sh"), "/bin/sh");
  EXPECT_EQ(found("cd $X; ./sh"), "");
  EXPECT_EQ(found("$X/sh"), "");
  EXPECT_EQ(found("./no-such-program"), "");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Launchers.h. One row for each family of launchers says which options take
// a value; the rest of an option's meaning is in readOption. Options that no
// row knows are taken to have no value, unless a number follows.

#include "JobScript/Launchers.h"
#include "JobScript/ShellLexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

namespace {

enum class Family : uint8_t {
  mpi,   ///< mpiexec of all kinds
  srun,  ///< options in getopt's way
  aprun, ///< -N is per node
  jsrun,
  env,
  mpgrun,
  container, ///< its first two words are a verb and an image
  loader,    ///< ld.so PROGRAM
  tool,      ///< measures or binds: what follows is a program of the job
  remote,    ///< what follows may be a line for a shell
  wrapper    ///< changes little: "time cp a b" is cp
};

struct LauncherRow {
  Family family;
  /// Names, and options with one and with two values, without their dashes and
  /// with a blank on either side.
  const char *names, *oneValue, *twoValues;
  unsigned operands; ///< words of its own that are no options: a duration
};

} // namespace

static constexpr LauncherRow rows[] = {
    {Family::mpi,
     " mpiexec mpirun mpiexec.hydra mpirun.hydra mpiexec.mpich mpirun.mpich "
     "mpiexec.openmpi mpirun.openmpi mpirun_rsh orterun prterun ibrun "
     "likwid-mpirun mpiexec.slurm mpiexec_mpt ccc_mprun yhrun pbsdsh dplace "
     "mpirun.lsf ",
     " n np c ppn perhost npernode npersocket N cpus-per-proc "
     "cpus-per-rank map-by bind-to rank-by ranks-per-proc host hosts H "
     "hostfile "
     "machinefile machine f wdir wd x envlist genvlist path of of-proc oe "
     "oe-proc ofout ofout-proc oferr oferr-proc ofprefix std std-proc stdin "
     "stdout stdout-proc stderr stderr-proc stdprefix vcoordfile nodefile "
     "fwd-vcoordfile iface rmk launcher bootstrap launcher-exec binding "
     "outfile-pattern errfile-pattern rankfile rf cpu-set cpu-list tune am "
     "configfile xml-file output-filename report-uri timeout max-proc-per-node "
     "prefix slot-list default-hostfile add-host add-hostfile genvuser pin "
     "nperdomain g mpi omp s ntasks ntasks-per-node app cpu-bind mem-bind "
     "gpu-bind depth env-file ",
     " mca gmca genv env gpmixmca pmixmca prtemca ", 0},
    {Family::srun, " srun salloc ",
     " A b B C c D d e G i J L M m N n o p q r S T t U w W x account "
     "begin chdir cluster-constraint clusters comment constraint "
     "container container-env container-image container-mounts "
     "container-name container-save container-workdir core-spec "
     "cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline "
     "delay-boot dependency distribution epilog error "
     "exclude export export-file extra-node-info gid gpu-bind gpu-freq gpus "
     "gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input "
     "jobid job-name licenses mail-type mail-user max-threads mcs-label mem "
     "mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout "
     "network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu "
     "ntasks-per-node ntasks-per-socket open-mode output partition power "
     "prefer priority profile prolog qos relative reservation signal "
     "slurmd-debug sockets-per-node switches task-epilog task-prolog "
     "thread-spec threads threads-per-core time time-min tmp tres-per-task uid "
     "wait wckey ",
     " ", 0},
    {Family::aprun, " aprun ",
     " n N d cc S sn j r L e p m D F t cpu-binding cpus-per-pe "
     "pes pes-per-node environment-override ",
     " ", 0},
    {Family::jsrun, " jsrun lrun ",
     " n nrs a tasks_per_rs c cpu_per_rs g gpu_per_rs r rs_per_host b bind d "
     "launch_distribution l latency_priority E env p np h chdir o stdio_stdout "
     "k stdio_stderr e stdio_mode M smpiargs m memory_per_rs U erf_input K "
     "rs_per_socket N T ",
     " ", 0},
    // "flux run", "flux submit": see isOnlyName.
    {Family::srun, " flux ",
     " n ntasks N nodes c cores-per-task g gpus-per-task tasks-per-node "
     "tasks-per-core cores gpus-per-node t time-limit o setopt S setattr q "
     "queue B bank urgency job-name env env-remove env-file rlimit input "
     "output error u unbuffered l label-io cwd dependency requires begin-time "
     "signal taskmap log log-stderr flags ",
     " ", 1},
    {Family::env, " env ", " u unset C chdir S split-string ", " ", 0},
    {Family::tool, " numactl ",
     " C physcpubind N cpunodebind m membind i interleave p preferred P "
     "preferred-many w weighted-interleave s S shm shmid f file L length o "
     "offset M shmmode ",
     " ", 0},
    {Family::tool, " taskset ", " ", " ", 1},
    {Family::tool, " chrt ", " T P D ", " ", 1},
    {Family::mpgrun, " mpgrun ", " ", " ", 0},
    {Family::tool, " likwid-pin likwid-perfctr likwid-memsweeper ",
     " c C g t T o O M s ", " ", 0},
    {Family::tool, " perf ",
     " e event o output F freq p pid t tid C cpu r repeat I interval-print D "
     "delay c count call-graph G cgroup x field-separator M metrics ",
     " ", 1},
    {Family::tool, " fipp fapp ", " d I i L l m M p P W w ", " ", 0},
    {Family::tool, " valgrind strace ltrace callgrind ",
     " e o p s S E a u P I O ", " ", 0},
    {Family::tool,
     " vtune advixe-cl amplxe-cl inspxe-cl advisor aps map ddt perf-report "
     "pat_run tau_exec catchsegv dlb_run jobreport ",
     " o output collect result-dir r ", " ", 0},
    {Family::tool, " ncu compute-sanitizer rocprof ",
     " o i c s k set section metrics kernel-name launch-count launch-skip "
     "target-processes tool ",
     " ", 0},
    {Family::tool, " scalasca scan ", " f e l m R M x ", " ", 0},
    {Family::tool, " hpcrun ", " e event o output c count f fp p ip ", " ", 0},
    {Family::tool, " gdb cuda-gdb lldb ",
     " ex eval-command x command iex init-eval-command ix init-command cd d "
     "directory p pid c core s symbols e exec b tty D data-directory o "
     "one-line S source ",
     " ", 0},
    {Family::tool, " nsys ", " o output t trace s sample c capture-range ", " ",
     1},
    {Family::container, " singularity apptainer ",
     " B bind app H home S scratch W workdir o overlay env env-file network "
     "network-args dns hostname security apply-cgroups pwd cwd fusemount mount "
     "add-caps drop-caps mpi c config ",
     " ", 2},
    {Family::loader, " ld.so ",
     " library-path preload argv0 inhibit-rpath audit glibc-hwcaps-mask "
     "glibc-hwcaps-prepend ",
     " ", 0},
    {Family::remote, " ssh rsh oarsh blaunch ",
     " b c D E e F I i J L l m O o p Q R S W w ", " ", 1},
    {Family::remote, " parallel ",
     " j jobs N n max-args max-procs P L max-lines a arg-file joblog S "
     "sshlogin "
     "sshloginfile slf delay timeout retries results C colsep d delimiter I "
     "tmpdir workdir wd load memfree halt tagstring basefile bf env nice ",
     " ", 0},
    {Family::wrapper, " xargs ",
     " a arg-file d delimiter E I L n max-args P max-procs s max-chars "
     "process-slot-var ",
     " ", 0},
    {Family::wrapper, " time ", " f format o output ", " ", 0},
    {Family::wrapper, " nice ", " n adjustment ", " ", 0},
    {Family::wrapper, " ionice ", " c n class classdata p ", " ", 0},
    {Family::wrapper, " timeout ", " s signal k kill-after ", " ", 1},
    {Family::wrapper, " stdbuf ", " i o e input output error ", " ", 0},
    {Family::wrapper, " exec ", " a ", " ", 0},
    {Family::wrapper, " xvfb-run ",
     " e error-file f auth-file n server-num p xauth-protocol s server-args w "
     "wait ",
     " ", 0},
    {Family::tool, " task_affinity tacc_affinity ccmrun mpibind ", " ", " ", 0},
    {Family::wrapper, " nohup setsid command unbuffer eatmydata ", " ", " ", 0},
};

static bool listed(const char *names, StringRef name) {
  StringRef all(names);
  if (name.contains(' '))
    return false;
  for (size_t at = all.find(name); at != StringRef::npos && !name.empty();
       at = all.find(name, at + 1))
    if (all[at - 1] == ' ' && all[at + name.size()] == ' ')
      return true;
  return false;
}

/// "$MPIRUN" and "$OPTS" say by their names what they are; nothing else does.
static bool nameHas(const JobWord &word, ArrayRef<StringRef> parts) {
  if (word.known() || word.text != word.unknown ||
      !StringRef(word.text).starts_with("$") ||
      StringRef(word.text).starts_with("$("))
    return false;
  return any_of(parts, [&](StringRef part) {
    return StringRef(word.text).contains_insensitive(part);
  });
}

static const LauncherRow *findLauncher(const JobWord &word) {
  if (nameHas(word, {"mpirun", "mpiexec", "launch", "mpi_run", "mpicmd"}))
    return &rows[0];
  if (nameHas(word, {"srun"}))
    return &rows[1];
  StringRef name = sys::path::filename(word.text);
  if (name.empty() || name.contains(' '))
    return nullptr;
  // ld-linux-x86-64.so.2, ld-musl-aarch64.so.1, ld64.so.2
  bool isLoader = name.starts_with("ld") && name.contains(".so.");
  for (const LauncherRow &row : rows)
    if (isLoader ? row.family == Family::loader : listed(row.names, name))
      return &row;
  return nullptr;
}

static bool looksLikeOptions(const JobWord &word) {
  return nameHas(word, {"opt", "flag", "arg", "bind", "param", "map", "host"});
}

namespace {

/// Takes one command apart from the left to the right.
class LaunchReader {
public:
  explicit LaunchReader(ArrayRef<JobWord> words) : words(words) {}
  LaunchParts run();

private:
  void readLauncher(const LauncherRow &row);
  void readLauncherOption(const LauncherRow &row);
  bool takeOperand(const LauncherRow &row, unsigned &operands);
  void setOption(const LauncherRow &row, StringRef name, const JobWord &value);
  void setMpiOption(StringRef name, const JobWord &value);
  void setMpgrunOption(StringRef name, const JobWord &value);
  void setSrunOption(StringRef name, const JobWord &value);
  void setVariable(const JobWord &assignment, StringRef how);
  void setList(const JobWord &list, StringRef how);
  bool takeContainerWord(const JobWord &word, unsigned &operands);
  void decide();
  bool startsElsewhere();
  bool isOnlyName() const;
  bool isWord(size_t i) const { return i < words.size(); }
  StringRef text(size_t i) const { return words[i].text; }
  /// "mpiexec -x"
  std::string optionOf(StringRef option) const {
    return (sys::path::filename(words[first].text) + " -" + option).str();
  }

  ArrayRef<JobWord> words;
  size_t at = 0, first = 0; ///< first: the name of the innermost launcher
  bool hasTool = false;
  bool readsLine = false;     ///< the innermost launcher gives words to a shell
  bool meansChildren = false; ///< mpgrun --children
  bool isMultiProg = false;
  std::string containerVerb;
  LaunchParts parts;
};

} // namespace

static std::optional<unsigned> numberOf(const JobWord &word) {
  unsigned number;
  if (!word.known() || StringRef(word.text).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// The part of \p word from \p length on. Where the whole word was the unknown
/// thing ("A={1,2}"), the part is.
static JobWord wordAfter(const JobWord &word, size_t length) {
  JobWord rest = word;
  rest.text.erase(0, length);
  if (rest.unknown == word.text)
    rest.unknown = rest.text;
  return rest;
}

/// "A=b", or "A" whose value is the shell's.
void LaunchReader::setVariable(const JobWord &assignment, StringRef how) {
  StringRef text = assignment.text;
  size_t length = shellNameLength(text);
  if (!length)
    return;
  std::string name = text.take_front(length).str();
  if (text.size() == length)
    parts.variables.push_back({LaunchVariable::exported, name, {}, how.str()});
  else if (text[length] == '=')
    parts.variables.push_back({LaunchVariable::set, name,
                               wordAfter(assignment, length + 1), how.str()});
}

/// "ALL,A=b,C": what srun --export and -genvlist take.
void LaunchReader::setList(const JobWord &list, StringRef how) {
  StringRef rest = list.text;
  if (list.known() && how.ends_with("--export")) {
    bool all = false;
    SmallVector<StringRef, 8> items;
    rest.split(items, ',');
    all = any_of(items,
                 [](StringRef item) { return item.equals_insensitive("ALL"); });
    if (!all)
      parts.variables.push_back({LaunchVariable::cleared, "", {}, how.str()});
  }
  while (!rest.empty()) {
    auto [item, after] = rest.split(',');
    rest = after;
    if (item.equals_insensitive("ALL") || item.equals_insensitive("NONE") ||
        item.equals_insensitive("NIL"))
      continue;
    JobWord word;
    word.text = item.str();
    if (!list.known() && item.find_first_of("$`") != StringRef::npos)
      word.unknown = item.substr(item.find('=') + 1).str();
    setVariable(word, how);
  }
}

void LaunchReader::setMpiOption(StringRef name, const JobWord &value) {
  if (name == "n" || name == "np" || name == "ntasks")
    parts.ranks = numberOf(value);
  else if (name == "ppn" || name == "perhost" || name == "npernode" ||
           name == "N" || name == "max-proc-per-node" ||
           name == "ntasks-per-node")
    parts.ranksPerNode = numberOf(value);
  else if (name == "x")
    setVariable(value, optionOf("x"));
  else if (name == "genvlist" || name == "envlist")
    setList(value, optionOf(name));
  else if (name == "configfile" || name == "app")
    parts.notUnderstood =
        "-" + name.str() + ": the programs that " + value.text + " names";
  else if (name == "map-by" && value.known()) {
    // ppr:4:node
    StringRef text = value.text;
    unsigned number;
    if (text.consume_front("ppr:") && !text.consumeInteger(10, number) &&
        text.starts_with(":node"))
      parts.ranksPerNode = number;
  }
}

bool mpg::isSlurmImage(StringRef name) {
  return name == "container" || name == "container-image" ||
         name == "environment";
}

void LaunchReader::setSrunOption(StringRef name, const JobWord &value) {
  if (name == "n" || name == "ntasks")
    parts.ranks = numberOf(value);
  else if (name == "N" || name == "nodes")
    parts.nodes = numberOf(value);
  else if (name == "ntasks-per-node")
    parts.ranksPerNode = numberOf(value);
  else if (name == "export")
    setList(value, "srun --export");
  else if (isSlurmImage(name))
    parts.image = value;
}

void LaunchReader::setMpgrunOption(StringRef name, const JobWord &value) {
  auto set = [&](const char *variable) {
    parts.variables.push_back(
        {LaunchVariable::set, variable, value, ("mpgrun --" + name).str()});
  };
  if (name == "mode")
    set("MPG_MODE");
  else if (name == "policy")
    set("XOS_MMM_L_PAGING_POLICY");
}

void LaunchReader::setOption(const LauncherRow &row, StringRef name,
                             const JobWord &value) {
  switch (row.family) {
  case Family::mpi:
    return setMpiOption(name, value);
  case Family::srun:
    return setSrunOption(name, value);
  case Family::aprun:
    if (name == "n" || name == "pes")
      parts.ranks = numberOf(value);
    else if (name == "N" || name == "pes-per-node")
      parts.ranksPerNode = numberOf(value);
    else if (name == "e")
      setVariable(value, "aprun -e");
    return;
  case Family::jsrun:
    if (name == "p" || name == "np")
      parts.ranks = numberOf(value);
    else if (name == "T")
      parts.ranksPerNode = numberOf(value);
    else if (name == "E" || name == "env")
      setVariable(value, "jsrun -E");
    return;
  case Family::env:
    if (name == "u" || name == "unset")
      parts.variables.push_back(
          {LaunchVariable::unset, value.text, {}, "env -u"});
    return;
  case Family::mpgrun:
    return setMpgrunOption(name, value);
  case Family::loader:
    if (name == "library-path")
      parts.variables.push_back(
          {LaunchVariable::set, "LD_LIBRARY_PATH", value, "ld.so"});
    else if (name == "preload")
      parts.variables.push_back(
          {LaunchVariable::set, "LD_PRELOAD", value, "ld.so"});
    return;
  case Family::container:
  case Family::remote:
  case Family::tool:
  case Family::wrapper:
    return;
  }
}

/// The option at `at`, with its values.
void LaunchReader::readLauncherOption(const LauncherRow &row) {
  const JobWord &word = words[at++];
  StringRef option = StringRef(word.text).ltrim('-');
  bool isLong = StringRef(word.text).starts_with("--");
  size_t equals = option.find('=');
  StringRef name = option.take_front(equals);
  if (row.family == Family::srun && option == "multi-prog") {
    isMultiProg = true; // no value: the file stands where a program would
    return;
  }
  if (row.family == Family::env &&
      (word.text == "-" || option == "i" || option == "ignore-environment"))
    parts.variables.push_back({LaunchVariable::cleared, "", {}, "env -i"});
  if (equals != StringRef::npos && (isLong || row.family == Family::mpi))
    return setOption(
        row, name,
        wordAfter(word, word.text.size() - option.size() + equals + 1));
  bool isEnv = row.family == Family::mpi && option.ends_with("env");
  if (isEnv && isWord(at) && shellAssignmentLength(text(at))) {
    setVariable(words[at++], optionOf(option)); // PALS: --env NAME=VALUE
  } else if (listed(row.twoValues, option) && isWord(at + 1)) {
    if (option.ends_with("env"))
      parts.variables.push_back({LaunchVariable::set, words[at].text,
                                 words[at + 1], optionOf(option)});
    at += 2;
  } else if (listed(row.oneValue, option)) {
    if (isWord(at))
      setOption(row, option, words[at++]);
  } else if (!isLong && row.family != Family::mpi && option.size() > 1 &&
             listed(row.oneValue, option.take_front(1))) {
    setOption(row, option.take_front(1), wordAfter(word, 2)); // -n4
  } else if (row.family == Family::mpi && isWord(at + 1) &&
             all_of(text(at), isDigit)) {
    ++at;
  }
}

/// Whether the word at `at`, which is no option, is the launcher's.
bool LaunchReader::takeOperand(const LauncherRow &row, unsigned &operands) {
  StringRef launcher = sys::path::filename(text(first));
  bool setsVariables = row.family == Family::env || launcher == "mpirun_rsh";
  if (setsVariables && shellAssignmentLength(text(at))) {
    setVariable(words[at], launcher);
    return true;
  }
  bool starter = row.family == Family::mpi || row.family == Family::srun;
  if (starter && isWord(at + 1) && looksLikeOptions(words[at]))
    return true;
  if (!operands)
    return false;
  --operands;
  if (row.family == Family::container)
    return takeContainerWord(words[at], operands);
  return true;
}

/// "exec IMAGE", "run IMAGE"; other verbs start nothing.
bool LaunchReader::takeContainerWord(const JobWord &word, unsigned &operands) {
  if (operands) { // the verb
    containerVerb = word.text;
    return true;
  }
  parts.image = word;
  if (containerVerb == "run" || containerVerb == "test")
    parts.notUnderstood = "the program that " + word.text + " starts by itself";
  return true;
}

void LaunchReader::readLauncher(const LauncherRow &row) {
  first = at++;
  unsigned operands = row.operands;
  while (isWord(at)) {
    StringRef word = text(at);
    if (word == "--") {
      ++at;
      break;
    }
    if (word.starts_with("-")) {
      readLauncherOption(row);
    } else if (takeOperand(row, operands)) {
      ++at;
    } else {
      break;
    }
  }
  at = std::min(at, words.size());
  parts.launchers.push_back(words.slice(first, at - first).vec());
  parts.hasMpi |= row.family <= Family::jsrun;
  hasTool |= row.family != Family::env && row.family < Family::remote;
  readsLine = row.family == Family::remote;
  // It means the program that stands next to it, unless it is told otherwise.
  if (row.family == Family::mpgrun) {
    parts.underMpgrun = true;
    meansChildren = any_of(parts.launchers.back(), [](const JobWord &word) {
      return word.text == "--children";
    });
  } else {
    parts.underMpgrun &= meansChildren;
  }
}

/// Tools that keep images and start programs in them; also to fetch and build.
static bool isContainerTool(StringRef name) {
  static constexpr StringLiteral names[] = {"docker", "podman",  "podman-hpc",
                                            "sarus",  "udocker", "enroot"};
  return is_contained(names, name);
}

/// Tools that run a program in an environment, an image or a job of its own,
/// which is not looked into.
static bool isElsewhere(ArrayRef<JobWord> words) {
  if (words.size() < 2)
    return false;
  StringRef name = sys::path::filename(words[0].text), verb = words[1].text;
  static constexpr StringLiteral environments[] = {
      "conda", "mamba", "micromamba", "poetry", "pipenv", "pixi", "uv"};
  if (is_contained(environments, name))
    return verb == "run";
  if (name == "bsub" || name == "shifter" || name == "ch-run")
    return true;
  return isContainerTool(name) &&
         (verb == "run" || verb == "exec" || verb == "start");
}

/// Whether what is started is not one of the words: says what it is, if it is
/// anything. parts.program may be null.
bool LaunchReader::startsElsewhere() {
  StringRef program = parts.program ? StringRef(parts.program->text) : "";
  StringRef launcher =
      parts.launchers.empty()
          ? StringRef()
          : sys::path::filename(parts.launchers.back().front().text);
  if (isMultiProg)
    parts.notUnderstood =
        ("srun --multi-prog: the programs that " + program + " names").str();
  else if (launcher == "parallel" &&
           (program.empty() || program.starts_with(":::")))
    parts.notUnderstood = "the commands that parallel reads";
  else if (readsLine && program.contains(' '))
    parts.notUnderstood = ("the command line that " + launcher +
                           " gives to a "
                           "shell: " +
                           program)
                              .str();
  else if (!containerVerb.empty() && containerVerb != "exec")
    return true;
  return !parts.notUnderstood.empty();
}

/// A program of the job, or a tool of the system?
void LaunchReader::decide() {
  const JobWord &word = *parts.program;
  StringRef program = word.text;
  StringRef name = sys::path::filename(program);
  StringRef folder = sys::path::parent_path(program);
  bool systemFolder = folder.empty() || folder == "/bin" ||
                      folder == "/usr/bin" || folder == "/usr/sbin" ||
                      folder == "/sbin";
  if (name.empty() || isContainerTool(name) ||
      (systemFolder && isCommonTool(name)) || program.starts_with("((") ||
      program.starts_with("[["))
    return;
  // "$(command)" and "$@" alone are another script's command.
  StringRef variable = program.ltrim("${");
  bool opaque = !word.known() && word.text == word.unknown &&
                (!program.starts_with("$") || !shellNameLength(variable));
  bool named =
      program.contains('/') || isInterpreter(name) ||
      (!word.known() && !nameHas(word, {"cc", "cxx", "fc", "make", "echo",
                                        "cmd", "rm", "debug"}));
  // "${cmd[@]}", an array.
  opaque |= nameHas(word, {"cmd", "command"});
  parts.isLaunched = hasTool ? true : named && !opaque;
  if (opaque && !hasTool)
    parts.notUnderstood = "the command that " + word.text + " stands for";
}

/// "env" alone prints, "exec" alone redirects; "command -v x" asks, and most
/// verbs of flux start nothing here.
bool LaunchReader::isOnlyName() const {
  StringRef verb = isWord(at + 1) ? text(at + 1) : "";
  if (sys::path::filename(text(at)) == "flux")
    return verb != "run" && verb != "submit" && verb != "bulksubmit";
  return text(at) == "command" && verb.starts_with("-");
}

LaunchParts LaunchReader::run() {
  while (isWord(at)) {
    const LauncherRow *row = findLauncher(words[at]);
    if (!row || isOnlyName())
      break;
    readLauncher(*row);
  }
  if (isElsewhere(words.drop_front(std::min(at, words.size())))) {
    parts.notUnderstood =
        "the program that " + words[at].text + " starts somewhere else";
    return std::move(parts);
  }
  if (isWord(at)) {
    parts.program = words[at];
    parts.arguments = words.drop_front(at + 1).vec();
  }
  if (!startsElsewhere() && parts.program)
    decide();
  return std::move(parts);
}

/// "find -exec PROGRAM {} ;": one for each -exec.
static std::vector<LaunchParts> findExecs(ArrayRef<JobWord> words) {
  std::vector<LaunchParts> found;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    StringRef action = words[i].text;
    if (action != "-exec" && action != "-execdir" && action != "-ok")
      continue;
    ArrayRef<JobWord> command = words.drop_front(i + 1).take_until(
        [](const JobWord &word) { return word.text == ";"; });
    found.push_back(LaunchReader(command).run());
    if (!command.empty() && StringRef(command[0].text).contains("{}")) {
      found.back().isLaunched = false;
      found.back().notUnderstood = "the programs that find finds and starts";
    }
    i += command.size();
  }
  return found;
}

/// Where "mpiexec .. : .." names its launcher, after time or numactl; the end
/// if the words are one part.
static size_t findPartedLauncher(ArrayRef<JobWord> words) {
  constexpr size_t farthest = 64; // all of them are copied for each part
  bool parted =
      findLauncher(words[0]) &&
      any_of(words, [](const JobWord &word) { return word.text == ":"; });
  size_t end = parted ? std::min(words.size(), farthest) : 0;
  for (size_t i = 0; i < end && words[i].text != ":"; ++i)
    if (const LauncherRow *row = findLauncher(words[i]))
      if (row->family <= Family::jsrun)
        return i;
  return words.size();
}

std::vector<LaunchParts> mpg::findLaunches(ArrayRef<JobWord> words) {
  std::vector<LaunchParts> found;
  if (words.empty())
    return found;
  if (sys::path::filename(words[0].text) == "find")
    return findExecs(words);
  size_t launcher = findPartedLauncher(words);
  if (launcher == words.size()) {
    found.push_back(LaunchReader(words).run());
    return found;
  }
  for (size_t first = launcher + 1; first <= words.size();) {
    ArrayRef<JobWord> own = words.drop_front(first).take_until(
        [](const JobWord &word) { return word.text == ":"; });
    // Every part is read as if the launchers stood before it.
    std::vector<JobWord> part(words.begin(), words.begin() + launcher + 1);
    part.insert(part.end(), own.begin(), own.end());
    found.push_back(LaunchReader(part).run());
    first += own.size() + 1;
  }
  return found;
}

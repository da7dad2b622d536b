#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# slurm.py WORK FILTER COMMAND...: a Slurm of one node, or of SLURM_TEST_NODES, all
# of it below the folder WORK, with the filter FILTER; runs COMMAND with SLURM_CONF set, stops the
# daemons, and ends with COMMAND's status. Run it as the first process of a
# process name space (unshare --pid --fork --kill-child): whatever becomes of this
# script, the kernel then ends every daemon and every job step with it.
# Ports are free ones, so several can run at a time. Several nodes have names of their own
# (n1, n2, ...), also for the programs on them, and a file system of their own, WORK/local.

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge/socket
CredType=cred/munge
SlurmctldPort={ports[0]}
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool-%n
TmpFS={work}/tmp-%n
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd-%n.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
{filter}
{lines}
PlugStackConfig={work}/plugstack.conf
{nodes}
PartitionName=debug Nodes=ALL Default=YES State=UP
"""


def node_lines(names, host, ports):
    return "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 "
        "State=UNKNOWN" for name, port in zip(names, ports)
    )


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def prepare(work, lua, nodes):
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("state", "munge", "local", *(f"spool-{node}" for node in nodes),
                   *(f"tmp-{node}" for node in nodes)):
        os.makedirs(f"{work}/{folder}", mode=0o755)
    with open(f"{work}/munge/key", "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(os.urandom(1024))
    open(f"{work}/plugstack.conf", "w", encoding="ascii").close()
    if lua != "none":
        shutil.copy(lua, f"{work}/cli_filter.lua")
    host = os.uname().nodename
    ports = free_ports(1 + len(nodes))
    with open(f"{work}/slurm.conf", "w", encoding="utf-8") as file:
        file.write(
            CONFIGURATION.format(
                work=work,
                host=host,
                ports=ports,
                nodes=node_lines(nodes, host, ports[1:]),
                lines=pathlib.Path(os.environ.get("SLURM_TEST_LINES", os.devnull)).read_text(),
                filter="" if lua == "none" else "CliFilterPlugins=cli_filter/lua",
            )
        )


def name_nodes(work, nodes):
    """The names are known in the name space of mounts that this script is in."""
    hosts = pathlib.Path(f"{work}/hosts")
    hosts.write_text(f"{pathlib.Path('/etc/hosts').read_text()}\n127.0.0.1 {' '.join(nodes)}\n")
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)


def on_own_node(node, work):
    script = 'hostname "$0" && mount -t tmpfs none "$1" && shift && exec "$@"'
    return ["unshare", "--uts", "--mount", "sh", "-c", script, node, f"{work}/local"]


def wait_until(what, condition):
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"slurm.py: {what} is not up after 300 seconds")
        time.sleep(0.02)


def is_idle():
    answer = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
    return answer.stdout.strip() == "idle"


def stop(daemon):
    daemon.terminate()
    try:
        daemon.wait(5)
    except subprocess.TimeoutExpired:  # slurmd, which waits for its job steps
        daemon.kill()
        daemon.wait()


def main():
    work, lua = os.path.abspath(sys.argv[1]), sys.argv[2]
    count = int(os.environ.get("SLURM_TEST_NODES", 1))
    seconds = int(os.environ.get("SLURM_TEST_SECONDS", 600))
    host = os.uname().nodename
    nodes = [host] if count == 1 else [f"n{number + 1}" for number in range(count)]
    prepare(work, lua, nodes)
    os.environ["SLURM_CONF"] = f"{work}/slurm.conf"
    daemons = []
    with contextlib.ExitStack() as stack:

        def start(*command):
            name = f"{work}/{len(daemons)}-{command[0]}.out"
            log = stack.enter_context(open(name, "w", encoding="utf-8"))
            daemons.append(subprocess.Popen(command, stdout=log, stderr=log))

        try:
            munge = f"{work}/munge"
            start("munged", "--foreground", "--force", f"--key-file={munge}/key",
                  f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                  f"--seed-file={munge}/seed", f"--log-file={munge}/log")
            wait_until("munged", lambda: os.path.exists(f"{munge}/socket"))
            start("slurmctld", "-D", "-f", f"{work}/slurm.conf")
            if count > 1:
                name_nodes(work, nodes)
            for node in nodes:
                start(*(on_own_node(node, work) if count > 1 else []),
                      "slurmd", "-D", "-N", node, "-f", f"{work}/slurm.conf")
            wait_until("Slurm", is_idle)
            return subprocess.call(sys.argv[3:], timeout=seconds)
        finally:
            for daemon in reversed(daemons):
                stop(daemon)


sys.exit(main())

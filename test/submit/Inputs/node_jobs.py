#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# node_jobs.py CASE FOLDER: jobs of a Slurm with mpgtools' prolog and epilog, which
# slurm.py has started; prints each line that they recorded, sorted, without its
# time. FOLDER holds the programs `leave` and `hold`.

import os
import pathlib
import subprocess
import sys
import time

case, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def submit(script, *options):
    command = ["sbatch", "--parsable", "-o", f"{folder}/out-%j", *options]
    text = f"#!/bin/sh\n{script}\n"
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return result.stdout.strip()


def answer(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def show(job):
    words = answer("scontrol", "show", "job", job).split()
    return dict(reversed([word.split("=", 1) for word in words if "=" in word]))


def wait_until(what, condition):
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"node_jobs.py: {what}: not after 300 seconds\n{answer('squeue')}")
        time.sleep(0.05)


def is_over(job):
    return show(job).get("JobState") in ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL")


def lines():
    try:
        text = (folder / "record").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return sorted(line.split(" ", 1)[1] for line in text.splitlines())


def ended(job, nodes):
    wait_until(f"job {job} ends", lambda: is_over(job) and nodes == sum(
        line.startswith(f"job={job} ") and " ends " in line for line in lines()))


def report(*jobs):
    for line in lines():
        print(line)
    for job in jobs:
        state = show(job)
        print("job", job, state["JobState"], "status", state["ExitCode"])


def one_node():
    """A clean job, one that leaves things, two at a time, one that is cancelled."""
    clean = submit("true")
    ended(clean, 1)
    leaves = submit(f"{folder}/leave")
    ended(leaves, 1)
    for path in [*folder.glob("huge pages/*"), pathlib.Path("/dev/shm/mpg-test-left of me")]:
        path.unlink()
    (folder / "pool/free_hugepages").write_text("100\n", encoding="ascii")
    # The first job begins alone and ends beside the second one.
    first = submit(f"{folder}/hold {folder}/go-1", "-n1")
    wait_until("the first runs", (folder / "go-1.here").exists)
    second = submit(f"{folder}/hold {folder}/go-2", "-n1")
    wait_until("the second runs", (folder / "go-2.here").exists)
    (folder / "go-1").touch()
    ended(first, 1)
    (folder / "go-2").touch()
    ended(second, 1)
    killed = submit(f"{folder}/hold {folder}/go-3")
    wait_until("the third runs", (folder / "go-3.here").exists)
    subprocess.run(["scancel", "-s", "KILL", "--full", killed], check=True)
    ended(killed, 1)
    report(clean, leaves, first, second)
    subprocess.run([folder / "epilog"], env={**os.environ, "SLURM_JOB_ID": clean}, check=True)
    print("lines after a second epilog:", sum(f"job={clean} " in line for line in lines()))


def set_node(names, state):
    subprocess.run(["scontrol", "update", f"NodeName={names}", f"State={state}", "Reason=test"],
                   check=True)


def several_nodes():
    """A job of four nodes; one of two nodes of which one dies, and that is requeued."""
    all_nodes = submit("srun hostname", "-N4")
    ended(all_nodes, 4)
    print(show(all_nodes)["Comment"], "is the start of its comment")
    set_node("n1,n2", "DRAIN")
    job = submit(f"srun {folder}/hold {folder}/go", "-N2", "--requeue")
    wait_until("it runs", (folder / "go.here").exists)
    work = os.path.dirname(os.environ["SLURM_CONF"])
    os.kill(int(pathlib.Path(f"{work}/slurmd-n4.pid").read_text(encoding="ascii")), 9)
    set_node("n4", "DOWN")
    wait_until("it is requeued", lambda: show(job)["JobState"] == "PENDING")
    (folder / "go").touch()
    set_node("n1,n2", "RESUME")
    subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=True)
    wait_until("it has ended", lambda: show(job).get("JobState") == "COMPLETED")
    nodes = show(job)["NodeList"]
    wait_until("its nodes have no notes of it", lambda: [
        path.parent.name for path in folder.glob(f"state/*/{job}")] in ([], ["n4"]))
    report(job)
    print("the dead node is not among", nodes)


{"one": one_node, "several": several_nodes}[case]()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: mpgtools-mcp [--allow DIR]... [--fail-on error|warning] [--compare] [--skill]

A server of the Model Context Protocol on standard input and output: programs that submit jobs ask
mpgaudit and mpginfo before they do. It starts nothing of the user's and changes nothing.

  --allow DIR   files in DIR may be named, those of links that lead out of it not; may be repeated.
                Without it no file may be named
  --fail-on     what stops a job: errors (the default), which are proven, or warnings as well
  --compare     offer the tool compare, which runs a program of an allowed folder
  --bin DIR     where mpgaudit, mpginfo and mpgrun are, if not in PATH
  --skill       print the text that tells an agent how to use it, and end

Needs the package mcp (pip install 'mpgtools[mcp]').
"""

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Optional

SKILL = """---
name: mpgtools
description: Ask before a job is submitted whether its programs get large pages, and why not.
---
1. Call `job` with the script, as `path` or, before it is written, as `text` with the `folder` in
   which it would be submitted. `gate` is `stop`, `pass` or `not-understood`.
2. On `stop`, read `report.job` and `report.files`: each finding has `id`, `evidence` and a fix.
   Call `explain` with the id. Correct the script or relink the program, and call `job` again. Do
   not submit before `gate` is `pass`.
3. `not-understood` is not an error: something that the script starts could not be read. Show the
   user which, and submit if they agree.
4. `forecast` prints how many large pages and how much memory a node needs, with the lines for the
   scheduler. `recommend` prints settings with reasons. `info` is about the machine of the server:
   a login node's answer is not that of a compute node.
"""
LIMIT = 16 << 20  # bytes of an answer
TIMEOUT = 120.0  # seconds; compare: an hour


class Refused(Exception):
    """An answer that is an error, for the caller to read."""


class Gate:
    def __init__(self, options: argparse.Namespace) -> None:
        self.roots = [os.path.realpath(folder) for folder in options.allow]
        self.fail_on = options.fail_on
        self.programs = options.bin

    def resolve(self, path: str) -> str:
        """The file behind all links, if it is in an allowed folder."""
        if not os.path.isabs(path):
            raise Refused(f"{path!r} is not an absolute path")
        real = os.path.realpath(path)
        if not any(os.path.commonpath([real, root]) == root for root in self.roots):
            raise Refused(f"{path!r} is not in a folder of --allow"
                          f" ({', '.join(self.roots) or 'none was given'})")
        return real

    def resolve_file(self, path: str) -> str:
        real = self.resolve(path)
        if not os.path.isfile(real):
            raise Refused(f"{path!r} is not a file")
        return real

    def run(self, name: str, *words: str, folder: str = "/",
            timeout: float = TIMEOUT) -> "subprocess.CompletedProcess[str]":
        program = shutil.which(name, path=self.programs)
        if not program:
            raise Refused(f"{name} is not there; install mpgtools, or start the server with --bin")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                status = subprocess.run([program, *words], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=out, stderr=err, timeout=timeout,
                                        check=False).returncode
            except subprocess.TimeoutExpired:
                raise Refused(f"{name} had no answer after {timeout:.0f} seconds") from None
            texts = []
            for file in out, err:
                if file.tell() > LIMIT or file.seek(0, os.SEEK_END) > LIMIT:
                    raise Refused(f"the answer of {name} is larger than {LIMIT >> 20} MiB")
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        return subprocess.CompletedProcess(words, status, *texts)

    def report(self, name: str, *words: str, good: int = 1, **how: Any) -> Any:
        """The JSON of a program whose status is at most `good`, or 3: not understood."""
        result = self.run(name, *words, **how)
        if result.returncode > good and result.returncode != 3:
            raise Refused(result.stderr[:2000].partition("\n")[0]
                          or f"{name}: status {result.returncode}")
        return result.returncode, json.loads(result.stdout)

    def text(self, *words: str, **how: Any) -> Dict[str, Any]:
        result = self.run("mpgaudit", *words, **how)
        if result.returncode not in (0, 1, 3):
            raise Refused(result.stderr[:2000].partition("\n")[0])
        return {"text": result.stdout}

    def judge(self, words: List[str], folder: str) -> Dict[str, Any]:
        """No settings of the folder: who may write there could switch findings off."""
        status, report = self.report("mpgaudit", "--no-config", "--format=json",
                                     f"--fail-on={self.fail_on}", *words, folder=folder)
        return {"gate": {0: "pass", 1: "stop"}.get(status, "not-understood"), "report": report}

    def with_job(self, path: str, text: str, folder: str, use: Any) -> Any:
        """Calls use(words, folder) with the script in a file."""
        if bool(path) == bool(text):
            raise Refused("name the script in path, or give it as text with its folder")
        if path:
            real = self.resolve_file(path)
            start = self.resolve(folder) if folder else os.path.dirname(real)
            return use([f"--job={real}"], start)
        if not folder:
            raise Refused("text needs folder: where the job would be submitted")
        start = self.resolve(folder)
        if not os.path.isdir(start):
            raise Refused(f"{folder!r} is not a folder")
        with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8",
                                         errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            return use([f"--job={file.name}"], start)


class Tools:
    """The tools; the docstrings are what an agent reads."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def audit(self, path: str, target: str = "auto") -> Dict[str, Any]:
        """Whether data, heap and stacks of the program or library at `path` can be on large
        pages, why not, and how to fix it. `target`: fugaku, mpg, libhugetlbfs, thp or auto.
        `report` has the schema mpgaudit-1."""
        real = self.gate.resolve_file(path)
        return self.gate.judge([f"--target={target}", "--", real], os.path.dirname(real))

    def job(self, path: str = "", text: str = "", folder: str = "") -> Dict[str, Any]:
        """Audits a job script (Slurm, PJM, PBS, Grid Engine, Kubernetes) and the programs that it
        starts, before it is submitted. Name it in `path`, or give its `text` and the `folder`
        where it would be submitted. `gate` is pass, stop or not-understood; `report` has the
        schema mpgaudit-1."""
        return self.gate.with_job(path, text, folder, self.gate.judge)

    def explain(self, code: str) -> Dict[str, Any]:
        """Explains a finding or a vendor's message: MPG103, LPG 2003, a word of fcc's, mpirun, or
        a pasted line of a report, a job script or a build."""
        return self.gate.text(f"--explain={code}")

    def recommend(self, path: str = "", text: str = "", folder: str = "") -> Dict[str, Any]:
        """Settings for a job script (as for `job`), each with its reason; schema mpgadvice-1."""
        return {"report": self.gate.with_job(
            path, text, folder, lambda words, start: self.gate.report(
                "mpgaudit", "--no-config", "--recommend", "--format=json", *words,
                folder=start)[1])}

    def forecast(self, path: str = "", text: str = "", folder: str = "") -> Dict[str, Any]:
        """How many large pages and how much memory a node needs for a job script (as for `job`),
        with the lines for the system, Slurm, PJM and Kubernetes."""
        return self.gate.with_job(path, text, folder, lambda words, start: self.gate.text(
            "--no-config", "--forecast", *words, folder=start))

    def info(self, need: str = "") -> Dict[str, Any]:
        """What the machine of this server gives a program that wants large pages; `need` as 24G.
        Schema mpginfo-1."""
        words = [f"--need={need}"] if need else []
        return {"report": self.gate.report("mpginfo", "--json", *words)[1]}

    def compare(self, command: List[str], folder: str, modes: str = "none,thp,hugetlb",
                repeat: int = 5) -> Dict[str, Any]:
        """RUNS a program several times, with and without large pages, and says which is faster.
        `command`: its absolute path and its arguments. Schema mpgcompare-1."""
        if not command:
            raise Refused("command is empty")
        program = self.gate.resolve_file(command[0])
        start = self.gate.resolve(folder)
        with tempfile.TemporaryDirectory() as place:
            file = os.path.join(place, "compare.json")
            result = self.gate.run(
                "mpgrun", f"--compare={modes}", f"--repeat={int(repeat)}", f"--json={file}", "--",
                program, *command[1:], folder=start, timeout=3600)
            if not os.path.exists(file):
                raise Refused(result.stderr.strip()[-2000:])
            with open(file, encoding="utf-8") as stream:
                return {"report": json.load(stream)}


def make_server(options: argparse.Namespace) -> Any:
    from anyio import to_thread
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import CallToolResult, TextContent, ToolAnnotations

    server = MCPServer("mpgtools", instructions=SKILL.split("---\n")[-1])
    tools = Tools(Gate(options))
    names = ["audit", "job", "explain", "recommend", "forecast", "info"]
    for name in names + ["compare"] * options.compare:
        method = getattr(tools, name)

        def wrap(method: Any) -> Any:
            @functools.wraps(method)
            async def call(**arguments: Any) -> Any:
                try:
                    answer = await to_thread.run_sync(lambda: method(**arguments))
                except (Refused, OSError, ValueError) as error:
                    raise ToolError(str(error)) from None
                text = answer.get("text") or json.dumps(answer)
                return CallToolResult(content=[TextContent(type="text", text=text)],
                                      structured_content=answer)
            return call

        runs = name == "compare"
        server.add_tool(wrap(method), name=name, structured_output=False, annotations=ToolAnnotations(
            read_only_hint=not runs, destructive_hint=runs, open_world_hint=runs))
    return server


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="mpgtools-mcp", usage=__doc__)
    parser.add_argument("--allow", action="append", default=[])
    parser.add_argument("--fail-on", choices=("error", "warning"), default="error")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--bin")
    parser.add_argument("--skill", action="store_true")
    options = parser.parse_args(words)
    if options.skill:
        print(SKILL, end="")
        return 0
    for folder in options.allow:
        if not os.path.isdir(folder):
            parser.exit(2, f"mpgtools-mcp: error: --allow {folder}: not a folder\n")
    try:
        server = make_server(options)
    except ImportError as error:
        parser.exit(2, f"mpgtools-mcp: error: {error}; needs the package mcp, version 2: "
                       "pip install 'mpgtools[mcp]'\n")
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Uses mpgtools-mcp as agents' kits do: RIKEN-RCCS/fugaku-mcp (a ClientSession that lists the tools
and prints texts) and RIKEN-RCCS/HPC-Agentic-SDK (a server of .mcp.json, a job as a specification
from which a PJM script is rendered). Their shapes only; what submits is a list.

usage: mcp_kit.py BIN; the current folder has fjapp and pieapp.
"""

import json
import os
import sys
from pathlib import Path

import anyio
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

HERE = os.getcwd()


def render(spec):
    """A script of a job's specification."""
    resources, attributes = spec["resources"], spec["attributes"]
    lines = ["#!/bin/bash", f'#PJM -L "rscgrp={attributes["queue_name"]}"',
             f'#PJM -L "node={resources["node_count"]}"',
             f'#PJM -L "elapse={attributes["duration"]}"', f'#PJM -g {attributes["account"]}']
    ranks = resources.get("processes_per_node")
    if ranks:
        lines.append(f'#PJM --mpi "max-proc-per-node={ranks}"')
    lines += [f"export {name}={value}" for name, value in spec.get("environment", {}).items()]
    start = f'mpiexec -n {ranks * resources["node_count"]} ' if ranks else ""
    return "\n".join([*lines, start + spec["executable"], ""])


def spec_of(executable):
    return {"name": "run1", "executable": executable,
            "attributes": {"duration": 1800, "queue_name": "small", "account": "ra000000"},
            "resources": {"node_count": 2, "processes_per_node": 4},
            "environment": {"OMP_NUM_THREADS": 12}}


async def submit(ask, spec, submitted):
    """Asks first; submits what may pass."""
    answer = await ask("job", {"text": render(spec), "folder": HERE})
    report = json.loads(answer.content[0].text)
    if report["gate"] == "stop":
        ids = sorted({finding["id"] for file in report["report"]["files"]
                      for finding in file["findings"] if finding["severity"] == "error"})
        text = (await ask("explain", {"code": ids[0]})).content[0].text
        print("stopped:", spec["executable"], *ids, "-", text.splitlines()[0])
        return
    submitted.append(spec["executable"])


async def main():
    Path(".mcp.json").write_text(json.dumps({"mcpServers": {"mpgtools": {
        "command": sys.executable, "env": {"PYTHONPATH": os.environ["PYTHONPATH"]},
        "args": ["-m", "mpgtools._mcp", "--bin", sys.argv[1], "--allow", HERE]}}}))
    server = StdioServerParameters(
        **json.loads(Path(".mcp.json").read_text())["mcpServers"]["mpgtools"])
    submitted = []
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            print("tools:", *(tool.name for tool in (await session.list_tools()).tools))
            for part in (await session.call_tool("explain", {"code": "LPG 2002"})).content:
                print("text:", getattr(part, "text", part).splitlines()[0])
            await submit(session.call_tool, spec_of("./pieapp"), submitted)
    async with Client(stdio_client(server)) as client:
        await submit(client.call_tool, spec_of("./fjapp"), submitted)
        await submit(client.call_tool, spec_of("./pieapp in.dat"), submitted)
    print("submitted:", *submitted)


anyio.run(main)

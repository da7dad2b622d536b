# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AArch64 code as text: functions, blocks, innermost loops, tagged addresses.

Reads the output of `clang -S`, lld's --lto-emit-asm, and llvm-objdump -d. Ignores the compiler's
comments ("Inner Loop Header"): the answers come from branches and registers alone, so they do not
depend on the compiler's beliefs, and are the same for a disassembly.

An address is tagged if it may carry bits in 63:56 that came from a constant:
`taint` follows such bits from the mov or orr that makes them through moves,
additions, selections and stack slots, over all paths, to the base register of
a load, store or prefetch. Not seen: tags that pass through other memory, or
through a call's arguments or result.

A branch through a register is taken to go to every block named in the jump
tables of its function; a disassembly does not show those, so there such a
branch leaves the function.
"""

import dataclasses
import re
from typing import Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

TOP_BYTE_SHIFT = 56
LOW_BITS = (1 << TOP_BYTE_SHIFT) - 1

FUNCTION = re.compile(r"^[0-9a-f]{8,16} <(.+)>:\s*$")
OBJDUMP_LINE = re.compile(r"^\s+([0-9a-f]+):\s+(?:[0-9a-f]{8}\s+)?(\S+)\s*(.*)$")
VECTOR = re.compile(r"^(?:\{ )?(?:z\d+|v\d+|q\d+)\b")
REGISTER = re.compile(r"^(?:[xw](\d+|zr)|(sp)|(wsp)|z(\d+)(?:\.[bhsdq])?)$")
ACCESS = re.compile(r"^(?:ld|st|prf)")
LEAVES = {"ret", "br", "b", "udf", "brk"}
# Results that keep the top byte of a source.
KEEPS_TOP_BYTE = {"add", "adds", "sub", "subs", "mov", "movz", "movk", "orr",
                  "csel", "madd", "umaddl", "smaddl", "and", "movprfx", "incb",
                  "inch", "incw", "incd", "decb", "dech", "decw", "decd",
                  "addvl", "addpl", "index", "dup", "dupm", "sel", "bfi",
                  "bfxil"}
CALL_CLOBBERS = [f"x{n}" for n in range(19)] + [f"z{n}" for n in range(32)]

# Tag bytes that a register may hold, 0 for none. With CONSTANT: nothing but the
# tag, still to be put on an address.
Tags = FrozenSet[int]
UNTAGGED: Tags = frozenset({0})
CONSTANT = 0x100
State = Dict[str, Tags]


@dataclasses.dataclass
class Instruction:
    name: str
    operands: List[str]
    line: int = 0  # of the source, if the code was compiled with -g

    def is_branch(self) -> bool:
        return self.name in ("b", "br", "ret", "cbz", "cbnz", "tbz", "tbnz") \
            or self.name.startswith("b.")

    def is_vector(self) -> bool:
        return any(VECTOR.match(operand) for operand in self.operands)

    def memory_operand(self) -> Optional[str]:
        """"[x0, x1]" of a load, store or prefetch."""
        if not ACCESS.match(self.name):
            return None
        return next((o for o in self.operands if o.startswith("[")), None)

    def base(self) -> Optional[str]:
        """Register that holds the address; a vector's if each lane has one."""
        memory = self.memory_operand()
        return memory and register(memory.strip("[]! ").split(",")[0].strip())

    def text(self) -> str:
        return f"{self.name} {', '.join(self.operands)}"


@dataclasses.dataclass
class Function:
    name: str
    code: List[Instruction] = dataclasses.field(default_factory=list)
    labels: Dict[str, int] = dataclasses.field(default_factory=dict)
    table_labels: Set[str] = dataclasses.field(default_factory=set)

    def target(self, branch: Instruction) -> Optional[int]:
        """Index of the target of a direct branch, if it is here."""
        if not branch.operands or branch.name in ("br", "ret"):
            return None
        word = branch.operands[-1].split()[0]
        if word.startswith("0x"):
            word = word[2:].lstrip("0") or "0"
        index = self.labels.get(word)
        return index if index is not None and index < len(self.code) else None


@dataclasses.dataclass
class Flow:
    """Blocks as (first, end) of instruction indices, and their successors."""
    blocks: List[Tuple[int, int]]
    successors: List[List[int]]


def register(text: str) -> Optional[str]:
    """One name for all widths of a register: x8 for w8, z1 for z1.d."""
    found = REGISTER.match(text)
    if not found:
        return None
    number, stack, stack32, vector = found.groups()
    if stack or stack32:
        return "sp"
    return f"z{vector}" if vector else f"x{number}"


def split_operands(text: str) -> List[str]:
    """Splits at the commas outside brackets and braces."""
    operands, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            operands.append(current.strip())
            current = ""
        else:
            current += letter
    return operands + [current.strip()] if current.strip() else operands


def immediate(text: str) -> Optional[int]:
    try:
        return int(text.lstrip("#"), 0) & ((1 << 64) - 1) \
            if text.startswith("#") else None
    except ValueError:
        return None  # #:lo12:name, #1.0


def read_functions(text: str) -> List[Function]:
    """All functions of a file, in its order."""
    if re.search(r"^[0-9a-f]{8,16} <", text, re.M):
        return read_disassembly(text)
    return read_assembly(text)


def read_disassembly(text: str) -> List[Function]:
    functions: List[Function] = []
    for line in text.split("\n"):
        if found := FUNCTION.match(line):
            functions.append(Function(found.group(1)))
        elif functions and (found := OBJDUMP_LINE.match(line)):
            address, name, rest = found.groups()
            function = functions[-1]
            function.labels[address.lstrip("0") or "0"] = len(function.code)
            rest = re.sub(r"\s*(?://|<).*", "", rest)
            function.code.append(Instruction(name, split_operands(rest)))
    return [function for function in functions if function.code]


def read_assembly(text: str) -> List[Function]:
    functions: List[Function] = []
    typed: Set[str] = set()
    current: Optional[Function] = None
    place = 0
    for line in text.split("\n"):
        line = line.split("//")[0].strip()
        if found := re.match(r'\.type\s+"?([^,"]+)"?,\s*[@%]function', line):
            typed.add(found.group(1))
        elif line.endswith(":"):
            label = line[:-1].strip('"')
            if label in typed:
                current = Function(label)
                functions.append(current)
            elif label.startswith(".Lfunc_end"):
                current = None
            elif current:
                current.labels[label] = len(current.code)
        elif found := re.match(r"\.loc\s+\d+\s+(\d+)", line):
            place = int(found.group(1))
        elif line.startswith("."):
            # Jump tables follow the function's end.
            if functions and re.match(r"\.(?:byte|hword|word|xword)\b", line):
                functions[-1].table_labels |= set(re.findall(r"\.LBB\d+_\d+", line))
        elif line and current:
            name, _, rest = line.replace("\t", " ").partition(" ")
            current.code.append(Instruction(name, split_operands(rest), place))
    return functions


def compute_flow(function: Function) -> Flow:
    code = function.code
    starts = {0}
    tables = [function.labels[label] for label in function.table_labels
              if function.labels.get(label, len(code)) < len(code)]
    starts.update(tables)
    for index, instruction in enumerate(code):
        if instruction.is_branch():
            target = function.target(instruction)
            starts.update({index + 1} if target is None else {index + 1, target})
    order = sorted(start for start in starts if start < len(code))
    blocks = list(zip(order, order[1:] + [len(code)]))
    block_at = {first: number for number, (first, _) in enumerate(blocks)}
    successors: List[List[int]] = []
    for number, (_, end) in enumerate(blocks):
        last, following = code[end - 1], []
        if last.is_branch() and (to := function.target(last)) is not None:
            following.append(block_at[to])
        if last.name == "br":
            following += [block_at[to] for to in tables]
        if last.name not in LEAVES and number + 1 < len(blocks):
            following.append(number + 1)
        successors.append(sorted(set(following)))
    return Flow(blocks, successors)


def components(nodes: Set[int], successors: List[List[int]]) -> List[Set[int]]:
    """Strongly connected components that are cycles (Kosaraju, no recursion)."""
    def visit(start: int, edges: Dict[int, List[int]], seen: Set[int]) -> List[int]:
        finished, stack = [], [(start, iter(edges[start]))]
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            following = next((n for n in rest if n not in seen), None)
            if following is None:
                finished.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(edges[following])))
        return finished

    forward = {n: [s for s in successors[n] if s in nodes] for n in nodes}
    backward: Dict[int, List[int]] = {n: [] for n in nodes}
    for node, following in forward.items():
        for successor in following:
            backward[successor].append(node)
    seen: Set[int] = set()
    order = [n for node in sorted(nodes) if node not in seen for n in visit(node, forward, seen)]
    seen = set()
    groups = [set(visit(node, backward, seen)) for node in reversed(order) if node not in seen]
    return [group for group in groups if len(group) > 1 or any(n in forward[n] for n in group)]


def innermost_loops(flow: Flow) -> List[Set[int]]:
    """Blocks of each loop without a loop inside, in the code's order.

    A loop is a cycle; what is still a cycle without the blocks at which the
    loop is entered is a loop inside it.
    """
    found, todo = [], components(set(range(len(flow.blocks))), flow.successors)
    while todo:
        loop = todo.pop()
        entries = {successor for node in range(len(flow.blocks))
                   if node not in loop for successor in flow.successors[node]
                   if successor in loop}
        header = min(entries or loop)
        inner = components(loop - {header}, flow.successors)
        todo += inner
        if not inner:
            found.append(loop)
    return sorted(found, key=min)


def top_byte(value: Optional[int]) -> int:
    """The byte 63:56 if the value has no other bits, else 0."""
    return 0 if value is None or value & LOW_BITS else value >> TOP_BYTE_SHIFT


def made_constant(instruction: Instruction) -> int:
    """The tag byte that an instruction builds or inserts, 0 if it does not."""
    operands, name = instruction.operands, instruction.name
    if name in ("mov", "movz", "orr", "add", "dupm") and len(operands) >= 2:
        value = immediate(operands[-1])
        if operands[-1].startswith("lsl #") and len(operands) >= 3:
            value = (immediate(operands[-2]) or 0) << int(operands[-1][5:])
        return top_byte(value)
    if name == "movk" and operands[-1] == "lsl #48":
        return top_byte((immediate(operands[1]) or 0) << 48)
    if name == "bfi" and immediate(operands[-2]) in range(56, 64):
        return 0xff  # Whatever the register holds.
    return 0


def puts_tag_on(instruction: Instruction, state: State) -> bool:
    """Whether it builds a tag constant, or adds one to an address."""
    if made_constant(instruction):
        return True
    if instruction.name in ("bfi", "bfxil"):  # address bits below the constant
        sources = instruction.operands[:1]
    elif instruction.name in ("orr", "add", "sub"):
        sources = instruction.operands[1:]
    else:
        return False
    return any(tag & CONSTANT for operand in sources
               for tag in state.get(register(operand) or "", UNTAGGED))


def joined(one: Tags, other: Tags) -> Tags:
    return frozenset((a | b) & ~CONSTANT for a in one for b in other)


def find_slot(instruction: Instruction) -> Optional[str]:
    memory = instruction.memory_operand()
    plain = memory and "!" not in memory and instruction.operands[-1] == memory
    return memory if plain and re.match(r"\[(sp|x29)\b", memory or "") else None


def find_slots(instruction: Instruction, slot: str) -> List[str]:
    """The stack slots of ldr, str, ldp and stp, named by the text of the address."""
    if instruction.name not in ("ldp", "stp"):
        return [slot]
    found = re.match(r"\[(\w+)(?:, #(-?\w+))?\]", slot)
    if not found:
        return []
    base, offset = found.group(1), int(found.group(2) or "0", 0)
    step = 8 if instruction.operands[0].startswith("x") else 16
    return [f"[{base}]" if at == 0 else f"[{base}, #{at}]" for at in (offset, offset + step)]


def step(instruction: Instruction, state: State) -> None:
    """The effect of one instruction on the tags of registers and stack slots."""
    operands, name = instruction.operands, instruction.name
    if name in ("bl", "blr"):
        for clobbered in CALL_CLOBBERS:
            state.pop(clobbered, None)
        return
    slot = find_slot(instruction)
    if name in ("str", "stp", "stur"):
        for source, place in zip(operands, find_slots(instruction, slot) if slot else []):
            state[place] = state.get(register(source) or "", UNTAGGED)
        return
    if ACCESS.match(name):
        places = find_slots(instruction, slot) if slot and \
            name in ("ldr", "ldp", "ldur") else []
        for number, target in enumerate(operands[:2 if name == "ldp" else 1]):
            write(state, target.strip("{} "),
                  state.get(places[number], UNTAGGED) if places else UNTAGGED)
        return
    if operands and (target := register(operands[0])):
        write(state, target, result_tags(instruction, state))


def write(state: State, target: str, tags: Tags) -> None:
    name = register(target)
    if name and name not in ("xzr", "sp"):
        state[name] = tags
        if tags == UNTAGGED:
            state.pop(name)


def result_tags(instruction: Instruction, state: State) -> Tags:
    operands, name = instruction.operands, instruction.name
    if name not in KEEPS_TOP_BYTE:
        return UNTAGGED
    if operands[0].startswith("w"):
        return UNTAGGED
    def held(operand: str) -> Tags:
        return state.get(register(operand) or "", UNTAGGED)
    made = made_constant(instruction)
    if name in ("mov", "movz", "dup", "dupm") and register(operands[1]):
        return held(operands[1])
    if name in ("mov", "movz", "movk", "dupm"):
        return frozenset({made | CONSTANT if made else 0})
    if name == "bfi" and made:
        return frozenset({made})
    if name in ("bfi", "bfxil"):
        return joined(held(operands[0]), UNTAGGED)
    if name in ("csel", "sel"):
        return frozenset().union(*(held(o) for o in operands[1:] if register(o)))
    if name == "and" and not (immediate(operands[-1]) or -1) >> TOP_BYTE_SHIFT:
        return UNTAGGED
    if name in ("and", "sub", "subs"):
        return held(operands[1])
    tags = held(operands[0]) if len(operands) < 3 else UNTAGGED  # incd x0
    # A shifted or extended source brings no top byte: it is an index.
    last = operands[-1]
    sources = operands[1:-2] if last.startswith(("lsl", "sxt", "uxt", "asr",
                                                 "lsr")) else operands[1:]
    for source in sources:
        tags = joined(tags, held(source))
    return joined(tags, frozenset({made}))


def taint(function: Function, flow: Flow) -> List[State]:
    """The state at the start of each block: which tags a register may have."""
    states: List[Optional[State]] = [None] * len(flow.blocks)
    states[0] = {}
    todo = [0]
    while todo:
        number = todo.pop()
        state = dict(states[number] or {})
        first, end = flow.blocks[number]
        for instruction in function.code[first:end]:
            step(instruction, state)
        for successor in flow.successors[number]:
            known = states[successor]
            merged = state if known is None else {
                key: known.get(key, UNTAGGED) | state.get(key, UNTAGGED)
                for key in known.keys() | state.keys()}
            if merged != known:
                states[successor] = dict(merged)
                todo.append(successor)
    return [state or {} for state in states]


def instructions_with_state(
        function: Function, flow: Flow
) -> Iterator[Tuple[int, Instruction, State]]:
    """(block, instruction, tags before it) of the whole function."""
    states = taint(function, flow)
    for number, (first, end) in enumerate(flow.blocks):
        state = dict(states[number])
        for instruction in function.code[first:end]:
            yield number, instruction, state
            step(instruction, state)

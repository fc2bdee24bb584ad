# SPDX-License-Identifier: Apache-2.0
"""Wake-ups that are lost: those that the contract of the engine demands (docs/design/engine.md), as rows, and those of
the blocks, which are found, so that none is forgotten.

Of the blocks they are each call that arranges a tick (wake, wake_at, wake_when_free) in model/blocks and
model/systemc/hca.cpp; and by name each reader of a link or mailbox, each writer that a full link refuses and each
taker that an empty budget refuses. How those lose theirs is in the rows of `testbench/mutants/wakeups/blocks.toml`."""
import pathlib
import re

from mistake_form import Edit, Refused, edits_of, rows_of, texts_with

ROWS = "testbench/mutants/wakeups/{}.toml"
SUBJECTS = ("engine", "blocks")
INCLUDE = '#include "testbench/mutants/removed.h"\n'
BLOCKS, TOP = "model/blocks", "model/systemc/hca.cpp"

# Objects that request room or wake, without their own name; by name in `connect`.
CALL = re.compile(r"(?<!void )(?:\b[\w\.]+(?:\([^()]*\))?(?:\.|->))*\b(wake|wake_at|wake_when_free|wake_from_outside)\(")
NAMED = re.compile(r"\b(?:connect|connect_through|add_client)\((?:[^;\"]|\n)*?\"([^\"]+)\"\)", re.S)
# Budgets of each port, and of each lane of one, have names that end so; those of caches as this constant.
BUDGET = re.compile(r"(?:turns|buffers|responses)\.connect\([^\"]*\"([^\"]+)\"")
OF_PORTS = re.compile(r"(?:buffers|responses)\.connect\([^\"]*\bname\(\"([^\"]+)\"")
ENDING = re.compile(r"std::string_view k\w+Name = \"( [^\"]+)\"")

# Links whose writer never requests room, because it has reserved it.
RESERVED = {
    "command DMA": "one command at a time",
    "turns without reads": "a turn has its buffer",
    "request packets without reads": "a packet has its buffer",
    "fetched turns": "a turn has its buffer",
    "receive WQEs": "a batch has its room",
    "ATOMIC value": "dma writes it, one at a time for each engine",
}


def switch_of(name, _=None):
    return f'::hca::mutants::is_removed("{name}")'


def closing(text, opening):
    """The index after the parenthesis that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i + 1
    raise Refused("a parenthesis is not closed")


def function_of(text, at):
    """The function that holds text[at], for a person."""
    heads = re.findall(r"^[\w:&<>\*\[\] ]*?(\w+)\([^;{]*\)[^;{}]*\{", text[:at], re.M)
    return heads[-1] if heads else "?"


def calls(text, file):
    """An edit for each wake-up in `text`."""
    edits, at, count = [], 0, {}
    for call in CALL.finditer(text):
        line = text[text.rfind("\n", 0, call.start()) + 1:call.start()]
        if "//" in line or call.start() < at:
            continue
        at = closing(text, call.end() - 1)
        expression = " ".join(text[call.start():at].split())
        name = f"{pathlib.Path(file).name} {function_of(text, call.start())}: {expression}"
        count[name] = count.get(name, 0) + 1
        if count[name] > 1:
            name += f" ({count[name]})"
        edits.append(Edit(name, call.start(), at, "void()", file, switch_of(name)))
    return edits


def named(text):
    """Links, mailboxes and budgets by the names that their connections in `text` give them."""
    names = [m.group(1) for m in NAMED.finditer(text)]
    budgets = set(BUDGET.findall(text))
    # A link that dma writes never refuses: its reader has reserved the room.
    reserved = set(RESERVED) | set(re.findall(r"\.connect\(\s*dma\.self,[^\"]*\"([^\"]+)\"", text))
    reserved |= set(re.findall(r"connect\(dma, [^\"]*\"([^\"]+)\"", text))
    mail = set(re.findall(r"\w+_in\.connect\([\w\.]+\.self, \"([^\"]+)\"", text))
    places = [f"taker of *'s {name}" for name in OF_PORTS.findall(text)]
    places += [f"taker of *{name}" for name in ENDING.findall(text)]
    for name in dict.fromkeys(names):
        if name in budgets:
            places.append("taker of " + name)
            continue
        places.append("reader of " + name)
        if name not in reserved | mail:
            places.append("writer of " + name)
    return places


class Wakeups:
    """`names` of what can be removed, with the rule that demands it where a row says one; `texts` of the sources, by
    file."""

    def __init__(self, root, subject):
        rows = ROWS.format(subject)
        edits = edits_of(root, rows, switch_of)
        self.names = {row["name"]: f"rule {row['rule']}: " for _, kind, row in rows_of(root, rows) if kind == "wakeup"}
        if subject == "blocks":
            sources = self.sources(root)
            found = {file: calls(text, file) for file, text in sources.items()}
            edits |= {file: places for file, places in found.items() if places}
            self.names |= {edit.name: "" for places in found.values() for edit in places}
            self.names |= {name: "" for text in sources.values() for name in named(text)}
        self.texts = texts_with(root, edits, INCLUDE)

    @staticmethod
    def sources(root):
        paths = [*sorted((root / BLOCKS).rglob("*.cpp")), *sorted((root / BLOCKS).rglob("*.h")), root / TOP]
        return {path.relative_to(root).as_posix(): path.read_text() for path in paths}

# SPDX-License-Identifier: Apache-2.0
"""The one form of deliberate mistakes, and copies of sources with them. What is mistaken, and where, is said by

    write_mistakes.py   the model, the driver and the RTL
    try_wakeups.py      wake-ups that are lost

A row of a file of `testbench/mutants/` is

    [[mistake]]
    name = "dma_locks_nothing"
    statements = ["ATOM-2"]      # which vectors have to notice it
    file = "model/blocks/memory/dma.cpp"
    in = 'void Dma::begin('      # optional: only in the braces that follow these tokens
    tokens = 'locked_.push_back(r.address)'
    replacement = 'void()'

`tokens` stand exactly once in the file, or once in `in`; blanks, line ends and comments do not count. They are
an expression, or whole statements, which end with `;` or `}`. `part` names the piece of `tokens` that is replaced,
if the rest only says where. `before` or `after` instead of `tokens`: the replacement is an additional statement
there. `with` is a list of more edits of the same mistake, in `file` or in one of their own. An expression and its
replacement have one type. Edits of different mistakes may contain each other.

    [[reader]]
    says = "each status of a CQE"
    file = "model/proto/interface/cq_ring.h"
    tokens = 'cqe.status'
    replacement = '::hca::mutants::wrong_status($)'

is no mistake of its own: it is always there, and makes those of a table's entries, one for each. `$` stands for
the tokens. `[[wakeup]]` has a `rule` instead of statements, `[[rtl]]` neither; what it replaces is an expression of
SystemVerilog.
"""
import re
import tomllib

PLACE = {"file", "in", "tokens", "part", "before", "after", "replacement"}
KEYS = {"mistake": PLACE | {"name", "statements", "with", "says"}, "reader": PLACE | {"with", "says"},
        "wakeup": PLACE | {"name", "rule", "with"}, "rtl": {"name", "file", "tokens", "part", "replacement", "with"}}
NEEDED = {"mistake": ("name", "statements", "file", "replacement"), "reader": ("says", "file", "replacement"),
          "wakeup": ("name", "rule", "file", "replacement"), "rtl": ("name", "file", "replacement")}
GAP = r"(?:\s|//[^\n]*\n)"
# What begins a statement with braces; other braces at the end are those of an expression.
WITH_BRACES = re.compile(r"\s*(\{|(if|for|while|switch|do)\b)")


class Refused(Exception):
    pass


class Edit:
    """What one mistake, or a reader (name None), changes in one place."""

    def __init__(self, name, start, end, replacement, path, switch=""):
        self.name, self.start, self.end, self.replacement, self.path = name, start, end, replacement, path
        self.switch = switch
        self.is_statement = False
        self.inner = []

    def __str__(self):
        return f"{self.path}: {self.name or 'a reader'}"

    def says_statement(self, tokens):
        return tokens.endswith(";") or (tokens.endswith("}") and bool(WITH_BRACES.match(tokens)))

    def applied_to(self, tokens):
        if not self.name:
            return self.replacement.replace("$", tokens) if tokens else f"\n{self.replacement}\n"
        switch = self.switch
        if self.start == self.end:
            return f"{{ if ({switch}) {{ {self.replacement} }} }}\n"
        if self.is_statement:
            return f"{{ if ({switch}) {{ {self.replacement} }} else {{ {tokens} }} }}"
        if self.replacement in ("true", "false"):
            return f"({switch} || ({tokens}))" if self.replacement == "true" else f"(!{switch} && ({tokens}))"
        return f"({switch} ? ({self.replacement}) : ({tokens}))"


class RtlEdit(Edit):
    """Of an expression of SystemVerilog."""

    def says_statement(self, tokens):
        if tokens.endswith(";"):
            raise Refused(f"{self}: '{tokens}' is no expression")
        return False


def pattern_of(tokens):
    """Matches the tokens with any blanks and comments between them."""
    words = re.findall(r"[A-Za-z_0-9]+|[^\sA-Za-z_0-9]", tokens)
    parts = [r"(?<![A-Za-z_0-9])" if is_word(words[0][0]) else ""]
    for left, right in zip(words, words[1:] + [""]):
        parts.append(re.escape(left))
        if right:
            parts.append(GAP + ("+" if is_word(left[-1]) and is_word(right[0]) else "*"))
    parts.append(r"(?![A-Za-z_0-9])" if is_word(words[-1][-1]) else "")
    return re.compile("".join(parts))


def is_word(character):
    return character.isalnum() or character == "_"


def only_place(tokens, text, start, end, what):
    found = list(pattern_of(tokens).finditer(text, start, end)) if tokens.strip() else []
    if len(found) != 1:
        raise Refused(f"{what} '{tokens}' occur {len(found)} times; allowed: once")
    return found[0].start(), found[0].end()


def braces_after(text, at):
    """What is between the brace that opens next and its own."""
    depth, start = 0, None
    for found in re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[{}]').finditer(text, at):
        if found.group() == "{":
            start = found.end() if start is None else start
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if not depth:
                return start, found.start()
    raise Refused("no braces follow")


def check_keys(path, kind, row):
    name = row.get("name", row.get("says", "?"))
    for keys, allowed in [(row.keys(), KEYS[kind]), *((more.keys(), PLACE) for more in row.get("with", []))]:
        for key in sorted(keys - allowed):
            raise Refused(f"{path}: {name}: unknown key '{key}'; allowed: {', '.join(sorted(allowed))}")
    for key in NEEDED[kind]:
        if key not in row:
            raise Refused(f"{path}: {name}: '{key}' is missing")


def rows_of(root, files):
    """(path, kind, row) of all rows of these files, a pattern."""
    names = set()
    for path in sorted(root.glob(files)):
        for kind, rows in tomllib.loads(path.read_text()).items():
            if kind not in KEYS:
                raise Refused(f"{path}: unknown table '{kind}'; allowed: {', '.join(KEYS)}")
            for row in rows:
                check_keys(path, kind, row)
                if row.get("name") in names:
                    raise Refused(f"{path}: {row['name']}: occurs twice")
                names |= {row["name"]} if "name" in row else set()
                yield path, kind, row


def edit_of(path, name, place, text, switch, kind=Edit):
    start, end = 0, len(text)
    if "in" in place:
        start, end = braces_after(text, only_place(place["in"], text, start, end, "in")[1])
    anchors = [key for key in ("tokens", "before", "after") if key in place]
    if len(anchors) != 1:
        raise Refused("one of tokens, before and after is needed")
    start, end = only_place(place[anchors[0]], text, start, end, anchors[0])
    if "part" in place:
        start, end = only_place(place["part"], text, start, end, "part")
    if anchors[0] == "before":
        if not text[:start].rstrip().endswith((";", "{", "}", ":")) and not re.search(r"//[^\n]*$", text[:start].rstrip()):
            raise Refused(f"before '{place['before']}': no statement may stand there")
        end = start
    if anchors[0] == "after":
        start = end
    return kind(name, start, end, place["replacement"], path, switch(name, place.get("file", "")))


def edits_of(root, files, switch, kind=Edit):
    """By file, the edits of all rows of these files; `switch` of a name and a file chooses a row."""
    edits, wrong = {}, []
    for path, _, row in rows_of(root, files):
        for place in [row, *row.get("with", [])]:
            file = place.get("file", row["file"])
            source = root / file
            try:
                if not source.is_file():
                    raise Refused("does not exist")
                found = edit_of(path, row.get("name"), place | {"file": file}, source.read_text(), switch, kind)
                edits.setdefault(file, []).append(found)
            except Refused as refused:
                wrong.append(f"{path}: {row.get('name', row.get('says'))}: {file}: {refused}")
    if wrong:
        raise Refused("\n".join(wrong))
    return edits


def texts_with(root, edits, include):
    """By file, what it is with these edits."""
    return {file: with_include(text_with((root / file).read_text(), places), include) for file, places in edits.items()}


def with_include(text, include):
    found = re.search(r'^#include ', text, re.M) or re.search(r"^(namespace|template|inline|constexpr) ", text, re.M)
    return text[:found.start()] + include + text[found.start():]


def text_with(text, edits):
    """An edit that contains others has them in its tokens."""
    whole = Edit(None, 0, len(text), "$", "")
    open_edits = [whole]
    for edit in sorted(edits, key=lambda e: (e.start, e.start != e.end, -e.end, e.name is None)):
        while edit.start >= open_edits[-1].end and open_edits[-1] is not whole:
            open_edits.pop()
        if edit.end > open_edits[-1].end:
            raise Refused(f"{edit} and {open_edits[-1].name} change tokens that overlap")
        open_edits[-1].inner.append(edit)
        if edit.start != edit.end:
            open_edits.append(edit)
    return rendered(text, whole)


def rendered(text, edit):
    parts, at = [], edit.start
    tokens = text[edit.start:edit.end]
    edit.is_statement = edit.says_statement(tokens)
    for inner in edit.inner:
        parts += [text[at:inner.start], rendered(text, inner)]
        at = inner.end
    return edit.applied_to("".join(parts) + text[at:edit.end])



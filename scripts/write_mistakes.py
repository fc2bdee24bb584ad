#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of the model in which mistakes can be switched on.

    write_mistakes.py SOURCE OUT [--check]

SOURCE is the root of the project. `model/` and `tlm/` are copied to OUT with the mistakes of
`testbench/mutants/mistakes/*.toml` in them, each behind a switch of its own, false unless it is
chosen (model/proto/mutant.h). A file that did not change is not written again. --check writes
nothing and says whether each row finds its place.

A row of a file is

    [[mistake]]
    name = "dma_locks_nothing"
    statements = ["ATOM-2"]      # which vectors have to notice it
    file = "model/blocks/memory/dma.cpp"
    tokens = 'locked_.push_back(r.address)'
    replacement = 'void()'

`tokens` stand exactly once in the file, blanks and line ends apart. They are an expression, or whole
statements, which end with `;` or `}`. `with` is a list of more {tokens, replacement} of the same mistake, in
`file` or in one of their own. An expression and its replacement have one type.
"""
import argparse
import pathlib
import re
import sys
import tomllib

KEYS = {"name", "statements", "file", "tokens", "replacement", "with", "says"}


class Refused(Exception):
    pass


def pattern_of(tokens):
    """Matches the tokens with any blanks between them."""
    words = re.findall(r"[A-Za-z_0-9]+|[^\sA-Za-z_0-9]", tokens)
    parts = []
    for left, right in zip(words, words[1:] + [""]):
        parts.append(re.escape(left))
        if right:
            is_word = (left[-1].isalnum() or left[-1] == "_") and (right[0].isalnum() or right[0] == "_")
            parts.append(r"\s+" if is_word else r"\s*")
    return re.compile("".join(parts))


def replaced(name, tokens, replacement):
    switch = f'::hca::proto::constexpr_mutant<"{name}">()'
    if tokens.rstrip().endswith((";", "}")):
        return f"{{ if ({switch}) {{ {replacement} }} else {{ {tokens} }} }}"
    return f"({switch} ? ({replacement}) : ({tokens}))"


def edits_of(path, row):
    for key in row.keys() - KEYS:
        raise Refused(f"{path}: {row.get('name', '?')}: unknown key '{key}'; allowed: {', '.join(sorted(KEYS))}")
    for key in ("name", "statements", "file", "tokens", "replacement"):
        if key not in row:
            raise Refused(f"{path}: {row.get('name', '?')}: '{key}' is missing")
    yield row["file"], row["tokens"], row["replacement"]
    for more in row.get("with", []):
        yield more.get("file", row["file"]), more["tokens"], more["replacement"]


def rows_of(root):
    names = set()
    for path in sorted((root / "testbench/mutants/mistakes").glob("*.toml")):
        for row in tomllib.loads(path.read_text()).get("mistake", []):
            if row.get("name") in names:
                raise Refused(f"{path}: {row['name']}: stands twice")
            names.add(row.get("name"))
            yield path, row


def texts_with_mistakes(root):
    texts = {}
    for path, row in rows_of(root):
        for file, tokens, replacement in edits_of(path, row):
            if file not in texts:
                source = root / file
                if not source.is_file():
                    raise Refused(f"{path}: {row['name']}: {file} does not exist")
                texts[file] = (source.read_text(), [])
            text, places = texts[file]
            found = list(pattern_of(tokens).finditer(text))
            if len(found) != 1:
                raise Refused(f"{path}: {row['name']}: its tokens stand {len(found)} times in {file}; allowed: once")
            places.append((found[0].start(), found[0].end(), row["name"], replacement, path))
    for file, (text, places) in texts.items():
        texts[file] = text_with(file, text, places)
    return texts


def text_with(file, text, places):
    """The places from the last to the first; several mistakes of one place are nested."""
    by_place = {}
    for start, end, name, replacement, path in places:
        by_place.setdefault((start, end), []).append((name, replacement, path))
    spans = sorted(by_place, reverse=True)
    for later, earlier in zip(spans, spans[1:]):
        if earlier[1] > later[0]:
            (name, _, path), (other, _, _) = by_place[later][0], by_place[earlier][0]
            raise Refused(f"{path}: {name} and {other} change tokens of {file} that overlap")
    for start, end in spans:
        tokens = text[start:end]
        for name, replacement, _ in by_place[start, end]:
            tokens = replaced(name, tokens, replacement)
        text = text[:start] + tokens + text[end:]
    return text


def write(path, text):
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        changed = texts_with_mistakes(options.source)
    except (Refused, tomllib.TOMLDecodeError) as error:
        print(f"write_mistakes.py: {error}", file=sys.stderr)
        return 2
    count = sum(1 for _ in rows_of(options.source))
    if options.check:
        print(f"{count} mistakes in {len(changed)} files, each finds its place")
        return 0
    wanted = set()
    for folder in ("model", "tlm"):
        for source in sorted((options.source / folder).rglob("*")):
            if source.suffix in (".h", ".cpp"):
                name = source.relative_to(options.source).as_posix()
                text = changed[name].encode() if name in changed else source.read_bytes()
                write(options.out / name, text)
                wanted.add(name)
    for old in options.out.rglob("*"):
        if old.suffix in (".h", ".cpp") and old.relative_to(options.out).as_posix() not in wanted:
            old.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

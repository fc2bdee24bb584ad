#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_pages.py ROOT: what holds for every page (*.md) of the tree. Prints each breach as `file:line: what`, exits 1 if any.

Each link of a page leads to a file of the tree and to a heading that is there. On pages that are written by hand no cell of a table
has more than 30 words, and a page of LIMITS no more than it may. Results and generated pages are as long as they are.
"""
import os
import pathlib
import re
import sys

from check_tree import files

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"#+ (.*)")
CELL_END = re.compile(r"(?<!\\)\|")
WORDS_OF_A_CELL = 30
NOT_BY_HAND = ("docs/generated/", "docs/results/")
LIMITS = {"docs/manual/reference/performance.md": 1500}  # words


def text_lines(text):
    """(line number, line) of all that is not inside of a fenced block."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(text):
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = (HEADING.fullmatch(line) for _, line in text_lines(text))
    return {re.sub(r"[^\w\- ]", "", found[1].lower()).replace(" ", "-") for found in headings if found}


def dead_links(path, text, pages, paths):
    """(line, what) of each link of `path` that leads to nothing. `pages` has the text of each page, `paths` all files and folders."""
    for number, line in text_lines(text):
        for target in LINK.findall(line):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            where = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if where not in paths:
                yield number, f"a link to {target}, which is not there"
            elif anchor and anchor not in anchors(pages.get(where, "")):
                yield number, f"a link to {target}: no heading there has this name"


def long_parts(path, text):
    """(line, what) of each cell, and of the page, that has more words than it may."""
    if path.startswith(NOT_BY_HAND):
        return
    for number, line in text_lines(text):
        for cell in CELL_END.split(line.strip())[1:-1] if line.lstrip().startswith("|") else []:
            if len(cell.split()) > WORDS_OF_A_CELL:
                yield number, f"a cell of {len(cell.split())} words, above {WORDS_OF_A_CELL}: {cell.strip()[:40]}..."
    if path in LIMITS and len(text.split()) > LIMITS[path]:
        yield 1, f"{len(text.split())} words, above {LIMITS[path]}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    names = [str(path) for path in files(root)]
    pages = {name: (root / name).read_text(encoding="utf-8") for name in names if name.endswith(".md")}
    paths = set(names) | {str(parent) for name in names for parent in pathlib.PurePath(name).parents}
    found = [(name, *breach) for name, text in pages.items()
             for breach in (*dead_links(name, text, pages, paths), *long_parts(name, text))]
    found += [(name, 1, "a page of LIMITS that is not there") for name in LIMITS if name not in pages]
    for name, number, what in found:
        print(f"{name}:{number}: {what}")
    print(f"{len(pages)} pages, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

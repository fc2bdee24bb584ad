#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_pages.py ROOT: what holds for every page (*.md) of the tree. Prints each breach as `file:line: what`, exits 1 if any.

Each link of a page leads to a file of the tree and to a heading that is there.
"""
import os
import pathlib
import re
import sys

from check_tree import files

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"#+ (.*)")


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


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    names = [str(path) for path in files(root)]
    pages = {name: (root / name).read_text(encoding="utf-8") for name in names if name.endswith(".md")}
    paths = set(names) | {str(parent) for name in names for parent in pathlib.PurePath(name).parents}
    found = [(name, *breach) for name, text in pages.items() for breach in dead_links(name, text, pages, paths)]
    for name, number, what in found:
        print(f"{name}:{number}: {what}")
    print(f"{len(pages)} pages, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

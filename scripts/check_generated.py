#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_generated.py ROOT HCA: makes every generated file of the tree again with the program HCA and compares.

A generated file says at its top what made it: "Made by `hca ...`". `hca docs` writes several files into the folder of
--out; any other command prints the one file. With --write the files are replaced instead.
"""
import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from check_tree import BINARY, files

MADE_BY = re.compile(r"Made by `hca ([^`]+)`")


def generated_files(root):
    """{path: the arguments of the hca that made it}"""
    made = {}
    for path in files(root):
        if path.suffix in BINARY or path.suffix in {".py", ".cpp", ".h"} and path.parts[0] != "rtl":
            continue
        head = (root / path).read_text(encoding="utf-8").split("\n")[:5]
        if found := MADE_BY.search("\n".join(head)):
            made[path] = shlex.split(found.group(1))
    return made


def run(hca, arguments, root="."):
    return subprocess.run([hca, *arguments], check=True, capture_output=True, text=True, cwd=root).stdout


def docs_now(hca):
    """{file name: text} of all that `hca docs` writes."""
    with tempfile.TemporaryDirectory() as folder:
        run(hca, ["docs", "--out", folder])
        return {p.name: p.read_text(encoding="utf-8") for p in pathlib.Path(folder).rglob("*") if p.is_file()}


def differs(path, old, new):
    diff = list(difflib.unified_diff(old.splitlines(), new.splitlines(), f"{path} (in the tree)",
                                     f"{path} (made now)", lineterm=""))
    print("\n".join(diff[:40]))
    return bool(diff)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root, hca = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve()
    made, docs, bad = generated_files(root), docs_now(hca), 0
    for path, command in made.items():
        new = docs.pop(path.name, "") if command[0] == "docs" else run(hca, command, root)
        if "--write" in sys.argv:
            (root / path).write_text(new, encoding="utf-8")
        else:
            bad += differs(path, (root / path).read_text(encoding="utf-8"), new)
    for name in docs:
        print(f"{name}: written by `hca docs`, but not in the tree")
    bad += len(docs)
    print(f"{len(made)} generated files, {bad} out of date")
    return 1 if bad or not made else 0


if __name__ == "__main__":
    sys.exit(main())

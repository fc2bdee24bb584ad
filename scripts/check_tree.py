#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_tree.py ROOT: what holds for every file of the tree. Prints each breach as `file:line: what`, exits 1 if any."""
import pathlib
import re
import subprocess
import sys

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE",
    "model", "rtl", "tlm", "testbench", "vectors", "scripts", "docs",
}
# Formats without comments, and data of others.
WITHOUT_SPDX = {".json", ".pcap", ".pcapng", ".csv", ".hex", ".bin", ".png", ".svg"}
BINARY = {".pcap", ".pcapng", ".bin", ".png"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
LINES_AT_MOST = 400  # the aim is 300; a file above this is two files
SOURCES = {".h", ".cpp", ".py", ".sh"}
NAMESPACE = re.compile(r"namespace (hca(?:::\w+)*) \{")
CLASS = re.compile(r"(?:struct|class|enum class|enum)(?: alignas\(\w+\))? (\w+)(?: final)?(?: :| \{)")
# Brackets keep these patterns from finding themselves.
WORDS = [
    (re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b"), "unfinished work"),
    (re.compile(r"\bnot (yet )?impl[e]mented\b|\bto be impl[e]mented\b", re.I), "unfinished work"),
    (re.compile(r"/(h[o]me|r[o]ot|w[o]rk|Us[e]rs)/\w"), "a path of one machine"),
    (re.compile(r"\bissue[s]? (#?\d|show)|\bth[e] lead\b|\bsub-?ag[e]nt", re.I), "talk about how this was made"),
]


def files(root):
    """Tracked files and those that would be, without what .gitignore names."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    paths = (pathlib.PurePath(name) for name in listing.split("\0") if name)
    return sorted({p for p in paths if (root / p).is_file()})


def breaches_of_text(path, text):
    """(line, what) of each breach in one text file."""
    lines = text.split("\n")
    if path.suffix not in WITHOUT_SPDX and path.name != "LICENSE":
        places = [i for i, line in enumerate(lines[:5], 1) if SPDX in line]
        if not places:
            yield 1, f"no line '{SPDX}' at the top"
    if path.suffix in SOURCES and len(lines) - 1 > LINES_AT_MOST:
        yield len(lines) - 1, f"longer than {LINES_AT_MOST} lines"
    if path.name == "LICENSE":
        return
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        for pattern, what in WORDS:
            if found := pattern.search(line):
                yield number, f"{what}: '{found.group()}'"
        if line.endswith((" ", "\t", "\r")):
            yield number, "blank at the end of the line"


def classes(text):
    """(line, name) of each class of a namespace of ours that a header defines."""
    namespace = None
    for number, line in enumerate(text.split("\n"), 1):
        if found := NAMESPACE.match(line):
            namespace = found.group(1)
        if namespace and (found := CLASS.match(line)):
            yield number, f"{namespace}::{found.group(1)}"


def breaches(root):
    defined = {}
    for path in files(root):
        top = path.parts[0]
        if top not in TOP_LEVEL and not top.startswith("."):
            yield path, 1, "does not belong at the top level"
        if path.suffix in BINARY or (path.parts[:2] == ("vectors", "captures") and path.suffix == ".json"):
            continue  # recorded: as it is
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield path, 1, "not UTF-8"
            continue
        for number, what in breaches_of_text(path, text):
            yield path, number, what
        if path.suffix != ".h" or "tests" in path.parts:  # each test program has its own
            continue
        for number, name in classes(text):
            other = defined.get(name)
            if other and other != path:
                yield path, number, f"{name} is another class in {other}: a program that has both may run either's code"
            defined[name] = path


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = list(breaches(root))
    for path, number, what in found:
        print(f"{path}:{number}: {what}")
    print(f"{len(files(root))} files, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

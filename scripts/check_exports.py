#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_exports.py LIBRARY OTHER: two shared libraries export the same names, of the same types, under the same versions, which are built on
the same ones, and have the same name. Prints what only one has, exits 1 if anything."""
import re
import subprocess
import sys


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], check=True, capture_output=True, text=True).stdout


def exported(library):
    found = set()
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[0].rstrip(":").isdigit() and fields[6] != "UND" and fields[4] != "LOCAL":
            found.add(f"{fields[3]} {fields[7]}")
    name = None
    definitions = readelf("-V", library).split("Version needs")[0]
    for line in definitions.splitlines():
        if match := re.search(r"Flags: (\S+) .* Name: (\S+)", line):
            name = match[2]
            found.add(f"version {name} {match[1]}")
        elif match := re.search(r"Parent \d+: (\S+)", line):
            found.add(f"version {name} is built on {match[1]}")
    found.add("named " + re.search(r"soname: \[(.*)\]", readelf("-d", library))[1])
    return found


def main():
    ours, theirs = sys.argv[1:]
    has, wanted = exported(ours), exported(theirs)
    for what, names in ("is missing", wanted - has), ("is too much", has - wanted):
        for name in sorted(names):
            print(f"{ours}: {what}: {name}")
    print(f"{len(has & wanted)} names and versions are in both")
    return has != wanted


if __name__ == "__main__":
    sys.exit(main())

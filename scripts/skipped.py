#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The tests that a run of ctest skipped, each with the last line that it said: skipped.py FILE of `ctest --output-junit`"""
import sys
import xml.etree.ElementTree as xml


def skipped(path):
    """(name, reason) of each, in the order of the file."""
    found = []
    for test in xml.parse(path).getroot().iter("testcase"):
        if test.find("skipped") is None:
            continue
        said = [line.strip() for line in (test.findtext("system-out") or "").splitlines() if line.strip()]
        found.append((test.get("name"), said[-1] if said else "it says no reason"))
    return found


def main():
    found = skipped(sys.argv[1])
    print(f"\nskipped: {len(found) or 'none'}")
    for name, reason in found:
        print(f"  {name}: {reason}")


if __name__ == "__main__":
    main()

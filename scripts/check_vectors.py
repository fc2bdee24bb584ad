#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The conformance vectors against their schema and the list of statements.

  check_vectors.py ROOT    ROOT: the project; prints what is wrong as file: place: what
"""
import csv
import json
import pathlib
import sys

import jsonschema


def place_of(error):
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".") or "(top)"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1]) / "vectors"
    schema = json.loads((folder / "vector.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    with open(folder / "requirements.csv", encoding="utf-8", newline="") as file:
        status = {row["id"]: row["status"] for row in csv.DictReader(file)}
    count, bad = 0, 0
    for path in sorted(folder.glob("*/*.json")):
        if path.parent.name == "captures":
            continue
        count += 1
        document = json.loads(path.read_text(encoding="utf-8"))
        wrong = [f"{place_of(e)}: {e.message}" for e in validator.iter_errors(document)]
        wrong += [f"for: no active statement {i}" for i in document.get("for", []) if status.get(i) != "active"]
        for what in wrong:
            print(f"{path.relative_to(folder.parent)}: {what[:300]}")
        bad += bool(wrong)
    print(f"{count} vectors, {bad} bad")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""study.py NAME... | all [--check] [--hca PROGRAM]: runs the sweep of a study, testbench/sweeps/NAME.yaml, and writes its table and its
figure beside its page, docs/studies/NAME.csv and .svg. message_sizes is a calibration instead of a sweep.
--check writes nothing and says where a table is another one than that which is there: exit code 1.
The figures need matplotlib: `apt install python3-matplotlib`."""
import argparse
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/studies"
UNITS = {"B": 1, "KiB": 1024, "us": 1, "ns": 1e-3, "": 1}
KEPT_POINTS = 6  # digits of a figure in a table

# x; y; which columns name a line; labels; logarithmic axes
STUDIES = {
    "qp_count": ("workload[0].qps", "mmsg_s", ("hca.qp_cache.entries", "hca.qp_cache.policy"), "queue pairs", "Mmsg/s", "x"),
    "doorbells": ("workload[0].list", "mmsg_s", ("workload[0].inline_below",), "messages with one doorbell", "Mmsg/s", "x"),
    "pcie_tags": ("pcie.read_tags", "gbit_s", ("pcie.generation",), "read tags", "Gb/s", "x"),
    "forwarding": ("workload[0].size", "p50_us", ("hca.packetizer.tx_start", "hca.port.rx_forward"), "bytes", "us, one way", "xy"),
    "selective_repeat": ("faults[0].per_million", "gbit_s", ("hca.transport.recovery", "pcie.generation", "wire.latency"), "packets lost of a million", "Gb/s", "x"),
    "go_back_n": ("faults[0].per_million", "gbit_s", ("connection.timeout", "wire.latency"), "packets lost of a million", "Gb/s", "x"),
}
CALIBRATED = ("cx3_qdr", "roce_100g_write")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: a curve that is not as near as wanted
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def short(text):
    try:
        return f"{float(text):.{KEPT_POINTS}g}" if "." in text else text
    except ValueError:
        return text


def swept(hca, name, folder):
    run(hca, "sweep", ROOT / f"testbench/sweeps/{name}.yaml", "--out", folder, "-j", "2")
    rows = list(csv.reader((folder / "sweep.csv").open()))
    filled = [i for i, _ in enumerate(rows[0]) if any(row[i] for row in rows[1:])]
    return [[short(row[i]) for i in filled] for row in rows]


def calibrated(hca, folder):
    run(hca, "calibrate", ROOT / "vectors/calibration", "--only", *CALIBRATED, "--out", folder)
    rows = [["curve", "bytes", "measured", "model"]]
    for curve in json.loads((folder / "calibration.json").read_text())["curves"]:
        rows += [[curve["curve"], str(p["bytes"]), short(str(p["measured"])), short(str(p["model"]))] for p in curve["points"]]
    return rows


def number(text):
    value, _, unit = text.partition(" ")
    return float(value) * UNITS[unit]


def lines_of(name, rows):
    """[(label, marks alone, xs, ys)]"""
    table = [dict(zip(rows[0], row)) for row in rows[1:]]
    lines = {}
    if name == "message_sizes":
        for row in table:
            if row["curve"].endswith("latency_us"):
                for kind in ("measured", "model"):
                    lines.setdefault((f"{row['curve']}, {kind}", kind == "measured"), []).append((float(row["bytes"]), float(row[kind])))
    else:
        x, y, by, *_ = STUDIES[name]
        for row in table:
            if row.get(y):
                label = ", ".join(f"{key.split('.')[-1]} {row[key]}" for key in by if row.get(key))
                lines.setdefault((label, False), []).append((number(row[x]), float(row[y])))
    return [(*key, *zip(*sorted(points))) for key, points in lines.items()]


def draw(name, rows):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "study", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot
    x_label, y_label, logarithmic = ("bytes", "us", "xy") if name == "message_sizes" else STUDIES[name][3:]
    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    colours = {}
    for label, is_marks, xs, ys in lines_of(name, rows):
        colour = colours.setdefault(label.split(", m")[0] if name == "message_sizes" else label, f"C{len(colours)}")
        axes.plot(xs, ys, "o" if is_marks else "-" if name == "message_sizes" else ".-", color=colour, label=label, fillstyle="none" if is_marks else "full")
    if "x" in logarithmic:
        axes.set_xscale("log", base=10 if x_label.startswith("packets lost") else 2)
    if "y" in logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    lines = [line.rstrip() for line in drawn.getvalue().splitlines()]
    (PAGES / f"{name}.svg").write_text("\n".join(lines) + "\n")
    pyplot.close(figure)


def main():
    names = ["message_sizes", *STUDIES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=[*names, "all"], metavar="NAME", help=", ".join(names))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--hca", type=pathlib.Path, default=ROOT / "build/release/hca")
    args = parser.parse_args()
    differ = 0
    for name in names if "all" in args.names else args.names:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            rows = calibrated(args.hca, out) if name == "message_sizes" else swept(args.hca, name, out)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        path = PAGES / f"{name}.csv"
        if args.check:
            same = path.is_file() and path.read_text() == text.getvalue()
            differ += not same
            print(f"{name}: {'the same' if same else 'another table than ' + str(path)}")
            continue
        path.write_text(text.getvalue())
        draw(name, rows)
        print(f"{path}, {path.with_suffix('.svg')}")
    sys.exit(1 if differ else 0)


main()

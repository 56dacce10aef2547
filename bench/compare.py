#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the measurements of compare.sh into docs/performance.md and its plots."""

import collections
import csv
import pathlib
import platform
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hccl"})  # small files, the same for the same points
import matplotlib.pyplot as plt  # noqa: E402

OURS = ["hccl, private buffers", "hccl, shared buffers", "hccl, threads"]
BOUND = "bare loop"
COLLECTIVES = ["allreduce", "broadcast", "allgather", "reduce_scatter", "alltoall"]
NEAR = 0.35  # microseconds of a spin barrier: below, the two virtual cores are near each other


def read(path):
    """All points: (ranks, collective, bytes) -> program -> list of (is_near, median, median with read)."""
    points = collections.defaultdict(lambda: collections.defaultdict(list))
    columns = None
    with open(path, newline="") as file:
        for line in csv.reader(file):
            name, malloc, *values = line
            if values[0] == "library":
                columns = values
                continue
            row = dict(zip(columns, values))
            if int(row["wrong"]) > 0:
                sys.exit(f"{name}: wrong results: {row}")
            program = name if malloc == "default" else f"{name} (untrimmed)"
            where = (int(row["ranks"]), row["collective"], int(row["bytes"]))
            probe = float(row["probe_us"])
            is_near = probe < NEAR
            points[where][program].append((is_near, float(row["median_us"]), float(row["median_with_read_us"])))
    return points


def medians(programs):
    """The median of each program: of the points with near cores, if it has some."""
    result = {}
    for program, samples in programs.items():
        used = [s for s in samples if s[0]] or samples
        result[program] = tuple(statistics.median(column) for column in list(zip(*used))[1:])
    return result


def best_peer(times, index=0):
    peers = {p: t[index] for p, t in times.items() if p not in OURS and p != BOUND}
    if not peers:
        return None, None
    name = min(peers, key=peers.get)
    return name, peers[name]


def in_words(size):
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"


def number(us):
    return f"{us:,.2f}" if us < 10 else f"{us:,.0f}"


def table(points, ranks, collective):
    lines = ["| bytes | best peer | µs | " + " | ".join(OURS) + " | bare loop | private : peer | shared : peer |",
             "|---:|---|---:|" + "---:|" * (len(OURS) + 3)]
    for (n, name, size) in sorted(points):
        if n != ranks or name != collective:
            continue
        times = medians(points[(n, name, size)])
        peer, best = best_peer(times)
        cells = [number(times[o][0]) if o in times else "" for o in OURS + [BOUND]]
        ratios = [f"{best / times[o][0]:.2f}×" if best and o in times else "" for o in OURS[:2]]
        lines.append(f"| {in_words(size)} | {peer or ''} | {number(best) if best else ''} | " + " | ".join(cells + ratios) + " |")
    return lines


def plot(points, ranks, collective, path):
    figure, axes = plt.subplots(figsize=(8, 5))
    series = collections.defaultdict(list)
    for (n, name, size) in sorted(points):
        if n == ranks and name == collective:
            for program, times in medians(points[(n, name, size)]).items():
                if not program.endswith("(untrimmed)"):
                    series[program].append((size, times[0]))
    for program, line in sorted(series.items()):
        ours = program in OURS
        style = {"linewidth": 2.2 if ours else 1.0, "linestyle": "-" if ours else ":" if program == BOUND else "--"}
        axes.plot(*zip(*line), label=program, marker=".", **style)
    axes.set(xscale="log", yscale="log", xlabel="bytes", ylabel="µs, median", title=f"{collective}, {ranks} ranks")
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(base=4, numticks=20))
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: in_words(int(x))))
    axes.tick_params(axis="x", rotation=60)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def version(command):
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "?"
    return " ".join(text.strip().splitlines()[0].split())


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def headline(points):
    """The range of best peer : hccl over all sizes from 256 KiB on, per kind of buffer."""
    lines = []
    for ours in OURS:
        for ranks in sorted({where[0] for where in points}):
            ratios = []
            for where, programs in points.items():
                times = medians(programs)
                _, best = best_peer(times)
                if where[0] == ranks and where[2] >= 256 << 10 and best and ours in times:
                    ratios.append(best / times[ours][0])
            if ratios:
                lines.append(f"| {ours} | {ranks} | {min(ratios):.2f}× | {statistics.median(ratios):.2f}× | {max(ratios):.2f}× |")
    return ["| | ranks | least | median | most |", "|---|---:|---:|---:|---:|"] + lines


def main(source, docs):
    points = read(source)
    docs = pathlib.Path(docs)
    plots = docs / "performance"
    plots.mkdir(exist_ok=True)
    text = [
        "# Performance on one host",
        "",
        "Written by `bench/compare.sh` alone, from one run in which all programs took turns. Float sums; `bytes` is the whole",
        "vector, as in nccl-tests. The input is written anew before each round. A time is the median over the rounds of the",
        "slowest rank. Each peer was measured as installed and with its malloc kept from giving memory back (untrimmed); the",
        "best of all variants counts. Of 2 ranks the points count that were measured while the two cores were near each other, if",
        "a program has some. The bare loop is written for the one case, on threads, without checks: what the memory allows",
        "(its copies are those of the C library, which are slow at some alignments).",
        "",
        "A rank's clock starts when it leaves the barrier. A small broadcast may then have arrived before the last rank looks at",
        "its clock, and looks faster than a message can be: how fast depends on who leaves the barrier first.",
        "",
        f"Machine: {processor()}, {len(list(pathlib.Path('/sys/devices/system/cpu').glob('cpu[0-9]*')))} cores, {platform.system()} {platform.release()}.",
        f"Peers: {version(['mpirun.openmpi', '--version'])}, {version(['mpichversion'])}, Gloo of the distribution.",
        "",
        "## Best peer : hccl, from 256 KiB on, over all collectives",
        "",
        *headline(points),
        "",
    ]
    for ranks in sorted({where[0] for where in points}):
        text += [f"## {ranks} ranks", ""]
        for collective in COLLECTIVES + ["barrier"]:
            text += [f"### {collective}, {ranks} ranks", "", *table(points, ranks, collective), ""]
            if collective != "barrier":
                file = plots / f"{collective}-{ranks}.svg"
                plot(points, ranks, collective, file)
                text += [f"![{collective}, {ranks} ranks](performance/{file.name})", ""]
    text += [
        "## With the output read",
        "",
        "The same until each rank has read its output: `Direct` leaves it in the other core's cache.",
        "",
        "| ranks | collective | bytes | best peer | " + " | ".join(OURS) + " |",
        "|---:|---|---:|---:|" + "---:|" * len(OURS),
    ]
    for where in sorted(points):
        if where[1] == "allreduce":
            times = medians(points[where])
            _, best = best_peer(times, 1)
            cells = [number(times[o][1]) if o in times else "" for o in OURS]
            text.append(f"| {where[0]} | {where[1]} | {in_words(where[2])} | {number(best) if best else ''} | " + " | ".join(cells) + " |")
    (docs / "performance.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

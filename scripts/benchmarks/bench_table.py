"""Generates the tables of the benchmarks from the raw figures of scripts/bench.

    python scripts/benchmarks/bench_table.py benches/DATE-CPU [CORES CPU VERSIONS]   writes summary.md next to raw.csv
    python scripts/benchmarks/bench_table.py                                        renews every summary.md and the table of BENCHMARKS.md
    python scripts/benchmarks/bench_table.py --check                                fails if one of them is stale

A ratio is computed within a round, from figures measured close together; the tables have medians over the rounds.
"""

import csv
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- made: benchmarks -->\n", "<!-- end -->"
LAYER, RESNET, VWW = "layer", "resnet8_cifar10_int8", "vww_mobilenet_v1_025_int8"
MOBILENET = "tf2_mobilenet_v2_1.0_224_ptq"
CPUS = {
    "intel-6-207": "Xeon, model 207",
    "intel-6-167": "Xeon, model 167",
    "amd-26-2": "EPYC, Zen 5",
    "amd-25-17": "EPYC, Zen 4",
    "amd-25-1": "EPYC, Zen 3",
}


def key(subject, tool, setting, threads=1):
    return subject, tool, setting, str(threads)


def most(vnni, avx2=None):
    """Returns the aim of a ratio of at most `vnni` on CPUs with AVX512-VNNI, and at most `avx2` on those with only AVX2."""
    return "at most", vnni, vnni if avx2 is None else avx2


def least(ratio):
    return "at least", ratio, ratio


NONE = None
AIMS = {"32": most(2, 1.3), "20": most(3, 1.5), "16": most(4.5, 2.5), "14": most(8, 4)}


def peer_of(subject, kind):
    return key(subject, "litert", f"exact int8 {kind}")


def command_ratios(name, subject):
    whole = "{}, whole command, {} bits, time against LiteRT + XNNPACK"
    return [(whole.format(name, bits), aim, key(subject, "guardbit", f"whole command {bits} bits events"),
             peer_of(subject, "xnnpack"))
            for bits, aim in AIMS.items()]  # fmt: skip


def network_ratios(name, subject):
    def run(setting, threads=1):
        return key(subject, "guardbit", setting, threads)

    def peer(kind):
        return peer_of(subject, kind)

    return [
        *command_ratios(name, subject),
        (f"{name}, 14 bits, whole command, `full` against `events`", most(2.5),
         run("whole command 14 bits full"), run("whole command 14 bits events")),
        *((f"{name}, engine alone, {bits} bits, time against LiteRT + XNNPACK", NONE, run(f"{bits} bits events"), peer("xnnpack"))
          for bits in AIMS),
        (f"{name}, engine alone, 14 bits, against LiteRT's reference", NONE, run("14 bits events"), peer("reference")),
        (f"{name}, engine alone, 32 bits, against rten-gemm's matrix products alone", NONE, run("32 bits events"),
         key(subject, "rten-gemm", "exact sums of every layer")),
        (f"{name}, 14 bits, one thread against two", least(1.8), run("14 bits events"), run("14 bits events", 2)),
    ]  # fmt: skip


DATAPATHS = ["chain of 16 rows in 14 bits under 20", "chain of 16 rows in 18 bits under 20", "tree of 16 in 14 bits under 20",
             "tree of 16 in 18 bits under 20", "int16 x int8 in 28 bits", "gemmini-16"]  # fmt: skip


# Other datapaths: aim, and what they are compared with.
OTHERS = {
    "dsp48e2-int8x2": (3, "14 bits saturating"),
    "two activations in 14 bits": (1.5, "14 bits saturating"),
    "int16 x int16 in 38 bits": (3, "14 bits saturating"),
    "stochastic rounding of 2 bits in 14": (3, "14 bits saturating"),
    "pool over padding in 10 bits": (2, "depthwise in 14 bits"),
    "21 bits trap": (1.2, "21 bits saturating"),
    "sorted in 14 bits": (15, "14 bits saturating"),
    "sign_paired in 14 bits": (15, "14 bits saturating"),
    "greedy in 14 bits": (15, "14 bits saturating"),
}


def other_ratios(isa):
    """Returns the ratios of the rate of a simpler datapath to the rates of others, with events."""
    name = {"Avx2": "AVX2", "Avx512Vnni": "AVX-512"}[isa]
    return [(f"{datapath}, `events`, {name}, time against {simpler}", most(aim),
             key(LAYER, "guardbit", f"{simpler} events {isa}"), key(LAYER, "guardbit", f"{datapath} events {isa}"))
            for datapath, (aim, simpler) in OTHERS.items()]  # fmt: skip


def datapath_ratios(stats, isa):
    """Returns the ratios of the rate of one 14-bit level to the rates of other datapaths."""
    level = key(LAYER, "guardbit", f"14 bits saturating {stats} {isa}")
    name = {"Avx2": "AVX2", "Avx512Vnni": "AVX-512"}[isa]
    return [(f"{datapath}, `{stats}`, {name}, time against one level of 14 bits", most(3), level,
             key(LAYER, "guardbit", f"{datapath} {stats} {isa}"))
            for datapath in DATAPATHS]  # fmt: skip


AVX2, AVX512 = (key(LAYER, "guardbit", f"kernel 14 bits saturating events {isa}") for isa in ("Avx2", "Avx512Vnni"))
PER_STEP = "14 bits saturating events"
# What is compared, the aim, and which figure is divided by which; for a single figure its median.
RATIOS = [
    *((f"stepping kernel, 14 bits saturating, events, {name}, G MAC/s", NONE, kernel, None)
      for name, kernel in (("AVX2", AVX2), ("AVX-512", AVX512))),
    *((f"{name} against numpy per step, {how}", least(40), kernel, key(LAYER, "numpy", f"{PER_STEP} {how}"))
      for name, kernel in (("AVX2", AVX2), ("AVX-512", AVX512)) for how in ("int32", "int16 in place")),
    ("AVX-512 against PyTorch per step, int16, in place", NONE, AVX512, key(LAYER, "pytorch", f"{PER_STEP} int16 in place")),
    *(ratio for isa in ("Avx2", "Avx512Vnni") for stats in ("events", "full") for ratio in datapath_ratios(stats, isa)),
    *(ratio for isa in ("Avx2", "Avx512Vnni") for ratio in other_ratios(isa)),
    *network_ratios("ResNet-8", RESNET),
    *network_ratios("visual wake words", VWW),
    *command_ratios("MobileNetV2", MOBILENET),
    ("isolated sweep, value columns, in runs with `full`", most(4),
     key(RESNET, "guardbit", "isolated sweep values / isolated run full"), None),
    ("isolated sweep, event counts, in runs with `full`", most(4),
     key(RESNET, "guardbit", "isolated sweep events / isolated run full"), None),
    ("isolated sweep, all columns, in runs with `full`", NONE,
     key(RESNET, "guardbit", "isolated sweep full / isolated run full"), None),
    ("propagated sweep against its points run alone", most(0.5),
     key(RESNET, "guardbit", "propagated sweep / its points alone"), None),
    ("peak memory, 2,000 samples against 200, `run`", most(1.2),
     key(RESNET, "guardbit", "run of 2000 / 200 samples", 2), None),
    ("peak memory, 2,000 samples against 200, `sweep`", most(1.2),
     key(RESNET, "guardbit", "sweep of 2000 / 200 samples", 2), None),
]  # fmt: skip


class Run:
    """Raw figures of one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.date, self.cpu = re.fullmatch(r"(\d{4}-\d\d-\d\d)-(.*?)", folder.name).groups()
        self.cpu = re.sub(r"-run\d+$", "", self.cpu)
        self.figures, self.units = {}, {}
        with open(folder / "raw.csv", newline="") as file:
            for line in csv.DictReader(file):
                of = key(line["subject"], line["tool"], line["setting"], line["threads"])
                self.figures.setdefault(of, {})[line["round"]] = float(line["figure"])
                self.units[of] = line["unit"]
        self.vnni = any("Avx512Vnni" in setting for _, _, setting, _ in self.figures)

    def ratio(self, numerator, denominator):
        """Returns the ratio of every round that has both figures."""
        above, below = self.figures.get(numerator, {}), self.figures.get(denominator, {})
        return [above[r] / (below[r] if denominator else 1) for r in above if not denominator or r in below]


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def shown(value):
    return f"{value:.3g}"


def spread(values):
    return shown(statistics.median(values)), f"{shown(min(values))} to {shown(max(values))}"


def aim_text(aim):
    if aim is None:
        return ""
    how, vnni, avx2 = aim
    return f"{how} {vnni}" if vnni == avx2 else f"{how} {vnni} (AVX2: {avx2})"


def missed(aim, vnni, value):
    """Returns whether the displayed figure misses its aim."""
    if aim is None:
        return False
    how, value, aim = aim[0], float(shown(value)), aim[1 if vnni else 2]
    return value > aim if how == "at most" else value < aim


def summary_tables(run):
    """Returns the ratios and all figures of one run."""
    text = row("ratio", "wanted", "median", "least to greatest") + "|---|---|---|---|\n"
    for label, aim, numerator, denominator in RATIOS:
        if values := run.ratio(numerator, denominator):
            text += row(label, aim_text(aim), *spread(values))
    text += "\n" + row("subject", "tool", "setting", "threads", "median", "least to greatest", "unit") + "|---|---|---|---|---|---|---|\n"
    for of, by_round in run.figures.items():
        text += row(*of, *spread(by_round.values()), run.units[of])
    return text


def newest_table(runs):
    """Returns one row per ratio and one column per CPU, from the newest run that has the figure. Figures that miss
    their aim are bold."""
    cpus = sorted({run.cpu for run in runs}, key=lambda cpu: list(CPUS).index(cpu) if cpu in CPUS else len(CPUS))
    of_cpu = {cpu: sorted((run for run in runs if run.cpu == cpu), key=lambda run: run.folder.name)[::-1] for cpu in cpus}
    text = row("ratio", "wanted", *(CPUS.get(cpu, cpu) for cpu in cpus)) + "|---|---" + "|---:" * len(cpus) + "|\n"

    def cell(cpu, aim, ratios):
        """Returns the worst ratio by median, each from the newest run that has it."""
        vnni = any(run.vnni for run in of_cpu[cpu])
        medians = []
        for numerator, denominator in ratios:
            found = (run.ratio(numerator, denominator) for run in of_cpu[cpu])
            medians += [statistics.median(values) for values in found if values][:1]
        if not medians:
            return "-"
        worst = min(medians) if aim and aim[0] == "at least" else max(medians)
        return f"**{shown(worst)}**" if missed(aim, vnni, worst) else shown(worst)

    done = set()
    for label, aim, numerator, denominator in RATIOS:
        ratios = [(numerator, denominator)]
        if datapath := next((name for name in DATAPATHS if label.startswith(name)), None):
            label = label.replace(datapath, "slowest of six other datapaths")
            if label in done:
                continue
            done.add(label)
            wanted = label.replace("slowest of six other datapaths", "")
            ratios = [(n, d) for other, _, n, d in RATIOS if any(other == name + wanted for name in DATAPATHS)]
        text += row(label, aim_text(aim), *(cell(cpu, aim, ratios) for cpu in cpus))
    return text


def put(path, made, check):
    """Puts a table between the markers of a page; with `check`, returns whether it is already there."""
    text = path.read_text()
    start = text.index(BEGIN) + len(BEGIN)
    new = text[:start] + made + text[text.index(END, start) :]
    if not check:
        path.write_text(new)
    return new == text


def head(folder, cores, name, versions):
    cpu = Run(folder).cpu
    return f"# {folder.name}\n\nCPU: {name} (`{cpu}`), {cores} cores. Versions: {versions}.\n\n{BEGIN}{END}\n"


def main(arguments):
    check = arguments == ["--check"]
    if arguments and not check:
        folder = Path(arguments[0]).resolve()
        page = folder / "summary.md"
        if not page.exists():
            page.write_text(head(folder, *arguments[1:4]))
        put(page, summary_tables(Run(folder)), False)
        print(page.read_text())
        return 0
    runs = [Run(path.parent) for path in sorted((ROOT / "benches").glob("*/raw.csv"))]
    stale = [run.folder / "summary.md" for run in runs if not put(run.folder / "summary.md", summary_tables(run), check)]
    if not put(ROOT / "BENCHMARKS.md", newest_table(runs), check):
        stale.append(ROOT / "BENCHMARKS.md")
    for path in stale if check else []:
        print(f"{path.relative_to(ROOT)} is stale: run scripts/benchmarks/bench_table.py", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

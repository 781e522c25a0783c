"""Prints what a table of scripts/bench says, as Markdown: ratios within a round, and all figures, with medians.

    python scripts/bench_table.py benches/DATE.csv
"""

import csv
import statistics
import sys

LAYER, RESNET, VWW = "layer", "resnet8_cifar10_int8", "vww_mobilenet_v1_025_int8"
MOBILENET = "tf2_mobilenet_v2_1.0_224_ptq"


def key(subject, tool, setting, threads=1):
    return subject, tool, setting, str(threads)


AIMS = {"32": ("at most 2", "at most 1.3"), "20": ("at most 3", "at most 1.5"), "16": ("at most 4.5", "at most 2.5"),
        "14": ("at most 8", "at most 4")}  # fmt: skip


def peer_of(subject, kind):
    return key(subject, "litert", f"exact int8 {kind}")


def command_ratios(name, subject):
    whole = "{}, whole command, {} bits, time against LiteRT + XNNPACK"
    return [(whole.format(name, bits), f"{vnni} (VNNI), {avx2} (AVX2)",
             key(subject, "guardbit", f"whole command {bits} bits events"), peer_of(subject, "xnnpack"))
            for bits, (vnni, avx2) in AIMS.items()]  # fmt: skip


def network_ratios(name, subject):
    def run(setting, threads=1):
        return key(subject, "guardbit", setting, threads)

    def peer(kind):
        return peer_of(subject, kind)

    return [
        *command_ratios(name, subject),
        (f"{name}, 14 bits, whole command, `full` against `events`", "at most 2.5",
         run("whole command 14 bits full"), run("whole command 14 bits events")),
        *((f"{name}, engine alone, {bits} bits, time against LiteRT + XNNPACK", "", run(f"{bits} bits events"), peer("xnnpack"))
          for bits in AIMS),
        (f"{name}, engine alone, 14 bits, against LiteRT's reference", "", run("14 bits events"), peer("reference")),
        (f"{name}, engine alone, 32 bits, against rten-gemm's matrix products alone", "", run("32 bits events"),
         key(subject, "rten-gemm", "exact sums of every layer")),
        (f"{name}, 14 bits, one thread against two", "at least 1.8", run("14 bits events"), run("14 bits events", 2)),
    ]  # fmt: skip


DATAPATHS = ["chain of 16 rows in 14 bits under 20", "chain of 16 rows in 18 bits under 20", "tree of 16 in 14 bits under 20",
             "tree of 16 in 18 bits under 20", "int16 x int8 in 28 bits", "gemmini-16"]  # fmt: skip


def datapath_ratios(stats, isa):
    """How often one level of 14 bits is done in the time of another datapath: figures are rates."""
    level = key(LAYER, "guardbit", f"14 bits saturating {stats} {isa}")
    return [(f"{datapath}, `{stats}`, {isa}, time against one level of 14 bits", "at most 3", level,
             key(LAYER, "guardbit", f"{datapath} {stats} {isa}"))
            for datapath in DATAPATHS]  # fmt: skip


AVX2, AVX512 = (key(LAYER, "guardbit", f"kernel 14 bits saturating events {isa}") for isa in ("Avx2", "Avx512Vnni"))
PER_STEP = "14 bits saturating events"
# What is compared, what is wanted, and which figure is divided by which; the median of a figure where there is but one.
RATIOS = [
    *((f"stepping kernel, 14 bits saturating, events, {name}, G MAC/s", "", kernel, None)
      for name, kernel in (("AVX2", AVX2), ("AVX-512", AVX512))),
    *((f"{name} against numpy per step, {how}", "at least 40", kernel, key(LAYER, "numpy", f"{PER_STEP} {how}"))
      for name, kernel in (("AVX2", AVX2), ("AVX-512", AVX512)) for how in ("int32", "int16 in place")),
    ("AVX-512 against PyTorch per step, int16, in place", "", AVX512, key(LAYER, "pytorch", f"{PER_STEP} int16 in place")),
    *(ratio for isa in ("Avx2", "Avx512Vnni") for stats in ("events", "full") for ratio in datapath_ratios(stats, isa)),
    *network_ratios("ResNet-8", RESNET),
    *network_ratios("visual wake words", VWW),
    *command_ratios("MobileNetV2", MOBILENET),
    ("isolated sweep, value columns, in runs with `full`", "at most 4",
     key(RESNET, "guardbit", "isolated sweep values / isolated run full"), None),
    ("isolated sweep, event counts, in runs with `full`", "at most 4",
     key(RESNET, "guardbit", "isolated sweep events / isolated run full"), None),
    ("isolated sweep, all columns, in runs with `full`", "",
     key(RESNET, "guardbit", "isolated sweep full / isolated run full"), None),
    ("propagated sweep against its points run alone", "at most 0.5",
     key(RESNET, "guardbit", "propagated sweep / its points alone"), None),
    ("peak memory, 2,000 samples against 200, `run`", "at most 1.2",
     key(RESNET, "guardbit", "run of 2000 / 200 samples", 2), None),
    ("peak memory, 2,000 samples against 200, `sweep`", "at most 1.2",
     key(RESNET, "guardbit", "sweep of 2000 / 200 samples", 2), None),
]  # fmt: skip


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def summary(values):
    return f"{statistics.median(values):.3g}", f"{min(values):.3g}..{max(values):.3g}"


def main(path):
    figures, units = {}, {}
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            of = key(line["subject"], line["tool"], line["setting"], line["threads"])
            figures.setdefault(of, {})[line["round"]] = float(line["figure"])
            units[of] = line["unit"]
    row("figure", "wanted", "median", "least..greatest")
    print("|---|---|---|---|")
    for label, wanted, numerator, denominator in RATIOS:
        above, below = figures.get(numerator, {}), figures.get(denominator, {})
        values = [above[r] / (below[r] if denominator else 1) for r in above if not denominator or r in below]
        row(label, wanted, *(summary(values) if values else ("not measured", "")))
    print()
    row("subject", "tool", "setting", "threads", "median", "least..greatest", "unit")
    print("|---|---|---|---|---|---|---|")
    for of, by_round in figures.items():
        row(*of, *summary(by_round.values()), units[of])


if __name__ == "__main__":
    main(sys.argv[1])

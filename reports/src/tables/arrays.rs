//! Arrays of `.npz` files: their keys and meanings.

/// Array of an archive.
#[derive(Debug, Clone, Copy)]
pub struct NpzKey {
    /// Key; `NAME` in it stands for the name of a tensor.
    pub name: &'static str,
    /// Type of its elements.
    pub dtype: &'static str,
    /// Its shape.
    pub shape: &'static str,
    /// Unit of the elements; empty without one.
    pub unit: &'static str,
    /// Condition under which the array is present; empty if it always is.
    pub when: &'static str,
    /// Meaning of the elements.
    pub meaning: &'static str,
}

/// Archive file.
#[derive(Debug, Clone, Copy)]
pub struct NpzFile {
    /// Command that writes the archive.
    pub command: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Content of the archive.
    pub about: &'static str,
    /// Arrays of the archive.
    pub keys: &'static [NpzKey],
}

/// Names in archives of the two runs of a tensor.
pub const RUNS: [&str; 2] = ["exact", "simulated"];

const TENSOR: &str = "`[samples, ...]`, then the shape of the tensor";

/// Array with the label of every sample.
pub const LABEL: NpzKey = NpzKey {
    name: "label",
    dtype: "int32",
    shape: "`[samples]`",
    unit: "",
    when: "with labels that are classes or anomalies",
    meaning: "The label: a class; for a detector, 1 for an anomaly and 0 otherwise.",
};

/// Arrays with the top-1 classes, exact and simulated.
pub const CLASSES: [NpzKey; 2] = [
    NpzKey {
        name: "exact_class",
        dtype: "int32",
        shape: "`[samples]`",
        unit: "",
        when: "if the task is `classify`",
        meaning: "Top-1 class of the exact network, ties to the lowest index.",
    },
    NpzKey {
        name: "simulated_class",
        dtype: "int32",
        shape: "`[samples]`",
        unit: "",
        when: "if the task is `classify`; not in isolated mode",
        meaning: "Top-1 class of the narrow hardware.",
    },
];

/// Arrays with the scores of a detector, exact and simulated.
pub const SCORES: [NpzKey; 2] = [
    NpzKey {
        name: "exact_score",
        dtype: "float32",
        shape: "`[samples]`",
        unit: "square of the input's, or the output's",
        when: "if the task is `detect`",
        meaning: "Score of the exact network: the mean squared difference of the real values of its output \
                  and its input, or the only value of its output. Higher scores are more anomalous.",
    },
    NpzKey {
        name: "simulated_score",
        dtype: "float32",
        shape: "`[samples]`",
        unit: "square of the input's, or the output's",
        when: "if the task is `detect`; not in isolated mode",
        meaning: "Score of the narrow hardware, computed in the same way.",
    },
];

const SMALL: &str = "for outputs of at most 64 elements, if all codes take at most 4 MiB";

/// Arrays of `predictions.npz`.
const PREDICTIONS: [NpzKey; 7] = [
    LABEL,
    CLASSES[0],
    CLASSES[1],
    SCORES[0],
    SCORES[1],
    NpzKey {
        name: "exact/NAME",
        dtype: "dtype of the codes",
        shape: TENSOR,
        unit: "codes",
        when: SMALL,
        meaning: "Output NAME of the exact network.",
    },
    NpzKey {
        name: "simulated/NAME",
        dtype: "dtype of the codes",
        shape: TENSOR,
        unit: "codes",
        when: "same condition same condition as `exact/NAME`; not in isolated mode",
        meaning: "Output NAME of the narrow hardware.",
    },
];

/// Arrays of the two runs of a tensor.
const TENSORS: [NpzKey; 2] = [
    NpzKey {
        name: "exact/NAME",
        dtype: "dtype of the codes",
        shape: TENSOR,
        unit: "codes",
        when: "",
        meaning: "Tensor NAME of the exact network.",
    },
    NpzKey {
        name: "simulated/NAME",
        dtype: "dtype of the codes",
        shape: TENSOR,
        unit: "codes",
        when: "",
        meaning: "Tensor NAME of the narrow hardware; in isolated mode, computed by its own layer from exact \
                  inputs.",
    },
];

const INPUT: NpzKey = NpzKey {
    name: "NAME",
    dtype: "dtype of the codes",
    shape: TENSOR,
    unit: "codes",
    when: "",
    meaning: "Samples of input NAME, as `--input` takes them.",
};

const WITNESS: NpzKey = NpzKey {
    name: "NAME",
    dtype: "dtype of the codes",
    shape: "shape of the tensor",
    unit: "codes",
    when: "",
    meaning: "The layer's own input NAME.",
};

const BINS: &str = "`[channels, bins + 2]`";

/// Arrays of `sum_histograms.npz`.
const HISTOGRAMS: [NpzKey; 4] = [
    NpzKey {
        name: "edges/NAME/LEVEL",
        dtype: "int64",
        shape: "`[bins + 1]`",
        unit: "units of the level",
        when: "",
        meaning: "Least value of every bin of level LEVEL of layer NAME, and the value after the last bin.",
    },
    NpzKey {
        name: "final/NAME/LEVEL",
        dtype: "int64",
        shape: BINS,
        unit: "sums",
        when: "",
        meaning: "Counts of the final sums of every run, by output channel and bin. The first column counts \
                  sums below all bins, the last column sums above all bins.",
    },
    NpzKey {
        name: "min_prefix/NAME/LEVEL",
        dtype: "int64",
        shape: BINS,
        unit: "dot products",
        when: "",
        meaning: "Counts of the least of 0 and all prefixes, in the same layout.",
    },
    NpzKey {
        name: "max_prefix/NAME/LEVEL",
        dtype: "int64",
        shape: BINS,
        unit: "dot products",
        when: "",
        meaning: "Counts of the greatest of 0 and all prefixes, in the same layout.",
    },
];

/// Arrays of `sums.npz`.
const SUMS: [NpzKey; 2] = [
    NpzKey {
        name: "exact/NAME",
        dtype: "int64",
        shape: TENSOR,
        unit: "units of a product",
        when: "",
        meaning: "Exact sums of layer NAME, a preloaded bias included, on the activations that it read.",
    },
    NpzKey {
        name: "delivered/NAME",
        dtype: "int64",
        shape: TENSOR,
        unit: "units at the end of the datapath",
        when: "",
        meaning: "Delivered sums of layer NAME: the results of its last level.",
    },
];

const SAMPLE_EVENTS: NpzKey = NpzKey {
    name: "NAME",
    dtype: "int64",
    shape: "`[samples, 3]`",
    unit: "events",
    when: "",
    meaning: "Events of layer NAME in every sample: in its accumulation levels, its product register and its \
              bias.",
};

/// Every archive that guardbit writes.
pub(super) const ARCHIVES: &[NpzFile] = &[
    NpzFile { command: "run", file: "outputs.npz", about: "The outputs of the network.", keys: &TENSORS },
    NpzFile {
        command: "run",
        file: "predictions.npz",
        about: "The network's results for every sample.",
        keys: &PREDICTIONS,
    },
    NpzFile {
        command: "run",
        file: "sample_events.npz",
        about: "With `--stats` `events` and `full`: the events of every sample, layer by layer. `samples.csv` has their sums.",
        keys: &[SAMPLE_EVENTS],
    },
    NpzFile {
        command: "run",
        file: "tensors.npz",
        about: "With `--dump-tensors`: every tensor of the network.",
        keys: &TENSORS,
    },
    NpzFile {
        command: "run",
        file: "inputs.npz",
        about: "With random samples: the samples.",
        keys: &[INPUT],
    },
    NpzFile {
        command: "run",
        file: "sum_histograms.npz",
        about: "With `--histograms`: the distribution of the sums of every level with unlimited widths. \
                NAME is the name of the layer's output.",
        keys: &HISTOGRAMS,
    },
    NpzFile {
        command: "run",
        file: "sums.npz",
        about: "With `--dump-sums`: the sums of the requested layers, in the shapes of their outputs.",
        keys: &SUMS,
    },
    NpzFile {
        command: "sweep",
        file: "predictions/NNNNN.npz",
        about: "The network's results for every sample at point NNNNN, the row of `summary.csv` counted from \
                0.",
        keys: &PREDICTIONS,
    },
    NpzFile {
        command: "size",
        file: "inputs.npz",
        about: "With random samples: the samples.",
        keys: &[INPUT],
    },
    NpzFile {
        command: "size",
        file: "witnesses/INDEX_LEVEL.npz",
        about: "An input of the layer for which the level requires the proved width.",
        keys: &[WITNESS],
    },
];

//! The effort of a processor for an operation that the accelerator does not run: operations on numbers, and bytes.
//!
//! One operation is one instruction on one 32-bit lane of a vector unit such as Arm's Helium and Neon: an addition, a
//! comparison, a multiplication with or without an addition, the rounded high half of a product, a rounded shift, or
//! a load from a table. The file of each operation counts what its formula needs. Reading and writing codes and
//! counting loops are not included.

use crate::{Graph, NodeId, Op};

/// Cost of `round(x * multiplier * 2^exponent) + zero point`: the high half of a product, a shift and an addition.
pub(crate) const REQUANTIZE: u32 = 3;
/// Cost of a clamp to two bounds.
pub(crate) const CLAMP: u32 = 2;
/// Cost of subtracting a zero point.
pub(crate) const CENTRE: u32 = 1;
/// Cost of a table lookup: the index and its entry.
pub(crate) const LOOKUP: u32 = 2;
/// Cost of a lookup with linear interpolation: the index and the rest, two entries, their difference, a product and
/// its rounded shift, and a sum.
pub(crate) const INTERPOLATE: u32 = 8;
/// Cost of gemmlowp's `exp_on_negative_values`: 3 for the quarter, 12 for the polynomial, 1 for the rest, 3 for each
/// of 7 bits.
pub(crate) const FIXED_EXP: u32 = 37;
/// Cost of gemmlowp's `one_over_one_plus_x`: 4 for the estimate, 5 for each of 3 Newton steps.
pub(crate) const FIXED_RECIPROCAL: u32 = 19;

/// Costs of functions of real values, from onnx-tool (ThanatosShinji/onnx-tool, `node.py`).
pub(crate) mod real {
    /// Cost of `exp`, `log` and `erf`. The source does not list `erf`.
    pub const EXP: u32 = 16;
    pub const DIVIDE: u32 = 2;
    pub const ROOT: u32 = 4;
    pub const POWER: u32 = 32;
    pub const SINE: u32 = 14;
    /// Cost of a quotient of two exponentials, of which one is computed.
    pub const TANH: u32 = EXP + DIVIDE + 3;
}

/// The effort of a host for an operation, in operations on 32-bit numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Operations per element of the output.
    pub per_output: u32,
    /// Operations per element of the first input.
    pub per_input: u32,
    /// Operations per cell of its windows, padding included. If the operation multiplies, this is per product.
    pub per_cell: u32,
    /// The bytes that it reads and writes.
    pub moves: Moves,
}

/// The bytes that an operation reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// None: the output is the input with another shape.
    Nothing,
    /// Equal numbers of bytes read and written: the output consists of elements of the inputs.
    Outputs,
    /// All inputs, constants included, and the output, once each.
    Everything,
}

impl Effort {
    /// The effort of changing only the shape.
    pub(crate) const NOTHING: Self = Self { per_output: 0, per_input: 0, per_cell: 0, moves: Moves::Nothing };
    /// The effort of moving elements.
    pub(crate) const COPY: Self = Self { moves: Moves::Outputs, ..Self::NOTHING };
    /// The effort of a convolution or matrix product: a multiplication with addition per product, a bias and a
    /// requantization.
    pub(crate) const PRODUCTS: Self = Self::per_cell(1).and_output(1 + REQUANTIZE + CLAMP);

    /// Returns an effort of `operations` per element of the output.
    pub(crate) const fn per_output(operations: u32) -> Self {
        Self { per_output: operations, moves: Moves::Everything, ..Self::NOTHING }
    }

    /// Returns an effort of `operations` per element of the first input.
    pub(crate) const fn per_input(operations: u32) -> Self {
        Self { per_input: operations, moves: Moves::Everything, ..Self::NOTHING }
    }

    /// Returns an effort of `operations` per cell of a window.
    pub(crate) const fn per_cell(operations: u32) -> Self {
        Self { per_cell: operations, moves: Moves::Everything, ..Self::NOTHING }
    }

    /// Returns this effort with `operations` per element of the output.
    pub(crate) const fn and_output(self, operations: u32) -> Self {
        Self { per_output: operations, ..self }
    }
}

/// The work of a processor for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Operations on 32-bit numbers.
    pub operations: u64,
    /// Bytes read and written. An element takes whole bytes.
    pub bytes: u64,
}

impl Work {
    fn and(self, other: Self) -> Self {
        Self {
            operations: self.operations.saturating_add(other.operations),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl Graph {
    /// Returns the work of a processor that runs a node.
    pub fn work(&self, id: NodeId) -> Work {
        let node = self.node(id);
        if let Op::Composite(composite) = &node.op {
            let body = composite.body();
            return body.nodes_with_ids().fold(Work::default(), |all, (id, _)| all.and(body.work(id)));
        }
        let effort = node.op.effort(&self.operands(node));
        let elements = |tensor| self.tensor(tensor).ty.len() as u64;
        let bytes = |tensor| {
            let bits = self.tensor(tensor).ty.dtype.bits();
            elements(tensor).saturating_mul(bits.div_ceil(8).into())
        };
        let first = node.inputs.first().copied().flatten().map_or(0, elements);
        let cells = || {
            let products = self.products(id).map(|products| products.macs());
            let window =
                || self.window(id).map(|window| (window.terms() as u64).saturating_mul(window.dots() as u64));
            products.or_else(window).unwrap_or(0)
        };
        let cells = if effort.per_cell > 0 { cells() } else { 0 };
        let parts =
            [(effort.per_output, elements(node.output)), (effort.per_input, first), (effort.per_cell, cells)];
        let operations = parts.map(|(each, count)| count.saturating_mul(each.into()));
        let output = bytes(node.output);
        let inputs = node.inputs.iter().flatten().map(|&input| bytes(input));
        Work {
            operations: operations.into_iter().fold(0, u64::saturating_add),
            bytes: match effort.moves {
                Moves::Nothing => 0,
                Moves::Outputs => output.saturating_mul(2),
                Moves::Everything => inputs.fold(output, u64::saturating_add),
            },
        }
    }
}

const INTRODUCTION: &str = "\
# Time of the host

To see how long the host takes for the operations that the accelerator does not run, look at the host lines of a run:

```console
$ guardbit run examples/digits/digits_int8.tflite --hw fpga-int14-os --random 4 -o out/host
...
cycles            2,288
host cycles       1,296
latency           11.9 µs
  of them         accelerator 7.63 µs, host 4.32 µs
...
$ cat out/host/host.csv
index,layer,op,elements,operations,bytes,cycles,bound,share,name
3,digits_1/pool_1/AvgPool,avg_pool2d,288,2592,1440,1296,lanes,1.0,pool_1
4,digits_1/flatten_1/Reshape,reshape,288,0,0,0,nothing,0.0,flatten_1
```

The host runs everything that the accelerator does not: softmax, additions, pools that `offload` does not list, requantization between
layers, copies, and layers that no accelerator can run. Its time follows from two things. The table of [operations](#operations) states
what each operation takes, and the section `host` of the accelerator file how fast the host is:

<!-- not run: a part of a file -->
```yaml
host: {lanes: 2, ops_per_cycle: 1, bytes_per_cycle: 8}   # the defaults; clock_mhz: that of the accelerator
```

```text
cycles of the host        = max(ceil(operations / (lanes * ops_per_cycle)), ceil(bytes / bytes_per_cycle))
cycles of the accelerator = ceil(cycles of the host * clock_mhz / host.clock_mhz)
```

The pool above takes 2592 operations on 2 lanes, hence 1296 cycles.

## Where the figures appear

`guardbit run` prints the host cycles together with those of the accelerator. `host.csv` has them for every operation, `run.json` in
`timing`, and `guardbit inspect --hw` in the column `cycles`:

| figure | meaning |
|---|---|
| `cycles` | layers on the accelerator, one after the other |
| `host_cycles` | operations on the host, one after the other, in cycles of the accelerator's clock |
| `latency_us` | accelerator and host, one operation after the other: `accelerator_us + host_us` |
| `overlapped_cycles`, `overlapped_us` | accelerator and host at the same time: each side runs its operations in order, and each operation starts when its inputs are ready |

The overlapped time is at least that of the longer side and at most the sum of both. A plain chain of operations takes the sum.

There is one host, so a section `host` for a single layer is refused. An operation that takes the host more than 2^53 cycles is an error
(`too_many_cycles`). In explorations, the objective `latency` includes the host, and the objective `cycles` does not.

## The default host

The default is a small vector processor next to the accelerator, Arm's Cortex-M55. Its vector unit (Helium) processes two of the four 32-bit
lanes of a register per cycle, and loads or stores 64 bits. A scalar core has `lanes: 1`, a core with 128-bit vectors `lanes: 4`. Sources:
Arm, *Cortex-M55 Processor*; D. Schor, WikiChip Fuse, *Arm's New Cortex-M55 Breathes Helium*, 2020.

## What an operation counts

One operation is one vector instruction on one 32-bit lane:

- an addition, a comparison, or a multiplication with or without an addition;
- the rounded high half of a product, or a rounded shift;
- a load from a table.

The file of each operation in `graph/src/ops` counts the instructions of its formula. For example, an element of an addition takes 14:
2 * (zero point, shift, product, rounded shift) + 1 + requantization (3) + clamping (2).

Functions of real values take what onnx-tool (ThanatosShinji/onnx-tool) counts: `exp` 16, division 2, root 4, power 32. Codes are widened to
32 bits, as in kernels with 32-bit requantization.

The figures are a lower bound for scalar code and an estimate for vector code. They leave out:

- calls of kernels, interrupts, address arithmetic, loops and caches;
- work done once per row, such as the reciprocal of a softmax;
- instructions that process several 8-bit codes at once, which would make convolutions on the host several times faster.

## Operations

The columns count operations per element of the output, per element of the first input, and per cell of a window (per product, if the
operation multiplies). In the column `bytes`, `all` means that all inputs, constants included, and the output move once each. `copied`
means that an operation reads as many bytes as it writes, and `none` that it moves nothing.

If the count depends on an attribute, the table lists the highest; the operation counts its own. Such attributes are a table instead of
fixed point, 16-bit codes, and the function of `float_unary`. This page is generated from the code:
`scripts/renew -p guardbit-graph` renews it.

| operation | per output | per input | per cell | bytes |
|---|---|---|---|---|
";

/// Returns the effort of every operation on a host, as a page of Markdown.
pub fn host_text() -> String {
    let mut text = INTRODUCTION.to_owned();
    for kind in Op::KINDS {
        let Effort { per_output, per_input, per_cell, moves } = kind.effort;
        let cell = |count: u32| if count == 0 { String::new() } else { count.to_string() };
        let moves = match moves {
            Moves::Nothing => "none",
            Moves::Outputs => "copied",
            Moves::Everything => "all",
        };
        let [output, input, cells] = [per_output, per_input, per_cell].map(cell);
        text += &format!("| `{}` | {output} | {input} | {cells} | {moves} |\n", kind.name);
    }
    text
}

//! Describes datapaths in words: the order of additions, widths, and where overflow is checked.

use std::fmt::{self, Write};

use crate::timing::Feed;
use crate::{
    Accelerator, BiasPlace, BlockScaling, Datapath, FloatAccumulation, FloatIncoming, FloatReduce,
    FloatResult, Level, OutputFit, Packing, Register, Residency, Subnormals, Terms, TimingConvention,
};

impl Datapath {
    /// Returns the stages in the order of the data.
    pub fn stages(&self) -> Vec<String> {
        let axes = self.order.axes.map(|axis| axis.name()).join(" ");
        let walk = match self.order.walk.describe() {
            walk if walk.is_empty() => walk,
            walk => format!(", {walk}"),
        };
        let block = self.order.ic_block.map_or(String::new(), |n| format!(", per block of {n} ic"));
        let mut stages = vec![
            format!("order {axes}{block}{walk}"),
            format!("zero point {}", self.operands.zero_point),
            format!("product {}{}", register(self.product.register), dropped(self.product.shift)),
        ];
        stages.extend(self.levels.iter().map(level));
        // A preload has no adder of its own.
        let last = self.levels.last().filter(|_| self.bias.at == BiasPlace::Preload);
        stages.push(match last {
            Some(level) => format!("bias {} in `{}`, {}", self.bias.at, level.name, register(level.register)),
            None => format!("bias {} {}", self.bias.at, register(self.bias.register)),
        });
        let scheme =
            self.requantize.scheme.map_or("model's requantization".into(), |s| format!("requantize {s}"));
        stages.push(match self.requantize.output {
            OutputFit::Saturate => scheme,
            OutputFit::SaturateSymmetric => format!("{scheme}, restricted range"),
            OutputFit::Wrap => format!("{scheme}, low bits kept"),
        });
        stages
    }

    /// Returns the stages in one line.
    pub fn describe(&self) -> String {
        self.stages().join(" > ")
    }
}

impl FloatAccumulation {
    /// Returns the stages of a floating-point layer in words, in the order of the data.
    pub fn stages(&self) -> Vec<String> {
        let promotion =
            self.promote_terms.map(|terms| format!("promotion to float32 after every {terms} products"));
        match (self.reduce, self.result) {
            (FloatReduce::Aligned, FloatResult::Float(_)) => self.aligned_stages(promotion),
            (FloatReduce::Aligned, FloatResult::Fixed) => self.fixed_stages(promotion),
            (FloatReduce::Serial | FloatReduce::Pairwise, _) => self.ordinary_stages(promotion),
        }
    }

    fn fixed_stages(&self, promotion: Option<String>) -> Vec<String> {
        let Self { terms, fraction_bits, align_round, register: width, .. } = self;
        let stages = [
            "product exact".to_owned(),
            format!("cut to {fraction_bits} fraction bits {}", align_round.name()),
            format!("register {}, {} at a time", register(*width), products(*terms)),
            "result float32 half_even".to_owned(),
        ];
        stages.into_iter().chain(promotion).collect()
    }

    fn ordinary_stages(&self, promotion: Option<String>) -> Vec<String> {
        let Self { terms, result, result_round, .. } = self;
        let rounded = format!("{result} {}", result_round.name());
        let product = if self.fused { "product exact".to_owned() } else { format!("product {rounded}") };
        let flush = (self.subnormals == Subnormals::Flush).then(|| "subnormals become zero".to_owned());
        let tree =
            (self.reduce == FloatReduce::Pairwise).then(|| format!("tree of {terms} products, {rounded}"));
        let sum = format!("sum serial, {rounded}");
        [Some(product), flush, tree, Some(sum), promotion].into_iter().flatten().collect()
    }

    /// Returns terms, bits and result in few words.
    pub fn short(&self) -> String {
        let Self { terms, fraction_bits, result, .. } = self;
        match self.reduce {
            FloatReduce::Aligned => format!("float: {terms} terms, {fraction_bits} bits, {result}"),
            FloatReduce::Serial | FloatReduce::Pairwise => {
                format!("float: {} of {terms}, {result}", self.reduce)
            }
        }
    }

    fn aligned_stages(&self, promotion: Option<String>) -> Vec<String> {
        let Self { terms, fraction_bits, align_round, incoming, result, result_round, .. } = self;
        let (together, apart) = match incoming {
            FloatIncoming::Term => (" and the accumulator", None),
            FloatIncoming::Apart => ("", Some("accumulator added to the sum of the products".to_owned())),
        };
        let aligned =
            format!("align {terms} products{together}, {fraction_bits} fraction bits {}", align_round.name());
        let scales = match self.block_scales {
            BlockScaling::None => None,
            BlockScaling::PerTerm => Some("exponents of block scales added".to_owned()),
            BlockScaling::PerGroup => {
                Some(format!("{} products added exactly, times block scales", self.group_terms))
            }
        };
        [Some("product exact".to_owned()), scales, Some(aligned), Some("sum exact".to_owned()), apart]
            .into_iter()
            .chain([Some(format!("result {result} {}", result_round.name())), promotion])
            .flatten()
            .collect()
    }
}

impl fmt::Display for FloatAccumulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terms, fraction_bits, result, .. } = self;
        let promotion = |f: &mut fmt::Formatter<'_>| {
            self.promote_terms.map_or(Ok(()), |terms| write!(f, ", promoted to float32 after {terms}"))
        };
        let cut = self.align_round.name();
        match (self.reduce, result) {
            (FloatReduce::Aligned, FloatResult::Float(_)) => {}
            (FloatReduce::Aligned, FloatResult::Fixed) => {
                write!(f, "{} cut to {fraction_bits} fraction bits {cut}", products(*terms))?;
                write!(f, ", fixed-point register {}", register(self.register))?;
                return promotion(f);
            }
            (reduce, _) => {
                let group = if *terms > 1 { format!(" of {}", products(*terms)) } else { String::new() };
                let exact = if self.fused { ", products exact" } else { "" };
                write!(f, "{reduce}{group} in {result} {}{exact}", self.result_round.name())?;
                if self.subnormals == Subnormals::Flush {
                    write!(f, ", subnormals become zero")?;
                }
                return promotion(f);
            }
        }
        write!(f, "{terms} products aligned, {fraction_bits} fraction bits {cut}")?;
        if self.incoming == FloatIncoming::Apart {
            write!(f, ", accumulator added apart")?;
        }
        match self.block_scales {
            BlockScaling::None => {}
            BlockScaling::PerTerm => write!(f, ", block scales per term")?,
            BlockScaling::PerGroup => write!(f, ", block scales per group of {}", self.group_terms)?,
        }
        write!(f, ", to {result} {}", self.result_round.name())?;
        promotion(f)
    }
}

fn products(count: usize) -> String {
    format!("{count} product{}", if count == 1 { "" } else { "s" })
}

impl Accelerator {
    /// Returns the complete file of [`resolved_yaml`](Self::resolved_yaml) with comments that describe its
    /// datapath.
    pub fn commented_yaml(&self) -> String {
        let mut text = String::new();
        let mut add = |what: &str, accelerator: &Self| {
            // Writing to a string cannot fail.
            if let Some(float) = &accelerator.float {
                let _ = writeln!(text, "# {what} of floating-point codes, stage by stage:");
                for stage in float.stages() {
                    let _ = writeln!(text, "#   {stage}");
                }
            }
            let codes = if accelerator.float.is_some() { " of integer codes" } else { "" };
            let _ = writeln!(text, "# {what}{codes}, stage by stage:");
            for stage in accelerator.datapath.stages() {
                let _ = writeln!(text, "#   {stage}");
            }
            if let Packing::Dsp48e2Int8x2(fixup) = accelerator.packing.into() {
                let _ = writeln!(text, "#   packing dsp48e2_int8x2, fix-up {fixup}");
            }
        };
        add("Every layer", self);
        for (name, layer) in self
            .layers
            .iter()
            .filter(|(_, layer)| (&layer.datapath, layer.float) != (&self.datapath, self.float))
        {
            // A name may contain any character; a comment is one line.
            add(&format!("Layer {name:?}"), layer);
        }
        let notes: String = self.memory_notes().iter().map(|note| format!("#   {note}\n")).collect();
        text + "# Time and memory:\n" + &notes + &self.resolved_yaml()
    }

    /// Returns the cycle model's assumptions about this accelerator's memories.
    fn memory_notes(&self) -> Vec<String> {
        match self.timing.convention {
            TimingConvention::ScalesimV3 => {
                return vec!["compute cycles only; memories take no time".into()];
            }
            TimingConvention::EthosU => {
                return vec!["as estimated by the compiler for Ethos-U55, layer by layer".into()];
            }
            TimingConvention::Overlapped => {}
        }
        let Feed { operands, operand, sums } = Feed::new(self);
        let port = |key: &str, needed: f64, what: &str, rate: f64| {
            format!("the array needs {needed} bytes of {what} per cycle at full speed; {key} is {rate}")
        };
        let memory = &self.memory;
        let mut notes = vec![port("sram_bytes_per_cycle", operands, operand, memory.sram_bytes_per_cycle)];
        if sums > 0.0 {
            let rate = memory.accumulator_bytes_per_cycle;
            notes.push(port("accumulator_bytes_per_cycle", sums, "sums", rate));
        }
        let residency: &[&str] = match memory.residency {
            Residency::None => &[
                "every layer reads its activations from external memory and stores its outputs there",
                "activations do not stay on the chip between layers, even if they would fit",
            ],
            Residency::Fit => {
                &["activations stay on the chip between layers if they fit in addition to the layers' tiles"]
            }
        };
        notes.extend(residency.iter().map(|&note| note.to_owned()));
        notes.push("DRAM bytes: activations, weights, outputs, biases and requantization constants".into());
        notes
    }
}

fn level(level: &Level) -> String {
    let terms = match level.terms {
        Terms::Count(n) => n.to_string(),
        Terms::All => "all".into(),
    };
    let place = match level.register {
        Register::Auto => String::new(),
        Register::Fixed { .. } => format!(", checked at {}", level.check),
    };
    let width = register(level.register);
    format!("{}: {} of {terms}, {width}{place}{}", level.name, level.reduce, dropped(level.shift))
}

fn register(register: Register) -> String {
    match register {
        Register::Auto => "exact".into(),
        Register::Fixed { format, overflow } => {
            let sign = if format.is_signed() { "" } else { " unsigned" };
            format!("{} bits{sign} {overflow}", format.bits())
        }
    }
}

fn dropped(shift: u32) -> String {
    if shift == 0 { String::new() } else { format!(", drops {shift} bits") }
}

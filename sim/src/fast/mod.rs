//! The fast engine: equal to the reference, vectorized across outputs.
//!
//! Layers of one serial level whose operands fit 16 bits and whose exact sums fit 32 have kernels of their own;
//! [`levels`] does other datapaths, and the parallel engine what that leaves. Dot products that cannot overflow are
//! not stepped: by bounds from the weights and the input's range, or because their exact prefixes, or bounds of
//! them, fit.

mod finish;
mod image;
mod kernels;
mod levels;
mod places;
mod prepare;
mod simd;
mod step;
mod stepper;
mod stretch;
mod tally;
mod trace;
mod windows;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use guardbit_hwmodels::MacLayer;

pub(crate) use image::Image;
pub(crate) use levels::{LevelsLayer, LevelsTask};
pub(crate) use simd::{Kernels, available};
pub use stepper::Stepper;

use crate::options::Options;
use crate::spare::Spare;
use crate::stats::LayerStats;
use finish::Finisher;
use image::Geometry;
use places::Places;
use prepare::{Block, Path};
use stretch::Point;

/// How many dot products the fast engine settled in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// Their weights and the range of their inputs say that they cannot overflow.
    pub by_weights: u64,
    /// Their own sums say so: exact prefixes, or bounds of them.
    pub by_sums: u64,
    /// They were walked addition by addition on the narrow register.
    pub stepped: u64,
}

impl Settled {
    pub(crate) fn merge(&mut self, other: Self) {
        self.by_weights += other.by_weights;
        self.by_sums += other.by_sums;
        self.stepped += other.stepped;
    }
}

/// A layer as the fast engine runs it, as far as it covers it.
#[derive(Debug, Default)]
pub(crate) struct Prepared<'a> {
    /// One serial level.
    one: Option<FastLayer<'a>>,
    /// Any other datapath.
    pub levels: Option<LevelsLayer<'a>>,
}

impl<'a> Prepared<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`. `like` is a layer that differs in its registers and
    /// timing alone: what does not depend on them is shared.
    pub fn new(
        layer: &'a MacLayer,
        codes: RangeInclusive<i32>,
        like: Option<&Self>,
        options: &Options,
        spare: &Arc<Spare>,
    ) -> Self {
        let like = like.and_then(|like| like.one.as_ref());
        let one = FastLayer::new(layer, codes.clone(), like, options, spare);
        let covered = one.as_ref().is_some_and(FastLayer::covers_datapath);
        let levels = if covered { None } else { LevelsLayer::new(layer, codes, options) };
        Self { one, levels }
    }

    /// Whether the narrow run is covered.
    pub fn covers_datapath(&self) -> bool {
        self.covered().is_some() || self.levels.is_some()
    }

    /// The layer of one serial level, if its narrow run is covered.
    pub fn covered(&self) -> Option<&FastLayer<'a>> {
        self.one.as_ref().filter(|fast| fast.covers_datapath())
    }

    /// Lays out the codes of one sample, where the narrow run is covered.
    pub fn image(&self, codes: &[i32]) -> Option<Image> {
        match self.covered() {
            Some(fast) => Some(fast.image(codes)),
            None => self.levels.as_ref().map(|levels| levels.image(codes)),
        }
    }

    /// The exact output codes of one sample, where they are covered.
    pub fn exact_codes(&self, codes: &[i32]) -> Option<Vec<i32>> {
        match &self.one {
            Some(fast) => Some(fast.exact_codes(&fast.image(codes))),
            None => self.levels.as_ref().map(|levels| levels.exact_codes(&levels.image(codes))),
        }
    }
}

/// A layer prepared for the fast engine.
#[derive(Debug)]
pub(crate) struct FastLayer<'a> {
    layer: &'a MacLayer,
    kernels: Kernels,
    geometry: Arc<Geometry>,
    blocks: Arc<[Block]>,
    finisher: Finisher<'a>,
    /// `None` where only the exact run is covered.
    path: Option<Path>,
    places: Arc<Places<'a>>,
    /// Where output codes get their memory.
    spare: Arc<Spare>,
}

impl<'a> FastLayer<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`, beside one like it. `None` if not even its exact run
    /// is covered.
    pub fn new(
        layer: &'a MacLayer,
        codes: RangeInclusive<i32>,
        like: Option<&Self>,
        options: &Options,
        spare: &Arc<Spare>,
    ) -> Option<Self> {
        let (geometry, blocks) = match like {
            Some(like) => (Arc::clone(&like.geometry), Arc::clone(&like.blocks)),
            None => {
                let geometry = Geometry::new(layer);
                let blocks = prepare::blocks(layer, &geometry, codes.clone())?.into();
                (Arc::new(geometry), blocks)
            }
        };
        let path = prepare::path(layer, &geometry, codes, &blocks);
        let kernels = Kernels::choose(options.body);
        let finisher = Finisher::new(layer, &blocks, path);
        let places = match like.filter(|like| like.layer.timing.places_like(&layer.timing)) {
            Some(like) => Arc::clone(&like.places),
            None => Arc::new(Places::new(layer, &blocks)),
        };
        Some(Self { layer, kernels, geometry, blocks, finisher, path, places, spare: Arc::clone(spare) })
    }

    /// Whether the narrow run is covered too.
    pub fn covers_datapath(&self) -> bool {
        self.path.is_some()
    }

    /// Lays out the codes of one sample.
    pub fn image(&self, codes: &[i32]) -> Image {
        self.geometry.image(codes)
    }

    /// The exact output codes of one sample.
    pub fn exact_codes(&self, image: &Image) -> Vec<i32> {
        stretch::exact_codes(self, image, 0..self.geometry.pixels())
    }
}

/// The narrow runs of some pixels of one sample through layers that differ in their registers alone, each counted in
/// its own statistics. Their datapaths must be covered. Gives the exact codes and what each layer made, `None` where
/// that is the same.
pub(crate) fn run(
    layers: Vec<(&FastLayer<'_>, &mut LayerStats, &mut Settled)>,
    image: &Image,
    pixels: Range<usize>,
    sample: usize,
    options: &Options,
) -> (Vec<i32>, Vec<Option<Vec<i32>>>) {
    let (mut points, mut counts) = (Vec::new(), Vec::new());
    for (layer, stats, settled) in layers {
        let Some(path) = layer.path else { continue };
        points.push(Point::new(layer, path, stats, &pixels));
        counts.push(settled);
    }
    let exact = stretch::run(&mut points, image, pixels, sample, options);
    let changed = |(point, count): (Point<'_, '_>, &mut Settled)| {
        let (codes, settled) = point.into_codes(&exact);
        count.merge(settled);
        codes
    };
    let codes = points.into_iter().zip(counts).map(changed).collect();
    (exact, codes)
}

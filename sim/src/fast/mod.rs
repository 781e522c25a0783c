//! Fast engine: equal to the reference, vectorized across outputs.
//!
//! Layers of one serial level whose operands fit 16 bits and whose exact sums fit 32 bits run tile by tile.
//! [`levels`] runs any other datapath, pixel by pixel. Dot products that cannot overflow are not stepped. This
//! is known from bounds computed from the weights and the input's range, or because their exact prefixes, or
//! bounds of them, fit.

mod basis;
mod blocks;
mod bytes;
mod cells;
mod counters;
mod exact;
mod finish;
mod forms;
mod image;
mod kernels;
mod levels;
mod norms;
mod pairs;
mod places;
mod placing;
mod plane;
mod policy;
mod prepare;
mod simd;
mod singles;
mod span;
mod step;
mod stepper;
mod tiles;
mod windows;
mod words;

use std::ops::{Deref, Range, RangeInclusive};
use std::sync::Arc;

use guardbit_graph::DType;
use guardbit_hwmodels::{Datapath, MacLayer};
use guardbit_num::Overflow;

pub(crate) use image::Image;
pub(crate) use kernels::{Aligned, LANES};
pub(crate) use places::Sites;
pub(crate) use plane::Plane;
pub(crate) use simd::{Kernels, Vectorized, available};
pub use stepper::Stepper;
pub(crate) use tiles::{Job, Scratch};

use crate::accumulate::Accumulate;
use crate::codes::{Codes, Packed, PackedMut, Spare};
use crate::error::Trap;
use crate::options::Options;
use crate::stats::{EventCounts, LayerStats};
use basis::Basis;
use counters::{AnyCounters, Counters};
use finish::Finisher;
use levels::LevelsLayer;
use norms::Norms;
use places::Heat;
use places::schedule::PlaceCounters;
use policy::Policy;
use prepare::{Narrow, Path, SumBlock};
use tiles::Run;

/// Numbers of dot products by the way in which the fast engine settled them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// Dot products that cannot overflow, as their weights and the range of their inputs show.
    pub by_weights: u64,
    /// Dot products that do not overflow, as their exact prefixes, or bounds of them, show.
    pub by_sums: u64,
    /// Dot products that were stepped addition by addition on the narrow register.
    pub stepped: u64,
}

crate::accumulate_fields!(Settled { by_weights, by_sums, stepped });

/// Counts of a layer before they are added to the statistics.
#[derive(Debug)]
pub(crate) struct LayerCounts {
    pub stats: LayerStats,
    pub settled: Settled,
    /// Counts not yet in `stats`: see [`Self::flush`].
    counters: AnyCounters,
    /// Events of layers of one serial level by place.
    places: PlaceCounters,
    /// Events of any other datapath in moving dot products.
    heat: Heat,
    /// Policies by block.
    policies: Vec<Policy>,
    /// Number of pixels not yet in `stats`.
    pixels: u64,
    /// Number of additions for which the counters still have room, whichever lanes they belong to.
    room: u64,
    /// Events up to the sample before.
    before: EventCounts,
}

impl LayerCounts {
    /// Lanes count up to 2^31 additions; in the timeline, those of all blocks together.
    const ROOM: u64 = 1 << 30;

    /// Returns empty counts.
    pub fn new(stats: LayerStats, prepared: &Prepared<'_>) -> Self {
        let (counters, policies) = match prepared.route() {
            Some(Route::Tiles(layer, path)) => {
                let blocks = layer.blocks();
                let policies = blocks.iter().map(|block| Policy::new(block, path)).collect();
                (AnyCounters::Bits32(Counters::new(blocks.len(), 1)), policies)
            }
            Some(Route::Levels(levels)) => (levels.counters(), Vec::new()),
            None => (AnyCounters::Bits32(Counters::new(0, 0)), Vec::new()),
        };
        Self {
            stats,
            settled: Settled::default(),
            counters,
            places: PlaceCounters::default(),
            heat: Heat::default(),
            policies,
            pixels: 0,
            room: Self::ROOM,
            before: EventCounts::default(),
        }
    }

    /// Returns empty counts of equal shape, for samples from `first` on.
    pub fn empty(&self, prepared: &Prepared<'_>, first: usize) -> Self {
        Self::new(self.stats.empty_part(first), prepared)
    }

    /// Returns the number of events so far.
    pub fn events(&self) -> u64 {
        let EventCounts { levels, products, biases } = self.stats.counted();
        levels + products + biases + self.counters.events()
    }

    /// Returns the events since the last call: those of the sample that has just run.
    pub fn take_events(&mut self) -> EventCounts {
        let counted = self.stats.counted();
        let all = EventCounts { levels: counted.levels + self.counters.events(), ..counted };
        let before = std::mem::replace(&mut self.before, all);
        EventCounts {
            levels: all.levels - before.levels,
            products: all.products - before.products,
            biases: all.biases - before.biases,
        }
    }

    /// Adds what another part counted, which was flushed.
    pub fn merge(&mut self, other: Self) {
        self.stats.merge(other.stats);
        self.settled.merge(other.settled);
    }

    /// Moves all counts to the statistics.
    pub fn flush(&mut self, prepared: &Prepared<'_>, options: &Options) {
        let Some(route) = prepared.route().filter(|_| self.room < Self::ROOM) else { return };
        let Self { stats, counters, places, heat, pixels, room, .. } = self;
        let layer = match route {
            Route::Tiles(fast, _) => {
                stats.count_dots(std::mem::take(pixels), fast.layer.order.len() as u64, options);
                places.flush(|| fast.sites.schedule(), stats);
                fast.layer
            }
            Route::Levels(levels) => {
                levels.flush_heat(heat, stats);
                levels.layer()
            }
        };
        if let Some(basis) = &prepared.basis {
            let signed = |level: usize| layer.datapath.levels[level].register.is_signed();
            counters.flush(&basis.blocks, signed, stats, options.stats);
        }
        *room = Self::ROOM;
    }

    /// Makes room for `additions`.
    fn reserve(&mut self, additions: usize, prepared: &Prepared<'_>, options: &Options) {
        let additions = additions as u64;
        if additions > self.room {
            self.flush(prepared, options);
        }
        self.room = self.room.saturating_sub(additions);
    }
}

/// Prepared layer of the fast engine, as far as the engine supports it.
#[derive(Debug, Default)]
pub(crate) struct Prepared<'a> {
    /// Times and places of its dot products; `None` if the engine is not selected.
    pub sites: Option<Arc<Sites<'a>>>,
    basis: Option<Arc<Basis>>,
    /// Exact sums of the layer, and its narrow run if it has one serial level.
    one: Option<FastLayer<'a>>,
    /// Layer of any other datapath, or with a register that traps.
    levels: Option<LevelsLayer<'a>>,
}

/// How the narrow run of a layer is computed.
enum Route<'p, 'a> {
    /// One serial level, tile by tile.
    Tiles(&'p FastLayer<'a>, Path),
    /// Any other datapath, pixel by pixel.
    Levels(&'p LevelsLayer<'a>),
}

/// Result of a range of pixels on the narrow hardware.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// Output codes; `None` if they equal the exact ones.
    pub codes: Option<Packed>,
    /// First overflow of a register that traps, if the datapath has more than one serial level.
    pub trap: Option<Trap>,
}

impl<'a> Prepared<'a> {
    /// Returns what a layer whose weights differ from run to run has in all of them.
    pub fn without_weights(sites: Arc<Sites<'a>>) -> Self {
        Self { sites: Some(sites), ..Self::default() }
    }

    /// Prepares `layer`, whose activation codes lie in `codes` and whose output has type `output`. `like` is
    /// a prepared layer that differs only in its registers and timing; data that does not depend on these is
    /// shared. Forms of the weights that are made on demand live as long as the layer if they are `kept`. `sites` are
    /// those of the layer.
    pub fn new(
        layer: &'a MacLayer,
        codes: RangeInclusive<i32>,
        output: DType,
        like: Option<&Self>,
        kept: bool,
        sites: Arc<Sites<'a>>,
        options: &Options,
    ) -> Self {
        let basis = match like.and_then(|like| like.basis.clone()) {
            Some(basis) => Some(basis),
            None => Basis::new(layer, codes, output, kept, options).map(Arc::new),
        };
        let one = basis.as_ref().and_then(|basis| FastLayer::new(layer, basis, Arc::clone(&sites), options));
        let covered = one.as_ref().is_some_and(|fast| fast.path.is_some());
        // Levels also describe what trapped.
        let needed = basis.as_ref().filter(|_| !covered || traps(layer));
        let levels = needed.and_then(|basis| LevelsLayer::new(layer, basis, Arc::clone(&sites)));
        Self { sites: Some(sites), basis, one, levels }
    }

    /// Returns how the narrow run is computed, if it is supported.
    fn route(&self) -> Option<Route<'_, 'a>> {
        let tiles = self.one.as_ref().and_then(|fast| Some(Route::Tiles(fast, fast.path?)));
        tiles.or_else(|| Some(Route::Levels(self.levels.as_ref()?)))
    }

    /// Returns whether the narrow run is supported.
    pub fn runs(&self) -> bool {
        self.route().is_some()
    }

    /// Finds the first overflow of a register that traps in a range of pixels of a layer that has run tile by tile.
    pub fn find_trap(&self, job: Job<'_>, stats: LayerStats) -> Option<Trap> {
        // Other datapaths find it as they run.
        let Route::Tiles(..) = self.route()? else { return None };
        let levels = self.levels.as_ref()?;
        let mut counts = LayerCounts { counters: levels.counters(), ..LayerCounts::new(stats, self) };
        let mut exact = Packed::zeros(levels.output, job.pixels().len() * levels.channels);
        levels.run(job, &mut counts, &mut Spare::default(), &mut exact.as_mut()).trap
    }

    /// Keeps what runs of the layer make on demand until the result is dropped.
    pub fn hold(&self) -> impl Sized + use<> {
        self.basis.as_ref().map(|basis| basis.hold_forms())
    }

    /// Lays out the codes of one sample, if a run is supported.
    pub fn image<'c>(&self, codes: &'c Codes) -> Option<Image<'c>> {
        Some(self.basis.as_ref()?.geometry.image(codes))
    }

    /// Returns the exact output codes of some pixels of one sample, if supported.
    pub fn exact_codes(
        &self,
        image: &Image<'_>,
        pixels: Range<usize>,
        options: &Options,
        scratch: &mut Scratch,
    ) -> Option<Codes> {
        match &self.one {
            Some(fast) => {
                let mut out = scratch.spare().take(fast.output, pixels.len() * fast.channels);
                let pixels = (pixels.start, pixels.end);
                let job = Job { image, pixels, sample: 0, options, wants_exact: true };
                exact::exact_codes(fast, job, scratch, out.as_mut());
                Some(out.into())
            }
            None => {
                let levels = self.levels.as_ref()?;
                Some(Codes::within(levels.output, &levels.exact_codes(image, pixels)))
            }
        }
    }
}

/// Layer whose exact sums fit 32 bits, with its narrow run if it has one serial level.
#[derive(Debug)]
pub(crate) struct FastLayer<'a> {
    layer: &'a MacLayer,
    basis: Arc<Basis>,
    finisher: Finisher<'a>,
    /// Per block, the greatest squared norm of a window whose dot products cannot overflow.
    limits: Vec<u64>,
    /// Datapath; `None` if only the exact run is supported.
    path: Option<Path>,
    sites: Arc<Sites<'a>>,
}

impl Deref for FastLayer<'_> {
    type Target = Basis;

    fn deref(&self) -> &Basis {
        &self.basis
    }
}

impl<'a> FastLayer<'a> {
    /// Prepares `layer`. Returns `None` if not even the exact run is supported.
    fn new(
        layer: &'a MacLayer,
        basis: &Arc<Basis>,
        sites: Arc<Sites<'a>>,
        options: &Options,
    ) -> Option<Self> {
        let blocks = Some(basis.blocks.summed()).filter(|blocks| !blocks.is_empty())?;
        // Events say that something trapped.
        let counted =
            counters::lanes_count_all(options.stats) && (options.stats.counts_events() || !traps(layer));
        let path = prepare::path(layer, (basis.operands, basis.weights), blocks).filter(|_| counted);
        let register = path.and_then(|path| path.register);
        let limit = |(norms, narrow): (&Norms, Narrow), block: &SumBlock| norms.limit(block, &narrow);
        let known = basis.norms.as_ref().zip(register);
        let limits = blocks.iter().map(|block| known.map_or(0, |known| limit(known, block))).collect();
        let finisher = Finisher::new(layer, blocks.iter().map(|block| block.delivered(register)));
        Some(Self { layer, basis: Arc::clone(basis), finisher, limits, path, sites })
    }

    /// Returns the blocks of output channels.
    fn blocks(&self) -> &[SumBlock] {
        self.blocks.summed()
    }
}

/// Returns whether a register of the layer traps.
pub(crate) fn traps(layer: &MacLayer) -> bool {
    let Datapath { product, levels, bias, .. } = &layer.datapath;
    let registers = levels.iter().map(|level| level.register).chain([product.register, bias.register]);
    registers.into_iter().any(|register| register.overflow() == Some(Overflow::Trap))
}

/// Runs some pixels of one sample through layers that differ only in their registers, and counts each
/// separately. Their datapaths must be supported. `exact` receives the exact codes.
pub(crate) fn run(
    layers: Vec<(&Prepared<'_>, &mut LayerCounts)>,
    job: Job<'_>,
    scratch: &mut Scratch,
    mut exact: PackedMut<'_>,
) -> Vec<Ran> {
    let pixels = job.pixels().len();
    let mut ran: Vec<Ran> = layers.iter().map(|_| Ran::default()).collect();
    let (mut slots, mut runs) = (Vec::with_capacity(layers.len()), Vec::with_capacity(layers.len()));
    for (slot, (prepared, counts)) in layers.into_iter().enumerate() {
        let Some(route) = prepared.route() else { continue };
        match route {
            Route::Tiles(fast, path) => {
                counts.reserve(pixels * fast.channels * fast.layer.order.len(), prepared, job.options);
                counts.pixels += pixels as u64;
                slots.push(slot);
                runs.push(Run::new(fast, path, counts));
            }
            Route::Levels(levels) => {
                counts.reserve(pixels * levels.channels * levels.layer().order.len(), prepared, job.options);
                ran[slot] = levels.run(job, counts, scratch.spare(), &mut exact);
            }
        }
    }
    tiles::run(&mut runs, job, scratch, exact);
    for (slot, run) in slots.into_iter().zip(runs) {
        ran[slot].codes = run.into_codes();
    }
    ran
}

//! Fast engine: equal to the reference, vectorized across outputs.
//!
//! Layers of one serial level whose operands fit 16 bits and whose exact sums fit 32 bits have kernels of
//! their own. [`levels`] runs any other datapath. Dot products that
//! cannot overflow are not stepped. This is known from bounds computed from the weights and the input's
//! range, or because their exact prefixes, or bounds of them, fit.

mod bytes;
mod cells;
mod counters;
mod exact;
mod finish;
mod forms;
mod image;
mod kernels;
mod levels;
mod log;
mod norms;
mod pairs;
mod placing;
mod plane;
mod policy;
mod prepare;
mod schedule;
mod simd;
mod singles;
mod sites;
mod span;
mod step;
mod stepper;
mod tiles;
mod trace;
mod traces;
mod windows;
mod words;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use guardbit_graph::DType;
use guardbit_hwmodels::{Datapath, MacLayer};
use guardbit_num::Overflow;

pub(crate) use image::Image;
pub(crate) use kernels::{Aligned, LANES};
pub(crate) use levels::{LevelsLayer, LevelsPlaces, LevelsRan, LevelsTask};
pub(crate) use plane::Plane;
pub(crate) use simd::{Kernels, Vectorized, available};
pub use stepper::Stepper;
pub(crate) use tiles::{Job, Scratch};

use crate::accumulate::Accumulate;
use crate::codes::{Codes, Packed, PackedMut};
use crate::options::Options;
use crate::stats::{EventCounts, LayerStats};
use bytes::QuadLayout;
use cells::CellOffsets;
use counters::Counters;
use finish::Finisher;
use forms::{Forms, LayerForms};
use image::Geometry;
use norms::Norms;
use policy::Policy;
use prepare::{Block, Narrow, Path};
use sites::Sites;
use tiles::Run;
use words::PairLayout;

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
    counters: Counters,
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
        let policies = prepared.covered().map_or(Vec::new(), FastLayer::policies);
        let counters = Counters::new(policies.len());
        Self {
            stats,
            settled: Settled::default(),
            counters,
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
        let Some((fast, path)) = prepared.covered().and_then(|fast| Some((fast, fast.path?))) else { return };
        if self.room < Self::ROOM {
            let terms = fast.layer.order.len() as u64;
            self.stats.count_dots(std::mem::take(&mut self.pixels), terms, options);
            self.counters.flush(&fast.blocks, [(path, &mut self.stats)], options.stats);
            self.counters.flush_places(|| fast.sites.schedule(), &mut self.stats);
            self.counters = Counters::new(fast.blocks.len());
            self.room = Self::ROOM;
        }
    }

    /// Makes room for `additions`.
    fn reserve(&mut self, additions: u64, prepared: &Prepared<'_>, options: &Options) {
        if additions > self.room {
            self.flush(prepared, options);
        }
        self.room = self.room.saturating_sub(additions);
    }
}

/// Times and places of a layer's dot products, computed on first use. They do not depend on weights.
#[derive(Debug, Clone)]
pub(crate) struct DotPlaces<'a> {
    /// For layers of one serial level.
    sites: Arc<Sites<'a>>,
    /// For any other datapath.
    levels: LevelsPlaces<'a>,
}

impl<'a> DotPlaces<'a> {
    /// Returns those of `layer`, shared with those of a layer that differs only in its registers and timing.
    pub fn new(layer: &'a MacLayer, like: Option<&Self>) -> Self {
        let sites = match like.filter(|like| like.sites.are_of(layer)) {
            Some(like) => Arc::clone(&like.sites),
            None => Arc::new(Sites::new(layer)),
        };
        Self { sites, levels: LevelsPlaces::new(layer) }
    }
}

/// Prepared layer of the fast engine, as far as the engine supports it.
#[derive(Debug, Default)]
pub(crate) struct Prepared<'a> {
    /// Times and places of its dot products; `None` if the engine is not selected.
    pub places: Option<DotPlaces<'a>>,
    /// Type of the output codes.
    output: Option<DType>,
    /// Layer of one serial level.
    one: Option<FastLayer<'a>>,
    /// Layer of any other datapath, or with a register that traps.
    pub levels: Option<LevelsLayer<'a>>,
}

impl<'a> Prepared<'a> {
    /// Returns what a layer whose weights differ from run to run has in all of them.
    pub fn without_weights(places: DotPlaces<'a>) -> Self {
        Self { places: Some(places), ..Self::default() }
    }

    /// Prepares `layer`, whose activation codes lie in `codes` and whose output has type `output`. `like` is
    /// a prepared layer that differs only in its registers and timing; data that does not depend on these is
    /// shared. Forms of the weights that are made on demand live as long as the layer if they are `kept`. `places` are
    /// those of the layer.
    pub fn new(
        layer: &'a MacLayer,
        codes: RangeInclusive<i32>,
        output: DType,
        like: Option<&Self>,
        kept: bool,
        places: DotPlaces<'a>,
        options: &Options,
    ) -> Self {
        let like = like.and_then(|like| like.one.as_ref());
        let sites = Arc::clone(&places.sites);
        let one = FastLayer::new(layer, codes.clone(), output, like, kept, sites, options);
        let covered = one.as_ref().is_some_and(FastLayer::covers_datapath);
        // Levels also describe what trapped.
        let needed = !covered || traps(layer);
        let levels =
            if needed { LevelsLayer::new(layer, codes, places.levels.clone(), options) } else { None };
        Self { places: Some(places), output: Some(output), one, levels }
    }

    /// Returns the layer of one serial level, if its narrow run is supported.
    pub fn covered(&self) -> Option<&FastLayer<'a>> {
        self.one.as_ref().filter(|fast| fast.covers_datapath())
    }

    /// Keeps what runs of the layer make on demand until the result is dropped.
    pub fn hold(&self) -> impl Sized + use<> {
        self.one.as_ref().map(FastLayer::hold_forms)
    }

    /// Lays out the codes of one sample, if the exact run is supported.
    pub fn image<'c>(&self, codes: &'c Codes) -> Option<Image<'c>> {
        match &self.one {
            Some(fast) => Some(fast.geometry.image(codes)),
            None => self.levels.as_ref().map(|levels| levels.image(codes)),
        }
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
                let channels = fast.layer.dots.window.channels();
                let mut out = scratch.spare().take(fast.output, pixels.len() * channels);
                let pixels = (pixels.start, pixels.end);
                let job = Job { image, pixels, sample: 0, options, wants_exact: true };
                exact::exact_codes(fast, job, scratch, out.as_mut());
                Some(out.into())
            }
            None => Some(Codes::within(self.output?, &self.levels.as_ref()?.exact_codes(image, pixels))),
        }
    }
}

/// Layer prepared for the fast engine.
#[derive(Debug)]
pub(crate) struct FastLayer<'a> {
    layer: &'a MacLayer,
    kernels: Kernels,
    geometry: Arc<Geometry>,
    /// Layout of windows as bytes, if sums are computed from bytes.
    layout: Option<Arc<QuadLayout>>,
    /// Layout of windows as operands in place, if sums are computed from these.
    in_place: Option<Arc<PairLayout>>,
    cells: Arc<CellOffsets>,
    blocks: Arc<[Block]>,
    forms: Arc<LayerForms>,
    finisher: Finisher<'a>,
    /// Norms of windows that prove that dot products fit, if bytes are read.
    norms: Option<Arc<Norms>>,
    /// Per block, the greatest squared norm of a window whose dot products cannot overflow.
    limits: Vec<u64>,
    /// Datapath; `None` if only the exact run is supported.
    path: Option<Path>,
    sites: Arc<Sites<'a>>,
    /// Type of the output codes.
    output: DType,
}

impl<'a> FastLayer<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`, sharing data with a layer `like` it. Returns
    /// `None` if not even the exact run is supported.
    fn new(
        layer: &'a MacLayer,
        codes: RangeInclusive<i32>,
        output: DType,
        like: Option<&Self>,
        kept: bool,
        sites: Arc<Sites<'a>>,
        options: &Options,
    ) -> Option<Self> {
        let kernels = Kernels::choose(options.isa);
        let (geometry, layout, in_place, norms, cells, blocks, forms) = match like {
            Some(like) => (
                Arc::clone(&like.geometry),
                like.layout.clone(),
                like.in_place.clone(),
                like.norms.clone(),
                Arc::clone(&like.cells),
                Arc::clone(&like.blocks),
                Arc::clone(&like.forms),
            ),
            None => {
                let geometry = Geometry::new(layer, &codes);
                let layout = prepare::layout(layer, &geometry, kernels);
                let in_place = prepare::in_place(layer, &geometry, kernels);
                let layouts = (layout.as_ref(), in_place.as_ref());
                let blocks = prepare::blocks(layer, &geometry, codes.clone(), kernels, layouts)?;
                let forms = Arc::new(LayerForms::new(blocks.len(), kept));
                let cells = Arc::new(CellOffsets::new(geometry.offsets())?);
                let norms = geometry.norms(layer).map(Arc::new);
                let (layout, in_place) = (layout.map(Arc::new), in_place.map(Arc::new));
                (Arc::new(geometry), layout, in_place, norms, cells, Arc::from(blocks), forms)
            }
        };
        // Events say that something trapped.
        let counted =
            counters::lanes_count_all(options.stats) && (options.stats.counts_events() || !traps(layer));
        let path = prepare::path(layer, &geometry, codes, &blocks).filter(|_| counted);
        let limit = |(norms, narrow): (&Norms, Narrow), block: &Block| norms.limit(block, &narrow);
        let known = norms.as_deref().zip(path.and_then(|path| path.register));
        let limits = blocks.iter().map(|block| known.map_or(0, |known| limit(known, block))).collect();
        let register = path.and_then(|path| path.register);
        let finisher = Finisher::new(layer, blocks.iter().map(|block| block.delivered(register)));
        Some(Self {
            layer,
            kernels,
            geometry,
            layout,
            in_place,
            cells,
            blocks,
            forms,
            finisher,
            norms,
            limits,
            path,
            sites,
            output,
        })
    }

    /// Returns the initial policy of every block in the narrow run, if that is supported.
    fn policies(&self) -> Vec<Policy> {
        let of_path = |path| self.blocks.iter().map(move |block| Policy::new(block, path));
        self.path.into_iter().flat_map(of_path).collect()
    }

    /// Returns the forms of the weights that are made on demand, by block. As long as they are held, no run
    /// makes them anew.
    fn hold_forms(&self) -> Arc<[Forms]> {
        self.forms.hold(self.blocks.len())
    }

    /// Returns whether the narrow run is supported too.
    fn covers_datapath(&self) -> bool {
        self.path.is_some()
    }
}

/// Returns whether a register of the layer traps.
pub(crate) fn traps(layer: &MacLayer) -> bool {
    let Datapath { product, levels, bias, .. } = &layer.datapath;
    let registers = levels.iter().map(|level| level.register).chain([product.register, bias.register]);
    registers.into_iter().any(|register| register.overflow() == Some(Overflow::Trap))
}

/// Runs some pixels of one sample through layers that differ only in their registers, and counts each
/// separately. Their datapaths must be supported. `exact` receives the exact codes. Returns the codes of each
/// layer, `None` if they equal the exact ones.
pub(crate) fn run(
    layers: Vec<(&Prepared<'_>, &mut LayerCounts)>,
    job: Job<'_>,
    scratch: &mut Scratch,
    exact: PackedMut<'_>,
) -> Vec<Option<Packed>> {
    let pixels = job.pixels.1 - job.pixels.0;
    let mut runs = Vec::with_capacity(layers.len());
    for (prepared, counts) in layers {
        let Some((fast, path)) = prepared.covered().and_then(|fast| Some((fast, fast.path?))) else {
            continue;
        };
        let channels = fast.layer.dots.window.channels();
        counts.reserve((pixels * channels * fast.layer.order.len()) as u64, prepared, job.options);
        counts.pixels += pixels as u64;
        runs.push(Run::new(fast, path, counts));
    }
    tiles::run(&mut runs, job, scratch, exact);
    runs.into_iter().map(Run::into_codes).collect()
}

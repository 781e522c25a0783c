//! Determines the time and place of a tile's events.

use guardbit_hwmodels::Check;

use super::Image;
use super::blocks::Reads;
use super::kernels::{Activations, ByteCells, LANES, Lanes, Stepped};
use super::sites::{Dot, Record, Wanted};
use super::tiles::{Job, Run, Tile};
use super::windows::{Windows, on_windows};

/// Pixels of a tile, ascending, and the result of stepping each.
type Pixels<'p> = (&'p [usize], &'p [Stepped]);

impl Run<'_, '_> {
    /// Places the events of some pixels of a tile.
    pub fn place_all(&mut self, tile: &Tile<'_>, stepped: Pixels<'_>, windows: &mut Windows, job: Job<'_>) {
        let sites = &self.layer.sites;
        let logged = sites.are_logged(self.path.check, job.options);
        if logged {
            let places = &mut self.counts.places.of(sites.schedule());
            sites.count(self.layer.kernels, (tile.pixel, tile.index), stepped, &self.log, places);
        }
        let wanted = if job.options.places_all() && !logged {
            Wanted::All
        } else if self.counts.stats.wants_events(job.sample) {
            Wanted::Listed
        } else {
            Wanted::First
        };
        let before = wanted.before(job.sample, &self.counts.stats);
        let Tile { block, image, corners, .. } = *tile;
        let ends = [tile.pixel, tile.pixel + corners.len() - 1];
        if !sites.some_begin_before(ends, tile.index, stepped.1, before) {
            return;
        }
        let bytes = |at: usize, first: usize| &image.bytes()[corners[at] + first..];
        let (offsets, origin) = (self.layer.geometry.offsets(), image.origin());
        match block.reads {
            Reads::Window(first) if has_bytes(image) => {
                let x = |at| ByteCells::<false>::new(bytes(at, first), offsets, origin);
                self.place_each(tile, stepped, x, wanted, job);
            }
            Reads::Neighbours(first) if has_bytes(image) => {
                let x = |at| ByteCells::<true>::new(bytes(at, first), offsets, origin);
                self.place_each(tile, stepped, x, wanted, job);
            }
            _ => {
                let read = windows.read((&self.layer.geometry, image), &block, tile.pixel, corners);
                on_windows!(read, x => self.place_each(tile, stepped, |at| x[at], wanted, job));
            }
        }
    }

    /// Recomputes the requested events of some pixels of a tile; `x` holds what is read at each.
    fn place_each<X: Activations>(
        &mut self,
        tile: &Tile<'_>,
        (pixels, stepped): Pixels<'_>,
        x: impl Fn(usize) -> X,
        wanted: Wanted,
        job: Job<'_>,
    ) {
        for (&at, stepped) in pixels.iter().zip(stepped) {
            let before = wanted.before(job.sample, &self.counts.stats);
            let lanes = self.layer.sites.lanes_before((tile.pixel + at, tile.index), stepped, before);
            if let Some(lanes) = lanes {
                self.place(tile, (at, lanes), x(at), (wanted, before), job);
            }
        }
    }

    /// Recomputes the requested events, those before a cycle, of some lanes at one pixel of a tile.
    fn place<X: Activations>(
        &mut self,
        tile: &Tile<'_>,
        (at, mut lanes): (usize, [bool; LANES]),
        x: X,
        (wanted, before): (Wanted, Option<u64>),
        job: Job<'_>,
    ) {
        let Some(narrow) = self.path.register else { return };
        let (sites, block) = (&self.layer.sites, tile.block);
        let pixel = tile.pixel + at;
        let record = &mut Record { sample: job.sample, stats: &mut self.counts.stats, options: job.options };
        if self.path.check == Check::EachAdd && (wanted == Wanted::First || before.is_some()) {
            // Only events before a certain product matter, so lanes without any are skipped.
            let limits = sites.steps_before((pixel, tile.index), &lanes, before);
            let steps = limits.iter().max().map_or(0, |&steps| steps as usize);
            let mut first: Lanes = [0; LANES];
            let weights = &block.rows()[..steps];
            self.layer.kernels.first_outside(x, weights, &block.start, narrow.rails, &mut first);
            for (lane, wants) in lanes.iter_mut().enumerate() {
                *wants &= first[lane] < limits[lane];
            }
            if wanted == Wanted::First {
                let each = lanes.iter().zip(first).enumerate().filter(|(_, (wants, _))| **wants);
                let cycles = each.map(|(lane, (_, k))| sites.cycle(pixel, block.first + lane, k as usize));
                return cycles.for_each(|cycle| record.stats.note_first(cycle));
            }
        }
        for lane in (0..block.count).filter(|&lane| lanes[lane]) {
            let steps = block.rows().iter().enumerate();
            let products = steps.map(|(k, row)| i64::from(x.at(k, lane)) * i64::from(row[lane]));
            let dot = Dot {
                pixel,
                channel: block.first + lane,
                block: tile.index,
                lane,
                start: block.start[lane].into(),
                sum: tile.walked[at].sum[lane].into(),
            };
            sites.place((self.path.check, &narrow), dot, products, wanted, record);
        }
    }
}

/// Returns whether the operands of an image can be derived from its bytes.
fn has_bytes(image: &Image<'_>) -> bool {
    !image.bytes().is_empty()
}

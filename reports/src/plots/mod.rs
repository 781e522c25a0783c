//! Plots: one file each under `run`, `quantize`, `size`, `sweep` and so on, with its `mod` line and its line in that
//! folder's list.

mod explore;
mod kit;
mod png;
mod quantize;
mod quantizers;
mod required_bits;
mod run;
mod schemes;
mod size;
mod sweep;

pub use self::png::png;
pub use explore::EXPLORE_PLOTS;
pub(crate) use explore::quality;
pub use kit::DrawError;
pub(crate) use kit::Extremes;
pub use quantize::QUANTIZE_PLOTS;
pub use quantizers::QUANTIZER_PLOTS;
pub use run::{RUN_PLOTS, SUM_PLOTS};
pub use schemes::SCHEME_PLOTS;
pub use size::SIZE_PLOTS;
pub use sweep::SWEEP_PLOTS;
pub(crate) use sweep::{Group, Groups, NO_WIDTH};

use crate::ReportError;

/// Lists the plots of a record in the order of the report. Each plot is a module that contains its `PLOT`.
macro_rules! plots {
    ($(#[doc = $doc:literal])* $list:ident of $record:ty: $($plot:ident)*) => {
        $(#[doc = $doc])*
        pub const $list: &[$crate::plots::Plot<$record>] = &[$($plot::PLOT),*];
    };
}

use plots;

/// Plot of a record `S`.
#[derive(Debug)]
pub struct Plot<S: ?Sized + 'static> {
    /// Name of its files, without extension.
    pub name: &'static str,
    /// Heading: the quantity that it shows.
    pub title: &'static str,
    /// Explanation of how to read it.
    pub caption: &'static str,
    /// Draws the plot under its heading.
    pub draw: fn(&S, &'static str) -> Result<Drawing, DrawError>,
}

/// Drawn plot, or the reason why it shows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawing {
    /// SVG document.
    Figure(String),
    /// Reason, as a sentence, why there is nothing to show.
    Nothing(String),
}

/// Plot with its drawing and the SVG document that shows it.
pub(crate) struct Drawn<S: ?Sized + 'static> {
    pub plot: &'static Plot<S>,
    pub drawing: Drawing,
    pub svg: String,
}

impl<S: ?Sized> Plot<S> {
    /// Draws `record`.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn draw(&self, record: &S) -> Result<Drawing, ReportError> {
        (self.draw)(record, self.title).map_err(|error| self.failed(error))
    }

    /// Returns the SVG document of a drawing; a drawing without content shows its reason.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn svg(&self, drawing: &Drawing) -> Result<String, ReportError> {
        match drawing {
            Drawing::Figure(svg) => Ok(svg.clone()),
            Drawing::Nothing(why) => kit::notice(self.title, why).map_err(|error| self.failed(error)),
        }
    }

    /// Returns the PNG file of an SVG document of this plot, at twice its size or the greatest size that
    /// [`png`] allows.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, ReportError> {
        png(svg, 2.0).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: DrawError) -> ReportError {
        ReportError::Plot { plot: self.name, problem: error.to_string() }
    }
}

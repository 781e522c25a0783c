//! Plots: one file each under `run`, `quantize`, `size`, `sweep` and so on, with its `mod` line and its line in that
//! folder's list.

mod curves;
mod explore;
mod kit;
mod pdf;
mod png;
mod quantize;
mod quantizers;
mod required_bits;
mod run;
mod schemes;
mod size;
mod sweep;

pub use self::pdf::pdf;
pub use self::png::png;
pub use curves::{CURVE_PLOT, MOST_CURVES};
pub use explore::EXPLORE_PLOTS;
pub(crate) use explore::quality;
pub(crate) use kit::Extremes;
pub use kit::{DrawError, Medium, PlotFont, PlotSize, PlotStyle};
pub use quantize::QUANTIZE_PLOTS;
pub use quantizers::QUANTIZER_PLOTS;
pub use run::{FLOAT_PLOTS, OVERFLOW_PLOTS, RUN_PLOTS, SUM_PLOTS};
pub use schemes::SCHEME_PLOTS;
pub use size::{SIZE_FLOAT_PLOTS, SIZE_PLOTS};
pub use sweep::SWEEP_PLOTS;
pub(crate) use sweep::{Group, Groups, NO_WIDTH};

use crate::ReportError;
use kit::{Sheet, Style};

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
    /// Draws the plot on a sheet with its heading.
    draw: fn(&S, Sheet) -> Result<Drawing, DrawError>,
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
    /// Draws `record` for a screen.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn draw(&self, record: &S) -> Result<Drawing, ReportError> {
        self.draw_in(record, &PlotStyle::default())
    }

    /// Draws `record` in a style.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn draw_in(&self, record: &S, style: &PlotStyle) -> Result<Drawing, ReportError> {
        (self.draw)(record, self.sheet(style)).map_err(|error| self.failed(error))
    }

    /// Returns the SVG document of a drawing in a style; a drawing without content shows its reason.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn svg(&self, drawing: &Drawing, style: &PlotStyle) -> Result<String, ReportError> {
        match drawing {
            Drawing::Figure(svg) => Ok(svg.clone()),
            Drawing::Nothing(why) => kit::notice(self.sheet(style), why).map_err(|error| self.failed(error)),
        }
    }

    /// Returns the PNG file of an SVG document of this plot, at the resolution of the style or the greatest
    /// size that [`png`] allows.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn png(&self, svg: &str, style: &PlotStyle) -> Result<Vec<u8>, ReportError> {
        png(svg, style.dpi()).map_err(|error| self.failed(error))
    }

    /// Returns the PDF file of an SVG document of this plot.
    ///
    /// # Errors
    /// [`ReportError::Plot`], naming the plot.
    pub fn pdf(&self, svg: &str) -> Result<Vec<u8>, ReportError> {
        pdf(svg).map_err(|error| self.failed(error))
    }

    fn sheet(&self, style: &PlotStyle) -> Sheet {
        Sheet { title: self.title, style: Style::of(style) }
    }

    fn failed(&self, error: DrawError) -> ReportError {
        ReportError::Plot { plot: self.name, problem: error.to_string() }
    }
}

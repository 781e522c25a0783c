//! Building blocks of plots.

mod area;
mod chart;
mod extremes;
mod figure;
mod heat_table;
mod legend;
mod ramp;
mod scale;
mod sheet;
mod style;
mod svg;

pub use figure::DrawError;
pub use sheet::{Medium, PlotFont, PlotSize, PlotStyle};

pub(super) use area::Area;
pub(super) use chart::{Axis, chart};
pub(crate) use extremes::Extremes;
pub(super) use figure::{Content, columns, figure, notice};
pub(super) use heat_table::{HeatCell, HeatRow, HeatTable};
pub(super) use legend::{Entry, Legend, Mark};
pub(super) use ramp::Ramp;
pub(super) use scale::{Scale, percent, short_percent, si};
pub(super) use sheet::{Sheet, Style, cut, letters};
pub(super) use style::{BLUE, GREY, INK, Look, ORANGE, PALE, SILVER, VERMILLION, category_look, mode_look};

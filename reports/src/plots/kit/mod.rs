//! Building blocks of plots.

mod chart;
mod extremes;
mod figure;
mod heat_table;
mod legend;
mod ramp;
mod scale;
mod style;

pub use figure::DrawError;

pub(super) use chart::{Axis, chart};
pub(crate) use extremes::Extremes;
pub(super) use figure::{Area, Content, columns, figure, notice, panels, text};
pub(super) use heat_table::{HeatCell, HeatRow, HeatTable};
pub(super) use legend::{Entry, Legend, Mark};
pub(super) use ramp::Ramp;
pub(super) use scale::{Scale, percent, short_percent, si};
pub(super) use style::{
    BLUE, GREY, INK, Look, ORANGE, PALE, SILVER, VERMILLION, category_look, mode_look, thin,
};

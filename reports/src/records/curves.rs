//! Points of finished results to draw together.

/// Points of finished results, of which a plot shows one column against an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CurvesRecord {
    /// Name of the axis or column along the plot.
    pub x: String,
    /// Name of the column that is shown.
    pub y: String,
    /// Unit of that column; empty if it has none.
    pub unit: String,
    /// Whether the column has shares, 0 to 1.
    pub is_share: bool,
    /// Names of the axes and columns whose values distinguish the curves.
    pub by: Vec<String>,
    /// The points, in the order of the folders and their tables.
    pub points: Vec<CurvePoint>,
    /// Accuracies of the exact networks, each once, if the column is the accuracy.
    pub exact: Vec<f64>,
}

/// Point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Name of the curve: the values of the distinguishing columns.
    pub curve: String,
    /// Place along the plot: a number, or a category.
    pub x: String,
    /// The shown figure.
    pub y: f64,
    /// Both ends of its interval of 95 %.
    pub interval: Option<(f64, f64)>,
}

//! Faults of the model, and the mutants that they stand for.

/// Fault of the model. Each stands for a mutant of the reference RTL; see [`TWISTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twist {
    None,
    AddendZeroExtended,
    NotCleared,
    ClearIgnored,
    StickyNotCleared,
    BubbleAdds,
    BeatSurvivesReset,
    NotReset,
    StickyNotReset,
    LostAfterIdle,
    OneRegisterMore,
    ProductsLate,
    UnsignedProduct,
    TailLanesAdded,
    LoneValueFitted,
    TreeOrder,
    RunBoundaryIgnored,
    NotRounded,
    WrongTie,
    ProductNotRounded,
    MultiplierCut,
    ZeroPointDropped,
    ClampOffByOne,
    BiasDropped,
}

/// The patch of every mutant in SystemVerilog and its fault of the model.
pub(super) const TWISTS: &[(&str, Twist)] = &[
    ("gb_sum/dropped_sign_extension", Twist::AddendZeroExtended),
    ("gb_level/not_cleared", Twist::NotCleared),
    ("gb_level/clear_ignored", Twist::ClearIgnored),
    ("gb_level/sticky_not_cleared", Twist::StickyNotCleared),
    ("gb_unit/bubble_adds", Twist::BubbleAdds),
    ("gb_unit/beat_survives_reset", Twist::BeatSurvivesReset),
    ("gb_level/not_reset", Twist::NotReset),
    ("gb_level/sticky_not_reset", Twist::StickyNotReset),
    ("gb_level/lost_after_idle", Twist::LostAfterIdle),
    ("gb_unit/latency_off_by_one", Twist::OneRegisterMore),
    ("gb_unit/products_late", Twist::ProductsLate),
    ("gb_product/unsigned_product", Twist::UnsignedProduct),
    ("gb_tree/tail_lanes_added", Twist::TailLanesAdded),
    ("gb_tree/lone_value_fitted", Twist::LoneValueFitted),
    ("gb_tree/tree_order", Twist::TreeOrder),
    ("gb_level/run_boundary_ignored", Twist::RunBoundaryIgnored),
    ("gb_requant/truncation_for_rounding-double", Twist::NotRounded),
    ("gb_requant/truncation_for_rounding-single", Twist::NotRounded),
    ("gb_requant/truncation_for_rounding-float", Twist::NotRounded),
    ("gb_requant/wrong_tie-double", Twist::WrongTie),
    ("gb_requant/wrong_tie-float64", Twist::WrongTie),
    ("gb_requant/wrong_tie-even", Twist::WrongTie),
    ("gb_requant/product_not_rounded", Twist::ProductNotRounded),
    ("gb_requant/multiplier_cut", Twist::MultiplierCut),
    ("gb_requant/zero_point_dropped", Twist::ZeroPointDropped),
    ("gb_requant/clamp_off_by_one", Twist::ClampOffByOne),
    ("gb_unit/bias_dropped", Twist::BiasDropped),
];

/// Returns the low `bits` of a value as a signed number.
pub(super) fn signed(value: i128, bits: u32) -> i128 {
    value << (128 - bits) >> (128 - bits)
}

/// Returns the low `bits` of a value as an unsigned number.
pub(super) fn unsigned(value: i128, bits: u32) -> i128 {
    value & ((1 << bits) - 1)
}

//! Building blocks of operators. A module knows only the modules that are listed before it.

pub(super) mod value;

pub(super) mod network;

pub(super) mod floats;

pub(super) mod codes;

pub(super) mod quantizer;

pub(super) mod said;

pub(super) mod follow;

pub(super) mod pairs;

pub(super) mod quantize;

pub(super) mod moves;

pub(super) mod computed;

pub(super) mod operand;

pub(super) mod weighted;

pub(super) mod blocks;

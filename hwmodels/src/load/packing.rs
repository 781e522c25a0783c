//! Lanes that share one adder, and their requirements on the rest of the datapath.

use guardbit_num::Overflow;

use super::KeyPath;
use super::check::{Violation, level_key};
use crate::accelerator::PackingKind;
use crate::file::AcceleratorFile;
use crate::{BiasPlace, Check, Datapath, PACKED_LOW_BITS, Packing, PackingKeys, Reduce, Register};

/// Returns the packing of a file with this datapath.
pub(super) fn packing(file: &AcceleratorFile, datapath: &Datapath) -> Result<PackingKeys, Violation> {
    let packing = PackingKeys::of(&file.packing.clone().unwrap_or_default(), &KeyPath::keys(&["packing"]))?;
    match packing.kind {
        // The correction of a borrow does not matter without packing.
        PackingKind::None => Ok(Packing::None.into()),
        PackingKind::Dsp48e2Int8x2 => dsp48e2(datapath).map(|()| packing),
    }
}

/// Checks that the innermost level is the DSP's own adder, and that products reach it unchanged.
fn dsp48e2(datapath: &Datapath) -> Result<(), Violation> {
    if datapath.order.walk.depends_on_data() {
        return Err(Violation {
            code: "guardbit::hw::packing",
            message: "channels that share an adder read the same activations at the same time, so they \
                      need a common order"
                .into(),
            help: "choose a `reduction_order.walk` that does not depend on the products".into(),
            keys: vec![KeyPath::keys(&["reduction_order", "walk"]), KeyPath::keys(&["packing", "kind"])],
        });
    }
    let inner = &datapath.levels[0];
    let lane = inner.register.fixed().is_some_and(|(format, overflow)| {
        format.bits() == PACKED_LOW_BITS && format.is_signed() && overflow == Overflow::Wrap
    });
    let plain = inner.reduce == Reduce::Serial && inner.check == Check::EachAdd && inner.shift == 0;
    let key = level_key(datapath, 0);
    if !(lane && plain) {
        return Err(Violation {
            code: "guardbit::hw::packing",
            message: format!(
                "with `packing.kind` dsp48e2_int8x2 the innermost level, `{}`, is the DSP's adder: it must \
                 be serial, with 18 signed bits that wrap, `check: each_add` and no shift",
                inner.name
            ),
            help: "write `{name: dsp, reduce: serial, terms: 7, bits: 18, overflow: wrap}`".into(),
            keys: vec![KeyPath::keys(&["packing", "kind"]), key.join("bits"), key],
        });
    }
    if datapath.levels.len() == 1 && datapath.bias.at == BiasPlace::Preload {
        return Err(Violation {
            code: "guardbit::hw::packing",
            message:
                "`bias.at` is preload, but the only level is the DSP's adder, which always starts from 0"
                    .into(),
            help: "write `bias: {at: post}`, or add a level after it".into(),
            keys: vec![KeyPath::keys(&["bias", "at"]), KeyPath::keys(&["packing", "kind"])],
        });
    }
    if datapath.product.register != Register::Auto || datapath.product.shift > 0 {
        return Err(Violation {
            code: "guardbit::hw::packing",
            message: "products that share an adder cannot be fitted or shifted before the adder".into(),
            help: "leave out `product`, or write `product: {bits: auto, shift: 0}`".into(),
            keys: vec![KeyPath::keys(&["packing", "kind"]), KeyPath::keys(&["product", "bits"])],
        });
    }
    Ok(())
}

use proptest::prelude::*;

use super::*;

fn register(fit: Fit, reach: Range, port: Option<u32>, seen: (bool, bool)) -> Register {
    Register {
        drop: (0, Rounding::Floor),
        name: "acc".into(),
        place: RegisterId::Product,
        fit,
        reach,
        port,
        shows_flags: seen.0,
        has_memory: true,
        goes_on: true,
        hides_negative: seen.1,
        beyond: Beyond::default(),
        low_bits: None,
        early: None,
        values: None,
    }
}

proptest! {
    /// The proof gives the result of comparing every value.
    #[test]
    fn pieces_stand_for_all_values(
        bits in 3u32..7,
        signed: bool,
        mode in prop::sample::select(Overflow::ALL.to_vec()),
        fault in 0usize..9,
        min in -200i128..1,
        max in 0i128..200,
        port in prop::option::of(3u32..9),
        seen: (bool, bool),
        drop in 0u32..4,
        round in prop::sample::select(Rounding::ALL.to_vec()),
        clamps in prop::option::of((-99i128..0, 1i128..99)),
    ) {
        let fit = Fit::new(bits, signed, mode);
        let changed = match fault {
            6 => Fit { off_by_one: true, ..fit },
            7 => Fit { swapped: true, ..fit },
            8 => Fit { rail_wraps: true, ..fit },
            _ => Fault::ALL[fault].changed(fit),
        };
        let clamps = clamps.map(|(min, max)| Range { min, max });
        let beyond = Beyond { clamps, ..Beyond::default() };
        let register = Register { drop: (drop, round), beyond, ..register(fit, Range { min, max }, port, seen) };
        let alike = (min..=max).all(|v| register.seen(fit, v) == register.seen(changed, v));
        let is_proved = register.same(changed).is_some();
        prop_assert_eq!(is_proved, alike);
    }
}

/// Reasons in words.
#[test]
fn reasons() {
    let fit = Fit::new(6, true, Overflow::Saturate);
    let inside = register(fit, Range { min: -16, max: 15 }, Some(6), (true, false));
    let reason = "every exact result of acc lies in -16..=15, within both pairs of rails";
    assert_eq!(Fault::Narrower.equivalent(&inside).as_deref(), Some(reason));
    let beyond = register(fit, Range { min: -16, max: 16 }, Some(6), (true, false));
    assert_eq!(Fault::Narrower.equivalent(&beyond), None);
    assert!(Fault::Wrap.equivalent(&beyond).is_some());
    // A wider register that wraps keeps the low bits, so only the flags differ.
    let wraps = Fit { mode: Overflow::Wrap, ..fit };
    assert!(
        Fault::Wider
            .equivalent(&register(wraps, Range { min: -99, max: 99 }, Some(6), (false, false)))
            .is_some()
    );
    assert!(
        Fault::Wider
            .equivalent(&register(wraps, Range { min: -99, max: 99 }, Some(6), (true, false)))
            .is_none()
    );
    // Where fewer bits are seen, a narrower register that wraps changes nothing.
    let narrow =
        Register { low_bits: Some(5), ..register(wraps, Range { min: -99, max: 99 }, None, (false, false)) };
    assert!(Fault::Narrower.equivalent(&narrow).is_some());
    assert_eq!(Fault::Narrower.equivalent(&Register { low_bits: Some(6), ..narrow }), None);
}

//! The elements of a strided slice.

use guardbit_graph::ops::Slice;

use crate::tflite::parse::{Field, Options, TfliteError};

/// The number of the options of STRIDED_SLICE.
pub(super) const OPTIONS: u8 = 32;

/// The bit masks of a strided slice. Bit `i` of a mask belongs to entry `i`.
pub(crate) struct Masks {
    begin: i32,
    end: i32,
    ellipsis: i32,
    new_axis: i32,
    shrink: i32,
}

impl Masks {
    /// Reads the masks from the options.
    pub fn read(options: &Options<'_>) -> Result<Self, TfliteError> {
        let mask = |slot, name| options.scalar::<i32>(Field(slot, name), 0);
        Ok(Self {
            begin: mask(0, "StridedSliceOptions.begin_mask")?,
            end: mask(1, "StridedSliceOptions.end_mask")?,
            ellipsis: mask(2, "StridedSliceOptions.ellipsis_mask")?,
            new_axis: mask(3, "StridedSliceOptions.new_axis_mask")?,
            shrink: mask(4, "StridedSliceOptions.shrink_axis_mask")?,
        })
    }
}

struct Entry {
    begin: i64,
    end: i64,
    stride: i64,
}

/// Returns the slice that the entries select from a tensor of shape `shape`.
///
/// Entries are given by begins, ends and strides. An entry stands for an axis, for all axes without an entry
/// (ellipsis), or for a new axis of size 1.
pub(crate) fn taken(
    masks: &Masks,
    [begin, end, strides]: [&[i64]; 3],
    shape: &[usize],
) -> Result<Slice, String> {
    if begin.len() != end.len() || begin.len() != strides.len() {
        return Err("begin, end and strides have different lengths".into());
    }
    let entries = (0..begin.len()).map(|i| Entry { begin: begin[i], end: end[i], stride: strides[i] });
    let entries: Vec<_> = entries.collect();
    let on = |mask: i32, entry: usize| mask >> entry & 1 == 1;
    let (mut slice, mut seen, mut axis) = (Slice::whole(shape), Vec::new(), 0);
    let ellipsis = (0..entries.len()).find(|&entry| on(masks.ellipsis, entry));
    let named = (0..entries.len()).filter(|&i| Some(i) != ellipsis && !on(masks.new_axis, i)).count();
    let skipped = shape.len().checked_sub(named).ok_or("has more entries than there are axes")?;
    if ellipsis.is_some() && skipped == 0 {
        return Err("has an ellipsis for no axis, which the runtime counts as one".into());
    }
    for (index, entry) in entries.iter().enumerate() {
        if Some(index) == ellipsis {
            seen.extend_from_slice(&shape[axis..axis + skipped]);
            axis += skipped;
        } else if on(masks.new_axis, index) {
            seen.push(1);
        } else {
            let shrinks = on(masks.shrink, index);
            let masks = [on(masks.begin, index), on(masks.end, index)];
            let (begin, size) = along(entry, shape[axis], masks, shrinks)?;
            (slice.begin[axis], slice.size[axis], slice.strides[axis]) = (begin, size, entry.stride);
            if !shrinks {
                seen.push(size);
            }
            axis += 1;
        }
    }
    seen.extend_from_slice(&shape[axis..]);
    slice.shape = Some(seen).filter(|seen| *seen != slice.size);
    Ok(slice)
}

/// Returns the first element and the number of elements along an axis of size `size`.
fn along(
    entry: &Entry,
    size: usize,
    [from_start, to_end]: [bool; 2],
    shrinks: bool,
) -> Result<(usize, usize), String> {
    let (length, stride) = (size as i64, entry.stride);
    if stride == 0 {
        return Err("has stride 0".into());
    }
    let forward = stride > 0;
    let from_end = |place: i64| if place < 0 { place.saturating_add(length) } else { place };
    // Allows positions before the first element and after the last one, in the direction of the stride.
    let clamp = |place: i64| if forward { place.clamp(0, length) } else { place.clamp(-1, length - 1) };
    let begin = match (from_start, forward) {
        (true, true) => 0,
        (true, false) => length - 1,
        (false, _) => clamp(from_end(entry.begin)),
    };
    if shrinks {
        let inside = usize::try_from(begin).ok().filter(|&begin| begin < size && forward);
        return inside
            .map(|begin| (begin, 1))
            .ok_or_else(|| format!("selects element {} of {size}", entry.begin));
    }
    let end = match (to_end, forward) {
        (true, true) => length,
        (true, false) => -1,
        (false, _) => clamp(from_end(entry.end)),
    };
    let distance = (if forward { end - begin } else { begin - end }).max(0) as u64;
    match distance.div_ceil(stride.unsigned_abs()) {
        0 => Err(format!("selects nothing of {size} elements from {} to {}", entry.begin, entry.end)),
        count => Ok((begin as usize, count as usize)),
    }
}

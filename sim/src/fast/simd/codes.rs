//! Kernels that compute output codes from sums.

use super::super::kernels::{self, Aligned, ByteRows, Delivered, LANES, Lanes, Scaling, TILE};
use super::Kernels;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::options::Isa;

impl Kernels {
    /// Runs [`kernels::codes`] for every pixel of a tile.
    pub fn codes<D: Delivered, const SCHEME: u8>(self, sums: &[D], scaling: &Scaling, out: &mut [Lanes]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW and VL.
            Isa::Avx512 | Isa::Avx512Vnni if SCHEME == kernels::DOUBLE => unsafe {
                avx512::codes_double(sums.iter().map(Delivered::delivered), scaling, out.iter_mut());
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this only if the CPU has AVX2.
            Isa::Avx2 if SCHEME == kernels::DOUBLE => unsafe {
                avx2::codes_double(sums.iter().map(Delivered::delivered), scaling, out.iter_mut());
            },
            _ => self.codes_any::<D, SCHEME>(sums, scaling, out),
        }
    }

    kernel! {
        /// Runs [`kernels::codes`] for every pixel of a tile.
        codes_any [D: Delivered, const SCHEME: u8] [D, SCHEME]
        (sums: &[D], scaling: &Scaling, out: &mut [Lanes])
        for (sum, out) in sums.iter().zip(out) {
            *out = kernels::codes::<SCHEME>(sum.delivered(), scaling);
        }
    }

    /// Writes the codes of every pixel as bytes.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn put_bytes(self, codes: &[Lanes], rows: ByteRows, out: &mut [u8]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW and VL.
            Isa::Avx512 | Isa::Avx512Vnni => unsafe { avx512::put_bytes(codes, rows, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this only if the CPU has AVX2.
            Isa::Avx2 => unsafe { avx2::put_bytes(codes, rows, out) },
            _ => {
                let ByteRows { count, least, stride } = rows;
                for (place, codes) in out.chunks_mut(stride).zip(codes) {
                    place.iter_mut().zip(&codes[..count]).for_each(|(to, &code)| *to = (code - least) as u8);
                }
            }
        }
    }

    /// Runs [`kernels::codes`] for every pixel of a tile and writes bytes.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn put_codes<D: Delivered, const SCHEME: u8>(
        self,
        sums: &[D],
        scaling: &Scaling,
        rows: ByteRows,
        out: &mut [u8],
    ) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this only if the CPU has AVX2.
            Isa::Avx2 if SCHEME == kernels::DOUBLE => unsafe { avx2::put_double(sums, scaling, rows, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW and VL.
            Isa::Avx512 | Isa::Avx512Vnni if SCHEME == kernels::DOUBLE && scaling.has_room => unsafe {
                avx512::put_with_room(sums, scaling, rows, out)
            },
            _ => {
                let mut codes = Aligned([[0; LANES]; TILE]);
                for (i, sums) in sums.chunks(TILE).enumerate() {
                    let codes = &mut codes[..sums.len()];
                    self.codes::<D, SCHEME>(sums, scaling, codes);
                    self.put_bytes(codes, rows, &mut out[i * TILE * rows.stride..]);
                }
            }
        }
    }
}

//! Scales figures from one technology to another.
//!
//! Aaron Stillmaker, Bevan Baas: Scaling equations for the accurate prediction of CMOS device performance
//! from 180 nm to 7 nm, Integration 58 (2017), 74-81, doi:10.1016/j.vlsi.2017.02.002. Energy is proportional
//! to `a V^2 + b V + c` of the node at the supply voltage V; areas are relative to 45 nm. Between two nodes
//! both are interpolated linearly over the node.

/// Node in nm; a, b and c of its energy; its area relative to 45 nm. Nodes descend.
const NODES: [(f64, [f64; 3], f64); 10] = [
    (130.0, [7.171, -6.709, 2.904], 6.4),
    (90.0, [4.762, -4.781, 2.092], 2.8),
    (65.0, [3.755, -4.398, 1.975], 1.5),
    (45.0, [1.103, -0.362, 0.2767], 1.0),
    (32.0, [0.9559, -0.7823, 0.471], 0.46),
    (20.0, [0.373, -0.1582, 0.041_04], 0.21),
    (16.0, [0.2958, -0.1241, 0.030_24], 0.19),
    (14.0, [0.2363, -0.096_75, 0.022_39], 0.17),
    (10.0, [0.2068, -0.093_11, 0.023_75], 0.1),
    (7.0, [0.1776, -0.090_97, 0.024_47], 0.059),
];

/// Supply voltage at which energies are compared, in volts.
pub(super) const SUPPLY: f64 = 0.8;

/// Least and greatest node in nm.
pub(super) const RANGE: [f64; 2] = [7.0, 130.0];

/// Returns the factors of energies and areas from one node to another, in nm; `None` outside [`RANGE`].
pub(super) fn factors(from: f64, to: f64) -> Option<[f64; 2]> {
    let ([energy_from, area_from], [energy_to, area_to]) = (at(from)?, at(to)?);
    Some([energy_to / energy_from, area_to / area_from])
}

/// Returns energy and area of a node, in units common to all nodes.
fn at(node: f64) -> Option<[f64; 2]> {
    let pair = NODES.windows(2).find(|pair| pair[1].0 <= node && node <= pair[0].0)?;
    let (larger, smaller) = (pair[0], pair[1]);
    let part = (node - smaller.0) / (larger.0 - smaller.0);
    let energy = |[a, b, c]: [f64; 3]| (a * SUPPLY + b) * SUPPLY + c;
    let between = |small: f64, large: f64| small + part * (large - small);
    Some([between(energy(smaller.1), energy(larger.1)), between(smaller.2, larger.2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    /// Computed by hand: 1.103 * 0.64 - 0.362 * 0.8 + 0.2767 = 0.69302 for 45 nm, 0.1776 * 0.64 - 0.09097 *
    /// 0.8 + 0.02447 = 0.065358 for 7 nm.
    #[test]
    fn nodes_of_the_table() {
        let [energy, area] = factors(45.0, 7.0).unwrap();
        assert!(near(energy, 0.065_358 / 0.693_02) && near(area, 0.059), "{energy} {area}");
        assert_eq!(factors(45.0, 45.0), Some([1.0, 1.0]));
        for (node, area) in [(130.0, 6.4), (90.0, 2.8), (65.0, 1.5), (32.0, 0.46), (10.0, 0.1)] {
            assert!(near(factors(45.0, node).unwrap()[1], area), "{node}");
        }
    }

    /// 40 nm is 8/13 of the way from 32 to 45 nm: energy 0.456936 + 8/13 * (0.69302 - 0.456936) = 0.6022185,
    /// area 0.46 + 8/13 * 0.54 = 0.7923077.
    #[test]
    fn nodes_between_those_of_the_table() {
        let [energy, area] = factors(40.0, 45.0).unwrap();
        assert!(near(energy, 0.693_02 / (0.456_936 + 8.0 / 13.0 * (0.693_02 - 0.456_936))), "{energy}");
        assert!(near(area, 1.0 / (0.46 + 8.0 / 13.0 * 0.54)), "{area}");
        assert_eq!((factors(40.0, 6.9), factors(140.0, 45.0)), (None, None));
    }
}

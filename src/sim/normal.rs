//! The normal distribution and its inverse.
//!
//! It is not a sampler by rejection: one uniform makes one normal, in order (but for the last bits, a larger uniform
//! makes a larger normal), so that place `i` of a stream is always draw `i`. The inverse is algorithm AS 241, PPND16 (Wichura,
//! "The percentage points of the normal distribution", Applied Statistics 37, 1988), relative error about 1e-16. Its
//! middle needs `+ - * /` alone; its tails need a logarithm, from `libm`, so that every platform has the same bits.

use core::f64::consts::FRAC_1_SQRT_2;

/// How far from a half the middle formula reaches.
const CENTRE: f64 = 0.425;

const CENTRE_TOP: [f64; 8] = [
    3.3871328727963665,
    133.14166789178438,
    1971.5909503065513,
    13731.69376550946,
    45921.95393154987,
    67265.7709270087,
    33430.57558358813,
    2509.0809287301227,
];
const CENTRE_BOTTOM: [f64; 8] = [
    1.0,
    42.31333070160091,
    687.1870074920579,
    5394.196021424751,
    21213.794301586597,
    39307.89580009271,
    28729.085735721943,
    5226.495278852854,
];
const TAIL_TOP: [f64; 8] = [
    1.4234371107496835,
    4.630337846156546,
    5.769497221460691,
    3.6478483247632045,
    1.2704582524523684,
    0.2417807251774506,
    0.022723844989269184,
    0.0007745450142783414,
];
const TAIL_BOTTOM: [f64; 8] = [
    1.0,
    2.053191626637759,
    1.6763848301838038,
    0.6897673349851,
    0.14810397642748008,
    0.015198666563616457,
    0.0005475938084995345,
    1.0507500716444169e-09,
];
const FAR_TOP: [f64; 8] = [
    6.657904643501103,
    5.463784911164114,
    1.7848265399172913,
    0.29656057182850487,
    0.026532189526576124,
    0.0012426609473880784,
    2.7115555687434876e-05,
    2.0103343992922881e-07,
];
const FAR_BOTTOM: [f64; 8] = [
    1.0,
    0.599832206555888,
    0.1369298809227358,
    0.014875361290850615,
    0.0007868691311456133,
    1.8463183175100548e-05,
    1.421511758316446e-07,
    2.0442631033899397e-15,
];

/// The `z` below which a standard normal lies with probability `p`. At 0 and 1 it is infinite, outside them NaN.
///
/// ```
/// use flyball::sim::normal::inverse_cdf;
/// assert_eq!(inverse_cdf(0.5), 0.0);
/// assert!((inverse_cdf(0.975) - 1.959963984540054).abs() < 1e-14);
/// ```
#[must_use]
pub fn inverse_cdf(p: f64) -> f64 {
    if in_centre(p) { centre(p) } else { tail(p) }
}

/// The probability that a standard normal lies below `z`.
#[must_use]
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Gauss and Legendre's twenty points on (-1, 1), those above zero, and their weights.
const POINTS: [(f64, f64); 10] = [
    (0.076_526_521_133_497_32, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_1, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_55, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_41),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_07),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];

/// The chance that two standard normals of this correlation both lie below `z`.
///
/// By the integral over the correlation (Drezner and Wesolowsky 1990), good to about 1e-9 where |z| is below 4.
///
/// ```
/// use flyball::sim::normal::both_below;
/// assert!((both_below(0.0, 0.5) - 1.0 / 3.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn both_below(z: f64, correlation: f64) -> f64 {
    let (alone, angle) = (cdf(z), libm::asin(correlation.clamp(-1.0, 1.0)));
    if angle == 0.0 || !z.is_finite() {
        return alone * alone;
    }
    let density = |at: f64| libm::exp(-z * z / (1.0 + libm::sin(0.5 * angle * (1.0 + at))));
    let sum: f64 = POINTS.iter().map(|(at, weight)| weight * (density(*at) + density(-at))).sum();
    (alone * alone + 0.25 * angle * sum / core::f64::consts::PI).clamp(0.0, alone)
}

/// Turns uniforms into normals where they stand, each as [`inverse_cdf`] would.
///
/// The middle formula is worked out for all, which a compiler does several at a time, and then one in seven is put right
/// by the tails'.
pub fn invert(row: &mut [f64]) {
    const LANES: usize = 16;
    for chunk in row.chunks_mut(LANES) {
        let mut uniforms = [0.5; LANES];
        let uniforms = &mut uniforms[..chunk.len()];
        uniforms.copy_from_slice(chunk);
        chunk.iter_mut().for_each(|place| *place = centre(*place));
        for (place, &uniform) in chunk.iter_mut().zip(&*uniforms) {
            if !in_centre(uniform) {
                *place = tail(uniform);
            }
        }
    }
}

#[inline]
fn in_centre(p: f64) -> bool {
    (p - 0.5).abs() <= CENTRE
}

#[inline]
fn centre(p: f64) -> f64 {
    let q = p - 0.5;
    let r = 0.180_625 - q * q;
    q * polynomial(&CENTRE_TOP, r) / polynomial(&CENTRE_BOTTOM, r)
}

fn tail(p: f64) -> f64 {
    let lower = p < 0.5;
    let r = (-libm::log(if lower { p } else { 1.0 - p })).sqrt();
    let size = if r.is_infinite() {
        r
    } else if r <= 5.0 {
        polynomial(&TAIL_TOP, r - 1.6) / polynomial(&TAIL_BOTTOM, r - 1.6)
    } else {
        polynomial(&FAR_TOP, r - 5.0) / polynomial(&FAR_BOTTOM, r - 5.0)
    };
    if lower { -size } else { size }
}

/// Horner's rule, from the highest power down, without fusing.
#[inline]
fn polynomial(factors: &[f64; 8], x: f64) -> f64 {
    factors.iter().rev().fold(0.0, |sum, factor| sum * x + factor)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "pinned values are the same bits or are wrong")]
mod tests {
    use super::*;
    use crate::sim::noise::{Channel, Noise};
    use statrs::distribution::{ContinuousCDF, Normal};

    /// From Wichura's paper, and from tables of the normal.
    #[test]
    fn known_percentage_points_come_out() {
        for (p, z) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_6),
            (1e-20, -9.262_340_089_798_408),
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
        ] {
            assert!((inverse_cdf(p) - z).abs() <= 4e-16 * z.abs(), "{p}: {}", inverse_cdf(p));
        }
        assert_eq!(inverse_cdf(0.0), f64::NEG_INFINITY);
        assert_eq!(inverse_cdf(1.0), f64::INFINITY);
        assert!(inverse_cdf(-0.1).is_nan() && inverse_cdf(f64::NAN).is_nan());
    }

    #[test]
    fn a_row_is_inverted_place_by_place() {
        let mut row = vec![0.0; 100_001];
        Noise::new(5, 0).fill(Channel::Tool, 0, &mut row);
        row.extend([0.0, 1.0, 0.075, 0.925, 0.5, 1e-300]);
        let alone: Vec<f64> = row.iter().map(|&p| inverse_cdf(p)).collect();
        invert(&mut row);
        assert_eq!(row, alone);
    }

    #[test]
    fn inverse_and_cdf_undo_each_other() {
        let mut p = f64::EPSILON / 2.0;
        while p < 0.5 {
            assert!((cdf(inverse_cdf(p)) / p - 1.0).abs() < 1e-13, "{p}");
            assert!((inverse_cdf(p) + inverse_cdf(1.0 - p)).abs() < 1e-15 / p, "{p}");
            p *= 1.01;
        }
    }

    #[test]
    fn the_cdf_is_that_of_statrs() {
        let normal = Normal::new(0.0, 1.0).unwrap();
        for step in -80..=80 {
            let z = f64::from(step) / 10.0;
            assert!((cdf(z) / normal.cdf(z) - 1.0).abs() < 1e-9, "{z}");
        }
    }

    /// Against the sum over a fine grid of the one normal, given which the other has a normal's chance.
    #[test]
    fn two_normals_lie_below_as_often_as_summed_up() {
        for correlation in [-0.99_f64, -0.6, 0.0, 0.3, 0.9, 0.99] {
            for z in [-3.0, -0.7, 0.0, 1.9] {
                let (step, free) = (1e-3, (1.0 - correlation * correlation).sqrt());
                let at = |place: i32| z - step * (f64::from(place) + 0.5);
                let part = |x: f64| libm::exp(-0.5 * x * x) * cdf((z - correlation * x) / free);
                let sum: f64 = (0..12_000).map(|place| part(at(place))).sum();
                let expected = sum * step / (2.0 * core::f64::consts::PI).sqrt();
                let off = (both_below(z, correlation) - expected).abs();
                assert!(off < 1e-7, "{z} {correlation}: {off}");
            }
        }
        assert_eq!([both_below(f64::INFINITY, 0.4), both_below(f64::NEG_INFINITY, 0.4)], [1.0, 0.0]);
        assert!((both_below(0.8, 1.0) - cdf(0.8)).abs() < 1e-9 && both_below(-0.8, -1.0).abs() < 1e-9);
    }

    #[test]
    fn a_larger_uniform_makes_a_larger_normal() {
        let seams = [0.075, 0.925, libm::exp(-25.0), 1e-3, 0.3, 0.5, 0.7];
        for seam in seams {
            let mut p: f64 = seam * (1.0 - 1e-8);
            for _ in 0..20_000 {
                let next = p + seam * 1e-12;
                assert!(inverse_cdf(next) > inverse_cdf(p), "{p}");
                p = next;
            }
        }
    }

    /// A chi-square over equal cells sees a wrong density, which Kolmogorov and Smirnov's distance does not.
    #[test]
    fn a_million_normals_fill_equal_cells_and_both_tails() {
        const CELLS: usize = 1024;
        let normal = Normal::new(0.0, 1.0).unwrap();
        let edges: Vec<f64> = (1..1024_u32).map(|cell| normal.inverse_cdf(f64::from(cell) / 1024.0)).collect();
        let mut row = vec![0.0; 1_000_000];
        Noise::new(1, 0).fill(Channel::Size, 0, &mut row);
        invert(&mut row);
        let mut cells = [0_u32; CELLS];
        for z in &row {
            cells[edges.partition_point(|edge| edge < z)] += 1;
        }
        let expected = 1e6 / 1024.0;
        let chi: f64 = cells.iter().map(|cell| (f64::from(*cell) - expected).powi(2) / expected).sum();
        let sigmas = (chi - 1023.0) / (2.0 * 1023.0_f64).sqrt();
        assert!(sigmas.abs() < 4.0, "{sigmas}");
        for edge in [3.0, 4.0] {
            let expected = 1e6 * normal.sf(edge);
            let above = row.iter().filter(|z| **z > edge).map(|_| 1.0).sum::<f64>();
            let below = row.iter().filter(|z| **z < -edge).map(|_| 1.0).sum::<f64>();
            for count in [above, below] {
                assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{edge}: {count} for {expected}");
            }
        }
    }
}

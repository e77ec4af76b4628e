//! e to the power of each number of a row, several at a time.
//!
//! It is the algorithm of `libm::exp` (FreeBSD's `e_exp.c`: x = k ln 2 + r, a rational function of r, and 2^k put into the
//! exponent), written without a branch, so that a compiler makes vector code of the loop; and it is nothing but
//! `+ - * /`, comparisons and moves of bits, each with one right answer, so that every platform and every width of vector
//! gives the bits of `libm::exp`, which is a test. It is not for a number alone: that is `libm::exp` itself.

/// Exponents beyond this are held there, so that no infinity and no zero can arise.
pub(super) const MOST_EXPONENT: f64 = 700.0;

const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
const PER_LN_2: f64 = f64::from_bits(0x3FF7_1547_652B_82FE);
/// Half of ln 2, to where the original looks: from here on there is a k.
const HALF_LN_2: f64 = f64::from_bits(0x3FD6_2E43_0000_0000);
/// Below this the original takes 1 + x.
const TINY: f64 = f64::from_bits(0x3E30_0001_0000_0000);
const FACTORS: [u64; 5] =
    [0x3FC5_5555_5555_553E, 0xBF66_C16C_16BE_BD93, 0x3F11_566A_AF25_DE2C, 0xBEBB_BD41_C5D2_6BF1, 0x3E66_3769_72BE_A4D0];
/// 2^52: added to a number that is not negative and below it, it leaves the nearest whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// Puts e to its power, held within 700 of zero, in the place of each number; of what is no number nothing is said.
pub(super) fn bounded_exp_row(row: &mut [f64]) {
    for place in row {
        *place = bounded_exp(*place);
    }
}

#[inline(always)]
fn bounded_exp(x: f64) -> f64 {
    let x = x.clamp(-MOST_EXPONENT, MOST_EXPONENT);
    let (size, p) = (x.abs(), FACTORS.map(f64::from_bits));
    // k is |x| / ln 2 to the nearest, a half up, with the sign of x
    let half_up = PER_LN_2 * size + 0.5;
    let nearest = (half_up + WHOLE) - WHOLE;
    let down = nearest - if nearest > half_up { 1.0 } else { 0.0 };
    let k = if size < HALF_LN_2 { 0.0 } else { down.copysign(x) };
    let (high, low) = (x - k * LN_2_HIGH, k * LN_2_LOW);
    let r = high - low;
    let square = r * r;
    let c = r - square * (p[0] + square * (p[1] + square * (p[2] + square * (p[3] + square * p[4]))));
    let y = 1.0 + (r * c / (2.0 - c) - low + high);
    let y = if size < TINY { 1.0 + x } else { y };
    // 2^k: its biased exponent, moved up to where exponents stand
    y * f64::from_bits((k + (WHOLE + 1023.0)).to_bits() << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds `row` against `libm`, bit by bit.
    fn is_that_of_libm(row: &[f64]) {
        let mut got = row.to_vec();
        bounded_exp_row(&mut got);
        for (x, got) in row.iter().zip(got) {
            let want = libm::exp(x.clamp(-MOST_EXPONENT, MOST_EXPONENT));
            assert_eq!(got.to_bits(), want.to_bits(), "{x:e}: {got:e} for {want:e}");
        }
    }

    /// Numbers without a pattern, from a counter (Steele, Lea and Flood's SplitMix64, 2014).
    fn scrambled(counter: u64) -> u64 {
        let mut z = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [-1, 1).
    fn unit(bits: u64) -> f64 {
        f64::from_bits(0x4000_0000_0000_0000 | (bits >> 12)) - 3.0
    }

    fn random(from: u64, count: u64) {
        for start in (from..from + count).step_by(4096) {
            for reach in [800.0, 40.0, 3.0, 0.4] {
                let row: Vec<f64> = (start..start + 4096).map(|n| reach * unit(scrambled(n))).collect();
                is_that_of_libm(&row);
            }
            // any exponent at all from 2^-64 up
            let any = |n| unit(scrambled(n)) * f64::from_bits((1023 - n % 64) << 52);
            is_that_of_libm(&(start..start + 4096).map(any).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_million_powers_have_the_bits_of_libm() {
        random(0, 200_000);
    }

    #[test]
    #[ignore = "slow: a hundred million numbers"]
    fn a_hundred_million_powers_have_the_bits_of_libm() {
        random(1 << 40, 20_000_000);
    }

    #[test]
    fn around_every_seam_the_bits_are_those_of_libm() {
        let ln_2 = core::f64::consts::LN_2;
        let mut seams = vec![0.0, f64::MIN_POSITIVE, 1e-320, TINY, HALF_LN_2, 1.5 * ln_2, 700.0, f64::INFINITY];
        seams.push(f64::from_bits(0x3FF0_A2B2_0000_0000));
        seams.extend((0..2022_u32).map(|half| f64::from(half) * ln_2 / 2.0));
        for seam in seams {
            let bits = seam.to_bits();
            let near: Vec<f64> = (bits.saturating_sub(40)..=bits + 40).map(f64::from_bits).collect();
            let row: Vec<f64> = near.iter().filter(|x| !x.is_nan()).flat_map(|&x| [x, -x]).collect();
            is_that_of_libm(&row);
        }
    }
}

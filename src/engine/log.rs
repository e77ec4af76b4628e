//! Logarithms of token counts in fixed point, by integers alone.
//!
//! Laws that estimate look at the sizes of turns on the log scale. Their sums must be the same whether they were added
//! turn by turn in the live loop or taken from tables, so the logarithm of one count is an integer: natural logarithm
//! times 2^32, rounded down. Error: below 2^-31 nats. It is not for laws' own mathematics, which use `libm`.

/// One nat, in the unit of this module.
pub const NAT: u64 = 1 << 32;

/// ln 2 in units of 2^-64 nats (the digits of ln 2, rounded down).
const LN_2: u128 = 0xB172_17F7_D1CF_79AB;

/// Steps of the table that the first bits of a count are looked up in.
const STEPS: usize = 64;

/// ln(1 + i/64) in units of 2^-62 nats.
const TABLE: [u64; STEPS] = table();

const fn table() -> [u64; STEPS] {
    let mut table = [0; STEPS];
    let mut step = 0;
    while step < STEPS {
        table[step] = ln_slow(((STEPS + step) as u64) << (63 - 6));
        step += 1;
    }
    table
}

/// ln of `mantissa` / 2^63, which lies in [1, 2), in units of 2^-62 nats: one bit of the binary logarithm per squaring.
const fn ln_slow(mantissa: u64) -> u64 {
    let (mut x, mut log2, mut bit) = (mantissa as u128, 0u128, 1u128 << 62);
    while bit > 0 {
        x = (x * x) >> 63;
        if x >= 1 << 64 {
            x >>= 1;
            log2 |= bit;
        }
        bit >>= 1;
    }
    low_half((log2 * LN_2) >> 65)
}

/// The low 64 bits: all of a number that is known to be that small.
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers shift their numbers below 2^64, and try_from is not const"
)]
const fn low_half(number: u128) -> u64 {
    number as u64
}

/// The natural logarithm of `count` in units of 2^-32 nats; of 0 as of 1, which has none.
///
/// ```
/// use flyball::engine::log::{NAT, ln};
/// assert_eq!(ln(1), 0);
/// assert_eq!((ln(2048) as f64 / NAT as f64 * 1e6).round(), 7_624_619.0);
/// ```
#[must_use]
pub const fn ln(count: u64) -> u64 {
    if count < 2 {
        return 0;
    }
    let zeros = count.leading_zeros();
    let mantissa = count << zeros;
    let step = ((mantissa >> 57) & 63) as usize;
    let base = ((STEPS + step) as u64) << 57;
    // mantissa = base (1 + r), r in [0, 1/64): the series of ln(1 + r) to r^5 leaves less than 2^-38
    let r = (((mantissa - base) as u128) << 62) / base as u128;
    let (r2, r3) = ((r * r) >> 62, (((r * r) >> 62) * r) >> 62);
    let (r4, r5) = ((r2 * r2) >> 62, (r2 * r3) >> 62);
    let tail = r - r2 / 2 + r3 / 3 - r4 / 4 + r5 / 5;
    let whole = ((63 - zeros) as u128 * LN_2) >> 2;
    low_half((whole + TABLE[step] as u128 + tail) >> 30)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(count: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "the check is to 2^-31, and f64 has 53 bits")]
        let (got, want) = (ln(count) as f64 / NAT as f64, libm::log(count as f64));
        (got - want).abs()
    }

    #[test]
    fn small_counts_are_right() {
        for count in 1..100_000 {
            assert!(error(count) < 1.0 / 2f64.powi(31), "{count}: off by {}", error(count));
        }
        assert_eq!(ln(0), 0);
    }

    #[test]
    fn it_never_falls() {
        let mut last = 0;
        for count in 1..200_000 {
            assert!(ln(count) >= last, "{count}");
            last = ln(count);
        }
    }

    proptest! {
        #[test]
        fn any_count_is_right(count in 1u64..) {
            prop_assert!(error(count) < 1.0 / 2f64.powi(31));
        }
    }
}

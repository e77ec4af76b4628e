//! The functions that statistics and theory need and `libm` lacks: normal, beta, gamma and Student tails.
//!
//! Written from `libm`'s `erfc`, `lgamma`, `exp` and `log` alone, so that a number is the same on every platform. Upper
//! tails are computed as tails and not as one less the lower one, which underflows. Accuracy about 1e-12 relative where
//! parameters are below 1e5. Not a library of distributions. Sources: continued fractions and series as in Abramowitz
//! and Stegun 6.5.29, 6.5.31 and 26.5.8, evaluated by Lentz's method; Student's quantile for many degrees of freedom by
//! the expansion of Cornish and Fisher, Abramowitz and Stegun 26.7.5.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

use super::fixed::ufloat;

/// Continued fractions stop here at the latest; those used need about sqrt(parameter) terms.
const TERMS: u32 = 20_000;

/// Newton's steps to a quantile of Student's end here at the latest; four to six are used.
const STEPS: u32 = 30;

/// Smaller than any quotient that occurs, larger than what underflows.
const TINY: f64 = 1e-290;

/// P(Z <= z) for the standard normal.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// The z with P(Z <= z) = p, or nothing unless 0 < p < 1. Bisection on the tail, then two steps of Newton's.
#[must_use]
pub fn normal_quantile(p: f64) -> Option<f64> {
    if !(0.0 < p && p < 1.0) {
        return None;
    }
    if p > 0.5 {
        return normal_quantile(1.0 - p).map(|z| -z);
    }
    let (mut low, mut high) = (-40.0, 0.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut z = 0.5 * (low + high);
    for _ in 0..2 {
        z -= (normal_cdf(z) - p) * (2.0 * PI).sqrt() * libm::exp(0.5 * z * z);
    }
    Some(z)
}

/// The regularised incomplete beta function I_x(a, b): P(X <= x) for a beta variable. For a, b > 0 and 0 <= x <= 1; not a
/// number otherwise.
#[must_use]
pub fn beta_tail(x: f64, a: f64, b: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    if x <= 0.0 || x >= 1.0 {
        return x;
    }
    let ln_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    // the fraction converges fast below the mean, so the other tail is taken above it
    if x < (a + 1.0) / (a + b + 2.0) {
        libm::exp(ln_front) / a * beta_fraction(x, a, b)
    } else {
        1.0 - libm::exp(ln_front) / b * beta_fraction(1.0 - x, b, a)
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let mut fraction = Lentz::new(1.0, 1.0 - (a + b) * x / (a + 1.0));
    for m in (1..TERMS).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        fraction.step(even, 1.0);
        if fraction.step(odd, 1.0) {
            break;
        }
    }
    fraction.value
}

/// Lentz's evaluation of a continued fraction, from the front.
struct Lentz {
    value: f64,
    c: f64,
    d: f64,
}

impl Lentz {
    /// The fraction 1 / `denominator`, with `c` the first quotient.
    fn new(c: f64, denominator: f64) -> Self {
        let d = 1.0 / away(denominator);
        Self { value: d, c, d }
    }

    /// One more term, `over` / (`plus` + ..). Whether it changed nothing any more.
    fn step(&mut self, over: f64, plus: f64) -> bool {
        self.d = 1.0 / away(plus + over * self.d);
        self.c = away(plus + over / self.c);
        let factor = self.c * self.d;
        self.value *= factor;
        (factor - 1.0).abs() < 1e-15
    }
}

fn away(value: f64) -> f64 {
    if value.abs() < TINY { TINY } else { value }
}

/// The regularised incomplete gamma functions (P, Q) at `x` with shape `a`: the lower and the upper tail, each computed
/// directly where it is the small one. For a > 0 and x >= 0; not numbers otherwise.
///
/// ```
/// use flyball::lab::special::gamma_tails;
/// let (lower, upper) = gamma_tails(1.0, 700.0); // exponential
/// assert_eq!(lower, 1.0);
/// assert!((upper / libm::exp(-700.0) - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn gamma_tails(a: f64, x: f64) -> (f64, f64) {
    if !(a > 0.0 && a.is_finite() && x >= 0.0) {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut over) = (1.0 / a, 1.0 / a, a);
        for _ in 0..TERMS {
            over += 1.0;
            term *= x / over;
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        let lower = front * sum;
        return (lower, 1.0 - lower);
    }
    let mut fraction = Lentz::new(1.0 / TINY, x + 1.0 - a);
    for n in (1..TERMS).map(f64::from) {
        if fraction.step(-n * (n - a), x + 2.0 * n + 1.0 - a) {
            break;
        }
    }
    let upper = front * fraction.value;
    (1.0 - upper, upper)
}

/// P(T > t) for Student's variable with `df` degrees of freedom, t >= 0.
fn t_tail(t: f64, df: f64) -> f64 {
    0.5 * beta_tail(df / (df + t * t), 0.5 * df, 0.5)
}

/// Student's quantile: the t with P(T <= t) = p, or nothing unless df >= 1 and 0 < p < 1. To about 1e-12 relative.
///
/// ```
/// use flyball::lab::special::t_quantile;
/// assert!((t_quantile(0.975, 9).unwrap() - 2.2621571627982).abs() < 1e-12);
/// ```
#[must_use]
pub fn t_quantile(p: f64, df: u64) -> Option<f64> {
    if df == 0 || !(0.0 < p && p < 1.0) {
        return None;
    }
    if p < 0.5 {
        return t_quantile(1.0 - p, df).map(|t| -t);
    }
    let df = ufloat(df);
    let z = normal_quantile(p)?;
    if df >= 1_000.0 {
        return Some(many_degrees(z, df));
    }
    let tail = 1.0 - p;
    let ln_density = libm::lgamma(0.5 * (df + 1.0)) - libm::lgamma(0.5 * df) - 0.5 * libm::log(df * PI);
    let mut t = many_degrees(z, df).max(z);
    for _ in 0..STEPS {
        let density = libm::exp(ln_density - 0.5 * (df + 1.0) * libm::log1p(t * t / df));
        let got = t_tail(t, df);
        // a far tail is a power of t, hence straight on log scales; near the middle it is straight as it is
        let factor = if tail > 0.25 {
            1.0 + (got - tail) / (density * t.max(TINY))
        } else {
            libm::exp(got * libm::log(got / tail) / (density * t))
        };
        if !factor.is_finite() {
            break;
        }
        t *= factor;
        if (factor - 1.0).abs() < 1e-14 {
            break;
        }
    }
    Some(t)
}

/// The expansion in 1/df about the normal quantile.
fn many_degrees(z: f64, df: f64) -> f64 {
    let s = z * z;
    let terms = [
        (s + 1.0) * z / 4.0,
        ((5.0 * s + 16.0) * s + 3.0) * z / 96.0,
        (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) * z / 384.0,
        ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) * z / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / df) + z
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
    use statrs::function::{beta::beta_reg, gamma::gamma_ur};

    fn close(got: f64, want: f64, within: f64) -> bool {
        (got - want).abs() <= within * want.abs()
    }

    #[test]
    fn student_quantiles_as_tabled_and_as_somebody_else_has_them() {
        let tabled = [(0.975, 1, 12.706_204_736_174_7), (0.95, 2, 2.919_985_580_353_7), (0.995, 30, 2.749_995_653_567)];
        for (p, df, want) in tabled {
            assert!(close(t_quantile(p, df).unwrap(), want, 1e-11), "{p} {df}");
        }
        for df in [1, 2, 3, 5, 9, 29, 99, 199, 400, 999, 1000, 1999] {
            for p in [0.6, 0.9, 0.975, 0.99, 0.9995, 0.025, 0.999_999] {
                let got = t_quantile(p, df).unwrap();
                let law = StudentsT::new(0.0, 1.0, ufloat(df)).unwrap();
                assert!(close(got, law.inverse_cdf(p), 1e-9), "{p} {df}: {got} {}", law.inverse_cdf(p));
            }
        }
        // statrs itself loses digits in far larger numbers of degrees: the first term of the expansion is enough there
        let z = normal_quantile(0.9).unwrap();
        let many = t_quantile(0.9, 1_000_000).unwrap();
        assert!(close(many, z + (z * z * z + z) / 4e6, 1e-11));
        assert_eq!(t_quantile(0.5, 7).map(f64::abs).map(|t| t < 1e-12), Some(true));
    }

    #[test]
    fn quantiles_of_nothing_are_none() {
        for p in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!((normal_quantile(p), t_quantile(p, 3)), (None, None));
        }
        assert_eq!(t_quantile(0.9, 0), None);
    }

    #[test]
    fn the_two_ways_to_a_student_quantile_meet() {
        for p in [0.9, 0.975, 0.999, 0.99999] {
            let exact = t_quantile(p, 999).unwrap();
            assert!(close(many_degrees(normal_quantile(p).unwrap(), 999.0), exact, 1e-11), "{p}");
        }
    }

    /// With four terms right, what is left falls by 2^5 when the degrees double; with a wrong one, by 2^4 or less.
    #[test]
    fn the_expansion_is_of_fifth_order() {
        for p in [0.975, 0.999] {
            let z = normal_quantile(p).unwrap();
            let left = |df: u64| many_degrees(z, ufloat(df)) - t_quantile(p, df).unwrap();
            let order = left(60) / left(120);
            assert!((27.0..37.0).contains(&order), "{p}: {order}");
        }
    }

    #[test]
    fn normal_quantiles_invert_the_distribution() {
        let law = Normal::standard();
        for p in [1e-300, 1e-12, 0.001, 0.025, 0.3, 0.5, 0.84, 0.975, 0.999_999] {
            let z = normal_quantile(p).unwrap();
            assert!(close(normal_cdf(z), p, 1e-13), "{p}");
            assert!((z - law.inverse_cdf(p)).abs() < 1e-9, "{p}");
        }
        assert!(close(normal_quantile(0.975).unwrap(), 1.959_963_984_540_054, 1e-15));
    }

    #[test]
    fn incomplete_beta_and_gamma_agree_with_somebody_else() {
        for a in [0.5, 1.0, 2.5, 20.0, 150.0] {
            for b in [0.5, 3.0, 40.0] {
                for x in [0.01, 0.3, 0.5, 0.77, 0.999] {
                    let want = beta_reg(a, b, x);
                    assert!((beta_tail(x, a, b) - want).abs() < 1e-11, "{a} {b} {x}");
                }
            }
            for x in [0.1, 1.0, 5.0, 30.0, 200.0] {
                let (lower, upper) = gamma_tails(a, x);
                assert!((upper - gamma_ur(a, x)).abs() < 1e-11 && (lower + upper - 1.0).abs() < 1e-14, "{a} {x}");
            }
        }
    }

    #[test]
    fn small_tails_keep_their_digits() {
        // shape 2: Q = (1 + x) e^-x, P = 1 - Q = x^2/2 - x^3/3 + ..
        let (_, upper) = gamma_tails(2.0, 600.0);
        assert!(close(upper, 601.0 * libm::exp(-600.0), 1e-11));
        let (lower, _) = gamma_tails(2.0, 1e-8);
        assert!(close(lower, 0.5e-16 - 1e-24 / 3.0, 1e-13));
        assert!(gamma_tails(0.0, 1.0).0.is_nan() && gamma_tails(1.0, -1.0).1.is_nan());
        assert_eq!((gamma_tails(3.0, 0.0), gamma_tails(3.0, f64::INFINITY)), ((0.0, 1.0), (1.0, 0.0)));
    }
}

//! Peers are peers only if they do the same work: their figures must agree with the engine's.

/// Names of the figures.
pub(crate) const FIGURES: [&str; 3] = ["tokens per turn", "in-band share", "moves per 100 rounds"];

/// How many standard errors of the difference two programs may differ by.
pub(crate) const TOLERANCE: f64 = 4.0;

/// Means over runs, and their standard errors.
pub(crate) fn means(runs: &[[f64; 3]]) -> [(f64, f64); 3] {
    let n = runs.iter().map(|_| 1.0).sum::<f64>();
    std::array::from_fn(|figure| {
        let mean = runs.iter().map(|run| run[figure]).sum::<f64>() / n;
        let squares = runs.iter().map(|run| (run[figure] - mean) * (run[figure] - mean)).sum::<f64>();
        (mean, (squares / (n - 1.0) / n).sqrt())
    })
}

/// By how many standard errors each figure differs.
pub(crate) fn apart(one: [(f64, f64); 3], other: [(f64, f64); 3]) -> [f64; 3] {
    std::array::from_fn(|figure| {
        let ((a, a_error), (b, b_error)) = (one[figure], other[figure]);
        (a - b).abs() / (a_error * a_error + b_error * b_error).sqrt()
    })
}

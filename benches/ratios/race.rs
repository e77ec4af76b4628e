//! Times side by side: on a machine that others use too, only ratios inside one process, taken in turns, mean anything.

use std::time::Instant;

/// One way of doing a piece of work; gives how many units it did.
pub(crate) type Contestant<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// Each in turn, `rounds` times; gives the least nanoseconds a unit of each.
pub(crate) fn race<const N: usize>(rounds: usize, mut contestants: [Contestant<'_>; N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (least, contestant) in least.iter_mut().zip(&mut contestants) {
            let began = Instant::now();
            let units = contestant();
            *least = least.min(began.elapsed().as_secs_f64() * 1e9 / units);
        }
    }
    least
}

//! What effects and indices say, in sentences: what a result hangs on most, what cannot be told apart, and where nothing can be told.
//!
//! It computes nothing anew. Two factors cannot be told apart where their intervals meet, which is a coarse rule and never
//! claims too much.

use super::factors::FACTORS;
use super::{Effect, Index};

/// Below this nothing has moved.
const NOTHING: f64 = 1e-12;

/// What to do for narrower intervals.
const MORE: &str = "raise --points, four times as many halve the intervals";

/// Of one result, by factor.
#[must_use]
pub fn of_effects(effects: &[Effect], points: u32) -> Vec<String> {
    if effects.iter().all(|effect| effect.size.abs() < NOTHING) {
        return vec![nothing()];
    }
    let sizes: Vec<_> = effects.iter().map(|one| (one.size, one.size - one.half, one.size + one.half)).collect();
    vec![most(&sizes).map_or_else(|| blind(points, "trajectories"), |names| first(&names, points, "trajectories"))]
}

/// The same of indices.
#[must_use]
pub fn of_indices(indices: &[Index], points: u32) -> Vec<String> {
    if indices.iter().all(|index| index.first.abs() < NOTHING && index.total.abs() < NOTHING) {
        return vec![nothing()];
    }
    let alone = |index: &Index| index.first_interval.lo > 0.0;
    let totals: Vec<_> = indices.iter().map(|one| (one.total, one.total_interval.lo, one.total_interval.hi)).collect();
    let mut all = match (most(&totals), indices.iter().any(alone)) {
        (Some(names), true) => vec![first(&names, points, "points")],
        (Some(names), false) => vec![
            first(&names, points, "points"),
            format!("No share of a factor alone (first) can be told from 0 with {points} points; {MORE}."),
        ],
        (None, true) => vec![format!("With {points} points no total can be told from 0; {MORE}.")],
        (None, false) => vec![blind(points, "points")],
    };
    if indices.iter().any(|index| index.first < 0.0) {
        all.push(
            "A share is never below 0; one that is shown there is the luck of the points, and cannot be told from 0."
                .to_owned(),
        );
    }
    all
}

fn nothing() -> String {
    "Nothing that was moved moves it.".to_owned()
}

fn blind(points: u32, what: &str) -> String {
    format!("Nothing can be told of any factor with {points} {what}, as every interval holds 0; {MORE}.")
}

fn first(names: &[&str], points: u32, what: &str) -> String {
    match names {
        [one] => format!("It hangs most on {one}."),
        [others @ .., last] => format!(
            "It hangs most on {} and {last}, which cannot be told apart with {points} {what}; {MORE}.",
            others.join(", ")
        ),
        [] => String::new(),
    }
}

/// The factor with the largest value, and those whose interval meets its own, the largest first; none where every interval
/// holds 0. A value, and the ends of its interval.
fn most(values: &[(f64, f64, f64)]) -> Option<Vec<&'static str>> {
    if !values.iter().any(|(_, low, _)| *low > 0.0) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].0.total_cmp(&values[*a].0).then(a.cmp(b)));
    let least = values[*order.first()?].1;
    Some(
        order
            .into_iter()
            .enumerate()
            .filter(|(rank, at)| *rank == 0 || values[*at].2 >= least)
            .map(|(_, at)| FACTORS[at])
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::stats::Interval;

    fn effect(size: f64, half: f64) -> Effect {
        Effect { size, half, mean: size, spread: 0.0 }
    }

    fn index(first: (f64, f64), total: (f64, f64)) -> Index {
        let interval = |(mean, half): (f64, f64)| Interval { lo: mean - half, hi: mean + half };
        Index { first: first.0, first_interval: interval(first), total: total.0, total_interval: interval(total) }
    }

    #[test]
    fn the_largest_effect_is_named_with_what_cannot_be_told_from_it() {
        let mut effects = vec![effect(0.1, 0.05); 8];
        effects[7] = effect(0.8, 0.1);
        assert_eq!(of_effects(&effects, 20), ["It hangs most on slack."]);
        effects[1] = effect(0.7, 0.1);
        effects[6] = effect(0.65, 0.2);
        let said = of_effects(&effects, 20).remove(0);
        assert!(
            said.starts_with("It hangs most on slack, phase and over, which cannot be told apart with 20 trajec"),
            "{said}"
        );
        let said = of_effects(&vec![effect(0.1, 0.2); 8], 4).remove(0);
        assert!(
            said.starts_with("Nothing can be told of any factor with 4 trajectories") && said.contains("--points"),
            "{said}"
        );
        assert_eq!(of_effects(&vec![effect(0.0, 0.0); 8], 4), ["Nothing that was moved moves it."]);
    }

    #[test]
    fn shares_that_cannot_be_told_from_nothing_are_no_ranking() {
        let mut indices = vec![index((-0.1, 0.3), (0.02, 0.1)); 8];
        let said = of_indices(&indices, 64).join(" ");
        assert!(
            said.contains("Nothing can be told of any factor with 64 points") && said.contains("never below 0"),
            "{said}"
        );
        indices[7] = index((0.2, 0.3), (0.5, 0.1));
        let said = of_indices(&indices, 64).join(" ");
        assert!(
            said.contains("It hangs most on slack. No share of a factor alone") && said.contains("never below 0"),
            "{said}"
        );
        indices[7] = index((0.4, 0.3), (0.5, 0.6));
        assert!(of_indices(&indices, 64)[0].starts_with("With 64 points no total can be told from 0"));
        let sound = vec![index((0.1, 0.05), (0.1, 0.05)); 8];
        assert!(of_indices(&sound, 64).len() == 1 && of_indices(&sound, 64)[0].contains("cannot be told apart"));
        let still = vec![index((0.0, 0.0), (0.0, 0.0)); 8];
        assert_eq!(of_indices(&still, 64), ["Nothing that was moved moves it."]);
        let endless = vec![index((0.3, f64::INFINITY), (0.3, f64::INFINITY)); 8];
        assert!(of_indices(&endless, 4)[0].starts_with("Nothing can be told"));
    }
}

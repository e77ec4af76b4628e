//! What to know about a target before it is run: whether the ladder reaches it, and whether a rung stands where it lies.
//!
//! Simple estimates from the scenario's means, for people; no run is scored by them. Formulas follow the control study:
//! between rungs whose means differ by the ratio r, the slack from which one of them is always in the band is
//! (r - 1) / (r + 1).

use super::grid::{Cell, Grid};
use super::scenario::Scenario;
use crate::engine::{Target, counted};

/// Where a target lies.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A rung's mean is within the band of evaluation.
    OnRung,
    /// Past the means of all rungs.
    OffLadder {
        /// The rung whose mean is the nearest, by its word.
        nearest: String,
        /// That rung's mean.
        mean: f64,
        /// Whether the target lies above.
        above: bool,
        /// The end of the ladder that the governor will be pinned at, by its word. Another rung where means do not follow the ladder.
        pinned: String,
    },
    /// Between two rungs, in the band of neither.
    Between {
        /// The rung below, by its word, and its mean.
        below: (String, f64),
        /// The rung above, and its mean.
        above: (String, f64),
        /// The smallest slack at which the nearer of both is in the band.
        slack: f64,
    },
}

/// Where `juice` lies on the scenario's ladder.
#[must_use]
pub fn place(scenario: &Scenario, juice: Target) -> Place {
    let (target, band) = (tokens(juice), f64::from(scenario.evaluate.band.ppm()) / 1e6);
    let words = scenario.ladder.efforts().iter().map(|effort| effort.word().to_owned());
    let mut rungs: Vec<(String, f64)> = words.zip(scenario.derived_at(juice).means).collect();
    rungs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let off = |mean: f64| (mean - target).abs() / target;
    if rungs.iter().any(|(_, mean)| off(*mean) <= band) {
        return Place::OnRung;
    }
    let split = rungs.partition_point(|(_, mean)| *mean < target);
    match (split.checked_sub(1).and_then(|at| rungs.get(at)), rungs.get(split)) {
        (Some(below), Some(above)) => {
            let slack = off(below.1).min(off(above.1));
            Place::Between { below: below.clone(), above: above.clone(), slack }
        }
        (Some((word, mean)), None) => off_ladder(scenario, word, *mean, true),
        (None, Some((word, mean))) => off_ladder(scenario, word, *mean, false),
        (None, None) => Place::OnRung,
    }
}

fn off_ladder(scenario: &Scenario, nearest: &str, mean: f64, above: bool) -> Place {
    let efforts = scenario.ladder.efforts();
    let end = if above { efforts.first() } else { efforts.last() };
    let pinned = end.map_or_else(|| nearest.to_owned(), |end| end.word().to_owned());
    Place::OffLadder { nearest: nearest.to_owned(), mean, above, pinned }
}

/// A sentence about it; none where a rung stands there.
#[must_use]
pub fn advice(scenario: &Scenario, juice: Target) -> Option<String> {
    let target = tokens(juice);
    match place(scenario, juice) {
        Place::OnRung => None,
        Place::OffLadder { nearest, mean, above, pinned } => {
            let (side, end) = if above { ("above", "most") } else { ("below", "least") };
            let there = if pinned == nearest { "there".to_owned() } else { format!("at {pinned}, the ladder's end") };
            Some(format!(
                "juice {target} lies {side} the ladder: {nearest} makes {mean:.0} tokens per turn, the {end} of all rungs, and \
                 the governor will be pinned {there}; the nearest target that lies on a rung is {mean:.0}"
            ))
        }
        Place::Between { below, above, slack } => Some(format!(
            "juice {target} lies between two rungs: {} makes {:.0} tokens per turn and {} makes {:.0}; the nearest targets \
             that lie on a rung are these, and a slack of {:.2} or more would hold this one on one rung",
            below.0,
            below.1,
            above.0,
            above.1,
            (slack * 100.0).ceil() / 100.0
        )),
    }
}

/// A sentence where a harder effort makes no more tokens than a softer one; none where the ladder is in order. By the means that the
/// scenario states, assumed ones at the middle of what they may be.
#[must_use]
pub fn disorder(scenario: &Scenario) -> Option<String> {
    let words: Vec<&str> = scenario.ladder.efforts().iter().map(|effort| effort.word()).collect();
    let means = scenario.derived().means;
    let wrong: Vec<usize> = (1..means.len()).filter(|&soft| means[soft - 1] <= means[soft]).collect();
    let (&first, last) = (wrong.first()?, means.len() - 1);
    let pilot = "`flyball pilot` plans the run that measures it";
    if wrong.len() == last && means[0] < means[last] {
        return Some(format!(
            "the ladder is upside down: {}, its hardest effort, makes {:.0} tokens per turn, and {}, its softest, {:.0}, so that a \
             law that goes harder for more gets less; list the efforts the other way round, or if you doubt it, {pilot}",
            words[0], means[0], words[last], means[last]
        ));
    }
    let others = match wrong.len() {
        1 => String::new(),
        count => format!(" ({} like that in all)", counted(count, "pair")),
    };
    Some(format!(
        "the ladder is not in order: {} makes {:.0} tokens per turn, and {}, the next softer, makes {:.0}{others}, so that a law that goes \
         harder for more does not find it there; list the efforts by what they make, or if you doubt it, {pilot}",
        words[first - 1],
        means[first - 1],
        words[first],
        means[first]
    ))
}

/// A sentence where a recommended cell lies at the end of a window or slack axis, past which something better may lie.
#[must_use]
pub fn edge(grid: &Grid, cell: &Cell) -> Option<String> {
    let at_end =
        |place: Option<usize>, length: usize| length > 1 && place.is_some_and(|at| at == 0 || at + 1 == length);
    let over = at_end(grid.overs().iter().position(|over| *over == cell.over), grid.overs().len());
    let slack = at_end(grid.slacks().iter().position(|slack| *slack == cell.slack), grid.slacks().len());
    let axes = match (over, slack) {
        (true, true) => "--over and --slack",
        (true, false) => "--over",
        (false, true) => "--slack",
        (false, false) => return None,
    };
    Some(format!(
        "the cell recommended for juice {} lies at the end of {axes}: a wider grid may hold a better one",
        tokens(cell.juice)
    ))
}

fn tokens(juice: Target) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a target is far below 2^53 millionths")]
    let micros = juice.micros() as f64;
    micros / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(juice: u64) -> Option<String> {
        let text = include_str!("../../scenarios/s02-typical.toml");
        advice(&Scenario::load(text, "s02-typical.toml").unwrap(), Target::from_tokens(juice))
    }

    #[test]
    fn a_target_on_a_rung_needs_no_advice() {
        assert_eq!(said(2048), None);
        assert_eq!(said(2300), None, "within 15 % of the rung");
    }

    #[test]
    fn a_target_past_an_end_is_pinned() {
        let above = said(9000).unwrap();
        assert!(above.contains("above the ladder") && above.contains("rung-5"), "{above}");
        assert!(said(100).unwrap().contains("below the ladder: rung-0 makes 500"));
    }

    #[test]
    fn where_the_ladders_end_is_not_the_largest_rung_it_is_pinned_at_the_end() {
        let text = include_str!("../../scenarios/s13-uneven-inverted.toml");
        let scenario = Scenario::load(text, "s13-uneven-inverted.toml").unwrap();
        let means = scenario.derived().means;
        let most = means.iter().copied().fold(0.0, f64::max);
        let first = scenario.ladder.efforts()[0].word();
        let said = advice(&scenario, Target::from_tokens(90_000)).unwrap();
        let at_the_end = said.contains(&format!("pinned at {first}, the ladder's end"));
        assert_eq!(at_the_end, means[0] < most, "{said} {means:?}");
        let softer = text.replacen("mean = 4200", "mean = 420", 1);
        let turned = Scenario::load(&softer, "s13-uneven-inverted.toml").unwrap();
        let said = advice(&turned, Target::from_tokens(90_000)).unwrap();
        assert!(said.contains(&format!("pinned at {first}, the ladder's end")), "{said}");
    }

    #[test]
    fn a_ladder_that_is_out_of_order_is_told_with_the_rungs() {
        let said = |text: &str| disorder(&Scenario::load(text, "x.toml").unwrap());
        assert_eq!(said(include_str!("../../scenarios/s02-typical.toml")), None);
        assert_eq!(said(include_str!("../../scenarios/sonnet-5.toml")), None);
        let swapped = said(include_str!("../../scenarios/s13-uneven-inverted.toml")).unwrap();
        assert!(
            swapped.contains("not in order: rung-3 makes 1350")
                && swapped.contains("rung-2, the next softer, makes 1500"),
            "{swapped}"
        );
        assert!(swapped.contains("flyball pilot") && !swapped.contains("in all"), "{swapped}");
        let down = said(include_str!("../../gate/ladders/upside-down.toml")).unwrap();
        assert!(
            down.contains("upside down: rung-5, its hardest effort, makes 500")
                && down.contains("rung-0, its softest, 5243"),
            "{down}"
        );
        let typical = include_str!("../../scenarios/s02-typical.toml");
        let alike = said(&typical.replace("mean = 1280", "mean = 2048").replace("mean = 500,", "mean = 800,")).unwrap();
        assert!(alike.contains("not in order: rung-3") && alike.contains("2 pairs like that"), "{alike}");
    }

    #[test]
    fn a_target_between_two_rungs_names_both_and_the_slack() {
        let between = said(1600).unwrap();
        assert!(between.contains("rung-2 makes 1280") && between.contains("rung-3 makes 2048"), "{between}");
        assert!(between.contains("a slack of 0.20 or more"), "{between}");
    }

    #[test]
    fn a_cell_at_the_end_of_an_axis_is_told() {
        use crate::engine::{LawKind, Millis, Ratio};
        use crate::lab::grid::Axes;
        let cell = |over, slack| Cell {
            law: LawKind::Reset,
            juice: Target::from_tokens(680),
            over: Millis::from_secs(over),
            slack: Ratio::from_ppm(slack),
            rest: Millis::from_secs(5),
        };
        let over = Some([60, 300, 3600].map(Millis::from_secs).to_vec());
        let slack = Some([100_000, 200_000, 300_000].map(Ratio::from_ppm).to_vec());
        let grid = Grid::new(cell(60, 0), Axes { over, slack, ..Axes::default() }).unwrap();
        assert_eq!(edge(&grid, &cell(300, 200_000)), None);
        assert!(edge(&grid, &cell(3600, 100_000)).unwrap().contains("juice 680 lies at the end of --over and --slack"));
        assert!(edge(&grid, &cell(60, 200_000)).unwrap().contains("the end of --over:"));
        let single = Grid::new(cell(60, 0), Axes::default()).unwrap();
        assert_eq!(edge(&single, &cell(60, 0)), None, "an axis of one value has no end to pass");
    }
}

//! Readings that no seed decides, at the edges where rules break.

use std::fmt::Write as _;

use super::rows::Build;
use crate::engine::{Band, Law, Memory, Ratio, Reading, RoundSums, Rungs, Sums, Target, Timestamp, Tokens};
use crate::lab::grid::Cell;

/// The target of the scripts.
pub(super) const JUICE: u64 = 2000;

/// A reading: the rung that it is read on, turns, and the output of all of them.
type Line = (usize, u64, u64);

/// On a ladder of five, slack .15: edges are 1700 and 2300 a turn.
const EDGES: [Line; 34] = [
    (2, 1, 1700),
    (2, 1, 1699),
    (2, 2, 3400),
    (2, 2, 3399),
    (2, 7, 11_900),
    (2, 7, 11_899),
    (2, 7, 11_901),
    (2, 1, 2300),
    (2, 1, 2301),
    (2, 2, 4600),
    (2, 2, 4601),
    (2, 7, 16_100),
    (2, 7, 16_101),
    (2, 7, 16_099),
    (2, 1, 2000),
    (2, 0, 0),
    (2, 0, 900),
    (2, 5, 0),
    (2, 1, 1),
    (2, 1, 900_000),
    (0, 3, 5000),
    (0, 3, 9000),
    (0, 3, 6000),
    (1, 3, 3000),
    (3, 3, 9900),
    (4, 3, 9900),
    (4, 3, 3000),
    (4, 3, 6000),
    (0, 0, 0),
    (4, 0, 0),
    (4, 4, 0),
    (0, 4, 0),
    (1, 100, 169_999),
    (3, 100, 230_001),
];

/// What a law answers to each line, each time afresh: whether it goes harder, softer or stays, and by how many.
fn edges(build: Build<'_>, cell: &Cell, slack: u32) -> Option<String> {
    let (band, rungs) = (Band::new(Target::from_tokens(JUICE), Ratio::from_ppm(slack)).ok()?, Rungs::new(5)?);
    let mut text = String::new();
    for &line in &EDGES {
        let mut law = build(cell);
        answer(&mut *law, &band, rungs, line, 1, &mut text)?;
    }
    Some(text)
}

/// Sixty rounds of one law that stands where it asked to: turns come in a pattern, larger on harder rungs.
fn walk(build: Build<'_>, cell: &Cell, size: usize) -> Option<String> {
    let (band, rungs) = (Band::new(Target::from_tokens(JUICE), Ratio::from_ppm(150_000)).ok()?, Rungs::new(size)?);
    let (mut law, mut rung, mut text) = (build(cell), size / 2, String::new());
    let mut window = Sums::default();
    for round in 0..60_u64 {
        // from a seventh to seven times the target about the middle, by a pattern that repeats after thirteen rounds
        let turns = [4, 1, 9, 2, 0, 6, 3, 12, 5, 1, 7, 2, 8][usize::try_from(round % 13).ok()?];
        let level = [900, 1100, 1000, 800, 1300, 950, 1050][usize::try_from(round % 7).ok()?];
        let drift = if round < 30 { 1 } else { 2 };
        let mean = level * drift * [8, 5, 3, 2, 1][(rung * 5 / size).min(4)];
        let output = mean * turns;
        let since = if law.memory() == Memory::SinceMove { window } else { Sums::default() };
        let sums = Sums { turns: since.turns + turns, output: Tokens::new(since.output.count() + output) };
        let (from, mut reading) = (rung, String::new());
        rung = tell(&mut *law, &band, rungs, (rung, turns, mean), sums, round + 1, &mut reading)?;
        text.push_str(&reading);
        window = if rung == from { sums } else { Sums::default() };
    }
    Some(text)
}

/// The scripts of one law, by name.
pub(super) fn scripts(build: Build<'_>, cell: &Cell) -> Vec<(&'static str, String)> {
    let cell = &Cell { juice: Target::from_tokens(JUICE), ..*cell };
    let tight = Cell { slack: Ratio::from_ppm(0), ..*cell };
    let all = [
        ("script edges", edges(build, cell, 150_000)),
        ("script no slack", edges(build, &tight, 0)),
        ("script walk of 5", walk(build, cell, 5)),
        ("script walk of 2", walk(build, cell, 2)),
        ("script walk of 1", walk(build, cell, 1)),
    ];
    all.into_iter().filter_map(|(name, text)| text.map(|text| (name, text))).collect()
}

fn answer(
    law: &mut dyn Law,
    band: &Band,
    rungs: Rungs,
    (rung, turns, output): Line,
    round: u64,
    text: &mut String,
) -> Option<usize> {
    let sums = Sums { turns, output: Tokens::new(output) };
    let mean = output.checked_div(turns).unwrap_or(0);
    tell(law, band, rungs, (rung, turns, mean), sums, round, text)
}

/// Shows a law a reading and writes down where it goes: `=` stays, `!` would go past an end, else the rung.
fn tell(
    law: &mut dyn Law,
    band: &Band,
    rungs: Rungs,
    (rung, turns, mean): Line,
    window: Sums,
    round: u64,
    text: &mut String,
) -> Option<usize> {
    let mut sums = RoundSums { turns, output: Tokens::new(mean * turns), ..RoundSums::default() };
    for turn in 0..turns {
        // about the mean, by a quarter each way
        sums.add_log(mean * (3 + turn % 3) / 4);
    }
    let from = rungs.rung(rung)?;
    let reading = Reading {
        now: Timestamp::from_millis(round * 600_000),
        cutoff: Timestamp::from_millis(round * 600_000 - 300_000),
        window,
        round: sums,
        rung: from,
        rungs,
        band,
        spent: Tokens::new(round * 40_000),
        budget: None,
    };
    let decision = law.decide(&reading);
    let to = rungs.clamp(decision.to);
    let _ = match (to == from, decision.why.asks_to_move()) {
        (true, true) => write!(text, "!"),
        (true, false) => write!(text, "="),
        (false, _) => write!(text, "{}", to.index()),
    };
    Some(to.index())
}

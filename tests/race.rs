//! The race of `recommend` finds what the full grid finds, at a tenth of its cost.
#![cfg(feature = "lab")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use flyball::engine::{LawKind, Millis, Ratio};
use flyball::lab::choose::Weights;
use flyball::lab::recommend::race::{keeps_limits, race};
use flyball::lab::recommend::{Record, Setting, World, mean, objective};
use flyball::lab::scenario::Scenario;

/// Rounds of a run: enough to settle and to be seen to hold.
const ROUNDS: u32 = 80;
/// Runs of each cell of the full grid, as in the control study.
const FULL: u32 = 128;
/// Runs of what is left at the end of a race: as many as the grid has, so that the two rank it alike (`--race 128`).
const RACE: u32 = 128;

fn worlds() -> Vec<World> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // S01 to S18, whatever other scenarios there are
    files.retain(|path| path.file_name().is_some_and(|name| ("s01".."s19").contains(&&*name.to_string_lossy())));
    files.sort();
    let load = |path: &std::path::PathBuf| {
        let mut scenario = Scenario::read(path).unwrap();
        scenario.plan.rounds = ROUNDS;
        World::new(&scenario.name.clone(), scenario, true)
    };
    files.iter().map(load).collect()
}

/// Every window and slack of the laws that look at them, and each other law once for what it looks at.
fn grid(laws: &[LawKind]) -> Vec<Setting> {
    let (overs, slacks) =
        ([60, 120, 300, 600, 1200, 1800, 2700, 3600], [50_000, 150_000, 200_000, 250_000, 300_000, 400_000, 500_000]);
    let mut all = Vec::new();
    for &law in laws {
        let (windows, bands) = match law {
            LawKind::Fixed => (0, 0),
            LawKind::Reference | LawKind::Reset | LawKind::Confirm => (overs.len(), slacks.len()),
            LawKind::Evidence | LawKind::Hybrid => (1, slacks.len()),
            LawKind::Integral | LawKind::Cusum | LawKind::Stride | LawKind::Stride3 | LawKind::Model => (1, 1),
        };
        for over in &overs[..windows] {
            for slack in &slacks[..bands] {
                let (over, slack) = (Millis::from_secs(*over), Ratio::from_ppm(*slack));
                all.push(Setting { law, over, slack, rest: Millis::from_secs(5) });
            }
        }
    }
    all
}

const PLAIN: &[LawKind] = &[LawKind::Reference, LawKind::Reset];

/// For each setting of the full grid the objective with this seed's luck, in points: hundredths of loss, of which a point of rounds off a rung is
/// about one. What breaks a limit is no best, whatever it loses.
fn full(worlds: &[World], settings: &[Setting], seed: u64) -> Vec<f64> {
    let weights = Weights::default();
    let record = Record::new(worlds, settings, &(0..FULL), seed, &weights).unwrap();
    let worth = |at| (keeps_limits(worlds, &record.of(at)), mean(objective(&record.of(at), &weights).0) / 1e4);
    let all: Vec<(bool, f64)> = (0..settings.len()).map(worth).collect();
    let kept = all.iter().any(|(keeps, _)| *keeps);
    all.into_iter().map(|(keeps, loss)| if keeps || !kept { loss } else { f64::INFINITY }).collect()
}

/// Races with these seeds, of which so many may end more than `points` from the best of the full grid on the same luck: how well a race
/// chooses, and not how well 128 runs know the truth, which the interval of the promise on fresh runs says.
fn check(laws: &[LawKind], seeds: std::ops::Range<u64>, points: f64, missed: usize) {
    let (worlds, settings, weights) = (worlds(), grid(laws), Weights::default());
    assert_eq!((worlds.len(), settings.len()), (19, if laws == PLAIN { 112 } else { 187 }));
    let whole = settings.len() as u64 * u64::from(FULL) * worlds.len() as u64;
    let mut far = Vec::new();
    for seed in seeds {
        let raced = race(&worlds, &settings, RACE, seed, &weights).unwrap();
        assert!(raced.cost * 10 <= whole, "{} of {whole}", raced.cost);
        let grid = full(&worlds, &settings, seed);
        let best = grid.iter().copied().fold(f64::INFINITY, f64::min);
        let at = settings.iter().position(|setting| *setting == raced.left[0]).unwrap();
        if grid[at] - best > points {
            far.push((seed, raced.left[0], grid[at] - best));
        }
    }
    assert!(far.len() <= missed, "{far:?}");
}

#[test]
fn a_race_finds_the_best() {
    check(PLAIN, 0..1, 0.3, 0);
}

#[test]
#[ignore = "slow: a hundred races over nineteen scenarios"]
fn ninety_five_of_a_hundred_races_find_the_best() {
    check(PLAIN, 0..100, 0.3, 5);
}

/// The laws that `recommend` chooses from.
#[test]
#[ignore = "slow: a hundred races of all laws over nineteen scenarios"]
fn ninety_five_of_a_hundred_races_find_the_best_of_all_laws() {
    check(&LawKind::ALL, 0..100, 0.3, 5);
}

//! Which settings are run at all: values of the axes, less what theory or a look rules out.

use super::{Setting, World};
use crate::engine::{LawKind, Millis, Ratio, counted, one_or};
use crate::lab::choose::YARDSTICKS;
use crate::lab::explain::{quiets, right};
use crate::lab::grid::{Axes, Cell};
use crate::lab::sweep::SweepError;
use crate::lab::trial::{Trial, trial};

/// How far below the legal slacks a slack may lie and still be run, as a share of the least of them.
const BELOW: f64 = 0.5;
/// How far above the legal slacks.
const ABOVE: f64 = 0.1;
/// The original's window and slack.
const PLAIN_OVER: Millis = Millis::from_secs(300);
const PLAIN_SLACK: Ratio = Ratio::from_ppm(150_000);
/// Rounds in which it shows whether a law looks at its window or its band, and runs of them.
const LOOK: (u32, u32) = (80, 8);

/// What is to be run, and what is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Screened {
    /// Settings to run.
    pub settings: Vec<Setting>,
    /// How many the axes have.
    pub all: usize,
    /// What was left out, in sentences.
    pub left_out: Vec<String>,
    /// Laws of which no run changed with the window, nor with the slack: each is run once.
    pub once: Vec<LawKind>,
}

/// The windows and slacks that are tried where nobody names others.
#[must_use]
pub fn usual_axes() -> (Vec<Millis>, Vec<Ratio>) {
    let overs = [60, 120, 180, 300, 600, 900, 1200, 1800, 2700, 3600, 7200].map(Millis::from_secs).to_vec();
    (overs, (1..=10).map(|step| Ratio::from_ppm(step * 50_000)).collect())
}

/// The settings of the axes that are worth running in these worlds.
///
/// # Errors
/// [`SweepError`] where a target makes no band.
pub fn screen(worlds: &[World], axes: &Axes, rest: Millis) -> Result<Screened, SweepError> {
    let (usual_overs, usual_slacks) = usual_axes();
    let real = |law: &LawKind| !YARDSTICKS.contains(&law.name());
    let laws = axes.law.clone().unwrap_or_else(|| LawKind::ALL.into_iter().filter(real).collect());
    let (overs, slacks) = (axes.over.clone().unwrap_or(usual_overs), axes.slack.clone().unwrap_or(usual_slacks));
    let all = laws.len() * overs.len() * slacks.len();
    let (mut settings, mut left_out, mut once) = (Vec::new(), Vec::new(), Vec::new());
    let legal = legal(worlds, &slacks, axes.slack.is_some());
    if legal.len() < slacks.len() {
        left_out.push(format!(
            "{} of {} slacks lie far outside what the gaps of the ladder allow",
            slacks.len() - legal.len(),
            slacks.len()
        ));
    }
    for &law in &laws {
        let (sees_window, sees_band) = looks(worlds, law, rest)?;
        let overs = if sees_window { overs.clone() } else { one(&overs, PLAIN_OVER) };
        let slacks = if sees_band { legal.clone() } else { one(&slacks, PLAIN_SLACK) };
        if !sees_window && !sees_band {
            once.push(law);
        }
        for over in overs {
            settings.extend(slacks.iter().map(|&slack| Setting { law, over, slack, rest }));
        }
    }
    let before = settings.len();
    let cycles = cycling(worlds, &settings)?;
    let kept: Vec<Setting> =
        settings.iter().zip(cycles).filter(|(_, cycles)| !cycles).map(|(setting, _)| *setting).collect();
    if !kept.is_empty() && kept.len() < before {
        let gone = before - kept.len();
        left_out.push(format!(
            "{} {} round for ever even without noise",
            counted(gone, "setting"),
            one_or(gone, "goes", "go")
        ));
        settings = kept;
    }
    Ok(Screened { settings, all, left_out, once })
}

/// The value that means nothing to a law: the original's, where it is among them.
fn one<T: Copy + PartialEq>(values: &[T], plain: T) -> Vec<T> {
    let plain = values.iter().find(|value| **value == plain).or(values.first());
    plain.copied().into_iter().collect()
}

/// Slacks that are legal, or nearly so, at the target of some scenario as it is; all where none is, or where they were
/// asked for.
fn legal(worlds: &[World], slacks: &[Ratio], asked: bool) -> Vec<Ratio> {
    let fits = |slack: &&Ratio| {
        let slack = f64::from(slack.ppm()) / 1e6;
        worlds.iter().filter(|world| world.home).any(|world| {
            let legal = world.scenario.derived().legal_slack;
            legal.is_none_or(|legal| (BELOW * legal.lo..=legal.hi + ABOVE).contains(&slack))
        })
    };
    let kept: Vec<Ratio> = slacks.iter().filter(fits).copied().collect();
    if asked || kept.is_empty() { slacks.to_vec() } else { kept }
}

/// Whether a law's path changes with its window, and with its band, in any of the worlds: where it stays at an end of the
/// ladder in one, nothing shows there.
fn looks(worlds: &[World], law: LawKind, rest: Millis) -> Result<(bool, bool), SweepError> {
    const SLACKS: [u32; 3] = [20_000, 150_000, 450_000];
    const SHORT_AND_LONG: [u64; 2] = [60, 7200];
    let (rounds, runs) = LOOK;
    let mut seen = (false, false);
    for world in worlds {
        let juice = world.scenario.governor.juice;
        let setting = |over: u64, slack: u32| {
            Setting { law, over: Millis::from_secs(over), slack: Ratio::from_ppm(slack), rest }.at(juice)
        };
        let cells: Vec<Cell> =
            SHORT_AND_LONG.iter().flat_map(|&over| SLACKS.map(|slack| setting(over, slack))).collect();
        let asked = Trial { scenario: &world.scenario, cells: &cells, runs: 0..runs, rounds, seed: 0 };
        let tuning = &world.scenario.governor.tuning;
        let paths = trial(&asked, &|cell| cell.law.tuned(tuning), &|ran| ran.log.rung.clone())?;
        let (short, long) = paths.split_at(SLACKS.len());
        seen.0 |= short != long;
        seen.1 |= [short, long].iter().any(|by_slack| by_slack.iter().any(|paths| *paths != by_slack[0]));
        if seen == (true, true) {
            break;
        }
    }
    Ok(seen)
}

/// Which settings go round for ever without noise, mostly on wrong rungs, in every scenario as it is.
fn cycling(worlds: &[World], settings: &[Setting]) -> Result<Vec<bool>, SweepError> {
    let mut all = vec![worlds.iter().any(|world| world.home); settings.len()];
    for world in worlds.iter().filter(|world| world.home) {
        let juice = world.scenario.governor.juice;
        let cells: Vec<Cell> = settings.iter().map(|setting| setting.at(juice)).collect();
        let told = quiets(&world.scenario, &cells, &right(&world.scenario, juice)?)?;
        all.iter_mut().zip(told).for_each(|(all, quiet)| *all &= quiet.period > 1 && quiet.right < 0.5);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::recommend::perturb::worlds;
    use crate::lab::scenario::Scenario;

    #[test]
    fn a_law_says_truly_whether_window_and_slack_are_anything_to_it() {
        let all =
            [include_str!("../../../scenarios/s02-typical.toml"), include_str!("../../../scenarios/s03-mid-gap.toml")];
        let all: Vec<World> =
            all.iter().flat_map(|text| worlds(&Scenario::load(text, "x.toml").unwrap(), false)).collect();
        for law in LawKind::ALL {
            assert_eq!(looks(&all, law, Millis::ZERO).unwrap(), (law.reads_window(), law.reads_slack()), "{law}");
        }
    }
}

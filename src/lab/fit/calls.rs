//! The calls of a set of records, by model, effort and session.
//!
//! A *call* is a record that counts as a turn. A session is a round: all calls of one session together, whatever
//! number of prompts a person gave in it. Output counts that are not known are calls without a size.

use std::collections::{BTreeMap, BTreeSet};

use super::CALLS_FLOOR;
use super::families::Families;
use super::numeric::{float, len, mean, quantile, sorted, variation};
use crate::engine::{Grade, TurnRecord};

/// One call, as the fits see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) effort: Option<&'a str>,
    /// When it was sent and when it was answered, ms.
    pub(super) start: Option<u64>,
    pub(super) end: u64,
    pub(super) output: Option<u64>,
}

/// The calls of one model, each session's in time.
#[derive(Debug)]
pub(super) struct Sessions<'a>(pub(super) Vec<Vec<Call<'a>>>);

impl<'a> Sessions<'a> {
    /// Those of `model` among the records.
    pub(super) fn of(records: &'a [TurnRecord], model: &str) -> Self {
        let mut sessions: BTreeMap<(u64, Option<&str>), Vec<Call<'a>>> = BTreeMap::new();
        for record in calls(records).filter(|record| model_of(record) == model) {
            sessions.entry((record.round, record.session.as_deref())).or_default().push(Call {
                effort: effort_of(record),
                start: record.start.map(|start| start.millis()),
                end: record.end.millis(),
                output: (record.grade == Grade::Known).then(|| record.output.count()),
            });
        }
        let mut sessions: Vec<_> = sessions.into_values().collect();
        for session in &mut sessions {
            session.sort_by_key(|call| call.end);
        }
        Self(sessions)
    }

    /// What lasts from call to call at one effort alone.
    pub(super) fn memory_at(&self, effort: Option<&str>) -> Memory {
        // calls without an effort are one of their own here
        let word = effort.unwrap_or_default();
        let own = |session: &Vec<Call<'a>>| -> Vec<Call<'_>> {
            let calls = session.iter().filter(|call| call.effort == effort);
            calls.map(|call| Call { effort: Some(word), ..*call }).collect()
        };
        let sessions = self.0.iter().map(own).filter(|calls| !calls.is_empty()).collect();
        Memory::of(&Sessions(sessions), &[word])
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.0.iter().flatten()
    }
}

/// The calls of one model at one effort: a line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The model.
    pub model: String,
    /// The effort, where the records say.
    pub effort: Option<String>,
    /// Sessions with such calls.
    pub sessions: u64,
    /// Calls.
    pub calls: u64,
    /// Calls whose output count is known: what all that follows is about.
    pub known: u64,
    /// Known counts of zero, which no family of sizes holds.
    pub zeros: u64,
    /// Mean output, tokens per call.
    pub mean: f64,
    /// Standard deviation over mean.
    pub cv: f64,
    /// The 5th, 25th, 50th, 75th, 90th, 95th and 99th percentile, tokens.
    pub percentiles: [f64; 7],
    /// The empirical quantiles from 0 to 1 in steps of a twentieth, tokens.
    pub empirical: [f64; 21],
    /// The families, where there are at least [`CALLS_FLOOR`] calls of known size.
    pub families: Option<Families>,
}

impl Group {
    /// The shares that [`percentiles`](Self::percentiles) are at.
    pub const SHARES: [f64; 7] = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

    /// The median, tokens.
    #[must_use]
    pub const fn median(&self) -> f64 {
        self.percentiles[2]
    }

    /// The 90th percentile, tokens.
    #[must_use]
    pub const fn p90(&self) -> f64 {
        self.percentiles[4]
    }
}

/// All groups of the records: by model, then effort; those without an effort first.
#[must_use]
pub fn survey(records: &[TurnRecord]) -> Vec<Group> {
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<&TurnRecord>> = BTreeMap::new();
    for record in calls(records) {
        groups.entry((model_of(record), effort_of(record))).or_default().push(record);
    }
    groups.into_iter().map(|((model, effort), records)| group(model, effort, &records)).collect()
}

fn group(model: &str, effort: Option<&str>, records: &[&TurnRecord]) -> Group {
    let sessions: BTreeSet<_> = records.iter().map(|record| (record.round, record.session.as_deref())).collect();
    let known = records.iter().filter(|record| record.grade == Grade::Known);
    let sizes: Vec<u64> = known.map(|record| record.output.count()).collect();
    let positive = sizes.iter().filter(|&&size| size > 0).count();
    let values = sorted(sizes.iter().map(|&size| float(size)).collect());
    Group {
        model: model.to_owned(),
        effort: effort.map(str::to_owned),
        sessions: count(sessions.len()),
        calls: count(records.len()),
        known: count(sizes.len()),
        zeros: count(sizes.len() - positive),
        mean: mean(&values),
        cv: variation(&values),
        percentiles: Group::SHARES.map(|share| quantile(&values, share)),
        empirical: core::array::from_fn(|at| quantile(&values, float(count(at)) / 20.0)),
        families: Families::fit(&sizes).filter(|_| count(positive) >= CALLS_FLOOR),
    }
}

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// Its id, where it has one.
    pub session: Option<String>,
    /// Its number among the records.
    pub round: u64,
    /// The model of the most of its calls, the first of equals.
    pub model: String,
    /// The efforts seen in it, in order of the alphabet.
    pub efforts: Vec<String>,
    /// Calls.
    pub calls: u64,
    /// Calls of known size.
    pub known: u64,
    /// Output tokens of these.
    pub output: u64,
    /// Mean output of these, tokens per call.
    pub mean: Option<f64>,
}

/// All sessions of the records, in their order.
#[must_use]
pub fn sessions(records: &[TurnRecord]) -> Vec<SessionRow> {
    let mut all: BTreeMap<(u64, Option<&str>), Vec<&TurnRecord>> = BTreeMap::new();
    for record in calls(records) {
        all.entry((record.round, record.session.as_deref())).or_default().push(record);
    }
    let row = |((round, session), own): ((u64, Option<&str>), Vec<&TurnRecord>)| {
        let mut models: BTreeMap<&str, u64> = BTreeMap::new();
        own.iter().for_each(|record| *models.entry(model_of(record)).or_default() += 1);
        let efforts: BTreeSet<&str> = own.iter().filter_map(|record| effort_of(record)).collect();
        let known: Vec<u64> =
            own.iter().filter(|record| record.grade == Grade::Known).map(|record| record.output.count()).collect();
        let output = known.iter().fold(0_u64, |sum, size| sum.saturating_add(*size));
        SessionRow {
            session: session.map(str::to_owned),
            round,
            model: models.iter().rev().max_by_key(|(_, calls)| **calls).map_or("", |(model, _)| model).to_owned(),
            efforts: efforts.into_iter().map(str::to_owned).collect(),
            calls: count(own.len()),
            known: count(known.len()),
            output,
            mean: (!known.is_empty()).then(|| float(output) / len(&known)),
        }
    };
    all.into_iter().map(row).collect()
}

/// What sessions look like, and what lasts from call to call. Its parts come from [`calibrate`](super::calibrate()).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Mean calls per session.
    pub turns_mean: f64,
    /// Its coefficient of variation, where there are three sessions or more.
    pub turns_cv: Option<f64>,
    /// The fewest calls of a session.
    pub turns_min: u64,
    /// How ln size goes with that of the next call of the session, the session's mean taken off. Short sessions pull it down, by about
    /// `(1 + 3 rho) / calls`.
    pub lag_one: Option<f64>,
    /// The same with the next but one.
    pub lag_two: Option<f64>,
    /// The variances of ln size between sessions at one effort and within them, where there are two of [`SESSION_FLOOR`] calls more than
    /// efforts; the first may come out below zero.
    pub parts: Option<(f64, f64)>,
}

/// The fewest calls of a session that says anything of sessions.
pub const SESSION_FLOOR: usize = 5;

impl Memory {
    /// Measures the sessions; memory only where the effort is one of `rungs`.
    pub(super) fn of(sessions: &Sessions<'_>, rungs: &[&str]) -> Self {
        let turns: Vec<f64> = sessions.0.iter().map(|session| len(session)).collect();
        let mut stretches: Vec<(&str, Vec<f64>)> = Vec::new();
        for session in &sessions.0 {
            let mut by_effort: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for call in session {
                let Some((effort, output)) = call.effort.zip(call.output.filter(|&output| output > 0)) else {
                    continue;
                };
                by_effort.entry(effort).or_default().push(libm::log(float(output)));
            }
            stretches.extend(
                by_effort.into_iter().filter(|(effort, logs)| rungs.contains(effort) && logs.len() >= SESSION_FLOOR),
            );
        }
        Self {
            turns_mean: mean(&turns),
            turns_cv: (turns.len() >= 3).then(|| variation(&turns)),
            turns_min: sessions.0.iter().map(|session| count(session.len())).min().unwrap_or(0),
            lag_one: correlation(&stretches, 1),
            lag_two: correlation(&stretches, 2),
            parts: None,
        }
    }

    /// The standard deviation of the log session effect, where it was measured.
    #[must_use]
    pub fn tau(&self) -> Option<f64> {
        self.parts.map(|(between, _)| between.max(0.0).sqrt())
    }

    /// The share of the variance of ln size that lies between sessions.
    #[must_use]
    pub fn session_share(&self) -> Option<f64> {
        let (between, within) = self.parts?;
        (between.max(0.0) + within > 0.0).then(|| between.max(0.0) / (between.max(0.0) + within))
    }
}

fn correlation(stretches: &[(&str, Vec<f64>)], lag: usize) -> Option<f64> {
    let (mut together, mut alone) = (0.0, 0.0);
    for (_, logs) in stretches {
        let centre = mean(logs);
        together += logs.iter().zip(logs.iter().skip(lag)).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>();
        alone += logs.iter().map(|log| (log - centre) * (log - centre)).sum::<f64>();
    }
    (alone > 0.0).then(|| together / alone)
}

pub(super) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

pub(super) fn calls(records: &[TurnRecord]) -> impl Iterator<Item = &TurnRecord> {
    records.iter().filter(|record| record.counts_as_turn)
}

/// A model that is not named is a model of its own.
pub(super) fn model_of(record: &TurnRecord) -> &str {
    record.model.as_deref().unwrap_or("unnamed")
}

/// What was recorded; failing that, what was asked for.
pub(super) fn effort_of(record: &TurnRecord) -> Option<&str> {
    record.effort_confirmed.as_deref().or(record.effort_asked.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fit::tests::record;

    fn normals(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (float(state >> 11) + 0.5) / 9_007_199_254_740_992.0
            };
            (-2.0 * libm::log(uniform())).sqrt() * libm::cos(2.0 * core::f64::consts::PI * uniform())
        }
    }

    #[test]
    fn memory_is_found_again() {
        let mut normal = normals(7);
        let (rho, tau) = (0.4, 0.3);
        let mut stretches = Vec::new();
        for session in 0..60 {
            let effect = tau * normal();
            let mut z = normal();
            let logs = (0..400).map(|_| {
                z = rho * z + (1.0 - rho * rho).sqrt() * normal();
                6.0 + f64::from(session % 2) + effect + z
            });
            stretches.push((if session % 2 == 0 { "low" } else { "high" }, logs.collect::<Vec<f64>>()));
        }
        let lags = [correlation(&stretches, 1).unwrap(), correlation(&stretches, 2).unwrap()];
        assert!((lags[0] - 0.4).abs() < 0.03 && (lags[1] - 0.16).abs() < 0.04, "{lags:?}");
    }

    #[test]
    fn groups_tell_models_efforts_and_sessions_apart() {
        let mut records = vec![
            record("a", "high", 1, 10, 100),
            record("a", "high", 2, 20, 300),
            record("a", "low", 2, 30, 0),
            record("b", "low", 2, 40, 5),
            record("b", "low", 2, 50, 5),
        ];
        records[3].grade = Grade::Unknown;
        records[4].counts_as_turn = false;
        let groups = survey(&records);
        let shown: Vec<_> = groups
            .iter()
            .map(|g| (g.model.as_str(), g.effort.as_deref(), g.sessions, g.calls, g.known, g.zeros))
            .collect();
        assert_eq!(
            shown,
            [("a", Some("high"), 2, 2, 2, 0), ("a", Some("low"), 1, 1, 1, 1), ("b", Some("low"), 1, 1, 0, 0)]
        );
        assert!((groups[0].mean - 200.0).abs() < 1e-12 && (groups[0].median() - 200.0).abs() < 1e-12);
        assert!(groups[0].families.is_none());
    }
}

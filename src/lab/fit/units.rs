//! What is drawn whole: the calls of a session at one effort, or a block of them, with all sums that numbers need.
//!
//! A *stretch* is all calls of a session at one effort. Where the stretches of an effort, or the sessions of a model, are fewer than
//! [`UNITS_FLOOR`] they are cut into blocks of calls: about [`BLOCKS`] in all, none shorter than [`BLOCK_FLOOR`] calls but the last
//! of a stretch. What differs from session to session is then not in the intervals, and who prints them says so.

use std::sync::Arc;

use super::bootstrap::{Strata, UNITS_FLOOR};
use super::calls::{Call, SESSION_FLOOR, Sessions};
use super::numeric::{float, len, mean};
use super::timing::GAP_LIMIT;

/// About how many blocks are cut.
pub(super) const BLOCKS: usize = 20;
/// The fewest calls of a block.
pub(super) const BLOCK_FLOOR: usize = 5;

/// Sums over the calls of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Known sizes: how many, their sum and the sum of their squares.
    pub(super) sizes: [f64; 3],
    /// Products of ln size with that of the next call, the stretch's mean taken off, and their squares.
    pub(super) lag: [f64; 2],
    /// Products of ln size with that of the next call but one.
    pub(super) lag_two: [f64; 1],
    /// Products of ln size with the place in the session, means taken off, and the squares of the place.
    pub(super) trend: [f64; 2],
    /// Gaps taken for tool time: how many, sum, sum of squares.
    pub(super) gaps: [f64; 3],
}

/// Two neighbours at one effort.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    /// The place of the effort in the unit's [`logs`](Unit::logs).
    pub(super) effort: usize,
    /// ln size of the one, and of the call after it.
    pub(super) before: f64,
    pub(super) after: f64,
    /// ln sizes of their stretch, whatever part of it the unit has.
    pub(super) stretch: Arc<[f64]>,
}

/// A unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    pub(super) sums: Sums,
    /// ln of positive sizes by effort, in stretches long enough to say something: how many, sum, sum of squares.
    pub(super) logs: Vec<(String, [f64; 3])>,
    /// Neighbours in such stretches.
    pub(super) pairs: Vec<Pair>,
    /// Known sizes.
    pub(super) sizes: Vec<u64>,
    /// Tokens and seconds of calls that have both.
    pub(super) times: Vec<(f64, f64)>,
}

/// The units of an effort or of a model.
#[derive(Clone, Debug)]
pub(super) struct Units {
    pub(super) all: Vec<Unit>,
    /// How they are drawn, each weighing by its calls.
    pub(super) strata: Strata,
    /// The same, each weighing alike: for what is one number a session.
    pub(super) equal: Strata,
    /// Whole stretches, or sessions, where the units are blocks of them; empty where they are units themselves.
    pub(super) uncut: Vec<Unit>,
    /// Blocks of calls and not sessions.
    pub(super) blocks: bool,
}

/// A call of positive size against the rest of its stretch.
#[derive(Clone)]
struct Off {
    /// ln size.
    log: f64,
    /// Its mean in the stretch.
    centre: f64,
    /// All of the stretch.
    stretch: Arc<[f64]>,
    /// The place in the session less the mean of the stretch's places.
    place: f64,
}

/// A call in its stretch.
#[derive(Clone)]
struct Placed<'a> {
    call: &'a Call<'a>,
    /// Where it stands in its stretch; none in short stretches.
    off: Option<Off>,
    /// The gap before it.
    gap: Option<f64>,
}

impl Units {
    /// Those of one effort.
    pub(super) fn of_effort(sessions: &Sessions<'_>, effort: Option<&str>) -> Self {
        let own = sessions.0.iter().map(|session| stretch(session, |call| call.effort == effort));
        Self::cut(&own.filter(|stretch| !stretch.is_empty()).map(|stretch| (0, stretch)).collect::<Vec<_>>())
    }

    /// Those of the whole model: sessions, in strata by the effort of the most of their calls; ln sizes only at `rungs`.
    pub(super) fn of_model(sessions: &Sessions<'_>, rungs: &[&str]) -> Self {
        let mut words: Vec<Option<&str>> = Vec::new();
        let mut all = Vec::new();
        for session in &sessions.0 {
            let mut parts: Vec<(Option<&str>, Vec<Placed<'_>>)> = Vec::new();
            for call in session {
                if parts.iter().all(|(effort, _)| *effort != call.effort) {
                    parts.push((call.effort, stretch(session, |other| other.effort == call.effort)));
                }
            }
            for (effort, part) in &mut parts {
                if !effort.is_some_and(|word| rungs.contains(&word)) {
                    part.iter_mut().for_each(|placed| placed.off = None);
                }
            }
            // the first of equals
            let most = parts.iter().rev().max_by_key(|(_, part)| part.len()).and_then(|(effort, _)| *effort);
            let stratum = words.iter().position(|word| *word == most).unwrap_or_else(|| {
                words.push(most);
                words.len() - 1
            });
            all.push((stratum, parts.into_iter().flat_map(|(_, part)| part).collect()));
        }
        Self::cut(&all)
    }

    fn cut(stretches: &[(usize, Vec<Placed<'_>>)]) -> Self {
        let whole: Vec<Unit> = stretches.iter().map(|(_, calls)| Unit::of(calls)).collect();
        if whole.len() >= UNITS_FLOOR {
            let of: Vec<usize> = stretches.iter().map(|(stratum, _)| *stratum).collect();
            let sizes: Vec<f64> = stretches.iter().map(|(_, calls)| len(calls)).collect();
            let (strata, equal) = (Strata::weighed(&of, &sizes), Strata::new(&of));
            return Self { all: whole, strata, equal, uncut: Vec::new(), blocks: false };
        }
        let calls: usize = stretches.iter().map(|(_, calls)| calls.len()).sum();
        let length = calls.div_ceil(BLOCKS).max(BLOCK_FLOOR);
        let all: Vec<Unit> = stretches.iter().flat_map(|(_, calls)| calls.chunks(length).map(Unit::of)).collect();
        let strata = Strata::one(all.len());
        Self { equal: strata.clone(), strata, all, uncut: whole, blocks: true }
    }

    /// Whole stretches, or sessions.
    pub(super) fn whole(&self) -> &[Unit] {
        if self.blocks { &self.uncut } else { &self.all }
    }

    /// The sums of all units, each so many times.
    pub(super) fn sums(&self, times: &[f64]) -> Sums {
        let mut sums = Sums::default();
        for (unit, &times) in self.all.iter().zip(times) {
            let own = &unit.sums;
            let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += times * from);
            add(&mut sums.sizes, &own.sizes);
            add(&mut sums.lag, &own.lag);
            add(&mut sums.lag_two, &own.lag_two);
            add(&mut sums.trend, &own.trend);
            add(&mut sums.gaps, &own.gaps);
        }
        sums
    }
}

fn stretch<'a>(session: &'a [Call<'a>], is_in: impl Fn(&Call<'_>) -> bool) -> Vec<Placed<'a>> {
    let length = len(session);
    let positive = |call: &Call<'_>| call.output.filter(|&output| output > 0).map(|output| libm::log(float(output)));
    let place = |at: usize| (float(u64::try_from(at).unwrap_or(u64::MAX)) + 0.5) / length;
    let inside: Vec<(usize, f64)> = session
        .iter()
        .enumerate()
        .filter(|(_, call)| is_in(call))
        .filter_map(|(at, call)| Some((at, positive(call)?)))
        .collect();
    let long = inside.len() >= SESSION_FLOOR;
    let logs: Arc<[f64]> = inside.iter().map(|(_, log)| *log).collect();
    let log_mean = mean(&logs);
    let place_mean = mean(&inside.iter().map(|(at, _)| place(*at)).collect::<Vec<_>>());
    let gap = |at: usize| {
        let before = session.get(at.checked_sub(1)?)?;
        let gap = session[at].start?.checked_sub(before.end)?;
        Some(float(gap) / 1000.0).filter(|gap| *gap <= GAP_LIMIT)
    };
    let own = session.iter().enumerate().filter(|(_, call)| is_in(call));
    own.map(|(at, call)| {
        let off = positive(call).filter(|_| long).map(|log| Off {
            log,
            centre: log_mean,
            stretch: Arc::clone(&logs),
            place: place(at) - place_mean,
        });
        Placed { call, off, gap: gap(at) }
    })
    .collect()
}

impl Unit {
    fn of(calls: &[Placed<'_>]) -> Self {
        let mut unit = Self::default();
        let moments = |sums: &mut [f64; 3], value: f64| {
            sums[0] += 1.0;
            sums[1] += value;
            sums[2] += value * value;
        };
        let mut recent: [Option<&Off>; 2] = [None; 2];
        let mut effort = None;
        for placed in calls {
            if let Some(output) = placed.call.output {
                unit.sizes.push(output);
                moments(&mut unit.sums.sizes, float(output));
                let taken = placed.call.start.and_then(|start| placed.call.end.checked_sub(start));
                unit.times.extend(taken.map(|taken| (float(output), float(taken) / 1000.0)));
            }
            if let Some(here) = &placed.off {
                let (off, place) = (here.log - here.centre, here.place);
                if effort != Some(placed.call.effort) {
                    effort = Some(placed.call.effort);
                    recent = [None; 2];
                }
                let with = |before: Option<&Off>| before.map_or(0.0, |before| (before.log - before.centre) * off);
                unit.sums.lag[0] += with(recent[0]);
                unit.sums.lag_two[0] += with(recent[1]);
                unit.sums.lag[1] += off * off;
                unit.sums.trend[0] += place * off;
                unit.sums.trend[1] += place * place;
                let own = unit.place_of(placed.call.effort.unwrap_or_default());
                moments(&mut unit.logs[own].1, here.log);
                unit.pairs.extend(recent[0].map(|before| Pair {
                    effort: own,
                    before: before.log,
                    after: here.log,
                    stretch: Arc::clone(&here.stretch),
                }));
                recent = [Some(here), recent[0]];
            }
            if let Some(gap) = placed.gap {
                moments(&mut unit.sums.gaps, gap);
            }
        }
        unit
    }

    fn place_of(&mut self, effort: &str) -> usize {
        self.logs.iter().position(|(word, _)| word == effort).unwrap_or_else(|| {
            self.logs.push((effort.to_owned(), [0.0; 3]));
            self.logs.len() - 1
        })
    }
}

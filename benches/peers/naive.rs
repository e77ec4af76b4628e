//! The naive peer: the loop as one would write it in an afternoon of idiomatic Rust.
//!
//! The agent is that of `scenarios/s02-typical.toml`, with its own draws: `StdRng`, log-normals from `rand_distr`, seconds
//! and tokens in `f64`, a deque that is trimmed and summed anew at each reading, and the original's rule. One
//! configuration and one run at a time; nothing is shared. It is kept simple on purpose and must stay so: it is what the
//! engines are measured against, and its figures have to agree with theirs.

use std::collections::VecDeque;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, LogNormal};

/// Mean tokens per turn of the rungs, hardest first.
const MEANS: [f64; 6] = [5242.88, 3276.8, 2048.0, 1280.0, 800.0, 500.0];
const START: usize = 4;

/// What the loop is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) juice: f64,
    pub(crate) over: f64,
    pub(crate) slack: f64,
    pub(crate) rest: f64,
}

/// The settings of the scenario.
pub(crate) const SETTINGS: Settings = Settings { juice: 2048.0, over: 300.0, slack: 0.15, rest: 5.0 };

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) rounds: f64,
    pub(crate) turns: f64,
    pub(crate) tokens: f64,
    /// Readings, and those in the band.
    pub(crate) readings: f64,
    pub(crate) inside: f64,
    pub(crate) moves: f64,
}

impl Run {
    /// Tokens per turn, share of the readings in the band, moves in 100 rounds.
    pub(crate) fn figures(&self) -> [f64; 3] {
        [self.tokens / self.turns, self.inside / self.readings, 100.0 * self.moves / self.rounds]
    }
}

/// The distributions, made once.
pub(crate) struct Agent {
    sizes: Vec<LogNormal<f64>>,
    session: LogNormal<f64>,
    turns: LogNormal<f64>,
    overhead: LogNormal<f64>,
    tool: LogNormal<f64>,
}

impl Agent {
    pub(crate) fn new() -> Result<Self, rand_distr::NormalError> {
        let tau = 0.2;
        Ok(Self {
            sizes: MEANS.iter().map(|&mean| LogNormal::from_mean_cv(mean, 1.0)).collect::<Result<_, _>>()?,
            session: LogNormal::new(-tau * tau / 2.0, tau)?,
            turns: LogNormal::from_mean_cv(20.0, 0.5)?,
            overhead: LogNormal::from_mean_cv(6.0, 0.5)?,
            tool: LogNormal::from_mean_cv(8.0, 1.5)?,
        })
    }

    /// One run of one configuration.
    pub(crate) fn run(&self, settings: &Settings, seed: u64, rounds: u32) -> Run {
        let mut rng = StdRng::seed_from_u64(seed);
        let (low, high) = (settings.juice * (1.0 - settings.slack), settings.juice * (1.0 + settings.slack));
        let mut window: VecDeque<(f64, f64)> = VecDeque::new();
        let (mut now, mut rung, mut run) = (0.0, START, Run::default());
        for round in 0..rounds {
            let session = self.session.sample(&mut rng);
            let mut turns = self.turns.sample(&mut rng).round().clamp(2.0, 120.0);
            run.turns += turns;
            while turns > 0.0 {
                let tokens = (self.sizes[rung].sample(&mut rng) * session).round().max(1.0);
                now += self.overhead.sample(&mut rng) + self.tool.sample(&mut rng) + tokens / 70.0;
                window.push_back((now, tokens));
                run.tokens += tokens;
                turns -= 1.0;
            }
            while window.front().is_some_and(|&(at, _)| at < now - settings.over) {
                window.pop_front();
            }
            let mut next = rung;
            if !window.is_empty() {
                let count = window.iter().map(|_| 1.0).sum::<f64>();
                let mean = window.iter().map(|&(_, tokens)| tokens).sum::<f64>() / count;
                run.readings += 1.0;
                if mean < low {
                    next = rung.saturating_sub(1);
                } else if mean > high {
                    next = (rung + 1).min(MEANS.len() - 1);
                } else {
                    run.inside += 1.0;
                }
            }
            run.moves += f64::from(u8::from(next != rung && round + 1 < rounds));
            run.rounds += 1.0;
            rung = next;
            now += settings.rest;
        }
        run
    }
}

//! A random family of loops: agents, targets and starts that nobody chose, to tune laws on and to test them on.
//!
//! It is not a scenario file: a member is a function of (seed, index) alone. Tune on one seed and report another. The ranges are
//! the control study's: 3 to 8 rungs whose ratio is log-uniform over 1.25 to 2.5, cv .5 to 1.8, 5 to 80 turns
//! (log-uniform) of cv .2 to .8, tau 0 to .5, the target anywhere from .3 of a step below the softest rung to .3 above the
//! hardest, any start; and, each by its own chance, one or two steps of the level by .2 to 1.0 nats either way (25 %), a ramp
//! of up to 1.2 nats per 100 rounds either way (15 %), 5 to 40 % empty rounds (20 %), .5 to 3 % of turns 4 to 12 times as large (20 %), rungs that lie
//! off the ladder's line by .2 nats (35 %), a trend of up to 1 nat within a session (15 %).

use crate::engine::Target;
use crate::sim::{AgentSpec, Channel, Noise, Outliers, RungModel, Size, SizeError, Step, TurnCount};

/// A member of the family.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The agent, rungs hardest first.
    pub agent: AgentSpec,
    /// The target.
    pub target: Target,
    /// The rung of the first round, from the hardest.
    pub start: usize,
    /// Whether its level moves.
    pub drifts: bool,
}

/// Rounds over which steps of the level fall.
const ROUNDS: u32 = 200;
/// Tokens per turn of the softest rung, before it is off its line.
const SOFTEST: f64 = 400.0;

/// Draws, one after the other.
struct Draws {
    noise: Noise,
    next: u32,
}

impl Draws {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.next += 1;
        low + (high - low) * self.noise.uniform(Channel::Member, 0, self.next)
    }

    fn chance(&mut self, share: f64) -> bool {
        self.uniform(0.0, 1.0) < share
    }

    fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.uniform(libm::log(low), libm::log(high)))
    }

    /// Either sign, and this size.
    fn signed(&mut self, low: f64, high: f64) -> f64 {
        let size = self.uniform(low, high);
        if self.chance(0.5) { -size } else { size }
    }

    /// A normal of mean zero, by Box and Muller.
    fn normal(&mut self, sd: f64) -> f64 {
        let (radius, angle) = (self.uniform(0.0, 1.0), self.uniform(0.0, core::f64::consts::TAU));
        sd * (-2.0 * libm::log(radius)).sqrt() * libm::cos(angle)
    }

    /// One of 0 to `count` - 1.
    fn place(&mut self, count: u32) -> u32 {
        let at = self.uniform(0.0, f64::from(count));
        (1..count).take_while(|place| f64::from(*place) <= at).last().unwrap_or(0)
    }
}

/// The member at `index` of the family of `seed`.
///
/// ```
/// use flyball::lab::family::member;
/// let one = member(1, 7)?;
/// assert_eq!(one, member(1, 7)?);
/// assert_ne!(one, member(2, 7)?);
/// # Ok::<(), flyball::sim::SizeError>(())
/// ```
///
/// # Errors
/// None that the ranges above could cause: a size that no agent can have.
pub fn member(seed: u64, index: u32) -> Result<Member, SizeError> {
    let mut draws = Draws { noise: Noise::new(seed, index), next: 0 };
    let rungs = 3 + draws.place(6);
    let step = draws.uniform(libm::log(1.25), libm::log(2.5));
    let cv = draws.uniform(0.5, 1.8);
    let mut agent = AgentSpec::new(Vec::new());
    let mean = draws.log_uniform(5.0, 80.0);
    agent.turns = TurnCount { mean, cv: draws.uniform(0.2, 0.8), ..TurnCount::default() };
    agent.session.tau = draws.uniform(0.0, 0.5);
    let position = draws.uniform(-0.3, f64::from(rungs) - 0.7);
    let start = draws.place(rungs) as usize;
    let drifts = drift(&mut draws, &mut agent);
    if draws.chance(0.2) {
        agent.faults.empty = draws.uniform(0.05, 0.4);
    }
    if draws.chance(0.2) {
        agent.turn.outliers = Some(Outliers { share: draws.uniform(0.005, 0.03), factor: draws.uniform(4.0, 12.0) });
    }
    let uneven = if draws.chance(0.35) { 0.2 } else { 0.0 };
    if draws.chance(0.15) {
        agent.session.trend = draws.signed(0.0, 1.0);
    }
    for place in (0..rungs).rev() {
        let off = draws.normal(uneven);
        let mean = SOFTEST * libm::exp(step * f64::from(place) + off);
        agent.rungs.push(RungModel::new(Size::lognormal(mean, cv)?));
    }
    let target = Target::from_micros(micros(SOFTEST * libm::exp(step * position)));
    Ok(Member { agent, target, start, drifts })
}

/// How the level moves; whether it does.
fn drift(draws: &mut Draws, agent: &mut AgentSpec) -> bool {
    let steps = draws.chance(0.25);
    if steps {
        let count = 1 + draws.place(2);
        let mut rounds: Vec<u32> = (0..count).map(|_| 1 + draws.place(ROUNDS - 1)).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let mut level = 0.0;
        for round in rounds {
            level += draws.signed(0.2, 1.0);
            agent.drift.steps.push(Step { round, level: libm::exp(level) });
        }
    }
    let ramps = draws.chance(0.15);
    if ramps {
        agent.drift.ramp_per_100 = draws.signed(0.0, 1.2);
    }
    steps || ramps
}

/// Tokens in millionths.
fn micros(tokens: f64) -> u64 {
    super::fixed::micros(tokens).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::AgentModel;

    #[test]
    fn members_are_sound_and_lie_in_their_ranges() {
        let (mut drifting, mut uneven, mut longest) = (0, 0, 0);
        for index in 0..2000 {
            let member = member(5, index).unwrap();
            let rungs = member.agent.rungs.len();
            assert!((3..=8).contains(&rungs) && member.start < rungs);
            assert!((5.0..=80.0).contains(&member.agent.turns.mean));
            drifting += u32::from(member.drifts);
            let means: Vec<f64> = member.agent.rungs.iter().map(|rung| rung.size.mean()).collect();
            let ratios: Vec<f64> = means.windows(2).map(|pair| libm::log(pair[0] / pair[1])).collect();
            uneven += u32::from(ratios.iter().any(|ratio| (ratio - ratios[0]).abs() > 1e-6));
            longest = longest.max(rungs);
            AgentModel::new(member.agent).unwrap();
        }
        // shares of 1 - .75 x .85 and .35, within four standard errors
        assert!((f64::from(drifting) / 2000.0 - 0.3625).abs() < 0.043, "{drifting}");
        assert!((f64::from(uneven) / 2000.0 - 0.35).abs() < 0.043, "{uneven}");
        assert_eq!(longest, 8);
    }
}

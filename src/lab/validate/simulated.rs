//! Simulated sessions with the design of recorded ones: as many turns, the same absences, one effort throughout.
//!
//! The agent is the scenario's own, without its drift and faults and with usage told in full: what is compared is an agent
//! at constant effort, under law `fixed`. Overhead, tool time and speed are its own. A rung that stands where a prior puts
//! it is drawn anew in each sample. Sample `b` is run `b` of the seed, session `s` its round `s`, so that neither the
//! number of samples nor of threads changes a sample.

use std::collections::BTreeMap;

use super::sessions::{Absence, Stretch};
use crate::engine::{Millis, Timestamp, Tokens, TurnRecord};
use crate::sim::agent::MOST_TURNS;
use crate::sim::world::SOURCE;
use crate::sim::{Accounting, AgentModel, Drift, Faults, RoundDraw, TurnCount};

/// What a session of a sample has to be like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Design {
    /// Which of the agents it is of.
    pub(super) agent: usize,
    turns: u32,
    absences: Vec<Absence>,
}

impl Design {
    pub(super) fn of(stretch: &Stretch, agent: usize) -> Self {
        let turns = u32::try_from(stretch.turns.len()).unwrap_or(MOST_TURNS).min(MOST_TURNS);
        Self { agent, turns, absences: stretch.absences() }
    }
}

/// A session that is to be made: its number, and its absences.
type Due = (u32, Vec<Absence>);

/// Agents that take a stated number of turns, and the sessions that each of them makes.
#[derive(Debug)]
pub(super) struct Sampler {
    rung: usize,
    sessions: u32,
    models: Vec<(AgentModel, Vec<Due>)>,
}

impl Sampler {
    /// For these sessions of these agents at this rung; an agent that is not there, or cannot be made, has none.
    pub(super) fn new(agents: &[&AgentModel], rung: usize, designs: &[Design]) -> Self {
        let mut by_length: BTreeMap<(usize, u32), Vec<Due>> = BTreeMap::new();
        for (session, design) in (0..).zip(designs) {
            by_length.entry((design.agent, design.turns)).or_default().push((session, design.absences.clone()));
        }
        let models = by_length
            .into_iter()
            .filter_map(|((agent, turns), sessions)| Some((steady(agents.get(agent)?, rung, turns)?, sessions)));
        Self { rung, sessions: u32::try_from(designs.len()).unwrap_or(u32::MAX), models: models.collect() }
    }

    /// One sample: the turns of each session, in the order of the designs.
    pub(super) fn sample(&self, seed: u64, run: u32) -> Vec<Vec<TurnRecord>> {
        let mut out: Vec<(u32, Vec<TurnRecord>)> = Vec::new();
        let mut draw = RoundDraw::default();
        for (model, sessions) in &self.models {
            let mut luck = model.luck(seed, run, self.sessions);
            for (session, absences) in sessions {
                luck.realise(self.rung, *session, &mut draw);
                out.push((*session, records(&draw, absences)));
            }
        }
        out.sort_by_key(|(session, _)| *session);
        out.into_iter().map(|(_, turns)| turns).collect()
    }
}

/// The agent with so many turns in every round, and nothing that changes from round to round.
fn steady(agent: &AgentModel, rung: usize, turns: u32) -> Option<AgentModel> {
    let mut spec = agent.spec().clone();
    spec.turns = TurnCount { mean: f64::from(turns), cv: 0.0, min: turns, max: Some(turns) };
    spec.rungs.get_mut(rung)?.turns_factor = 1.0;
    (spec.drift, spec.faults, spec.accounting) = (Drift::default(), Faults::default(), Accounting::Final);
    AgentModel::new(spec).ok()
}

fn records(draw: &RoundDraw, absences: &[Absence]) -> Vec<TurnRecord> {
    let (mut now, mut absences) = (Timestamp::EPOCH, absences.iter().peekable());
    let turns = draw.tokens.iter().zip(&draw.millis).enumerate();
    turns
        .map(|(place, (&tokens, &millis))| {
            if let Some(absence) = absences.next_if(|absence| absence.before == place) {
                now = now.after(Millis::new(absence.millis));
            }
            let start = now;
            now = now.after(Millis::new(u64::from(millis)));
            TurnRecord { start: Some(start), ..TurnRecord::new(1, now, Tokens::new(u64::from(tokens)), SOURCE) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::AgentSpec;

    fn stretch(turns: u64, absent_after: Option<u64>) -> Stretch {
        let mut now = 0;
        let records = (0..turns).map(|at| {
            let start = now;
            now += 1000;
            let record = TurnRecord {
                start: Some(Timestamp::from_millis(start)),
                ..TurnRecord::new(1, Timestamp::from_millis(now), Tokens::new(5), "test")
            };
            now += if absent_after == Some(at) { 1_000_000 } else { 10 };
            record
        });
        Stretch { session: 1, turns: records.collect() }
    }

    #[test]
    fn simulated_sessions_have_the_turns_and_the_absences_of_the_recorded_ones() {
        let mut spec = AgentSpec::geometric(500.0, 1.6, 3).unwrap();
        spec.faults.empty = 0.5;
        spec.rungs[1].turns_factor = 3.0;
        let agent = AgentModel::new(spec).unwrap();
        let real = [stretch(40, Some(9)), stretch(33, None), stretch(40, None)];
        let designs: Vec<Design> = real.iter().map(|stretch| Design::of(stretch, 0)).collect();
        let sampler = Sampler::new(&[&agent], 1, &designs);
        let sample = sampler.sample(1, 7);
        let made: Vec<Stretch> = sample.into_iter().map(|turns| Stretch { session: 1, turns }).collect();
        assert_eq!(made.iter().map(|stretch| stretch.turns.len()).collect::<Vec<_>>(), [40, 33, 40]);
        let absences: Vec<_> = made.iter().map(Stretch::absences).collect();
        assert_eq!(absences, real.iter().map(Stretch::absences).collect::<Vec<_>>());
        assert_ne!(made[0].output(), made[2].output(), "sessions have luck of their own");
        assert_eq!(sampler.sample(1, 7), sampler.sample(1, 7));
        assert_ne!(sampler.sample(1, 7), sampler.sample(1, 8));
    }

    #[test]
    fn an_agent_or_a_rung_that_is_not_there_has_no_sessions() {
        let agent = AgentModel::new(AgentSpec::geometric(500.0, 1.6, 3).unwrap()).unwrap();
        let designs = [Design::of(&stretch(30, None), 1)];
        assert!(Sampler::new(&[&agent], 0, &designs).sample(1, 0).is_empty());
        assert!(Sampler::new(&[&agent, &agent], 3, &designs).sample(1, 0).is_empty());
    }
}

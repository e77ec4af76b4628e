//! Sessions of a simulated agent: the luck of its run, with each turn cut into the model's time and the tools'.
//!
//! Sizes and lengths are those that the world meets, to the token and the millisecond. The world's turn is one stretch;
//! a log tells the answer from what follows it. So a call lasts from its start to its answer (overhead and tokens over speed), and
//! the time in tools, drawn again from its own address, lies between the answer and the next request. Nobody governs: the
//! rung of each round is given.

use super::Session;
use super::line::{digest, uuid};
use crate::engine::{Grade, Timestamp, Tokens, TurnRecord};
use crate::sim::{AgentModel, Channel, Noise, RoundDraw, Span, normal};

/// The first moment of the first session: 2026-01-01 UTC.
const EPOCH: u64 = 1_767_225_600_000;
/// Between the end of a session and the start of the next, ms.
const REST: u64 = 60_000;

/// What is to be simulated.
#[derive(Clone, Copy, Debug)]
pub struct Design<'a> {
    /// The agent.
    pub agent: &'a AgentModel,
    /// The name of the model, as logs have it.
    pub model: &'a str,
    /// The word of each of its rungs, hardest first.
    pub efforts: &'a [&'a str],
    /// What all luck comes from.
    pub seed: u64,
    /// Which run of the seed.
    pub run: u32,
}

/// One session for each place of `rungs`, at that rung; 0 is the hardest. A place beyond the ladder is its softest.
///
/// ```
/// use flyball::lab::synth::{Design, Format, sessions};
/// use flyball::sim::{AgentModel, AgentSpec};
/// let agent = AgentModel::new(AgentSpec::geometric(300.0, 2.0, 2).unwrap()).unwrap();
/// let design = Design { agent: &agent, model: "claude-sonnet-5", efforts: &["high", "low"], seed: 1, run: 0 };
/// let sessions = sessions(&design, &[0, 1]);
/// assert_eq!(sessions[1].effort, "low");
/// assert!(Format::ClaudeSession.write(&sessions[0]).contains(r#""effort":"high""#));
/// ```
#[must_use]
pub fn sessions(design: &Design<'_>, rungs: &[usize]) -> Vec<Session> {
    let rounds = u32::try_from(rungs.len()).unwrap_or(u32::MAX);
    let mut luck = design.agent.luck(design.seed, design.run, rounds);
    let noise = Noise::new(design.seed, design.run);
    let spec = design.agent.spec();
    let (mut draw, mut now, mut all) = (RoundDraw::default(), EPOCH, Vec::new());
    for (round, &rung) in (0..rounds).zip(rungs) {
        let rung = rung.min(design.agent.rungs() - 1);
        luck.realise(rung, round, &mut draw);
        let tools = tool_time(&noise, spec.time.tool, round, draw.millis.len());
        let id = uuid(&format!("{} {} {round}", design.seed, design.run));
        let effort = design.efforts.get(rung).copied().unwrap_or("unnamed");
        let mut session = Session {
            id,
            began: Timestamp::from_millis(now),
            model: design.model.to_owned(),
            effort: effort.to_owned(),
            calls: Vec::new(),
        };
        let stretch = spec.rungs[rung].seconds_factor;
        let mut said = 0;
        for (place, (&tokens, &millis)) in draw.tokens.iter().zip(&draw.millis).enumerate() {
            let whole = u64::from(millis);
            let tool = whole_millis(tools[place] * stretch).min(whole.saturating_sub(1));
            let mut call = call(&session, round, now, now + whole - tool, u64::from(tokens));
            call.id = Some(format!("msg_{}", digest(&format!("{} {place}", session.id))).into());
            call.cache_read = Some(Tokens::new(20_000 + said));
            said += u64::from(tokens) + 400;
            session.calls.push(call);
            now += whole;
        }
        now += REST;
        all.push(session);
    }
    all
}

fn call(session: &Session, round: u32, start: u64, end: u64, tokens: u64) -> TurnRecord {
    let mut call = TurnRecord::new(u64::from(round) + 1, Timestamp::from_millis(end), Tokens::new(tokens), "synth");
    call.session = Some(session.id.as_str().into());
    call.start = Some(Timestamp::from_millis(start));
    call.model = Some(session.model.as_str().into());
    call.effort_asked = Some(session.effort.as_str().into());
    call.effort_confirmed = Some(session.effort.as_str().into());
    call.input = Some(Tokens::new(3));
    call.cache_write = Some(Tokens::new(400));
    call.grade = Grade::Known;
    call
}

/// Milliseconds in tools of each turn of a round, at a factor of one: what the luck of the run adds to each turn.
fn tool_time(noise: &Noise, span: Span, round: u32, turns: usize) -> Vec<f64> {
    let (mean, sigma) = (1000.0 * span.mean, libm::log1p(span.cv * span.cv).sqrt());
    if !(sigma > 0.0 && mean > 0.0) {
        return vec![mean; turns];
    }
    let mut row = vec![0.0; turns];
    noise.fill(Channel::Tool, round, &mut row);
    normal::invert(&mut row);
    let mu = libm::log(mean) - sigma * sigma / 2.0;
    row.into_iter().map(|z| libm::exp((mu + sigma * z).clamp(-700.0, 700.0))).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and a cast beyond the end stops there"
)]
fn whole_millis(millis: f64) -> u64 {
    millis.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{AgentSpec, RungModel, Size};

    #[test]
    fn an_answer_takes_its_tokens_and_overhead_and_the_rest_is_tools() {
        let mut spec = AgentSpec::new(vec![RungModel::new(Size::lognormal(500.0, 1.0).unwrap())]);
        spec.time.overhead = Span { mean: 2.0, cv: 0.0 };
        spec.time.tool = Span { mean: 5.0, cv: 1.5 };
        spec.time.tokens_per_second = 50.0;
        spec.rungs[0].seconds_factor = 1.5;
        let agent = AgentModel::new(spec).unwrap();
        let design = Design { agent: &agent, model: "m", efforts: &["high"], seed: 9, run: 2 };
        let made = sessions(&design, &[0, 0, 7]);
        let (mut luck, mut draw) = (agent.luck(9, 2, 3), RoundDraw::default());
        for (round, session) in (0_u32..).zip(&made) {
            luck.realise(0, round, &mut draw);
            let sizes: Vec<u64> = session.calls.iter().map(|call| call.output.count()).collect();
            assert_eq!(sizes, draw.tokens.iter().map(|&tokens| u64::from(tokens)).collect::<Vec<_>>());
            for call in &session.calls {
                let lasted = call.end.millis() - call.start.unwrap().millis();
                assert!(lasted.abs_diff(3000 + 20 * call.output.count()) <= 1, "{call:?}");
            }
            for ((before, after), millis) in session.calls.iter().zip(&session.calls[1..]).zip(&draw.millis) {
                assert_eq!(after.start.unwrap().millis() - before.start.unwrap().millis(), u64::from(*millis));
            }
        }
        assert!(
            made.windows(2).all(|pair| pair[0].id != pair[1].id && pair[1].began > pair[0].calls.last().unwrap().end)
        );
    }

    #[test]
    fn an_empty_round_is_a_session_without_calls() {
        let mut spec = AgentSpec::geometric(300.0, 2.0, 2).unwrap();
        spec.faults.empty = 1.0;
        let agent = AgentModel::new(spec).unwrap();
        let design = Design { agent: &agent, model: "m", efforts: &["high", "low"], seed: 1, run: 0 };
        assert!(sessions(&design, &[0, 1]).iter().all(|session| session.calls.is_empty()));
    }
}

//! The lines of a trace as they stand in the file, and their way from and to the engine's own types.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kept::{CapsOf, Kept};
use super::words::{Hex, Word};
use crate::engine::{
    Answer, Belief, Control, Effort, Event, Grade, Input, Ladder, Mean, MicroUsd, Output, RoundExit, Settled, Side,
    StopRequest, Timestamp, Tokens, TurnRecord, Urgency, Verdict, Waiting,
};

/// A line after the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When it happened, milliseconds since the run's epoch.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub record: Record,
    /// SHA-256 of the line before, in hex, where the trace is chained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<String>,
}

/// What happened: a fact that came in, an order that went out, or what the machine made of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// Fact: the checkpoint of this order is durable.
    Persisted {
        /// The order's number.
        seq: u64,
    },
    /// Fact: the agent of this round is running.
    Spawned {
        /// The round, from 1.
        round: u64,
    },
    /// Fact: a report of spending landed.
    Turned(Turn),
    /// Fact: the backend stated what the round came to.
    Settled {
        /// The round.
        round: u64,
        /// Output of the whole round.
        total_tokens: u64,
        /// Turns whose own count was stated.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        turns: Vec<StatedTurn>,
    },
    /// Fact: the agent of this round gave a sign of life.
    Heard {
        /// The round.
        round: u64,
    },
    /// Fact: an effort did not take hold.
    Refused {
        /// The round.
        round: u64,
        /// The effort's word.
        effort: String,
        /// What took hold instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        got: Option<String>,
    },
    /// Fact: the agent of this round is gone.
    Ended {
        /// The round.
        round: u64,
        /// `done`, `failed` or `cut`.
        exit: Word<RoundExit>,
    },
    /// Fact: the oracle answered.
    Verified {
        /// The round.
        round: u64,
        /// `pass`, `fail`, `blocked` or `error`.
        answer: Word<Answer>,
    },
    /// Fact: what the round left behind.
    Progress {
        /// The round.
        round: u64,
        /// The project's state, as hex.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<Hex>,
        /// The round's error, as hex.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Hex>,
    },
    /// Fact: the backend takes no request before this moment.
    LimitUntil {
        /// The moment.
        until_ms: u64,
    },
    /// Fact: what loops that share caps with this one leave of them.
    Shared(CapsOf),
    /// Fact: somebody asked for a stop.
    Asked {
        /// `end`, `kill`, `give-up` or `kill-on`.
        request: Word<StopRequest>,
    },
    /// Fact: the time that a wait named has come.
    Woke {},
    /// The fact before it came too late or twice.
    Absorbed {},
    /// A closing total was laid onto the turns of a round.
    Laid {
        /// The round.
        round: u64,
        /// Tokens laid onto turns.
        added_tokens: u64,
        /// Tokens counted beyond the total.
        surplus_tokens: u64,
        /// Tokens that no turn could take.
        homeless_tokens: u64,
    },
    /// A round was read and a decision taken.
    Decided {
        /// The round.
        round: u64,
        /// The effort that it ran at.
        from: String,
        /// The effort of the next.
        to: String,
        /// The law's reason, by its stable word.
        why: String,
        /// The mean that was read; none where there was no turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mean: Option<MeanOf>,
        /// `below`, `within` or `above` the band.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        side: Option<Word<Side>>,
        /// The oldest moment in the window.
        cutoff_ms: u64,
        /// Whether the law wanted to go past an end of the ladder.
        pinned: bool,
        /// What a law that estimates believed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        belief: Option<BeliefOf>,
    },
    /// Order: make this durable.
    Persist {
        /// The order's number.
        seq: u64,
        /// What to keep.
        checkpoint: Kept,
    },
    /// Order: start the agent of this round.
    Spawn {
        /// The round.
        round: u64,
        /// The effort to ask for.
        effort: String,
    },
    /// Order: end the agent of this round.
    Terminate {
        /// The round.
        round: u64,
        /// `gently` or `now`.
        how: Word<Urgency>,
    },
    /// Order: ask the oracle.
    Verify {
        /// The round.
        round: u64,
    },
    /// Order: nothing to do until a fact, or until this moment.
    Wait {
        /// The moment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_ms: Option<u64>,
        /// What for.
        reason: Word<Waiting>,
    },
    /// Order: the loop is over.
    Stop {
        /// The control's stable name.
        control: Word<Control>,
    },
    /// Of a runner: a process of its own took the loop up, from this checkpoint.
    Opened {
        /// What was kept.
        kept: Kept,
        /// Output of rounds that were under way when the process before was lost, and is in `kept`.
        #[serde(default, skip_serializing_if = "is_zero")]
        found_tokens: u64,
    },
    /// Of a runner: the agent's process, written down before it may do anything.
    Group {
        /// The round.
        round: u64,
        /// The process and what tells it from a later one of the same number.
        process: ProcessId,
    },
    /// Of a runner: what the agent of a round is, as its own records say.
    Agent {
        /// The round.
        round: u64,
        /// The version of its program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The model that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The effort that was asked for.
        asked: String,
        /// The effort that took hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed: Option<String>,
        /// Output counted call by call, parts per million of what was stated in sum.
        coverage_ppm: u64,
    },
    /// Of a runner: something that people should know.
    Note {
        /// In words.
        text: String,
    },
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A process, and what tells it from a later one of the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number, which is its group's too.
    pub pid: u32,
    /// When it began, in the system's own ticks since the boot; absent where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ticks: Option<u64>,
    /// The boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

impl Record {
    /// Every kind of this version.
    pub const KINDS: [&'static str; 26] = [
        "persisted",
        "spawned",
        "turned",
        "settled",
        "heard",
        "refused",
        "ended",
        "verified",
        "progress",
        "limit-until",
        "shared",
        "asked",
        "woke",
        "absorbed",
        "laid",
        "decided",
        "persist",
        "spawn",
        "terminate",
        "verify",
        "wait",
        "stop",
        "opened",
        "group",
        "agent",
        "note",
    ];

    /// What stands in the file for an event of a machine on this ladder.
    #[must_use]
    pub fn of(event: &Event<'_>, ladder: &Ladder) -> Self {
        match event {
            Event::Fact(input) => Self::of_input(input),
            Event::Absorbed => Self::Absorbed {},
            Event::Settled { round, settled: Settled { added, surplus, homeless } } => Self::Laid {
                round: *round,
                added_tokens: added.count(),
                surplus_tokens: surplus.count(),
                homeless_tokens: homeless.count(),
            },
            Event::Decided { round, verdict } => Self::of_verdict(*round, verdict, ladder),
            Event::Order(output) => Self::of_output(output),
        }
    }

    /// A fact.
    #[must_use]
    pub fn of_input(input: &Input) -> Self {
        match input {
            Input::Persisted { seq } => Self::Persisted { seq: *seq },
            Input::Spawned { round } => Self::Spawned { round: *round },
            Input::Turned { turn } => Self::Turned(Turn::of(turn)),
            Input::Settled { round, total, turns } => Self::Settled {
                round: *round,
                total_tokens: total.count(),
                turns: turns.iter().map(StatedTurn::of).collect(),
            },
            Input::Heard { round } => Self::Heard { round: *round },
            Input::Refused { round, effort, got } => Self::Refused {
                round: *round,
                effort: effort.word().to_owned(),
                got: got.as_ref().map(|got| got.word().to_owned()),
            },
            Input::Ended { round, exit } => Self::Ended { round: *round, exit: Word(*exit) },
            Input::Verified { round, answer } => Self::Verified { round: *round, answer: Word(*answer) },
            Input::Progress { round, tree, error } => {
                Self::Progress { round: *round, tree: tree.map(Hex), error: error.map(Hex) }
            }
            Input::LimitUntil { until } => Self::LimitUntil { until_ms: until.millis() },
            Input::Shared { left } => Self::Shared(CapsOf::of(left)),
            Input::Asked(request) => Self::Asked { request: Word(*request) },
            Input::Woke => Self::Woke {},
        }
    }

    /// An order.
    #[must_use]
    pub fn of_output(output: &Output) -> Self {
        match output {
            Output::Persist { seq, checkpoint } => Self::Persist { seq: *seq, checkpoint: Kept::of(checkpoint) },
            Output::Spawn { round, effort } => Self::Spawn { round: *round, effort: effort.word().to_owned() },
            Output::Terminate { round, how } => Self::Terminate { round: *round, how: Word(*how) },
            Output::Verify { round } => Self::Verify { round: *round },
            Output::Wait { until, why } => Self::Wait { until_ms: until.map(Timestamp::millis), reason: Word(*why) },
            Output::Stop(control) => Self::Stop { control: Word(*control) },
        }
    }

    fn of_verdict(round: u64, verdict: &Verdict, ladder: &Ladder) -> Self {
        let (word, evidence) = (|rung| ladder.effort(rung).word().to_owned(), verdict.decision.evidence);
        Self::Decided {
            round,
            from: word(verdict.from),
            to: word(verdict.to),
            why: verdict.decision.why.word().to_owned(),
            mean: evidence.mean.map(MeanOf::of),
            side: evidence.side.map(Word),
            cutoff_ms: verdict.cutoff.millis(),
            pinned: verdict.pinned,
            belief: evidence.belief.map(BeliefOf::of),
        }
    }

    /// The fact that it is; none where it is no fact.
    #[must_use]
    pub fn input(&self) -> Option<Input> {
        Some(match self {
            Self::Persisted { seq } => Input::Persisted { seq: *seq },
            Self::Spawned { round } => Input::Spawned { round: *round },
            Self::Turned(turn) => Input::Turned { turn: turn.record() },
            Self::Settled { round, total_tokens, turns } => Input::Settled {
                round: *round,
                total: Tokens::new(*total_tokens),
                turns: turns.iter().map(|turn| (Arc::from(&*turn.id), Tokens::new(turn.output_tokens))).collect(),
            },
            Self::Heard { round } => Input::Heard { round: *round },
            Self::Refused { round, effort, got } => {
                Input::Refused { round: *round, effort: Effort::new(effort), got: got.as_deref().map(Effort::new) }
            }
            Self::Ended { round, exit } => Input::Ended { round: *round, exit: exit.0 },
            Self::Verified { round, answer } => Input::Verified { round: *round, answer: answer.0 },
            Self::Progress { round, tree, error } => {
                Input::Progress { round: *round, tree: tree.map(|hex| hex.0), error: error.map(|hex| hex.0) }
            }
            Self::LimitUntil { until_ms } => Input::LimitUntil { until: Timestamp::from_millis(*until_ms) },
            Self::Shared(left) => Input::Shared { left: left.caps() },
            Self::Asked { request } => Input::Asked(request.0),
            Self::Woke {} => Input::Woke,
            Self::Absorbed {}
            | Self::Laid { .. }
            | Self::Decided { .. }
            | Self::Persist { .. }
            | Self::Spawn { .. }
            | Self::Terminate { .. }
            | Self::Verify { .. }
            | Self::Wait { .. }
            | Self::Stop { .. }
            | Self::Opened { .. }
            | Self::Group { .. }
            | Self::Agent { .. }
            | Self::Note { .. } => return None,
        })
    }

    /// The order that it is; none where it is no order.
    #[must_use]
    pub fn output(&self) -> Option<Output> {
        Some(match self {
            Self::Persist { seq, checkpoint } => Output::Persist { seq: *seq, checkpoint: checkpoint.checkpoint() },
            Self::Spawn { round, effort } => Output::Spawn { round: *round, effort: Effort::new(effort) },
            Self::Terminate { round, how } => Output::Terminate { round: *round, how: how.0 },
            Self::Verify { round } => Output::Verify { round: *round },
            Self::Wait { until_ms, reason } => {
                Output::Wait { until: until_ms.map(Timestamp::from_millis), why: reason.0 }
            }
            Self::Stop { control } => Output::Stop(control.0),
            Self::Persisted { .. }
            | Self::Spawned { .. }
            | Self::Turned(_)
            | Self::Settled { .. }
            | Self::Heard { .. }
            | Self::Refused { .. }
            | Self::Ended { .. }
            | Self::Verified { .. }
            | Self::Progress { .. }
            | Self::LimitUntil { .. }
            | Self::Shared(_)
            | Self::Asked { .. }
            | Self::Woke {}
            | Self::Absorbed {}
            | Self::Laid { .. }
            | Self::Decided { .. }
            | Self::Opened { .. }
            | Self::Group { .. }
            | Self::Agent { .. }
            | Self::Note { .. } => return None,
        })
    }
}

/// What a law believed after a round, in millionths of a nat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeliefOf {
    /// ln of the rung's tokens per turn over the target.
    pub error_micronats: i64,
    /// Its standard deviation.
    pub sd_micronats: i64,
    /// ln of one rung harder over this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_micronats: Option<i64>,
    /// By how much nearer the best other rung was expected to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_micronats: Option<i64>,
}

impl BeliefOf {
    fn of(belief: Belief) -> Self {
        let Belief { error, sd, step, gain, .. } = belief;
        Self { error_micronats: error, sd_micronats: sd, step_micronats: step, gain_micronats: gain }
    }
}

/// A turn record; what was not stated is absent, never zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the turn record, with their units")]
pub struct Turn {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub round: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<u64>,
    pub end_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort_asked: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort_confirmed: Option<String>,
    pub output_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    pub counts_as_turn: bool,
    pub grade: Word<Grade>,
    pub source: String,
}

/// Sources that a turn record can name; any other reads back as `trace`.
const SOURCES: [&str; 4] = ["sim", "claude-session", "codex-rollout", "recording"];

impl Turn {
    /// The line of a record.
    #[must_use]
    pub fn of(turn: &TurnRecord) -> Self {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        Self {
            id: text(&turn.id),
            round: turn.round,
            session: text(&turn.session),
            start_ms: turn.start.map(Timestamp::millis),
            end_ms: turn.end.millis(),
            model: text(&turn.model),
            effort_asked: text(&turn.effort_asked),
            effort_confirmed: text(&turn.effort_confirmed),
            output_tokens: turn.output.count(),
            input_tokens: turn.input.map(Tokens::count),
            cache_read_tokens: turn.cache_read.map(Tokens::count),
            cache_write_tokens: turn.cache_write.map(Tokens::count),
            reasoning_tokens: turn.reasoning.map(Tokens::count),
            cost_micro_usd: turn.cost.map(MicroUsd::count),
            counts_as_turn: turn.counts_as_turn,
            grade: Word(turn.grade),
            source: turn.source.into(),
        }
    }

    /// The record of a line.
    #[must_use]
    pub fn record(&self) -> TurnRecord {
        let tokens = |count: Option<u64>| count.map(Tokens::new);
        let text = |text: &Option<String>| text.as_deref().map(Arc::from);
        TurnRecord {
            id: text(&self.id),
            round: self.round,
            session: text(&self.session),
            start: self.start_ms.map(Timestamp::from_millis),
            end: Timestamp::from_millis(self.end_ms),
            model: text(&self.model),
            effort_asked: text(&self.effort_asked),
            effort_confirmed: text(&self.effort_confirmed),
            output: Tokens::new(self.output_tokens),
            input: tokens(self.input_tokens),
            cache_read: tokens(self.cache_read_tokens),
            cache_write: tokens(self.cache_write_tokens),
            reasoning: tokens(self.reasoning_tokens),
            cost: self.cost_micro_usd.map(MicroUsd::new),
            counts_as_turn: self.counts_as_turn,
            grade: self.grade.0,
            source: SOURCES.into_iter().find(|source| **source == *self.source).unwrap_or("trace"),
        }
    }
}

/// A turn whose count a closing statement names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedTurn {
    /// The message's id.
    pub id: String,
    /// Its output.
    pub output_tokens: u64,
}

impl StatedTurn {
    fn of((id, output): &(Arc<str>, Tokens)) -> Self {
        Self { id: id.to_string(), output_tokens: output.count() }
    }
}

/// A mean as the two integers that it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeanOf {
    /// Output tokens.
    pub total_tokens: u64,
    /// Turns.
    pub turns: u64,
}

impl MeanOf {
    const fn of(mean: Mean) -> Self {
        Self { total_tokens: mean.total().count(), turns: mean.turns() }
    }
}

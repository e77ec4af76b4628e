//! The machine's two alphabets: facts in the past, orders in the imperative.
//!
//! Both are exhaustive on purpose: a new fact or a new order must break every host's build.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::engine::checkpoint::Checkpoint;
use crate::engine::control::{Caps, Control, Fingerprint};
use crate::engine::ladder::Effort;
use crate::engine::turn::TurnRecord;
use crate::engine::units::{Timestamp, Tokens};

/// A fact. Rounds are counted from 1 over the whole life of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The checkpoint of this order is durable.
    Persisted {
        /// The order's number.
        seq: u64,
    },
    /// The agent of this round is running.
    Spawned {
        /// The round.
        round: u64,
    },
    /// A report of spending landed.
    Turned {
        /// The report.
        turn: TurnRecord,
    },
    /// The backend stated what the round came to.
    Settled {
        /// The round.
        round: u64,
        /// Output of the whole round.
        total: Tokens,
        /// Turns whose own count was stated, by id.
        turns: Vec<(Arc<str>, Tokens)>,
    },
    /// The agent of this round gave a sign of life that cost nothing: it is not silent.
    Heard {
        /// The round.
        round: u64,
    },
    /// The effort that this round asked for did not take hold: its rung leaves the ladder.
    Refused {
        /// The round.
        round: u64,
        /// The effort's word.
        effort: Effort,
        /// What took hold instead, where that is known.
        got: Option<Effort>,
    },
    /// The agent of this round is gone.
    Ended {
        /// The round.
        round: u64,
        /// How.
        exit: RoundExit,
    },
    /// The oracle answered.
    Verified {
        /// The round; 0 before the first.
        round: u64,
        /// What it said.
        answer: Answer,
    },
    /// What the round left behind; told before it ended, or before the oracle's answer.
    Progress {
        /// The round; 0 for what was found at the start.
        round: u64,
        /// The project's state.
        tree: Option<Fingerprint>,
        /// The round's error, if it had one.
        error: Option<Fingerprint>,
    },
    /// The backend takes no request before this moment, and ends the round that is under way.
    LimitUntil {
        /// The moment; one that is past says that nobody knows.
        until: Timestamp,
    },
    /// What loops that share caps with this one leave of them.
    Shared {
        /// What this loop may come to in all, by them.
        left: Caps,
    },
    /// Somebody asked for a stop.
    Asked(StopRequest),
    /// The time that a wait named has come.
    Woke,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundExit {
    /// The agent said that it is done.
    Done,
    /// The agent failed, by whatever its adapter goes by.
    Failed,
    /// The round was ended from outside.
    Cut,
}

impl RoundExit {
    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cut => "cut",
        }
    }
}

/// What an oracle answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Done.
    Pass,
    /// Not done: another round.
    Fail,
    /// Nothing more can be done here.
    Blocked,
    /// The oracle is broken.
    Error,
}

impl Answer {
    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Blocked => "blocked",
            Self::Error => "error",
        }
    }
}

/// Who asks for a stop, and how urgently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopRequest {
    /// End the round, let it say its last, then stop: the first Ctrl-C.
    End,
    /// Kill the round, then stop: the second.
    Kill,
    /// Stop without waiting for anything: the third.
    GiveUp,
    /// A kill-on pattern or predicate matched.
    KillOn,
    /// The round made more requests than are allowed, answered or not.
    Requests,
}

impl StopRequest {
    /// The control that a stop so asked for names.
    #[must_use]
    pub const fn control(self) -> Control {
        match self {
            Self::End | Self::Kill | Self::GiveUp => Control::Interrupted,
            Self::KillOn => Control::KillOn,
            Self::Requests => Control::Requests,
        }
    }
}

/// An order. [`Output::Wait`] and [`Output::Stop`] end a drain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Make this durable, then say [`Input::Persisted`]. Nothing else is ordered before that.
    Persist {
        /// The order's number.
        seq: u64,
        /// What to keep.
        checkpoint: Checkpoint,
    },
    /// Start the agent of this round.
    Spawn {
        /// The round.
        round: u64,
        /// The effort to ask for, with its width prefix.
        effort: Effort,
    },
    /// End the agent of this round, then say [`Input::Ended`].
    Terminate {
        /// The round.
        round: u64,
        /// How urgently.
        how: Urgency,
    },
    /// Ask the oracle.
    Verify {
        /// The round; 0 before the first.
        round: u64,
    },
    /// Nothing to do until a fact comes in, or until this moment.
    Wait {
        /// The moment; `None` waits for a fact alone.
        until: Option<Timestamp>,
        /// What for.
        why: Waiting,
    },
    /// The loop is over.
    Stop(Control),
}

/// How urgently a round is to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// By the signal that keeps the agent's usage.
    Gently,
    /// At once.
    Now,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Waiting {
    /// The checkpoint to be durable.
    Disk,
    /// The agent to start.
    Start,
    /// The agent's reports.
    Turns,
    /// The agent to be gone.
    End,
    /// The oracle.
    Answer,
    /// The pause between two rounds.
    Rest,
    /// The pause after failed rounds.
    Backoff,
    /// The backend's limit to be lifted.
    Limit,
}

impl Waiting {
    /// The stable word of a wait.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Start => "start",
            Self::Turns => "turns",
            Self::End => "end",
            Self::Answer => "answer",
            Self::Rest => "rest",
            Self::Backoff => "backoff",
            Self::Limit => "limit",
        }
    }
}

//! The run's clock: milliseconds since the loop first began, as far as somebody was at work.
//!
//! It is the system's monotonic clock, which stands still while the machine sleeps, less the spans for which the runner was
//! stopped by job control. In compressed time it is what the agent says.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::Stamps;
use crate::engine::{Millis, Timestamp};

/// The clock.
#[derive(Debug)]
pub(super) struct Clock {
    began: Instant,
    at: Timestamp,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// For how long the runner was stopped.
    stopped: Duration,
    /// The runner is about to be stopped, or was just continued: time stands.
    frozen: Option<Instant>,
    /// What the agent says.
    believed: Timestamp,
    /// The agent's group, to be stopped with the runner.
    group: Option<Pid>,
}

impl Clock {
    pub(super) fn new(at: Timestamp) -> Self {
        let state = State { believed: at, ..State::default() };
        Self { began: present(), at, state: Mutex::new(state) }
    }

    fn with<T>(&self, then: impl FnOnce(&mut State) -> T) -> T {
        // a thread that panicked while it held a clock left it whole: every change is one assignment
        then(&mut self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(super) fn now(&self, stamps: Stamps) -> Timestamp {
        self.with(|state| match stamps {
            Stamps::Agent => state.believed,
            Stamps::Own => {
                let ran = state.frozen.unwrap_or_else(present).duration_since(self.began).saturating_sub(state.stopped);
                self.at.after(Millis::new(u64::try_from(ran.as_millis()).unwrap_or(u64::MAX)))
            }
        })
    }

    pub(super) fn believe(&self, at: Timestamp) {
        self.with(|state| state.believed = state.believed.max(at));
    }

    /// How long until this moment.
    pub(super) fn left(&self, until: Timestamp) -> Duration {
        Duration::from_millis(until.since(self.now(Stamps::Own)).count())
    }

    /// Which group is stopped with the runner.
    pub(super) fn group(&self, group: Option<Pid>) {
        self.with(|state| state.group = group);
    }

    /// Stands still, and gives the group that is to be stopped.
    pub(super) fn freeze(&self) -> Option<Pid> {
        self.with(|state| {
            state.frozen.get_or_insert_with(present);
            state.group
        })
    }

    /// Goes on, and gives the group that is to go on.
    pub(super) fn thaw(&self) -> Option<Pid> {
        self.with(|state| {
            if let Some(frozen) = state.frozen.take() {
                state.stopped += present().duration_since(frozen);
            }
            state.group
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where the real loop looks at a clock")]
fn present() -> Instant {
    Instant::now()
}

//! The loop as a state machine: facts in, orders out.
//!
//! It is the only loop there is. The simulator drives it with a made-up agent, the runner with a real one, `conform` with
//! recorded turns. It is not a host: it starts nothing, waits for nothing and writes nothing; it says what is to be done
//! and is told what happened.
//!
//! # The contract
//!
//! 1. One [`Machine::handle`], then [`Machine::poll`] until [`Output::Wait`] or [`Output::Stop`]; then the next fact.
//! 2. [`Output::Persist`] is followed by a wait for the disk alone: what depends on the write is withheld until
//!    [`Input::Persisted`] with its number comes. So an attempt is on disk before its agent starts, in any host.
//! 3. A round is read once, after it closed. A round that was stopped by hand is not read and moves nothing.
//! 4. A late or repeated fact is absorbed: its tokens are charged, and nothing else happens.
//! 5. Output counts against the budget as it lands, while a round is being ended too. The budget can be passed by at most
//!    one round.
//! 6. After a round the controls are looked at in this order: a stop that was asked for or the end of the wall time, the oracle,
//!    unmetered spend, requests, the backend's limit, agent failures, same error, no progress, then the caps in the order of
//!    [`Caps::reached`](crate::engine::Caps::reached): the loop's own before those that it shares with others. Before a round the caps
//!    are looked at again. So passing on the last allowed round is success.
//! 7. After a stop every fact is absorbed and every poll gives the same stop. A budget stop clears the checkpoint first.
//! 8. The same facts give the same orders.
//! 9. Round 0 is what was there before the first round: the project as it was found, and what the oracle says of it.
//!
//! ```text
//!   fresh/resting --caps--> saving --persisted--> starting --spawned--> working --ended--> saving
//!        ^                                                        \--asked, deadline--> ending --ended--^
//!        |                                                                                      |
//!        \------------------- caps, streaks, failures <-- verifying (if there is an oracle) <---/--> stopped
//! ```

mod io;
mod plan;
mod state;
#[cfg(test)]
mod tests;

pub use io::{Answer, Input, Output, RoundExit, StopRequest, Urgency, Waiting};
pub use plan::{Asks, BudgetOrder, Charge, Plan};
pub use state::Machine;

//! The real loop: processes, files and signals around the engine's machine.
//!
//! It is not a second loop. [`host`] carries out the machine's orders and tells it what happened; when to move, rest or
//! stop is decided in the engine, as in the simulator. It knows neither the lab nor the command line, prints nothing, and makes no
//! rule about what a log means: that is [`agents`](crate::agents).
//!
//! | module | holds |
//! |---|---|
//! | [`host`] | orders out, facts in |
//! | [`site`] | the project, as far as the host asks for it |
//! | [`view`] | who is told what happens |
//! | [`os`] | every effect, behind one trait |
//! | [`system`] | the effects for real |
//! | [`gate`] | the process that waits until it is written down, and then becomes the agent |
//! | [`agent`] | each round's command line |
//! | [`oracle`], [`kill`] | what decides that the task is done, and what gives up |
//! | [`tree`], [`git`] | what a round changed |
//! | [`features`], [`protect`] | what an agent may not change |
//! | [`glob`], [`place`] | patterns of paths; where a part works |
//! | [`journal`], [`record`] | what a run leaves on disk, and what is made of it after a crash |
//! | [`summary`] | what a journal comes to, round by round |
//! | [`folder`] | where records lie: the project's `.flyball`, its lock, its runs |
//! | [`prompt`] | templates and what each round's prompt is made of |
//! | [`history`] | lines that stay of runs and rounds that are over |
//! | [`purse`] | caps over several runs |
//! | [`redact`] | what looks like a key is taken out of what is kept |
//! | [`figures`] | tokens, dollars and lengths of time as people read them |
//!
//! Units: milliseconds of the run's clock, which goes on from one process of a run to the next and does not count sleep.

pub mod agent;
pub mod features;
pub mod figures;
pub mod folder;
pub mod gate;
pub mod git;
pub mod glob;
pub mod history;
pub mod host;
pub mod journal;
pub mod kill;
pub mod oracle;
pub mod os;
pub mod place;
pub mod project;
pub mod prompt;
pub mod protect;
pub mod purse;
pub mod record;
pub mod redact;
mod round;
pub mod site;
pub mod summary;
pub mod system;
pub mod tree;
pub mod view;

pub use agent::{Agent, Agents};
pub use host::{Clocks, Ended, Host, HostError, Stamps};
pub use journal::Journal;
pub use os::Os;
pub use place::Place;
pub use record::{RecordError, Recovered, State, recover};
pub use round::KEPT_BYTES;
pub use site::{NoSite, Site};
pub use summary::Summary;
pub use view::{NoView, Told, View};

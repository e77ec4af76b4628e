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
//! | [`journal`], [`record`] | what a run leaves on disk, and what is made of it after a crash |
//! | [`summary`] | what a journal comes to, round by round |
//! | [`folder`] | where records lie: the project's `.flyball`, its lock, its runs |
//!
//! Units: milliseconds of the run's clock, which goes on from one process of a run to the next and does not count sleep.

pub mod agent;
pub mod folder;
pub mod gate;
pub mod host;
pub mod journal;
pub mod os;
pub mod record;
mod round;
pub mod site;
pub mod summary;
pub mod system;
pub mod view;

pub use agent::{Agent, Agents};
pub use host::{Clocks, Ended, Host, HostError, Stamps};
pub use journal::Journal;
pub use os::Os;
pub use record::{RecordError, Recovered, State, recover};
pub use round::KEPT_BYTES;
pub use site::{NoSite, Site};
pub use summary::Summary;
pub use view::{NoView, Told, View};

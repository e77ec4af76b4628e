//! Every effect of the runner, behind one trait: so that one place can number them, delay them, or crash between them.
//!
//! [`Host`](super::Host) asks for effects and hears of facts through [`Os`] alone; [`system`](super::system) carries them out for
//! real, the crash tests in memory. It decides nothing. Files are named from the run's own folder. Times are those of the
//! run's clock, in milliseconds since the loop first began: it goes on from one process of a run to the next, and it stands
//! still while the machine sleeps or the runner is stopped.

use std::io;
use std::path::{Path, PathBuf};

use super::tree::{Tree, TreeAsk};
use crate::agents::adapter::Follow;
use crate::engine::{Millis, Timestamp};
use crate::trace::ProcessId;

/// What is to be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments, never through a shell.
    pub argv: Vec<String>,
    /// Variables to set.
    pub set: Vec<(String, String)>,
    /// Variables to take away.
    pub unset: Vec<String>,
    /// What it reads on its standard input, to the end.
    pub stdin: Vec<u8>,
    /// Files to write before, in the round's folder.
    pub files: Vec<(PathBuf, String)>,
    /// Symbolic links to make before, in the round's folder, where what they lead to is there.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// The folder to run in.
    pub folder: PathBuf,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// Signals that the runner sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Send {
    /// What a terminal's Ctrl-C sends.
    Int,
    /// A request to end.
    Term,
    /// The end.
    Kill,
}

/// Signals that ask the runner to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Ctrl-C.
    Int,
    /// A request to end.
    Term,
    /// The terminal is gone.
    Hup,
}

/// A fact from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The agent wrote this to its standard output.
    Stdout(Vec<u8>),
    /// The agent wrote this to its standard error.
    Stderr(Vec<u8>),
    /// A file that is followed grew by this.
    Followed {
        /// The file.
        file: String,
        /// What is new in it.
        bytes: Vec<u8>,
    },
    /// Both pipes are closed.
    Closed,
    /// The agent's process is gone.
    Exited(End),
    /// Somebody asks the runner to stop.
    Asked(Asked),
    /// The moment that was waited for has come.
    Due,
}

/// What is kept of what a program prints, in bytes: all of it, else the first half and the last half with a line between that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Standard output and standard error as they came, in one.
    Both(usize),
    /// Standard output alone; standard error goes nowhere.
    Stdout(usize),
}

/// How a program that was run to its end came to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which the runner did not send.
    Signalled(i32),
    /// Its time was over, and it was ended.
    TimedOut,
    /// It could not be started; why.
    NotStarted(String),
    /// Somebody asked the runner to stop, and it was ended.
    GivenUp,
}

/// What came of a program that was run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How it ended.
    pub end: CheckEnd,
    /// What it printed, as far as it is kept.
    pub output: Vec<u8>,
    /// How long it ran.
    pub lasted: Millis,
    /// It printed more than is kept.
    pub cut: bool,
}

/// What is to be at a path of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put<'a> {
    /// A file of this content with these bits of permission.
    File(&'a [u8], u32),
    /// A symbolic link that says this.
    Link(&'a Path),
    /// Nothing; a folder that is empty goes too.
    Nothing,
}

/// The effects.
pub trait Os {
    /// The moment.
    fn now(&self) -> Timestamp;

    /// Milliseconds of Unix time, for what others state in it.
    fn unix_ms(&self) -> u64;

    /// Takes this moment for the present, where the agent's own stamps are to be believed; never turns back.
    fn believe(&mut self, at: Timestamp);

    /// Adds to a file, which need not be there.
    ///
    /// # Errors
    /// Those of the system.
    fn append(&mut self, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was added to a file durable.
    ///
    /// # Errors
    /// Those of the system.
    fn sync(&mut self, file: &str) -> io::Result<()>;

    /// Replaces a file, whole and durably, or not at all: write, sync, rename, sync.
    ///
    /// # Errors
    /// Those of the system.
    fn replace(&mut self, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Starts a process that waits at a gate: it becomes the agent when [`release`](Self::release) opens it, and leaves when the runner
    /// is lost before that.
    ///
    /// # Errors
    /// Where it cannot be started.
    fn spawn(&mut self, launch: &Launch) -> io::Result<ProcessId>;

    /// Opens the gate.
    ///
    /// # Errors
    /// Where the process is gone.
    fn release(&mut self) -> io::Result<()>;

    /// Sends a signal to the agent's whole group.
    fn signal(&mut self, signal: Send);

    /// Kills whatever of the agent is left, in its group and outside, and says how many processes there were.
    fn sweep(&mut self) -> usize;

    /// Runs a program that is asked something and ends by itself, and gives what it prints on its standard output. One that
    /// takes too long or cannot be started says nothing; neither does one during which somebody asks for a stop: it is killed, and
    /// the request stays to be [received](Self::receive).
    fn query(&mut self, launch: &Launch) -> Vec<u8>;

    /// Runs a program to its end, in a group of its own, for so long at most; what it leaves behind is ended. It is given up as soon as somebody
    /// asks the runner to stop, which [`receive`](Self::receive) then tells.
    fn check(&mut self, launch: &Launch, limit: Millis, keep: Keep) -> Checked;

    /// Files that match and that were made since the last program was checked, with what is in them.
    fn logs(&mut self, follows: &[Follow]) -> Vec<(String, Vec<u8>)>;

    /// The beginning of a file, so many bytes of it at most. Nothing but a file is read: neither what a symbolic link leads to nor a pipe.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::InvalidInput`] where there is something else than a file.
    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// The files below a folder as they are now.
    fn tree(&mut self, ask: &TreeAsk) -> Tree;

    /// Puts something at a path below `root`, whole or not at all. Folders on the way that are none are replaced; no symbolic link below `root`
    /// is followed.
    ///
    /// # Errors
    /// Those of the system.
    fn put(&mut self, root: &Path, path: &Path, put: Put<'_>) -> io::Result<()>;

    /// Whether this user can write a file, or make one in a folder; tried out, and nothing is left of that.
    fn can_write(&mut self, path: &Path) -> bool;

    /// Follows the files that match, from their beginnings where they are new since the spawn.
    fn follow(&mut self, follows: &[Follow]);

    /// Waits for the next fact, until this moment at the latest; without one, as long as it takes.
    fn receive(&mut self, until: Option<Timestamp>) -> Heard;

    /// A fact that is there already.
    fn pending(&mut self) -> Option<Heard>;
}

//! The effects for real: files, processes, signals and the clock, with threads and one channel.
//!
//! Each round has a thread for each pipe, one that waits for the agent and one that writes its prompt; all of them send
//! into one bounded channel, so that an agent which floods is slowed down instead of filling memory. Nothing is decided here.

mod check;
mod clock;
pub mod files;
mod follow;
mod process;
pub mod procs;
pub mod purse;
pub mod shelf;
mod signals;
mod walk;

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

use self::clock::Clock;
use self::files::Files;
use self::follow::Followed;
use self::process::Running;
use super::host::Stamps;
use super::os::{Asked, Checked, End, Heard, Keep, Launch, Os, Put, Send};
use super::tree::{Tree, TreeAsk};
use crate::agents::adapter::Follow;
use crate::engine::{Millis, Timestamp};
use crate::trace::ProcessId;

/// Messages that wait at most: the more there are, the later an agent that floods is slowed down.
const QUEUE: usize = 256;
/// How often followed files are looked at.
const LOOK: Duration = Duration::from_millis(200);

/// What threads send.
#[derive(Debug)]
enum Message {
    Stdout(u64, Vec<u8>),
    Stderr(u64, Vec<u8>),
    /// One of the two pipes is closed.
    Closed(u64),
    Exited(u64, End),
    Asked(Asked),
    /// A program that was checked is gone.
    Checked(u64, End),
    /// Nobody can print any more what that program prints.
    Printed(u64),
}

/// This machine.
#[derive(Debug)]
pub struct System {
    files: Files,
    clock: Arc<Clock>,
    stamps: Stamps,
    sender: SyncSender<Message>,
    receiver: Receiver<Message>,
    queue: VecDeque<Heard>,
    running: Option<Running>,
    rounds: u64,
    followed: Followed,
    /// How many programs were checked, and when the last one began.
    checks: u64,
    checked: Option<SystemTime>,
}

impl System {
    /// This machine, with the run's folder and the moment at which its clock goes on. From now on signals that ask for a stop come as
    /// facts, and children that lose their parents become this process's.
    ///
    /// # Errors
    /// Where the system refuses one of these.
    pub fn new(folder: &Path, at: Timestamp, stamps: Stamps) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let clock = Arc::new(Clock::new(at));
        procs::adopt()?;
        signals::listen(sender.clone(), Arc::clone(&clock))?;
        Ok(Self {
            files: Files::new(folder),
            clock,
            stamps,
            sender,
            receiver,
            queue: VecDeque::new(),
            running: None,
            rounds: 0,
            followed: Followed::default(),
            checks: 0,
            checked: None,
        })
    }

    /// What a message means, where it is of the round under way.
    fn take(&mut self, message: Message) {
        let of_now = |round: u64| self.running.as_ref().is_some_and(|running| running.round == round);
        match message {
            Message::Stdout(round, bytes) if of_now(round) => self.queue.push_back(Heard::Stdout(bytes)),
            Message::Stderr(round, bytes) if of_now(round) => self.queue.push_back(Heard::Stderr(bytes)),
            Message::Closed(round) if of_now(round) => {
                if self.running.as_mut().is_some_and(Running::one_closed) {
                    self.queue.push_back(Heard::Closed);
                }
            }
            Message::Exited(round, end) if of_now(round) => {
                if let Some(running) = &mut self.running {
                    running.gone = true;
                }
                self.clock.group(None);
                self.look(true);
                self.queue.push_back(Heard::Exited(end));
            }
            Message::Asked(asked) => self.queue.push_back(Heard::Asked(asked)),
            Message::Stdout(..)
            | Message::Stderr(..)
            | Message::Closed(_)
            | Message::Exited(..)
            | Message::Checked(..)
            | Message::Printed(_) => {}
        }
    }

    /// Looks at followed files.
    fn look(&mut self, last: bool) {
        self.followed.look(last, &mut self.queue);
    }

    /// Whether the round's agent may still say something.
    fn is_busy(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.is_over())
    }

    /// How long to wait for the next message, at most.
    fn patience(&self, until: Option<Timestamp>) -> Option<Duration> {
        let deadline = match self.stamps {
            Stamps::Agent if self.is_busy() => None,
            Stamps::Agent | Stamps::Own => until.map(|until| self.clock.left(until)),
        };
        let look = (self.is_busy() && !self.followed.is_empty()).then_some(LOOK);
        [deadline, look].into_iter().flatten().min()
    }
}

impl Os for System {
    fn now(&self) -> Timestamp {
        self.clock.now(self.stamps)
    }

    fn unix_ms(&self) -> u64 {
        unix_ms()
    }

    fn believe(&mut self, at: Timestamp) {
        self.clock.believe(at);
    }

    fn append(&mut self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.append(file, bytes)
    }

    fn sync(&mut self, file: &str) -> io::Result<()> {
        self.files.sync(file)
    }

    fn replace(&mut self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.replace(file, bytes)
    }

    fn spawn(&mut self, launch: &Launch) -> io::Result<ProcessId> {
        self.files.forget();
        self.followed = Followed::default();
        for (path, text) in &launch.files {
            files::write_whole(path, text.as_bytes())?;
        }
        for (link, to) in &launch.links {
            files::link(link, to)?;
        }
        self.rounds += 1;
        let running = Running::spawn(launch, self.rounds, &self.sender)?;
        let id = running.id.clone();
        self.clock.group(Some(running.pid));
        self.running = Some(running);
        Ok(id)
    }

    fn release(&mut self) -> io::Result<()> {
        self.running.as_mut().map_or(Ok(()), Running::release)
    }

    fn signal(&mut self, signal: Send) {
        if let Some(running) = &self.running {
            running.signal(signal);
        }
    }

    fn sweep(&mut self) -> usize {
        self.running.as_ref().map_or(0, Running::sweep)
    }

    fn query(&mut self, launch: &Launch) -> Vec<u8> {
        process::query(launch, || {
            // what is heard meanwhile keeps its order; from here nobody empties the queue, so that it is bounded as the channel is
            while self.queue.len() < QUEUE
                && let Ok(message) = self.receiver.try_recv()
            {
                self.take(message);
            }
            self.queue.iter().any(|heard| matches!(heard, Heard::Asked(_)))
        })
    }

    fn check(&mut self, launch: &Launch, limit: Millis, keep: Keep) -> Checked {
        check::check(self, launch, limit, keep)
    }

    fn logs(&mut self, follows: &[Follow]) -> Vec<(String, Vec<u8>)> {
        follow::all(follows, self.checked)
    }

    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        files::read(path, most)
    }

    fn tree(&mut self, ask: &TreeAsk) -> Tree {
        walk::tree(ask)
    }

    fn put(&mut self, root: &Path, path: &Path, put: Put<'_>) -> io::Result<()> {
        files::put(root, path, put)
    }

    fn can_write(&mut self, path: &Path) -> bool {
        files::can_write(path)
    }

    fn follow(&mut self, follows: &[Follow]) {
        let since = self.running.as_ref().map(|running| running.since);
        self.followed.add(follows, since);
        if self.running.as_ref().is_some_and(|running| running.gone) {
            // the agent left before it was heard which files are its
            self.look(true);
        }
    }

    fn receive(&mut self, until: Option<Timestamp>) -> Heard {
        loop {
            if let Some(heard) = self.queue.pop_front() {
                return heard;
            }
            if let Some(until) = until {
                if self.stamps == Stamps::Agent && !self.is_busy() {
                    // nobody is at work in compressed time: what is waited for is now
                    if let Ok(message) = self.receiver.try_recv() {
                        self.take(message);
                        continue;
                    }
                    self.clock.believe(until);
                }
                let waits = self.stamps == Stamps::Agent && self.is_busy();
                if !waits && self.now() >= until {
                    return Heard::Due;
                }
            }
            let message = match self.patience(until) {
                Some(patience) => self.receiver.recv_timeout(patience),
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => self.look(false),
                // this machine holds a sender of its own
                Err(RecvTimeoutError::Disconnected) => return Heard::Due,
            }
        }
    }

    fn pending(&mut self) -> Option<Heard> {
        if self.queue.is_empty()
            && let Ok(message) = self.receiver.try_recv()
        {
            self.take(message);
        }
        self.queue.pop_front()
    }
}

/// Milliseconds of Unix time.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "names of runs and the limits of backends are in calendar time")]
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Says something on standard error, where nobody may be there to hear it.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "flyball: {text}");
}

/// The text of a file, where there is one that is text.
#[must_use]
pub fn text_of(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Where a program is that would be started by this name, looked for as the system does.
#[must_use]
pub fn which(program: &str, path: Option<&str>) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = |file: &Path| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| runs(file));
    }
    path?.split(':').map(|folder| Path::new(folder).join(program)).find(|file| runs(file))
}

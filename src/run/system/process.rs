//! One agent: its process behind the gate, its pipes, its end.

use std::collections::BTreeSet;
use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process_group};

use super::procs;
use super::{End, Launch, Message, ProcessId, Send};
use crate::run::gate;

/// What is read of a pipe at once.
const PIECE: usize = 64 * 1024;

/// The agent of the round under way.
#[derive(Debug)]
pub(super) struct Running {
    /// The how many-eth of this process.
    pub(super) round: u64,
    pub(super) pid: Pid,
    pub(super) id: ProcessId,
    /// When it was started, for files that it writes.
    pub(super) since: SystemTime,
    /// Its process is gone.
    pub(super) gone: bool,
    /// Pipes that are still open.
    open: u8,
    gate: Option<ChildStdin>,
    stdin: Vec<u8>,
    /// Children that this process had before: none of the agent's.
    strangers: BTreeSet<i32>,
}

impl Running {
    /// Starts the gate of an agent, in a group of its own.
    pub(super) fn spawn(launch: &Launch, round: u64, sender: &SyncSender<Message>) -> io::Result<Self> {
        let strangers = procs::children();
        let mut command = Command::new(procs::this_program()?);
        command.arg(gate::GATE).args(&launch.argv).current_dir(&launch.folder);
        command.envs(launch.set.iter().map(|(name, value)| (name, value)));
        launch.unset.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let since = now();
        let mut child = command.spawn()?;
        let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = number.ok_or_else(|| io::Error::other("the system gave no process number"))?;
        let gate = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            listen(stdout, round, sender.clone(), Message::Stdout)?;
        }
        if let Some(stderr) = child.stderr.take() {
            listen(stderr, round, sender.clone(), Message::Stderr)?;
        }
        wait(child, round, sender.clone())?;
        let stdin = launch.stdin.clone();
        Ok(Self { round, pid, id: procs::identify(pid), since, gone: false, open: 2, gate, stdin, strangers })
    }

    /// Opens the gate, and sends the prompt after it.
    pub(super) fn release(&mut self) -> io::Result<()> {
        let Some(mut pipe) = self.gate.take() else { return Ok(()) };
        pipe.write_all(&[gate::OPEN])?;
        let prompt = std::mem::take(&mut self.stdin);
        named("prompt").spawn(move || {
            // an agent need not read its prompt to the end
            let _ = pipe.write_all(&prompt);
        })?;
        Ok(())
    }

    /// One of the two pipes was closed; says whether both are now.
    pub(super) const fn one_closed(&mut self) -> bool {
        self.open = self.open.saturating_sub(1);
        self.open == 0
    }

    /// Nothing more comes of it.
    pub(super) const fn is_over(&self) -> bool {
        self.gone && self.open == 0
    }

    /// Sends a signal to the group.
    pub(super) fn signal(&self, signal: Send) {
        let signal = match signal {
            Send::Int => Signal::INT,
            Send::Term => Signal::TERM,
            Send::Kill => Signal::KILL,
        };
        // a group that is gone needs no signal
        let _ = kill_process_group(self.pid, signal);
    }

    /// Kills what is left of it, wherever it went, and says how many processes that was.
    pub(super) fn sweep(&self) -> usize {
        let agent = (!self.gone).then_some(self.pid);
        procs::sweep(self.pid, agent, &self.strangers)
    }
}

/// How long a program that is asked something may take, in looks at whether it is still waited for.
const LOOKS: u32 = 1200;
/// How long a look waits.
const LOOK: Duration = Duration::from_millis(50);

/// What a program says that ends by itself; nothing where it does not within a minute, or cannot be started, or where it is given up.
pub(super) fn query(launch: &Launch, mut given_up: impl FnMut() -> bool) -> Vec<u8> {
    let [program, arguments @ ..] = &launch.argv[..] else { return Vec::new() };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&launch.folder).process_group(0);
    command.envs(launch.set.iter().map(|(name, value)| (name, value)));
    launch.unset.iter().for_each(|name| {
        command.env_remove(name);
    });
    let Ok(mut child) = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return Vec::new();
    };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (sender, answer) = sync_channel(1);
    let waits = named("query").spawn(move || {
        let mut bytes = Vec::new();
        let read = child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut bytes));
        let ended = child.wait().is_ok_and(|status| status.success());
        let _ = sender.send(if ended && matches!(read, Some(Ok(_))) { bytes } else { Vec::new() });
    });
    let mut look = || (!given_up()).then(|| answer.recv_timeout(LOOK));
    let mut answers = (0..LOOKS).map_while(|_| look()).skip_while(|said| *said == Err(RecvTimeoutError::Timeout));
    let said = waits.ok().and_then(|_| answers.next()?.ok());
    if let (None, Some(pid)) = (&said, pid) {
        // it is killed with its group, and its thread buries it
        let _ = kill_process_group(pid, Signal::KILL);
    }
    said.unwrap_or_default()
}

pub(super) fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned()).stack_size(256 * 1024)
}

fn listen(
    mut pipe: impl Read + std::marker::Send + 'static,
    round: u64,
    sender: SyncSender<Message>,
    wrap: fn(u64, Vec<u8>) -> Message,
) -> io::Result<()> {
    named("pipe").spawn(move || {
        let mut piece = vec![0; PIECE];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => {
                    if sender.send(wrap(round, piece[..count].to_vec())).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(Message::Closed(round));
    })?;
    Ok(())
}

fn wait(mut child: Child, round: u64, sender: SyncSender<Message>) -> io::Result<()> {
    named("wait").spawn(move || {
        let end = child.wait().map_or(End::Signalled(0), |status| end_of(&status));
        let _ = sender.send(Message::Exited(round, end));
    })?;
    Ok(())
}

pub(super) fn end_of(status: &ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(0)),
    }
}

/// The moment by the clock that the system stamps files with. On Linux that is the last tick, up to ten milliseconds ago: by the finer clock a
/// file that a program makes at once would be older than the program.
#[cfg(target_os = "linux")]
pub(super) fn now() -> SystemTime {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    let (seconds, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0));
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos)
}

/// The moment.
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::disallowed_methods,
    reason = "files that a program wrote are told by the time that the system gave them"
)]
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_made_at_once_is_no_older_than_the_moment_before() {
        let dir = tempfile::tempdir().unwrap();
        for at in 0..500 {
            let (before, path) = (now(), dir.path().join(at.to_string()));
            std::fs::write(&path, "a").unwrap();
            let meta = path.metadata().unwrap();
            assert!(meta.created().or_else(|_| meta.modified()).unwrap() >= before, "file {at}");
        }
    }
}

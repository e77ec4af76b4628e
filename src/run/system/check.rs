//! A program that is run to its end while the runner waits: an oracle, a gate's test, git, a judge.
//!
//! It has a group of its own, and what it prints is read by a thread into a bounded buffer, so that a flood neither fills memory nor stops it.
//! When it is gone, when its time is over or when somebody asks the runner to stop, whatever it started is ended, wherever that
//! went; so nobody who holds its pipe open delays anything. Whether it passed is not decided here.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::process::{end_of, named, now};
use super::{End, Heard, Launch, Message, Stamps, System, files, procs};
use crate::engine::{Millis, Timestamp, counted, one_or};
use crate::run::os::{CheckEnd, Checked, Keep};

/// How long a program may take to end once it is told to.
const GRACE: Millis = Millis::from_secs(2);
/// How long to wait for the end of a pipe once all who are known to hold it are gone.
const PIPE: Millis = Millis::new(500);
/// What is read of the pipe at once.
const PIECE: usize = 64 * 1024;

/// What is kept of what is printed.
#[derive(Debug, Default)]
struct Kept {
    half: usize,
    first: Vec<u8>,
    last: VecDeque<u8>,
    left_out: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half.saturating_sub(self.first.len())));
        self.first.extend_from_slice(first);
        self.last.extend(rest);
        let over = self.last.len().saturating_sub(self.half);
        self.last.drain(..over);
        self.left_out = self.left_out.saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
    }

    fn take(&mut self) -> (Vec<u8>, bool) {
        let mut whole = std::mem::take(&mut self.first);
        if self.left_out > 0 {
            let (bytes, are) = (counted(self.left_out, "byte"), one_or(self.left_out, "is", "are"));
            whole.extend(format!("\n[{bytes} {are} left out here]\n").into_bytes());
        }
        whole.extend(std::mem::take(&mut self.last));
        (whole, self.left_out > 0)
    }
}

/// The program under way.
struct Program {
    number: u64,
    pid: Pid,
    kept: Arc<Mutex<Kept>>,
    strangers: BTreeSet<i32>,
    gone: Option<End>,
    printed: bool,
}

/// Runs a program to its end.
pub(super) fn check(system: &mut System, launch: &Launch, limit: Millis, keep: Keep) -> Checked {
    let nothing = |end| Checked { end, output: Vec::new(), lasted: Millis::ZERO, cut: false };
    while let Ok(message) = system.receiver.try_recv() {
        system.take(message);
    }
    if system.queue.iter().any(|heard| matches!(heard, Heard::Asked(_))) {
        return nothing(CheckEnd::GivenUp);
    }
    system.checks += 1;
    system.checked = Some(now());
    let began = system.clock.now(Stamps::Own);
    let mut program = match start(system, launch, keep) {
        Ok(program) => program,
        Err(error) => {
            let program = launch.argv.first().map_or("", String::as_str);
            return nothing(CheckEnd::NotStarted(format!("{program} cannot be started: {error}{}", advice(&error))));
        }
    };
    system.clock.group(Some(program.pid));
    let cut_short = wait(system, &mut program, began.after(limit));
    if cut_short.is_some() && program.gone.is_none() {
        end(system, &mut program);
    }
    let waited_for = program.gone.is_none().then_some(program.pid);
    procs::sweep(program.pid, waited_for, &program.strangers);
    let until = system.clock.now(Stamps::Own).after(PIPE);
    while !(program.printed && program.gone.is_some()) && hear(system, &mut program, until).is_some() {}
    let agent = system.running.as_ref().filter(|running| !running.gone).map(|running| running.pid);
    system.clock.group(agent);
    let end = cut_short.unwrap_or(match program.gone {
        Some(End::Exited(code)) => CheckEnd::Exited(code),
        Some(End::Signalled(signal)) => CheckEnd::Signalled(signal),
        None => CheckEnd::TimedOut,
    });
    let lasted = system.clock.now(Stamps::Own).since(began);
    let (output, cut) = with(&program.kept, Kept::take);
    Checked { end, output, lasted, cut }
}

/// What to do about a program that cannot be started; nothing where the error says it, or nobody knows.
fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => {
            "; install it, or name it as it is called on the PATH or by its path, and see that what a script's first line names is there"
        }
        Some(Errno::ACCESS) => "; make it a program with `chmod +x`, or name what runs it",
        Some(Errno::NOEXEC) => "; begin it with a line such as `#!/bin/sh`, or name what runs it",
        Some(_) | None => "",
    }
}

fn start(system: &System, launch: &Launch, keep: Keep) -> io::Result<Program> {
    let [program, arguments @ ..] = &launch.argv[..] else { return Err(io::Error::other("no program is named")) };
    if !launch.folder.is_dir() {
        return Err(io::Error::other(format!(
            "there is no folder {} to start it in; make it, or name another",
            launch.folder.display()
        )));
    }
    for (path, text) in &launch.files {
        files::write_whole(path, text.as_bytes())?;
    }
    for (link, to) in &launch.links {
        files::link(link, to)?;
    }
    let strangers = procs::children();
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&launch.folder).process_group(0).stdin(Stdio::piped());
    command.envs(launch.set.iter().map(|(name, value)| (name, value)));
    launch.unset.iter().for_each(|name| {
        command.env_remove(name);
    });
    let most = match keep {
        Keep::Both(most) => {
            command.stderr(writer.try_clone()?);
            most
        }
        Keep::Stdout(most) => {
            command.stderr(Stdio::null());
            most
        }
    };
    let mut child = command.stdout(writer).spawn()?;
    // its ends of the pipe are held by the program alone
    drop(command);
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = number.ok_or_else(|| io::Error::other("the system gave no process number"))?;
    let kept = Arc::new(Mutex::new(Kept { half: most / 2, ..Kept::default() }));
    let threads = feed(&mut child, launch.stdin.clone())
        .and_then(|()| listen(reader, Arc::clone(&kept), system))
        .and_then(|()| bury(child, system));
    if let Err(error) = threads {
        let _ = kill_process_group(pid, Signal::KILL);
        return Err(error);
    }
    Ok(Program { number: system.checks, pid, kept, strangers, gone: None, printed: false })
}

fn feed(child: &mut Child, bytes: Vec<u8>) -> io::Result<()> {
    let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
    if bytes.is_empty() {
        return Ok(());
    }
    named("stdin").spawn(move || {
        // a program need not read to the end
        let _ = pipe.write_all(&bytes);
    })?;
    Ok(())
}

fn listen(mut pipe: PipeReader, kept: Arc<Mutex<Kept>>, system: &System) -> io::Result<()> {
    let (sender, number) = (system.sender.clone(), system.checks);
    named("print").spawn(move || {
        let mut piece = vec![0; PIECE];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => with(&kept, |kept| kept.add(&piece[..count])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(Message::Printed(number));
    })?;
    Ok(())
}

fn bury(mut child: Child, system: &System) -> io::Result<()> {
    let (sender, number) = (system.sender.clone(), system.checks);
    named("bury").spawn(move || {
        let end = child.wait().map_or(End::Signalled(0), |status| end_of(&status));
        let _ = sender.send(Message::Checked(number, end));
    })?;
    Ok(())
}

fn with<T>(kept: &Mutex<Kept>, then: impl FnOnce(&mut Kept) -> T) -> T {
    then(&mut kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Waits for the end; says why it did not wait for it.
fn wait(system: &mut System, program: &mut Program, until: Timestamp) -> Option<CheckEnd> {
    while program.gone.is_none() {
        match hear(system, program, until) {
            None => return Some(CheckEnd::TimedOut),
            Some(true) => return Some(CheckEnd::GivenUp),
            Some(false) => {}
        }
    }
    None
}

/// Tells it to end, and ends it where it does not, or where somebody asks once more.
fn end(system: &mut System, program: &mut Program) {
    // a group that is gone needs no signal
    let _ = kill_process_group(program.pid, Signal::TERM);
    let until = system.clock.now(Stamps::Own).after(GRACE);
    while program.gone.is_none() && hear(system, program, until) == Some(false) {}
    let _ = kill_process_group(program.pid, Signal::KILL);
}

/// Takes the next message in. Nothing where there is none until then; else whether somebody asks for a stop.
fn hear(system: &mut System, program: &mut Program, until: Timestamp) -> Option<bool> {
    let message = match system.receiver.recv_timeout(system.clock.left(until)) {
        Ok(message) => message,
        // time stands still while the runner is stopped
        Err(RecvTimeoutError::Timeout) => return (system.clock.now(Stamps::Own) < until).then_some(false),
        Err(RecvTimeoutError::Disconnected) => return None,
    };
    let asked = matches!(message, Message::Asked(_));
    match message {
        Message::Checked(number, end) if number == program.number => program.gone = Some(end),
        Message::Printed(number) if number == program.number => program.printed = true,
        other @ (Message::Stdout(..)
        | Message::Stderr(..)
        | Message::Closed(_)
        | Message::Exited(..)
        | Message::Asked(_)
        | Message::Checked(..)
        | Message::Printed(_)) => system.take(other),
    }
    Some(asked)
}

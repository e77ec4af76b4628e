//! A project for one test, agents for it, and runs in it.

use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use flyball::trace::{Record, Trace, read};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

/// What nothing here takes; whoever needs it has hung.
const BOUND: Duration = Duration::from_secs(90);
const BETWEEN: Duration = Duration::from_millis(5);

/// Short spans, so that what they bound is over soon.
pub(crate) const SHORT: [&str; 8] = ["--rest", "0s", "--backoff", "0s", "--grace", "300ms", "--after-result", "300ms"];

/// [`SHORT`], as far as these flags say nothing else.
pub(crate) fn short(flags: &[&str]) -> Vec<&'static str> {
    SHORT.chunks(2).filter(|pair| !flags.contains(&pair[0])).flatten().copied().collect()
}

/// What agents begin with: `turn ID TOKENS` and `bye` say what pi says.
const SPEAKS: &str = r#"#!/bin/sh
turn() {
    printf '{"type":"message_end","message":{"role":"assistant","model":"m","responseId":"r%s-%s","stopReason":"stop",' "$FLYBALL_ROUND" "$1"
    printf '"usage":{"input":10,"output":%s,"cacheRead":0,"cacheWrite":0,"totalTokens":%s},"content":[]}}\n' "$2" $(($2 + 10))
}
bye() { echo '{"type":"agent_end","willRetry":false}'; }
here=$(dirname "$0")
"#;

/// Reads its prompt, takes one turn of 400 tokens, leaves.
pub(crate) const WELL: &str = "cat >/dev/null; turn 1 400; bye";

/// In the first round says a turn, and waits to be ended; on TERM it says another and leaves. Then [`WELL`].
pub(crate) const POLITE: &str = r#"if [ "$FLYBALL_ROUND" -gt 1 ]; then cat >/dev/null; turn 1 400; bye; exit; fi
    trap 'turn 2 30; exit 0' TERM; cat >/dev/null; turn 1 400; echo $$ >"$here/pid"; while :; do sleep 0.02; done"#;

/// A folder with a project and programs beside it.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) project: PathBuf,
    agents: Cell<u32>,
}

/// How a run ended.
pub(crate) struct Came {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Came {
    /// The last line.
    pub(crate) fn stop(&self) -> &str {
        self.err.lines().last().unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn ends(&self, code: i32, stop: &str) -> &Self {
        assert!(self.code == code && self.stop().contains(stop), "code {}\n{}\n{}", self.code, self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Self {
        assert!(self.err.contains(words), "{words:?} is not said:\n{}", self.err);
        self
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::at("project")
    }

    /// A project by this name.
    pub(crate) fn at(name: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let project = dir.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(&project).unwrap();
        Self { dir, project, agents: Cell::new(0) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A program of these lines, after [`SPEAKS`]; its path.
    pub(crate) fn agent(&self, body: &str) -> String {
        let nth = self.agents.get() + 1;
        self.agents.set(nth);
        let path = self.path(&format!("agent-{nth}"));
        fs::write(&path, format!("{SPEAKS}{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    /// `flyball` here, with nothing of the tester's own settings.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("FLYBALL_")) {
            command.env_remove(name);
        }
        command.current_dir(&self.project).env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", self.path("config")).env("XDG_STATE_HOME", self.path("state"));
        command
    }

    /// The command that runs an agent of these lines in a short loop.
    pub(crate) fn runs(&self, body: &str, flags: &[&str]) -> Command {
        let program = self.agent(body);
        let mut command = self.command();
        command.args(["run", "--agent", "pi", "--ladder", "high,medium,low", "--effort", "medium"]).args(short(flags));
        command.args(flags).args(["a task", "--"]).arg(program);
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, body: &str, flags: &[&str]) -> Came {
        self.start(&mut self.runs(body, flags)).ends()
    }

    /// Starts a command in a group of its own; what it says goes to files.
    pub(crate) fn start(&self, command: &mut Command) -> Live {
        let (out, err) = (self.path("out"), self.path("err"));
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap()).process_group(0);
        Live { child: command.spawn().unwrap(), out, err }
    }

    /// The runs' folders, in order.
    pub(crate) fn records(&self) -> Vec<PathBuf> {
        records(&self.project.join(".flyball"))
    }

    /// The last run's journal; every line must be sound.
    pub(crate) fn journal(&self) -> Trace {
        journal_of(self.records().last().unwrap())
    }

    pub(crate) fn state(&self) -> Value {
        serde_json::from_slice(&fs::read(self.records().last().unwrap().join("state.json")).unwrap()).unwrap()
    }

    /// The notes of the last run.
    pub(crate) fn notes(&self) -> Vec<String> {
        let lines = self.journal().lines.into_iter();
        lines.filter_map(|line| if let Record::Note { text } = line.record { Some(text) } else { None }).collect()
    }

    /// Living processes that agents of this world started.
    pub(crate) fn left(&self) -> Vec<i32> {
        let mark = format!("FLYBALL_RECORD={}", self.path("").display());
        let marked = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|entry| entry.starts_with(mark.as_bytes()))
        };
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(marked).filter(|&pid| !matches!(state_of(pid), None | Some('Z'))).collect()
    }

    #[track_caller]
    pub(crate) fn nothing_left(&self) {
        assert_eq!(self.left(), Vec::<i32>::new(), "processes of agents are left");
    }
}

/// The runs of which at least the first line is there, in order.
pub(crate) fn records(state: &Path) -> Vec<PathBuf> {
    let mut runs: Vec<PathBuf> = fs::read_dir(state.join("runs"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|run| fs::read(run.join("journal.jsonl")).is_ok_and(|journal| journal.contains(&b'\n')))
        .collect();
    runs.sort();
    runs
}

pub(crate) fn journal_of(run: &Path) -> Trace {
    let journal = fs::read(run.join("journal.jsonl")).unwrap();
    let trace = read(&journal[..]).unwrap();
    assert!(trace.unknown_kinds == 0 && trace.unknown_keys == 0);
    trace
}

/// Rounds whose agents were started, as the journal has them.
pub(crate) fn spawned(trace: &Trace) -> u64 {
    trace.lines.iter().filter(|line| matches!(line.record, Record::Group { .. })).count().try_into().unwrap()
}

/// Output of all turns in the journal.
pub(crate) fn output(trace: &Trace) -> u64 {
    trace.lines.iter().map(|line| if let Record::Turned(turn) = &line.record { turn.output_tokens } else { 0 }).sum()
}

/// The state letter of a process; none where it is gone.
pub(crate) fn state_of(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat[stat.rfind(')')? + 1..].trim_start().chars().next()
}

/// A figure of `/proc/PID/status`, in its own unit.
pub(crate) fn status_of(pid: i32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok())
}

/// A run that goes on.
pub(crate) struct Live {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Live {
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// A signal to flyball alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid()).unwrap(), signal).unwrap();
    }

    pub(crate) fn err(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ends(self) -> Came {
        let (out, err) = (self.out.clone(), self.err.clone());
        let status = self.status();
        let text = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Came { code: status.code().unwrap_or_else(|| 1000 + status.signal().unwrap()), out: text(out), err: text(err) }
    }

    #[track_caller]
    fn status(mut self) -> ExitStatus {
        let mut status = None;
        let err = self.err.clone();
        until_or(|| status.insert(self.child.try_wait().unwrap()).is_some(), || fs::read_to_string(&err).unwrap());
        status.flatten().unwrap()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // a test that failed leaves nothing behind
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_raw(self.pid()).unwrap(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// A loop whose agent has taken its first turn and has written its number into `pid`; and that number.
pub(crate) fn at_work(world: &World, body: &str, flags: &[&str]) -> (Live, i32) {
    let live = world.start(&mut world.runs(body, flags));
    until_or(|| fs::read_to_string(world.path("pid")).is_ok_and(|pid| pid.ends_with('\n')), || live.err());
    let pid = file(&world.path("pid")).trim().parse().unwrap();
    until_or(|| !world.records().is_empty() && output(&world.journal()) > 0, || live.err());
    (live, pid)
}

/// A run that was ended by Ctrl-C in its first round, after 430 tokens.
pub(crate) fn interrupted(flags: &[&str]) -> World {
    let world = World::new();
    let (live, _) = at_work(&world, POLITE, flags);
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    world
}

/// The moment.
#[expect(clippy::disallowed_methods, reason = "what is measured happens in other processes")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits until this is so.
#[track_caller]
pub(crate) fn until(is_so: impl FnMut() -> bool) {
    until_or(is_so, String::new);
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "what is waited for happens in other processes")]
pub(crate) fn until_or(mut is_so: impl FnMut() -> bool, say: impl Fn() -> String) {
    let began = now();
    while !is_so() {
        assert!(began.elapsed() < BOUND, "it does not happen\n{}", say());
        std::thread::sleep(BETWEEN);
    }
}

/// Waits for a file that is not empty, and reads it.
#[track_caller]
pub(crate) fn file(path: &Path) -> String {
    until(|| fs::metadata(path).is_ok_and(|meta| meta.len() > 0));
    fs::read_to_string(path).unwrap()
}

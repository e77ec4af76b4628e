//! A machine in memory: a disk that loses what was not synced, agents that live on their own, a clock that jumps.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::path::Path;

use flyball::agents::adapter::Follow;
use flyball::engine::{Millis, Timestamp};
use flyball::run::Os;
use flyball::run::os::{CheckEnd, Checked, End, Heard, Keep, Launch, Put, Send};
use flyball::run::tree::{Tree, TreeAsk};
use flyball::trace::ProcessId;

/// The process was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crash;

/// What agents do.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) name: &'static str,
    pub(crate) rounds: u64,
    pub(crate) budget: Option<u64>,
    /// Milliseconds of a turn, and how many turns a round has.
    pub(crate) turn_ms: u64,
    pub(crate) turns: u64,
    /// Every so many-eth round fails before its first turn.
    pub(crate) fails: Option<u64>,
    /// Agents that do not leave when they are told to.
    pub(crate) deaf: bool,
    /// Agents that hang in their last turn.
    pub(crate) hangs: bool,
}

impl Script {
    const USUAL: Self = Self {
        name: "usual",
        rounds: 4,
        budget: None,
        turn_ms: 9_000,
        turns: 3,
        fails: None,
        deaf: false,
        hangs: false,
    };

    pub(crate) fn all() -> Vec<Self> {
        vec![
            Self::USUAL,
            Self { name: "budget", budget: Some(2_500), rounds: 50, ..Self::USUAL },
            Self { name: "failures", fails: Some(2), rounds: 5, ..Self::USUAL },
            Self { name: "long rounds", turns: 20, rounds: 3, ..Self::USUAL },
            Self { name: "hangs", hangs: true, rounds: 3, ..Self::USUAL },
            Self { name: "hangs and is deaf", hangs: true, deaf: true, rounds: 2, ..Self::USUAL },
            Self { name: "one turn", turns: 1, rounds: 6, ..Self::USUAL },
        ]
    }
}

#[derive(Clone, Debug, Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<u8>,
}

/// An agent: what it will say, and when.
#[derive(Clone, Debug)]
struct Agent {
    pid: u32,
    released: bool,
    says: VecDeque<(u64, Heard, u64)>,
}

#[derive(Debug)]
pub(crate) struct World {
    script: Script,
    luck: u64,
    files: BTreeMap<String, File>,
    now: u64,
    agent: Option<Agent>,
    /// Agents of processes that were lost.
    orphans: Vec<u32>,
    next_pid: u32,
    effects: u64,
    crash_after: Option<u64>,
    released: u64,
    most_alive: usize,
    reported: u64,
    /// Reported since the last time that something was made durable, and lost with crashes.
    since_sync: u64,
    not_durable: u64,
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

impl World {
    pub(crate) fn new(script: Script, luck: u64) -> Self {
        Self {
            script,
            luck,
            files: BTreeMap::new(),
            now: 0,
            agent: None,
            orphans: Vec::new(),
            next_pid: 100,
            effects: 0,
            crash_after: None,
            released: 0,
            most_alive: 0,
            reported: 0,
            since_sync: 0,
            not_durable: 0,
        }
    }

    pub(crate) const fn effects(&self) -> u64 {
        self.effects
    }
    pub(crate) const fn released(&self) -> u64 {
        self.released
    }
    pub(crate) const fn most_alive(&self) -> usize {
        self.most_alive
    }
    pub(crate) const fn reported(&self) -> u64 {
        self.reported
    }
    pub(crate) const fn not_durable(&self) -> u64 {
        self.not_durable
    }
    pub(crate) fn alive(&self) -> usize {
        self.orphans.len() + usize::from(self.agent.as_ref().is_some_and(|agent| agent.released))
    }
    pub(crate) fn clock_from(&mut self, at: Timestamp) {
        self.now = self.now.max(at.millis());
    }

    /// The process is lost right after this many effects more.
    pub(crate) fn crash_after(&mut self, effects: Option<u64>) {
        self.effects = 0;
        self.crash_after = effects;
    }

    /// Runs a process until it ends or is lost.
    pub(crate) fn carry_out<T>(&mut self, process: impl FnOnce(&mut Self) -> T) -> Result<T, Crash> {
        silence();
        QUIET.with(|quiet| quiet.set(true));
        let outcome = catch_unwind(AssertUnwindSafe(|| process(self)));
        QUIET.with(|quiet| quiet.set(false));
        outcome.map_err(|payload| match payload.downcast::<Crash>() {
            Ok(crash) => *crash,
            Err(other) => std::panic::resume_unwind(other),
        })
    }

    /// What a crash leaves: of what was not durable, some beginning; an agent behind its gate leaves, one that was let go lives on.
    pub(crate) fn lose(&mut self) {
        self.not_durable += std::mem::take(&mut self.since_sync);
        for (index, file) in (0_u64..).zip(self.files.values_mut()) {
            let luck = self.luck.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17).wrapping_add(index * 7919);
            let keep = luck % (u64::try_from(file.pending.len()).unwrap() + 1);
            file.pending.truncate(usize::try_from(keep).unwrap());
            file.durable.append(&mut file.pending);
        }
        if let Some(agent) = self.agent.take().filter(|agent| agent.released) {
            self.orphans.push(agent.pid);
        }
    }

    pub(crate) fn end(&mut self, pid: u32) {
        self.orphans.retain(|orphan| *orphan != pid);
    }

    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let file = self.files.get(name)?;
        Some([&file.durable[..], &file.pending[..]].concat())
    }

    pub(crate) fn cut(&mut self, name: &str, bytes: usize) {
        self.files.get_mut(name).unwrap().durable.truncate(bytes);
    }

    pub(crate) fn empty(&mut self, name: &str) {
        self.files.remove(name);
    }

    /// One effect is done: the process may be lost now.
    fn done(&mut self) {
        self.effects += 1;
        if self.crash_after.is_some_and(|after| self.effects > after) {
            panic_any(Crash);
        }
    }

    fn tokens(&self, round: u64, turn: u64, effort: &str) -> u64 {
        let scale = match effort {
            "high" => 800,
            "medium" => 400,
            _ => 200,
        };
        let hash = (round * 31 + turn * 7 + self.luck).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        scale / 2 + hash % scale
    }

    /// What the agent of a round will say.
    fn play(&self, round: u64, effort: &str) -> VecDeque<(u64, Heard, u64)> {
        let script = &self.script;
        let mut says = VecDeque::new();
        let mut at = self.now;
        let line = |text: String| Heard::Stdout(format!("{text}\n").into_bytes());
        says.push_back((at, line(format!("{{\"type\":\"session\",\"id\":\"s{round}\"}}")), 0));
        if script.fails.is_some_and(|every| round.is_multiple_of(every)) {
            says.push_back((at + 50, Heard::Closed, 0));
            says.push_back((at + 50, Heard::Exited(End::Exited(1)), 0));
            return says;
        }
        for turn in 1..=script.turns {
            at += script.turn_ms;
            let output = self.tokens(round, turn, effort);
            let last = turn == script.turns;
            if last && script.hangs {
                return says;
            }
            let stop = if last { "stop" } else { "toolUse" };
            let usage = format!(
                "{{\"input\":10,\"output\":{output},\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":{}}}",
                output + 10
            );
            let id = format!("r{round}-{turn}-{}", self.next_pid);
            let message = format!(
                "{{\"role\":\"assistant\",\"model\":\"m\",\"responseId\":\"{id}\",\"stopReason\":\"{stop}\",\"usage\":{usage},\"content\":[]}}"
            );
            says.push_back((at, line(format!("{{\"type\":\"message_end\",\"message\":{message}}}")), output));
        }
        says.push_back((at, line("{\"type\":\"agent_end\",\"willRetry\":false}".to_owned()), 0));
        says.push_back((at + 10, Heard::Closed, 0));
        says.push_back((at + 10, Heard::Exited(End::Exited(0)), 0));
        says
    }

    fn die(&mut self, after: u64, signal: i32) {
        let at = self.now + after;
        if let Some(agent) = &mut self.agent {
            agent.says.clear();
            agent.says.push_back((at, Heard::Closed, 0));
            agent.says.push_back((at, Heard::Exited(End::Signalled(signal)), 0));
        }
    }

    fn next(&mut self, due: u64) -> Option<Heard> {
        let agent = self.agent.as_mut().filter(|agent| agent.released)?;
        let (at, ..) = agent.says.front()?;
        if *at > due {
            return None;
        }
        let (at, heard, tokens) = agent.says.pop_front()?;
        self.now = self.now.max(at);
        self.reported += tokens;
        self.since_sync += tokens;
        if matches!(heard, Heard::Exited(_)) {
            agent.released = false;
        }
        Some(heard)
    }
}

impl Os for World {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }
    fn unix_ms(&self) -> u64 {
        self.now
    }
    fn believe(&mut self, _at: Timestamp) {}

    fn append(&mut self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.entry(file.to_owned()).or_default().pending.extend_from_slice(bytes);
        self.done();
        Ok(())
    }

    fn sync(&mut self, file: &str) -> io::Result<()> {
        let file = self.files.entry(file.to_owned()).or_default();
        file.durable.append(&mut file.pending);
        self.since_sync = 0;
        self.done();
        Ok(())
    }

    fn replace(&mut self, file: &str, bytes: &[u8]) -> io::Result<()> {
        // written beside, and not yet in its place
        self.done();
        self.files.insert(file.to_owned(), File { durable: bytes.to_vec(), pending: Vec::new() });
        self.done();
        Ok(())
    }

    fn spawn(&mut self, launch: &Launch) -> io::Result<ProcessId> {
        self.next_pid += 1;
        let pid = self.next_pid;
        let says = self.play(launch.argv[0].parse().unwrap(), &launch.argv[1]);
        self.agent = Some(Agent { pid, released: false, says });
        self.done();
        Ok(ProcessId { pid, began_ticks: Some(self.now), boot: None })
    }

    fn release(&mut self) -> io::Result<()> {
        if let Some(agent) = &mut self.agent {
            agent.released = true;
        }
        self.released += 1;
        self.most_alive = self.most_alive.max(self.alive());
        self.done();
        Ok(())
    }

    fn signal(&mut self, signal: Send) {
        match signal {
            Send::Kill => self.die(0, 9),
            Send::Int | Send::Term if !self.script.deaf => self.die(200, 15),
            Send::Int | Send::Term => {}
        }
        self.done();
    }

    fn sweep(&mut self) -> usize {
        self.done();
        0
    }

    fn query(&mut self, _: &Launch) -> Vec<u8> {
        Vec::new()
    }

    // a project in which nothing is there and every program passes at once

    fn check(&mut self, _: &Launch, _: Millis, _: Keep) -> Checked {
        self.done();
        Checked { end: CheckEnd::Exited(0), output: Vec::new(), lasted: Millis::ZERO, cut: false }
    }

    fn logs(&mut self, _: &[Follow]) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn read(&mut self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn tree(&mut self, _: &TreeAsk) -> Tree {
        Tree::default()
    }

    fn put(&mut self, _: &Path, _: &Path, _: Put<'_>) -> io::Result<()> {
        self.done();
        Ok(())
    }

    fn can_write(&mut self, _: &Path) -> bool {
        false
    }

    fn follow(&mut self, _follows: &[Follow]) {}

    fn receive(&mut self, until: Option<Timestamp>) -> Heard {
        let due = until.map_or(u64::MAX, Timestamp::millis);
        let heard = self.next(due).unwrap_or_else(|| {
            assert!(until.is_some(), "the runner waits for ever for an agent that says nothing more");
            self.now = self.now.max(due);
            Heard::Due
        });
        self.done();
        heard
    }

    fn pending(&mut self) -> Option<Heard> {
        let now = self.now;
        self.next(now)
    }
}

/// A crash is no failure of the test, and is not printed as one.
fn silence() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !(QUIET.with(Cell::get) && panic.payload().is::<Crash>()) {
                usual(panic);
            }
        }));
    });
}

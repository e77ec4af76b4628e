//! What the runner costs beside its agent: `cargo bench --bench runner`, or with `-- ROUNDS`.
//!
//! The agent is a shell that prints the three lines of a round of pi and is gone. It is run as the runner runs it: the real host, processes,
//! pipes, journal and syncs, in a folder for the purpose. Every call that waits for the disk is counted and timed. From the time of a
//! round are taken the agent's own (the same program, started and read to its end without a runner, in turns with it) and the disk's.
//! What is left is the runner's, by the clock. On a busy machine it is mostly waiting for a processor, and the gate may fail: `nice` helps.
//! Processor time is told beside it, and gates nothing. Memory and file descriptors are looked at after a tenth of the rounds and at the
//! end: what grows with rounds would show.
//!
//! Gates: under 5 ms a round by the clock; under 20 MB; no descriptor more, and memory no larger, at the end. Ends with 1 where one fails.
//!
//! Measured on two cores that others used too, before them in the queue (`nice -n -19`), this crate built as for its tests. 10,000 rounds, the
//! folder in memory: 3.6 ms each, of which 1.7 are the agent's own and less than 0.1 the disk's, 8 syncs a round, so that the runner adds
//! 1.8 ms; processor time 2.9 ms a round, 0.8 of it the agent's; 7.3 MB after the first thousand and 7.4 MB at the end, 7.6 MB at most, 10
//! descriptors throughout. 2,000 rounds, the folder on a disk: 18.9 ms each, 15.0 of them the disk's and 1.7 the agent's: 2.2 ms added.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::error::Error;
use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use flyball::agents::adapter::{AgentKind, Follow};
use flyball::engine::{
    Band, Checkpoint, Governor, Ladder, LawKind, Limits, Machine, Millis, Over, Plan, Ratio, Target, Timestamp,
};
use flyball::run::os::{Checked, Heard, Keep, Launch, Put, Send};
use flyball::run::system::System;
use flyball::run::tree::{Tree, TreeAsk};
use flyball::run::{Agent, Clocks, Host, Journal, NoSite, Os, Stamps, Told, View, gate};
use flyball::trace::{Header, Kept, ProcessId, Record, Setup};

const ROUNDS: u64 = 10_000;
/// Rounds in a row of one kind, before the other kind has its turn.
const TURN: u64 = 50;
const WORDS: [&str; 3] = ["high", "medium", "low"];
const AGENT: &str = r#"echo '{"type":"message_end","message":{"role":"assistant","model":"m","responseId":"a'$FLYBALL_ROUND'","stopReason":"stop","usage":{"input":10,"output":400,"cacheRead":0,"cacheWrite":0,"totalTokens":410},"content":[]}}'
echo '{"type":"turn_end"}'
echo '{"type":"agent_end","willRetry":false}'"#;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Disk,
    Append,
    Spawn,
    Release,
    Sweep,
    Receive,
}

const PARTS: [(Part, &str); 6] = [
    (Part::Disk, "waiting for the disk"),
    (Part::Append, "writing, unsynced"),
    (Part::Spawn, "starting the gate"),
    (Part::Release, "opening the gate"),
    (Part::Sweep, "looking for what is left"),
    (Part::Receive, "waiting for the agent"),
];

/// The system, with its calls timed and what waits for the disk counted.
struct Timed {
    system: System,
    syncs: u64,
    spent: [Duration; PARTS.len()],
}

impl Timed {
    fn timed<T>(&mut self, part: Part, what: impl FnOnce(&mut System) -> T) -> T {
        let began = Instant::now();
        let came = what(&mut self.system);
        if let Some(at) = PARTS.iter().position(|(timed, _)| *timed == part) {
            self.spent[at] += began.elapsed();
        }
        came
    }
}

impl Os for Timed {
    fn now(&self) -> Timestamp {
        self.system.now()
    }
    fn unix_ms(&self) -> u64 {
        self.system.unix_ms()
    }
    fn believe(&mut self, at: Timestamp) {
        self.system.believe(at);
    }
    fn append(&mut self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.timed(Part::Append, |system| system.append(file, bytes))
    }
    fn sync(&mut self, file: &str) -> io::Result<()> {
        self.syncs += 1;
        self.timed(Part::Disk, |system| system.sync(file))
    }
    fn replace(&mut self, file: &str, bytes: &[u8]) -> io::Result<()> {
        // the file, and its folder
        self.syncs += 2;
        self.timed(Part::Disk, |system| system.replace(file, bytes))
    }
    fn spawn(&mut self, launch: &Launch) -> io::Result<ProcessId> {
        self.timed(Part::Spawn, |system| system.spawn(launch))
    }
    fn release(&mut self) -> io::Result<()> {
        self.timed(Part::Release, System::release)
    }
    fn signal(&mut self, signal: Send) {
        self.system.signal(signal);
    }
    fn sweep(&mut self) -> usize {
        self.timed(Part::Sweep, System::sweep)
    }
    fn query(&mut self, launch: &Launch) -> Vec<u8> {
        self.system.query(launch)
    }
    fn check(&mut self, launch: &Launch, limit: Millis, keep: Keep) -> Checked {
        self.system.check(launch, limit, keep)
    }
    fn logs(&mut self, follows: &[Follow]) -> Vec<(String, Vec<u8>)> {
        self.system.logs(follows)
    }
    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.system.read(path, most)
    }
    fn tree(&mut self, ask: &TreeAsk) -> Tree {
        self.system.tree(ask)
    }
    fn put(&mut self, root: &Path, path: &Path, put: Put<'_>) -> io::Result<()> {
        self.system.put(root, path, put)
    }
    fn can_write(&mut self, folder: &Path) -> bool {
        self.system.can_write(folder)
    }
    fn follow(&mut self, follows: &[Follow]) {
        self.system.follow(follows);
    }
    fn receive(&mut self, until: Option<Timestamp>) -> Heard {
        self.timed(Part::Receive, |system| system.receive(until))
    }
    fn pending(&mut self) -> Option<Heard> {
        self.system.pending()
    }
}

/// What there is of the process.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    resident_kb: u64,
    peak_kb: u64,
    descriptors: usize,
    threads: u64,
}

fn size() -> Size {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let figure = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    let descriptors = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    Size { resident_kb: figure("VmRSS:"), peak_kb: figure("VmHWM:"), descriptors, threads: figure("Threads:") }
}

/// Processor time of this process and of all that it waited for, in milliseconds.
fn processor_ms() -> u64 {
    const MS_PER_TICK: u64 = 10;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * MS_PER_TICK
}

/// Between rounds of the runner, the same agent alone; and a look at the process.
struct Between {
    rounds: u64,
    alone: Duration,
    alone_rounds: u64,
    alone_processor_ms: u64,
    early: Size,
    fault: Option<io::Error>,
}

impl View for Between {
    fn ended(&mut self, told: &Told<'_>) {
        if told.round == self.rounds / 10 {
            self.early = size();
        }
        if told.round.is_multiple_of(TURN) {
            let (began, processor) = (Instant::now(), processor_ms());
            for _ in 0..TURN {
                if let Err(error) = alone() {
                    self.fault = Some(error);
                }
            }
            self.alone += began.elapsed();
            self.alone_rounds += TURN;
            self.alone_processor_ms += processor_ms() - processor;
        }
    }
}

/// The agent without a runner.
fn alone() -> io::Result<()> {
    let mut agent = Command::new("/bin/sh");
    agent.args(["-c", AGENT]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    agent.spawn()?.wait_with_output().map(drop)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = gate::pass(std::env::args_os()) {
        return Ok(ExitCode::from(code));
    }
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
    let folder = tempfile::tempdir()?;
    let before = size();
    let mut timed = Timed {
        system: System::new(folder.path(), Timestamp::EPOCH, Stamps::Own)?,
        syncs: 0,
        spent: Default::default(),
    };
    let mut view = Between {
        rounds,
        alone: Duration::ZERO,
        alone_rounds: 0,
        alone_processor_ms: 0,
        early: Size::default(),
        fault: None,
    };
    let (began, processor) = (Instant::now(), processor_ms());
    let ended = run(folder.path(), &mut timed, &mut view, rounds)?;
    let all = began.elapsed().saturating_sub(view.alone);
    let processor = processor_ms() - processor - view.alone_processor_ms;
    if let Some(error) = view.fault {
        return Err(error.into());
    }
    let late = size();
    assert_eq!(ended, rounds * 400, "every token is counted");
    let each = |span: Duration, rounds: u64| span.as_secs_f64() * 1e3 / f64::from(u32::try_from(rounds).unwrap_or(1));
    let (round, agent) = (each(all, rounds), each(view.alone, view.alone_rounds));
    let added = round - each(timed.spent[0], rounds) - agent;
    println!("{rounds} rounds of an agent that prints three lines\n");
    println!("a round                    {round:>8.3} ms");
    for (span, (_, name)) in timed.spent.iter().zip(PARTS) {
        println!("  {name:<24} {:>8.3} ms", each(*span, rounds));
    }
    println!("  syncs                    {:>8.3}", each(Duration::from_millis(timed.syncs), rounds));
    println!("the agent alone            {agent:>8.3} ms");
    println!("the runner beside them     {added:>8.3} ms");
    let all = each(Duration::from_millis(processor), rounds);
    let alone = each(Duration::from_millis(view.alone_processor_ms), view.alone_rounds);
    println!("processor time of a round  {all:>8.3} ms, of the agent alone {alone:.3} ms\n");
    let show = |name: &str, size: Size| {
        println!(
            "{name:<24} {:>8} kB resident, {:>6} kB at most, {:>3} descriptors, {:>2} threads",
            size.resident_kb, size.peak_kb, size.descriptors, size.threads
        );
    };
    show("before", before);
    show("after a tenth", view.early);
    show("at the end", late);
    let grown = late.resident_kb.saturating_sub(view.early.resident_kb);
    let passes = [
        ("under 5 ms a round", added < 5.0),
        ("under 20 MB", late.peak_kb < 20_000),
        ("memory is flat", grown < 1_000),
        ("no descriptor is left", late.descriptors <= view.early.descriptors),
    ];
    passes.iter().for_each(|(name, passes)| println!("{} {name}", if *passes { "pass" } else { "FAIL" }));
    Ok(if passes.iter().all(|(_, passes)| *passes) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(folder: &Path, os: &mut Timed, view: &mut Between, rounds: u64) -> Result<u64, Box<dyn Error>> {
    let mut agent = Agent::new(AgentKind::Pi.adapter(), folder.to_owned(), folder.to_owned(), "bench", "a task");
    agent.template = Some(["/bin/sh", "-c", AGENT].map(str::to_owned).to_vec());
    let ladder = Ladder::new(WORDS)?;
    let mut plan = Plan::new(ladder.clone(), "medium");
    plan.rest = Millis::ZERO;
    plan.limits = Limits {
        rounds: NonZeroU64::new(rounds),
        round_wall: Some(Millis::from_secs(60)),
        inactivity: Some(Millis::from_secs(60)),
        ..Limits::default()
    };
    let over = Millis::from_secs(300);
    let band = Band::new(Target::from_tokens(400), Ratio::from_ppm(150_000))?;
    let governor = Governor::new(LawKind::Reference.build(), band, Over::new(over), ladder.rungs());
    let mut header = Header::new(Setup {
        ladder: WORDS.map(str::to_owned).to_vec(),
        configured: "medium".to_owned(),
        law: "reference".to_owned(),
        juice_millionths: 400_000_000,
        over_ms: over.count(),
        slack_ppm: 150_000,
        rest_ms: 0,
        budget_tokens: None,
        rounds: Some(rounds),
        set: std::collections::BTreeMap::new(),
    });
    header.chained = true;
    let mut journal = Journal::begin(&header)?;
    let kept = Checkpoint::default();
    journal.write(Timestamp::EPOCH, Record::Opened { kept: Kept::of(&kept), found_tokens: 0 })?;
    let machine = Machine::new(plan, governor, kept);
    let mut site = NoSite;
    let host = Host::new(os, &mut agent, &mut site, view, machine, journal).with(Stamps::Own, Clocks::default());
    Ok(host.run()?.spent.output.count())
}

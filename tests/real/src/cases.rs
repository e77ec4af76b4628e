//! The cases: what the model server answers, how flyball is called, what is done to it meanwhile, and what must be so
//! afterwards.
//!
//! Counts are compared per round as sorted lists, since sub-agents run beside their parents.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use crate::checks;
use crate::cli::{Cli, Driven, SubAgents};
use crate::journal::Journal;
use crate::sandbox::{self, Place};
use crate::script::{Script, Turn, Whose};
use crate::stub::{Seen, Stub};

/// Where things are.
pub struct Setup {
    pub installs: PathBuf,
    pub flyball: PathBuf,
    pub work: PathBuf,
    /// How many times longer than usual a program may take: a busy machine is no fault of its.
    pub patience: u32,
}

/// How a case went, with a line of what was seen.
pub enum Outcome {
    Passed(String),
    Skipped(String),
    Failed(String),
}

/// The prompt of every round.
const TASK: &str = "Do the step, then say done.";

/// The longest that any case may take, times the patience.
const LONGEST: Duration = Duration::from_secs(600);

/// What is done while it runs.
pub enum Meanwhile {
    Nothing,
    /// This signal to flyball, this long after so many turns were asked for.
    Signal {
        name: &'static str,
        turns: usize,
        after: Duration,
    },
}

/// What runs.
pub enum Runs {
    /// The CLI by itself.
    Alone,
    /// The CLI under `flyball run`, with these arguments beside those that all have; `{40}` is 40 seconds, times the patience.
    Loop(&'static [&'static str]),
}

/// One case.
pub struct Case {
    pub name: &'static str,
    pub script: fn(&Cli) -> Script,
    pub runs: Runs,
    pub meanwhile: Meanwhile,
    pub check: fn(&Ran<'_>) -> Result<String, String>,
}

/// What happened.
pub struct Ran<'a> {
    pub cli: &'a Cli,
    /// None where it did not end by itself in time.
    pub status: Option<ExitStatus>,
    pub seen: Vec<Seen>,
    /// What flyball recorded; `Err` says why it cannot be read.
    pub journal: Result<Journal, String>,
    pub stderr: String,
    /// From the signal to the end; from the start where none was sent.
    pub took: Duration,
}

/// Ten rounds of two turns: answers that are far too long, then far too short, so that effort goes down and up again.
fn ten_rounds(_: &Cli) -> Script {
    let turns = (1..=10).flat_map(|round| {
        let size = if round <= 2 { 2_000 } else { 40 };
        [Turn::shell(round, size + 10 * round, "echo hi"), Turn::text(round, size + 10 * round + 3)]
    });
    Script::new(turns.collect())
}

fn short_rounds(_: &Cli) -> Script {
    Script::new((1..=6).flat_map(|round| [Turn::shell(round, 401, "echo hi"), Turn::text(round, 103)]).collect())
}

/// A sub-agent with a call of its own, between the turns of its parent.
fn sub_agent(cli: &Cli) -> Script {
    let [ask, wait, end] = [Turn::sub_agent(1, 100), Turn::wait(1, 60), Turn::text(1, 50)];
    let [work, hand] = [Turn::shell(1, 40, "echo part"), Turn::text(1, 41)];
    if let SubAgents::Beside(..) = cli.sub_agents {
        let own = [ask, wait, end].map(|turn| turn.whose(Whose::Agent));
        let part = [work, hand].map(|turn| turn.whose(Whose::SubAgent));
        return Script::new(own.into_iter().chain(part).collect());
    }
    Script::new(vec![ask, work, hand, end])
}

fn slow_turn(_: &Cli) -> Script {
    Script::new(vec![Turn::shell(1, 120, "echo hi"), Turn::slow(1, 77, Duration::from_secs(120))])
}

fn slow_tool(_: &Cli) -> Script {
    // a plain sleep is refused by some
    Script::new(vec![Turn::shell(1, 120, "until [ -e never ]; do sleep 1; done"), Turn::text(1, 33)])
}

fn stall(_: &Cli) -> Script {
    Script::new(vec![
        Turn::shell(1, 120, "echo hi"),
        Turn::stall(1, 77, 6),
        Turn::shell(2, 130, "echo hi"),
        Turn::text(2, 34),
    ])
}

fn dropped(_: &Cli) -> Script {
    Script::ever(Turn::drop(1, 77, 6))
}

fn refusal(_: &Cli) -> Script {
    Script::ever(Turn::refusal(1, 12))
}

fn error_401(_: &Cli) -> Script {
    Script::ever(Turn::error(401))
}

fn error_429(_: &Cli) -> Script {
    Script::ever(Turn::error(429))
}

fn error_500(_: &Cli) -> Script {
    Script::ever(Turn::error(500))
}

fn error_529(_: &Cli) -> Script {
    Script::ever(Turn::error(529))
}

fn overflow(_: &Cli) -> Script {
    Script::ever(Turn::overflow())
}

/// A case of failing rounds: they must be counted as failures, and the loop must end by them, or by its cap on requests where a
/// CLI asks again and again.
const fn failing(name: &'static str, script: fn(&Cli) -> Script) -> Case {
    let runs = Runs::Loop(&["--max-rounds", "4", "--round-cap", "{60}", "--max-requests", "100"]);
    Case { name, script, runs, meanwhile: Meanwhile::Nothing, check: checks::failing }
}

/// A case that is interrupted in its second turn or in the tool of its first.
const fn interrupted(name: &'static str, script: fn(&Cli) -> Script, turns: usize) -> Case {
    let meanwhile = Meanwhile::Signal { name: "INT", turns, after: Duration::from_secs(2) };
    Case { name, script, runs: Runs::Loop(&["--max-rounds", "3"]), meanwhile, check: checks::interrupted }
}

/// All cases, in the order of the table.
pub const CASES: &[Case] = &[
    Case {
        name: "alone",
        script: |_| Script::new(vec![Turn::shell(1, 120, "echo hi"), Turn::text(1, 33)]),
        runs: Runs::Alone,
        meanwhile: Meanwhile::Nothing,
        check: checks::alone,
    },
    Case {
        name: "ten-rounds",
        script: ten_rounds,
        runs: Runs::Loop(&["--max-rounds", "10", "--juice", "1000", "--over", "5m", "--slack", "0.15"]),
        meanwhile: Meanwhile::Nothing,
        check: checks::ten_rounds,
    },
    Case {
        name: "sub-agent",
        script: sub_agent,
        runs: Runs::Loop(&["--max-rounds", "1"]),
        meanwhile: Meanwhile::Nothing,
        check: checks::sub_agent,
    },
    Case {
        name: "budget",
        script: short_rounds,
        runs: Runs::Loop(&["--budget", "0.0012"]),
        meanwhile: Meanwhile::Nothing,
        check: checks::budget,
    },
    interrupted("ctrl-c-turn", slow_turn, 2),
    interrupted("ctrl-c-tool", slow_tool, 1),
    Case {
        name: "stall",
        script: stall,
        runs: Runs::Loop(&["--max-rounds", "2", "--inactivity", "{40}"]),
        meanwhile: Meanwhile::Nothing,
        check: checks::stall,
    },
    failing("error-401", error_401),
    failing("error-429", error_429),
    failing("error-500", error_500),
    failing("error-529", error_529),
    failing("overflow", overflow),
    Case { check: checks::refusal, ..failing("refusal", refusal) },
    Case { check: checks::dropped, ..failing("dropped", dropped) },
];

/// Runs one case of one CLI.
pub fn run(setup: &Setup, cli: &Cli, case: &Case) -> Outcome {
    let program = match cli.program(&setup.installs) {
        Ok(program) => program,
        Err(why) => return Outcome::Skipped(format!("{why}: not installed")),
    };
    if matches!(case.runs, Runs::Loop(_)) && cli.driven == Driven::Alone {
        return Outcome::Skipped("no adapter".into());
    }
    if case.name == "sub-agent" && cli.sub_agents == SubAgents::Never {
        return Outcome::Skipped("it has no sub-agents".into());
    }
    match attempt(setup, cli, case, &program) {
        Ok(text) => Outcome::Passed(text),
        Err(why) => Outcome::Failed(why),
    }
}

fn attempt(setup: &Setup, cli: &Cli, case: &Case, program: &[PathBuf]) -> Result<String, String> {
    let broken = |error: std::io::Error| format!("the case cannot be set up: {error}");
    let stub = Stub::start((case.script)(cli)).map_err(broken)?;
    let place = Place::new(&setup.work, cli, case.name, program, stub.port()).map_err(broken)?;
    if let (SubAgents::Beside(file, more), "sub-agent") = (cli.sub_agents, case.name) {
        let file = OpenOptions::new().append(true).open(place.home.join(file));
        file.and_then(|mut file| file.write_all(more.as_bytes())).map_err(broken)?;
    }
    let effort = cli.ladder[1];
    let (command, stdin) = match case.runs {
        Runs::Alone => {
            let mut command = place.command(&place.cli(cli));
            command.args(cli.alone(effort));
            (command, Some(TASK))
        }
        Runs::Loop(more) => {
            let mut command = place.command(&setup.flyball);
            command.args(["run", "--agent", cli.name, "--model", cli.model, "--ladder", &cli.ladder.join(",")]);
            command.args(["--effort", effort, "--law", "reference", "--rest", "0", "--permissions", "skip"]);
            command.args(more.iter().map(|word| patient(word, setup.patience))).arg(TASK);
            (command, None)
        }
    };
    let mut began = Instant::now();
    let mut child = place.start(command, stdin).map_err(broken)?;
    if let Meanwhile::Signal { name, turns, after } = case.meanwhile {
        while !stub.wait_for_turns(turns, Duration::from_millis(200)) {
            if began.elapsed() > LONGEST * setup.patience || child.try_wait().map_err(broken)?.is_some() {
                break;
            }
        }
        thread::sleep(after);
        began = Instant::now();
        sandbox::signal(child.id(), name);
    }
    let status = sandbox::wait(&mut child, LONGEST * setup.patience).map_err(broken)?;
    let took = began.elapsed();
    let left = sandbox::left_behind(stub.port());
    stub.write(&place.root.join("requests.jsonl")).map_err(broken)?;
    let journal = Journal::of(&place.repo);
    let ran = Ran { cli, status, seen: stub.seen(), journal, stderr: place.wrote("err"), took };
    let mut faults = Vec::new();
    if !left.is_empty() {
        faults.push(format!("left behind: {}", left.join(", ")));
    }
    let said = (case.check)(&ran).unwrap_or_else(|fault| {
        faults.push(fault);
        String::new()
    });
    if faults.is_empty() {
        return Ok(format!("{said} ({:.1} s)", took.as_secs_f64()));
    }
    let last = ran.stderr.lines().last().unwrap_or_default();
    faults.push(format!("[{} | {last}]", ended(ran.status)));
    Err(faults.join("; "))
}

/// An argument, with its seconds.
fn patient(word: &str, patience: u32) -> String {
    let seconds =
        word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|rest| rest.parse::<u32>().ok());
    seconds.map_or_else(|| word.to_owned(), |seconds| format!("{}s", seconds * patience))
}

/// How it ended, in words.
pub fn ended(status: Option<ExitStatus>) -> String {
    match status {
        None => "did not end".into(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "ended".into(),
        },
    }
}

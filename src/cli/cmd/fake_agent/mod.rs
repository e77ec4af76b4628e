//! `flyball fake-agent`: the simulated agent as a program of its own, for trying the loop without an account. Hidden: it is for the
//! loop itself, and for its tests.
//!
//! It reads the prompt from standard input to its end and plays one round of a scenario's luck in the wire of a real program. The
//! round is `FLYBALL_ROUND`, counted from 1, and begins at `FLYBALL_NOW_MS`, in milliseconds of a time of the caller's own; each
//! line is stamped with it. Codex's rollout file goes below `CODEX_HOME`, and nowhere where that is not set. After the first
//! Ctrl-C a round in claude's wire still says its result, as claude does.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::common;
use crate::cli::args::{any, whole};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Millis, Timestamp};
use crate::lab::scenario::Scenario;
use crate::lab::synth::line::uuid;
use crate::lab::synth::wire::{End, Place, Round, Told, Wire};
use crate::sim::{Closing, RoundDraw};
use crate::trace::iso;

pub mod act;

use act::Act;
pub use act::pause;

/// `fake-agent`.
#[derive(Debug, Args)]
pub struct FakeAgent {
    /// The scenario file
    #[arg(long, value_name = "FILE")]
    pub scenario: PathBuf,
    /// Which program's output it speaks
    #[arg(long, value_enum, default_value = "claude")]
    pub wire: WireWord,
    /// What all luck comes from [default: the scenario's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any)]
    pub seed: Option<u64>,
    /// Which run of the seed
    #[arg(long, value_name = "K", allow_negative_numbers = true, default_value_t = 0)]
    #[arg(value_parser = whole::<u32, 0, 4_294_967_295>)]
    pub run: u32,
    /// The effort; one that the scenario's ladder lacks is passed over as the program would
    #[arg(long, value_name = "WORD")]
    pub effort: Option<String>,
    /// The model's name
    #[arg(long, value_name = "NAME", default_value = "fake-1")]
    pub model: String,
    /// The session's id [default: made from seed, run and round]
    #[arg(long, value_name = "UUID")]
    pub session: Option<String>,
    /// Time passes so many times faster than it is told; without it none passes
    #[arg(long, value_name = "X", conflicts_with = "instant", value_parser = clap::value_parser!(u32).range(1..))]
    pub speed: Option<u32>,
    /// No time passes; the default
    #[arg(long)]
    pub instant: bool,
    /// Misbehaves; may be repeated: ignore-term, grandchild-holds-pipe, setsid-child, flood=BYTES, half-line, sleep,
    /// exit-0-with-error, fail, long-line=BYTES, ignores=WORD@ROUND
    #[arg(long, value_name = "ACT")]
    pub act: Vec<Act>,
}

/// A wire, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WireWord {
    /// Claude Code with partial messages
    Claude,
    /// Claude Code without
    ClaudeResultOnly,
    /// Codex
    Codex,
    /// pi
    Pi,
    /// opencode
    Opencode,
}

impl From<WireWord> for Wire {
    fn from(word: WireWord) -> Self {
        match word {
            WireWord::Claude => Self::Claude,
            WireWord::ClaudeResultOnly => Self::ClaudeResultOnly,
            WireWord::Codex => Self::Codex,
            WireWord::Pi => Self::Pi,
            WireWord::Opencode => Self::Opencode,
        }
    }
}

/// Plays one round.
///
/// # Errors
/// A scenario or variable at fault, or output that nobody takes.
pub fn run(args: &FakeAgent) -> Outcome {
    if args.act.contains(&Act::IgnoreTerm) && !act::is_deaf() {
        return act::go_deaf();
    }
    let scenario = common::scenario(&args.scenario)?;
    let number = variable("FLYBALL_ROUND")?.unwrap_or(1);
    let began = Timestamp::from_millis(variable("FLYBALL_NOW_MS")?.unwrap_or(0));
    let mut prompt = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut prompt);
    read.map_err(|error| Failure::usage(error).while_("cannot read the prompt"))?;
    if args.act.contains(&Act::Fail) {
        output::say("Error: made up for a test");
        return Ok(Exit::Failed);
    }
    let index = number.checked_sub(1).and_then(|index| u32::try_from(index).ok());
    let index = index.filter(|index| *index < u32::MAX).ok_or_else(|| Failure::said("FLYBALL_ROUND counts from 1"))?;
    let Some(effort) = effort(args, &scenario, number)? else { return Ok(Exit::Failed) };
    let seed = args.seed.unwrap_or(scenario.plan.seed);
    let mut draw = RoundDraw::default();
    let rung = scenario.ladder.find(&effort).unwrap_or(scenario.plan.start).index();
    scenario.agent.luck(seed, args.run, index + 1).realise(rung, index, &mut draw);
    let session = args.session.clone().unwrap_or_else(|| uuid(&format!("fake {seed} {} {number}", args.run)));
    let end = if args.act.contains(&Act::ExitZeroWithError) { End::Error } else { End::Well };
    let round = Round { session: &session, began, model: &args.model, effort: &effort, draw: &draw, end };
    Player::new(args, &session, began)?.play(&round)
}

/// A whole number from the environment.
fn variable(name: &str) -> Outcome<Option<u64>> {
    let Some(text) = env::var_os(name) else { return Ok(None) };
    let number = text.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| Failure::said(format!("{name} is a whole number, and not {}", text.display())))
}

/// The effort that the round is played at; none where the program ends because of it. What of the ladder is not taken is said as
/// the program says it.
fn effort(args: &FakeAgent, scenario: &Scenario, round: u64) -> Outcome<Option<String>> {
    let usual = scenario.ladder.effort(scenario.plan.start).word().to_owned();
    let Some(asked) = &args.effort else { return Ok(Some(usual)) };
    let ignored = args.act.iter().any(|act| act.ignores(asked, round));
    if !ignored && scenario.ladder.find(asked).is_some() {
        return Ok(Some(asked.clone()));
    }
    match args.wire {
        WireWord::Claude | WireWord::ClaudeResultOnly => output::say(&format!(
            "Warning: Unknown --effort value '{asked}' \u{2014} ignoring it and using the default effort."
        )),
        WireWord::Pi => output::say(&format!("Warning: Invalid thinking level \"{asked}\".")),
        WireWord::Codex => {
            let message = format!("Unsupported value: 'reasoning.effort' does not support '{asked}' with this model.");
            let failed = serde_json::json!({"type": "turn.failed", "error": {"message": message}});
            output::print(format!("{failed}\n").as_bytes())?;
            return Ok(None);
        }
        // it says nothing
        WireWord::Opencode => {}
    }
    Ok(Some(usual))
}

/// Writes lines when their time has come.
struct Player<'a> {
    args: &'a FakeAgent,
    out: io::Stdout,
    file: Option<File>,
    now: Timestamp,
    /// A Ctrl-C came; only where time passes, since otherwise the round is over before anybody could press it.
    stopped: Option<Arc<AtomicBool>>,
}

impl<'a> Player<'a> {
    fn new(args: &'a FakeAgent, session: &str, now: Timestamp) -> Outcome<Self> {
        let home = env::var_os("CODEX_HOME").filter(|_| args.wire == WireWord::Codex);
        let file = home.map(|home| rollout(&PathBuf::from(home), session, now)).transpose();
        let file = file.map_err(|error| Failure::usage(error).while_("cannot write the rollout file"))?;
        let claude = matches!(args.wire, WireWord::Claude | WireWord::ClaudeResultOnly);
        let stopped = (claude && args.speed.is_some()).then(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let raised = Arc::clone(&flag);
            // where the system takes no handler a signal ends it as any other program
            let _ = ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed));
            flag
        });
        Ok(Self { args, out: io::stdout(), file, now, stopped })
    }

    fn play(mut self, round: &Round<'_>) -> Outcome {
        act::children(&self.args.act).map_err(|error| Failure::usage(error).while_("cannot start a child"))?;
        let told = round.told(self.args.wire.into());
        let halfway = told.len() / 2;
        for (nth, told) in told.iter().enumerate() {
            if self.wait(told.at) {
                return self.interrupted(round, told.at);
            }
            if nth == 1 {
                self.misbehave()?;
            }
            if nth == halfway && self.args.act.contains(&Act::HalfLine) {
                let half = told.line.len() / 2;
                self.write(&told.line.as_bytes()[..half])?;
                return Ok(Exit::Success);
            }
            self.say(told)?;
        }
        if self.args.act.contains(&Act::IgnoreTerm) {
            act::sleep_for_ever();
        }
        Ok(Exit::Success)
    }

    /// What comes after the first line in a round that misbehaves.
    fn misbehave(&mut self) -> Outcome<()> {
        for act in &self.args.act {
            match act {
                Act::Sleep => act::sleep_for_ever(),
                Act::Flood(bytes) => self.flood(*bytes)?,
                Act::LongLine(bytes) => self.long_line(*bytes)?,
                Act::IgnoreTerm
                | Act::GrandchildHoldsPipe
                | Act::SetsidChild
                | Act::HalfLine
                | Act::ExitZeroWithError
                | Act::Fail
                | Act::Ignores { .. } => {}
            }
        }
        Ok(())
    }

    fn flood(&mut self, bytes: u64) -> Outcome<()> {
        let line = [vec![b'x'; 8191], vec![b'\n']].concat();
        let mut left = bytes;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(usize::MAX).min(line.len());
            self.write(&line[line.len() - part..])?;
            left -= u64::try_from(part).unwrap_or(left);
        }
        Ok(())
    }

    fn long_line(&mut self, bytes: u64) -> Outcome<()> {
        self.write(b"{\"type\":\"user\",\"text\":\"")?;
        let piece = [b'x'; 8192];
        let mut left = bytes;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
            self.write(&piece[..part])?;
            left -= u64::try_from(part).unwrap_or(left);
        }
        self.write(b"\"}\n")
    }

    fn say(&mut self, told: &Told) -> Outcome<()> {
        let line = format!("{}\n", told.line);
        match (told.place, &mut self.file) {
            (Place::Stdout, _) => self.write(line.as_bytes()),
            (Place::File, Some(file)) => {
                let written = file.write_all(line.as_bytes());
                written.map_err(|error| Failure::usage(error).while_("cannot write the rollout file"))
            }
            (Place::File, None) => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        let written = self.out.write_all(bytes).and_then(|()| self.out.flush());
        written.map_err(|error| Failure::usage(error).while_("cannot print"))
    }

    /// Lets the time until `at` pass; whether it was interrupted.
    fn wait(&mut self, at: Timestamp) -> bool {
        const SLICE: Duration = Duration::from_millis(10);
        let span = at.since(core::mem::replace(&mut self.now, at));
        let stopped = || self.stopped.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if let Some(speed) = self.args.speed {
            let mut left = Duration::from_micros(span.count().saturating_mul(1000) / u64::from(speed));
            while !left.is_zero() && !stopped() {
                let slice = left.min(SLICE);
                pause(slice);
                left = left.saturating_sub(slice);
            }
        }
        stopped()
    }

    /// The result of a round that was interrupted: of the turns that were over.
    fn interrupted(mut self, round: &Round<'_>, at: Timestamp) -> Outcome {
        let over = |millis: &&u32| u64::from(**millis);
        let mut ends = round.began;
        let done = round.draw.millis.iter().take_while(|millis| {
            ends = ends.after(Millis::new(over(millis)));
            ends < at
        });
        let done = done.count();
        let mut draw = round.draw.clone();
        draw.tokens.truncate(done);
        draw.millis.truncate(done);
        draw.landed.truncate(done);
        draw.closing = match draw.closing {
            Closing::None | Closing::Lump(_) => Closing::None,
            Closing::Total(_) => Closing::Total(draw.total()),
        };
        let short = Round { draw: &draw, end: End::Cut, ..*round };
        if let Some(last) = short.told(self.args.wire.into()).last() {
            self.write(format!("{}\n", last.line).as_bytes())?;
        }
        Ok(Exit::Success)
    }
}

/// Opens the rollout file where codex would.
fn rollout(home: &std::path::Path, session: &str, began: Timestamp) -> io::Result<File> {
    let stamp = iso(began);
    let (day, time) = (stamp[..10].replace('-', "/"), stamp[..19].replace(':', "-"));
    let folder = home.join("sessions").join(day);
    fs::create_dir_all(&folder)?;
    File::create(folder.join(format!("rollout-{time}-{session}.jsonl")))
}

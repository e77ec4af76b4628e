//! A crash after every effect of the runner: what was not made durable is lost or torn, and another process takes the run up.
//!
//! The host, the machine, the journal and the readers are the real ones; only [`Os`](flyball::run::Os) is played, in memory, with a
//! clock of its own and agents that speak pi's lines. For each script the run is carried out once to count its effects, and
//! then once for each of them with the process lost right after it. What must hold whatever the crash:
//!
//! * every agent that was let go is an attempt that was counted;
//! * never do two agents live at once;
//! * of what was reported, at most the last reports, which were not durable yet, are missing from what is counted;
//! * the record can be read, and the rung that it keeps is a word of the ladder;
//! * with no further crash the loop comes to its end.
#![cfg(feature = "run")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod world;

use std::num::NonZeroU64;

use flyball::agents::adapter::{AgentKind, Follow, Stop};
use flyball::agents::live::Live;
use flyball::engine::{
    Band, Checkpoint, Control, Governor, Ladder, LawKind, Limits, Machine, Millis, Over, Plan, Ratio, Target,
    Timestamp, Tokens,
};
use flyball::run::os::Launch;
use flyball::run::record::{JOURNAL, STATE};
use flyball::run::{Agents, Ended, Host, Journal, NoSite, NoView, recover};
use flyball::trace::{Header, Kept, Record, Setup};

use world::{Crash, Script, World};

const WORDS: [&str; 3] = ["high", "medium", "low"];

/// Asks for pi, whose lines the world speaks.
struct Pi;

impl Agents for Pi {
    fn launch(&mut self, round: u64, effort: &str, _: Option<String>, _now: Timestamp) -> Result<Launch, String> {
        Ok(Launch { argv: vec![round.to_string(), effort.to_owned()], stdin: b"task".to_vec(), ..Launch::default() })
    }
    fn kind(&self) -> AgentKind {
        AgentKind::Pi
    }

    fn live(&self) -> Live {
        AgentKind::Pi.adapter().live()
    }
    fn afterwards(&self, _: &[std::sync::Arc<str>]) -> Vec<(String, Launch)> {
        Vec::new()
    }

    fn follows(&self, _session: Option<&str>) -> Vec<Follow> {
        Vec::new()
    }
    fn stop(&self) -> Stop {
        Stop::Term
    }
}

/// One process of the run: takes up what is on the disk and goes on until it ends or is lost.
fn process(world: &mut World, script: &Script) -> Result<Ended, Crash> {
    let ladder = Ladder::new(WORDS).unwrap();
    let (kept, journal, at) = match take_up(world, &ladder) {
        Found::GoesOn(kept, journal, at) => (kept, journal, at),
        Found::Over(control, kept) => {
            let spent = kept.spent();
            return Ok(Ended { control, detail: None, asked: None, spent, kept, swept: 0 });
        }
    };
    world.clock_from(at);
    let mut plan = Plan::new(ladder.clone(), "medium");
    (plan.rest, plan.grace, plan.backoff) = (Millis::from_secs(5), Millis::from_secs(10), Millis::from_secs(1));
    plan.limits = Limits {
        rounds: NonZeroU64::new(script.rounds),
        budget: script.budget.map(Tokens::new),
        round_wall: Some(Millis::from_secs(120)),
        inactivity: Some(Millis::from_secs(60)),
        ..Limits::default()
    };
    let band = Band::new(Target::from_tokens(400), Ratio::from_ppm(150_000)).unwrap();
    let governor = Governor::new(LawKind::Reference.build(), band, Over::new(Millis::from_secs(300)), ladder.rungs());
    let machine = Machine::new(plan, governor, kept);
    world.carry_out(|world| Host::new(world, &mut Pi, &mut NoSite, &mut NoView, machine, journal).run().unwrap())
}

/// What another process finds.
enum Found {
    GoesOn(Checkpoint, Journal, Timestamp),
    Over(Control, Checkpoint),
}

/// What another process finds; whatever agent is left is ended first, by what the journal says of it.
fn take_up(world: &mut World, ladder: &Ladder) -> Found {
    let bytes = world.read(JOURNAL).filter(|bytes| bytes.contains(&b'\n'));
    let Some(bytes) = bytes else {
        world.empty(JOURNAL);
        let mut header = Header::new(setup());
        header.chained = true;
        let mut journal = Journal::begin(&header).unwrap();
        let opened = Record::Opened { kept: Kept::of(&Checkpoint::default()), found_tokens: 0 };
        journal.write(Timestamp::EPOCH, opened).unwrap();
        return Found::GoesOn(Checkpoint::default(), journal, Timestamp::EPOCH);
    };
    let found = recover(world.read(STATE).as_deref(), &bytes).expect("the record can be read after any crash");
    if let Some(effort) = &found.kept.effort {
        assert!(WORDS.contains(&effort.word()), "the rung is a word of the ladder");
    }
    if let Some((_, process)) = &found.open {
        world.end(process.pid);
    }
    if let Some(control) = found.stopped {
        return Found::Over(control, found.before.unwrap_or(found.kept));
    }
    world.cut(JOURNAL, usize::try_from(found.bytes).unwrap());
    let mut journal = Journal::go_on(ladder.clone(), found.lines, found.last);
    journal.write(found.at, Record::Opened { kept: Kept::of(&found.kept), found_tokens: found.found.count() }).unwrap();
    Found::GoesOn(found.kept, journal, found.at)
}

fn setup() -> Setup {
    Setup {
        ladder: WORDS.map(str::to_owned).to_vec(),
        configured: "medium".to_owned(),
        law: "reference".to_owned(),
        juice_millionths: 400_000_000,
        over_ms: 300_000,
        slack_ppm: 150_000,
        rest_ms: 5_000,
        budget_tokens: None,
        rounds: None,
        set: std::collections::BTreeMap::new(),
    }
}

/// What a whole run comes to, with a crash after this effect of the first process, and perhaps one of the second.
fn run(script: &Script, crashes: &[u64], luck: u64) -> (World, Ended) {
    let mut world = World::new(script.clone(), luck);
    for &after in crashes {
        world.crash_after(Some(after));
        if let Ok(ended) = process(&mut world, script) {
            return (world, ended);
        }
        world.lose();
    }
    world.crash_after(None);
    let ended = process(&mut world, script).unwrap_or_else(|Crash| panic!("no crash was asked for"));
    (world, ended)
}

fn check(script: &Script, crashes: &[u64], luck: u64) {
    let (world, ended) = run(script, crashes, luck);
    let what = format!("script {}, crashes after {crashes:?}, luck {luck}", script.name);
    assert!(world.most_alive() <= 1, "{what}: {} agents at once", world.most_alive());
    assert_eq!(world.alive(), 0, "{what}: an agent is left");
    let rounds = if ended.control == Control::Budget { world.released() } else { ended.spent.rounds };
    assert!(rounds >= world.released(), "{what}: {} agents were let go, {rounds} counted", world.released());
    let counted = ended.spent.output.count();
    assert!(
        counted + world.not_durable() >= world.reported(),
        "{what}: {} tokens were reported, {counted} counted, and {} of them were not durable",
        world.reported(),
        world.not_durable()
    );
    assert!(counted <= world.reported(), "{what}: {counted} counted of {} reported", world.reported());
    let expected = [Control::Rounds, Control::Budget, Control::AgentFailures];
    assert!(expected.contains(&ended.control), "{what}: {:?}", ended.control);
}

#[test]
fn without_a_crash_every_token_is_counted() {
    for script in Script::all() {
        let (world, ended) = run(&script, &[], 0);
        assert_eq!(ended.spent.output.count(), world.reported(), "{}", script.name);
        assert!(world.reported() > 0 && world.effects() > 20, "{}: {} effects", script.name, world.effects());
    }
}

#[test]
fn after_every_effect() {
    for script in Script::all() {
        let effects = run(&script, &[], 0).0.effects();
        for after in 0..effects {
            for luck in 0..3 {
                check(&script, &[after], luck);
            }
        }
    }
}

#[test]
fn twice_in_a_row() {
    for script in Script::all() {
        let effects = run(&script, &[], 0).0.effects();
        for first in (0..effects).step_by(3) {
            for second in (0..40).step_by(7) {
                check(&script, &[first, second], first ^ second);
            }
        }
    }
}

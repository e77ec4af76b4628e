//! The same case through the real host: a machine in memory, on which an agent says in a real program's lines what luck and script say.
//!
//! Time is virtual: it stands still but for the agent's own moments and for what the runner waits for. Whoever is told to end is gone at
//! once. What a backend's limit does lies here a second time, so that it is not the simulator's.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use flyball::agents::adapter::{AgentKind, Follow, Stop};
use flyball::agents::live::Live;
use flyball::engine::{Answer, Millis, Timestamp};
use flyball::run::os::{Asked, CheckEnd, Checked, End, Heard, Keep, Launch, Put, Send};
use flyball::run::site::{Gone, Left, Progress, Site, Verdict};
use flyball::run::tree::{Tree, TreeAsk};
use flyball::run::{Agents, Host, Journal, NoView, Os};
use flyball::sim::{Fate, Left as Outcome, Limit, Luck, Made, Outcomes as _, RoundDraw, Usage};
use flyball::trace::{Header, ProcessId, Setup};
use serde_json::{Value, json};

use super::case::{Came, Case, ROUNDS, Script, WORDS};

/// Runs a case.
pub(crate) fn through_the_host(case: &Case) -> Came {
    let mut stage = Stage::new(case);
    let mut site = Project::default();
    let mut agents = Program { priced: case.is_priced() };
    let journal = Journal::begin(&Header::new(setup())).unwrap();
    let mut view = NoView;
    let host = Host::new(&mut stage, &mut agents, &mut site, &mut view, case.machine(), journal);
    let ended = host.run().unwrap();
    Came { control: ended.control, spent: ended.spent, kept: ended.kept, rounds: site.rounds }
}

fn setup() -> Setup {
    Setup {
        ladder: WORDS.map(str::to_owned).to_vec(),
        configured: WORDS[0].to_owned(),
        law: "fixed".to_owned(),
        juice_millionths: 600_000_000,
        over_ms: 1,
        slack_ppm: 0,
        rest_ms: 0,
        budget_tokens: None,
        rounds: None,
        set: std::collections::BTreeMap::new(),
    }
}

/// Asks for a round, and reads a program's lines: pi's where answers have a price, else claude's.
struct Program {
    priced: bool,
}

impl Agents for Program {
    fn launch(&mut self, round: u64, effort: &str, _: Option<String>, _: Timestamp) -> Result<Launch, String> {
        Ok(Launch { argv: vec![round.to_string(), effort.to_owned()], ..Launch::default() })
    }
    fn kind(&self) -> AgentKind {
        AgentKind::Pi
    }

    fn live(&self) -> Live {
        if self.priced { AgentKind::Pi.adapter().live() } else { AgentKind::Claude.adapter().live() }
    }
    fn afterwards(&self, _: &[std::sync::Arc<str>]) -> Vec<(String, Launch)> {
        Vec::new()
    }
    fn follows(&self, _: Option<&str>) -> Vec<Follow> {
        Vec::new()
    }
    fn stop(&self) -> Stop {
        Stop::Term
    }
}

/// The project: what it is like and what its oracle says is the script's.
#[derive(Default)]
struct Project {
    rounds: Vec<(String, u64, u64)>,
    left: Option<Outcome>,
    untold: Option<Progress>,
}

impl Site<Stage<'_>> for Project {
    fn found(&mut self, os: &mut Stage<'_>) -> Result<(Option<Progress>, Vec<String>), String> {
        Ok((Some(Progress { tree: os.script.found(), error: None }), Vec::new()))
    }

    fn after(&mut self, os: &mut Stage<'_>, gone: &Gone<'_>) -> Result<Left, String> {
        let (effort, output) = (gone.effort.word(), gone.output.count());
        self.rounds.push((effort.to_owned(), gone.turns, output));
        let rung = WORDS.iter().position(|word| *word == effort).unwrap();
        let round = u32::try_from(gone.round).unwrap() - 1;
        let turns = usize::try_from(gone.turns).unwrap();
        let left = os.script.left(&Made { round, rung, turns, tokens: output });
        self.left = Some(left);
        let Outcome { tree, error, kill_on, .. } = left;
        let kill = kill_on.then(|| "it said so".to_owned());
        let progress = Some(Progress { tree, error });
        // as the project of settings does: what the oracle's answer belongs to comes with it
        if gone.verifies && kill.is_none() {
            self.untold = progress;
            return Ok(Left::default());
        }
        Ok(Left { progress, kill, notes: Vec::new() })
    }

    fn verify(&mut self, _: &mut Stage<'_>, _: u64, _: Option<Millis>) -> Result<Verdict, String> {
        let answer = self.left.map_or(Answer::Fail, |left| left.answer);
        Ok(Verdict { answer: Some(answer), progress: self.untold.take(), ..Verdict::default() })
    }
}

/// A machine in memory.
struct Stage<'c> {
    luck: Luck<'c>,
    script: Script<'c>,
    usage: Usage,
    priced: bool,
    now: u64,
    /// What Unix time is ahead of the run's.
    ahead: u64,
    /// Until when the backend takes no request.
    limit: u64,
    draw: RoundDraw,
    /// When, what, and until when the backend takes no request once it is said.
    says: VecDeque<(u64, Heard, u64)>,
    runs: bool,
    pids: u32,
}

impl<'c> Stage<'c> {
    fn new(case: &'c Case) -> Self {
        Self {
            luck: case.agent.luck(77, case.number, ROUNDS),
            script: case.script(),
            usage: case.usage,
            priced: case.is_priced(),
            now: 0,
            ahead: 1_700_000_000_000,
            limit: 0,
            draw: RoundDraw::default(),
            says: VecDeque::new(),
            runs: false,
            pids: 100,
        }
    }

    /// What the agent of a round will say.
    fn play(&mut self, number: u64, effort: &str) {
        let rung = WORDS.iter().position(|word| *word == effort).unwrap();
        let round = u32::try_from(number).unwrap() - 1;
        self.luck.realise(rung, round, &mut self.draw);
        let fate = self.script.fate(round, self.draw.tokens.len());
        let refused = self.now < self.limit;
        let turns = if refused { 0 } else { fate.turns };
        let mut at = self.now;
        self.say(at, &self.first(number));
        for turn in 0..turns {
            at += u64::from(self.draw.millis[turn]);
            for line in self.turn(number, turn) {
                self.say(at, &line);
            }
        }
        if fate.interrupted {
            self.says.push_back((at, Heard::Asked(Asked::Int), 0));
        }
        let limit = if refused { Some(Limit { lasts: Millis::ZERO, told: false }) } else { fate.limit };
        if let Some(Limit { lasts, told }) = limit {
            self.limited(at, (!refused).then_some(lasts), told);
        }
        let well = !refused && fate == Fate { interrupted: fate.interrupted, ..Fate::whole(turns) };
        if well {
            self.say(at, &self.last());
        }
        self.says.push_back((at, Heard::Closed, 0));
        self.says.push_back((at, Heard::Exited(End::Exited(i32::from(!well))), 0));
    }

    fn say(&mut self, at: u64, line: &Value) {
        self.say_until(at, line, 0);
    }

    fn say_until(&mut self, at: u64, line: &Value, limit: u64) {
        self.says.push_back((at, Heard::Stdout(format!("{line}\n").into_bytes()), limit));
    }

    fn first(&self, round: u64) -> Value {
        let session = format!("s{round}");
        if self.priced {
            json!({"type": "session", "id": session})
        } else {
            json!({"type": "system", "subtype": "init", "session_id": session, "model": "m"})
        }
    }

    /// The lines of an answer, all said when it is over.
    fn turn(&self, round: u64, turn: usize) -> Vec<Value> {
        let (id, output) = (format!("r{round}-{turn}"), u64::from(self.draw.tokens[turn]));
        let input = self.usage.input.count();
        if self.priced {
            let cost = self.usage.cost(output).unwrap().count();
            let dollars: Value =
                serde_json::from_str(&format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000)).unwrap();
            let usage = json!({"input": input, "output": output, "cacheRead": 0, "cacheWrite": 0,
                               "totalTokens": input + output, "cost": {"total": dollars}});
            let message = json!({"role": "assistant", "model": "m", "responseId": id, "stopReason": "stop", "content": [],
                                 "usage": usage});
            return vec![json!({"type": "message_end", "message": message})];
        }
        let usage = |output: u64| {
            json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                   "output_tokens": output})
        };
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": "m", "content": [],
                             "stop_reason": null, "usage": usage(1)});
        let event = |event: Value| json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
        vec![
            event(json!({"type": "message_start", "message": message})),
            json!({"type": "assistant", "message": message, "parent_tool_use_id": null}),
            event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage(output)})),
        ]
    }

    fn last(&self) -> Value {
        if self.priced {
            json!({"type": "agent_end", "willRetry": false})
        } else {
            json!({"type": "result", "subtype": "success", "is_error": false, "result": ""})
        }
    }

    /// A limit that begins, or one that is still there.
    fn limited(&mut self, at: u64, lasts: Option<Millis>, told: bool) {
        let end = lasts.map_or(0, |lasts| (at + lasts.count()).max(self.limit));
        if self.priced {
            let message = json!({"role": "assistant", "model": "m", "content": [], "stopReason": "error",
                                 "errorMessage": "429 rate limit exceeded"});
            self.say_until(at, &json!({"type": "message_end", "message": message}), end);
            self.say(at, &json!({"type": "agent_end", "willRetry": false}));
            return;
        }
        let mut window = json!({"status": "rejected"});
        if told {
            // moments are told in whole seconds, so the wall clock is put where this one falls on one
            self.ahead += 1000 - (end + self.ahead) % 1000;
            window["resetsAt"] = ((end + self.ahead) / 1000).into();
        }
        self.say_until(at, &json!({"type": "rate_limit_event", "rate_limit_info": window}), end);
    }

    fn next(&mut self, due: u64) -> Option<Heard> {
        let at = self.says.front().filter(|_| self.runs)?.0;
        if at > due {
            return None;
        }
        let (at, heard, limit) = self.says.pop_front()?;
        self.now = self.now.max(at);
        self.limit = self.limit.max(limit);
        self.runs = !matches!(heard, Heard::Exited(_));
        Some(heard)
    }
}

impl Os for Stage<'_> {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }
    fn unix_ms(&self) -> u64 {
        self.now + self.ahead
    }
    fn believe(&mut self, _: Timestamp) {}

    fn append(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn sync(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
    fn replace(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn spawn(&mut self, launch: &Launch) -> io::Result<ProcessId> {
        self.pids += 1;
        self.says.clear();
        self.play(launch.argv[0].parse().unwrap(), &launch.argv[1]);
        Ok(ProcessId { pid: self.pids, began_ticks: Some(self.now), boot: None })
    }
    fn release(&mut self) -> io::Result<()> {
        self.runs = true;
        Ok(())
    }

    fn signal(&mut self, _: Send) {
        self.says.clear();
        self.says.push_back((self.now, Heard::Closed, 0));
        self.says.push_back((self.now, Heard::Exited(End::Signalled(15)), 0));
    }
    fn sweep(&mut self) -> usize {
        0
    }
    fn query(&mut self, _: &Launch) -> Vec<u8> {
        Vec::new()
    }

    fn check(&mut self, _: &Launch, _: Millis, _: Keep) -> Checked {
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
        Ok(())
    }
    fn can_write(&mut self, _: &Path) -> bool {
        false
    }
    fn follow(&mut self, _: &[Follow]) {}

    fn receive(&mut self, until: Option<Timestamp>) -> Heard {
        let due = until.map_or(u64::MAX, Timestamp::millis);
        self.next(due).unwrap_or_else(|| {
            assert!(until.is_some(), "the runner waits for ever for an agent that says nothing more");
            self.now = self.now.max(due);
            Heard::Due
        })
    }
    fn pending(&mut self) -> Option<Heard> {
        let now = self.now;
        self.next(now)
    }
}

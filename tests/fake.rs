//! The made-up agent as a program: what it prints is read back by the live ledger as what the luck drew, in every wire and
//! accounting, and its ways to misbehave are those that they are said to be.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot start the program has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use flyball::agents::adapter::AgentKind;
use flyball::agents::live::{Closed, Landed, Live, ProcessEnd};
use flyball::engine::{Grade, Ratio, RoundExit, Timestamp, TurnRecord};
use flyball::lab::scenario::Scenario;
use flyball::lab::synth::wire::{End, Place, Round, Wire};
use flyball::sim::{Accounting, AgentModel, AgentSpec, Closing, Correction, RoundDraw};

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/s02-typical.toml");
const NOW: u64 = 5_000_000;

const WIRES: [(&str, Wire, AgentKind); 5] = [
    ("claude", Wire::Claude, AgentKind::Claude),
    ("claude-result-only", Wire::ClaudeResultOnly, AgentKind::Claude),
    ("codex", Wire::Codex, AgentKind::Codex),
    ("pi", Wire::Pi, AgentKind::Pi),
    ("opencode", Wire::Opencode, AgentKind::Opencode),
];

fn turns(out: &[Landed], closed: &Closed) -> Vec<TurnRecord> {
    let mut turns = Vec::new();
    for landed in out {
        if let Landed::Turn(turn) = landed {
            turns.push(turn.clone());
        }
    }
    turns.extend(closed.late.iter().cloned());
    turns
}

fn read(kind: AgentKind, stdout: &[u8], file: &[u8]) -> (Vec<Landed>, Closed) {
    let (mut live, mut out) = (Live::new(kind), Vec::new());
    live.stdout(stdout, &mut out);
    if !file.is_empty() {
        live.followed("log", file, &mut out);
    }
    (out, live.close(ProcessEnd::Exited(0), false))
}

fn told(wire: Wire, kind: AgentKind, draw: &RoundDraw, end: End) -> (Vec<Landed>, Closed) {
    let began = Timestamp::from_millis(NOW);
    let round = Round { session: "0a1b2c3d-4e5f", began, model: "m-1", effort: "high", draw, end };
    let (mut stdout, mut file) = (String::new(), String::new());
    for told in round.told(wire) {
        let text = if told.place == Place::Stdout { &mut stdout } else { &mut file };
        text.push_str(&format!("{}\n", told.line));
    }
    read(kind, stdout.as_bytes(), file.as_bytes())
}

fn draw(accounting: Accounting, round: u32) -> RoundDraw {
    let mut spec = AgentSpec::geometric(400.0, 2.0, 3).unwrap();
    spec.accounting = accounting;
    let agent = AgentModel::new(spec).unwrap();
    let mut draw = RoundDraw::default();
    agent.luck(3, 1, round + 1).realise(1, round, &mut draw);
    draw
}

/// The ends of a draw's turns.
fn ends(draw: &RoundDraw) -> Vec<u64> {
    let mut now = NOW;
    let end = |millis: &u32| {
        now += u64::from(*millis);
        now
    };
    draw.millis.iter().map(end).collect()
}

#[test]
fn each_wire_tells_each_turn_at_its_time_with_its_count() {
    for round in 0..5 {
        let draw = draw(Accounting::Final, round);
        let expected: Vec<u64> = draw.tokens.iter().map(|&tokens| tokens.into()).collect();
        for (name, wire, kind) in WIRES {
            let (out, closed) = told(wire, kind, &draw, End::Well);
            let turns = turns(&out, &closed);
            let counts: Vec<u64> = turns.iter().map(|turn| turn.output.count()).collect();
            assert_eq!(counts, expected, "{name}");
            assert_eq!(turns.iter().map(|turn| turn.end.millis()).collect::<Vec<_>>(), ends(&draw), "{name}");
            assert!(turns.iter().all(|turn| turn.input.is_some_and(|input| input.count() == 1)), "{name}");
            assert!(
                turns
                    .iter()
                    .all(|turn| turn.counts_as_turn && turn.all_tokens() == turn.output.plus(turn.input.unwrap()))
            );
            let late = if name == "claude-result-only" { expected.len() } else { 0 };
            assert_eq!(
                (closed.late.len(), closed.exit, closed.total),
                (late, RoundExit::Done, None),
                "{name}: {:?}",
                closed.why
            );
            let said = out.iter().filter(|landed| matches!(landed, Landed::Said(_))).count();
            let requests = out.iter().filter(|landed| **landed == Landed::Request).count();
            assert_eq!((said, requests), (expected.len(), expected.len()), "{name}");
        }
    }
}

#[test]
fn what_only_a_total_tells_is_shared_as_the_simulated_world_shares_it() {
    let draw = draw(Accounting::RoundTotalOnly, 2);
    let total = draw.total();
    let (out, closed) = told(Wire::ClaudeResultOnly, AgentKind::Claude, &draw, End::Well);
    let turns = turns(&out, &closed);
    let counts: Vec<u64> = turns.iter().map(|turn| turn.output.count()).collect();
    let each = total / u64::try_from(counts.len()).unwrap();
    assert_eq!((counts.iter().sum::<u64>(), counts.len()), (total, draw.tokens.len()));
    assert!(counts.iter().all(|&count| count == each || count == each + 1), "evenly: {counts:?}");
    assert!(turns.iter().all(|turn| turn.grade == Grade::Estimated));

    let phi = Ratio::from_ppm(250_000);
    let spread = draw_of(phi, Correction::Spread);
    let Closing::Total(total) = spread.closing else { panic!("{:?}", spread.closing) };
    let (_, closed) = told(Wire::ClaudeResultOnly, AgentKind::Claude, &spread, End::Well);
    let counts: Vec<u64> = closed.late.iter().map(|turn| turn.output.count()).collect();
    assert_eq!(counts.iter().sum::<u64>(), total);
    let fair = |(count, &landed): (&u64, &u32)| count.abs_diff(u64::from(landed) * 4) <= 4;
    assert!(counts.iter().zip(&spread.landed).all(fair), "in proportion: {counts:?} {:?}", spread.landed);

    let lump = draw_of(phi, Correction::AtRoundEnd);
    let Closing::Lump(more) = lump.closing else { panic!("{:?}", lump.closing) };
    for (wire, kind) in [(Wire::Claude, AgentKind::Claude), (Wire::Codex, AgentKind::Codex)] {
        let (out, closed) = told(wire, kind, &lump, End::Well);
        let [late] = &closed.late[..] else { panic!("{:?}", closed.late) };
        assert_eq!((late.output.count(), late.counts_as_turn), (more, false));
        assert_eq!(turns_of(&out), lump.landed.iter().map(|&tokens| u64::from(tokens)).collect::<Vec<_>>());
    }
}

fn turns_of(out: &[Landed]) -> Vec<u64> {
    let mut counts = Vec::new();
    for landed in out {
        if let Landed::Turn(turn) = landed {
            counts.push(turn.output.count());
        }
    }
    counts
}

fn draw_of(phi: Ratio, correction: Correction) -> RoundDraw {
    draw(Accounting::Partial { phi, correction }, 2)
}

#[test]
fn a_failed_round_is_told_as_one_and_an_empty_one_as_far_as_the_program_can() {
    let full = draw(Accounting::Final, 0);
    for (name, wire, kind) in WIRES {
        let (_, closed) = told(wire, kind, &full, End::Error);
        assert_eq!(closed.exit, RoundExit::Failed, "{name}");
        assert!(closed.error.is_some_and(|error| error.contains("made up")), "{name}");
        let (out, closed) = told(wire, kind, &RoundDraw::default(), End::Well);
        let closes = !matches!(kind, AgentKind::Pi | AgentKind::Opencode);
        assert_eq!((closed.exit == RoundExit::Done, turns(&out, &closed).len()), (closes, 0), "{name}");
    }
}

fn fake(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("flyball").unwrap();
    command.args(["fake-agent", "--scenario", SCENARIO]).args(args).write_stdin("do it");
    command.env_remove("CODEX_HOME").env("FLYBALL_NOW_MS", NOW.to_string());
    command
}

fn rollout(folder: &Path) -> Vec<u8> {
    let day = folder.join("sessions/1970/01/01");
    let file = fs::read_dir(day).unwrap().next().unwrap().unwrap();
    assert!(file.file_name().to_string_lossy().starts_with("rollout-1970-01-01T01-23-20-"), "{:?}", file.file_name());
    fs::read(file.path()).unwrap()
}

#[test]
fn the_program_plays_the_round_that_the_scenarios_luck_has() {
    let scenario = Scenario::read(Path::new(SCENARIO)).unwrap();
    let rung = scenario.ladder.find("rung-4").unwrap().index();
    let (mut luck, mut draw) = (scenario.agent.luck(7, 3, 5), RoundDraw::default());
    luck.realise(rung, 4, &mut draw);
    let expected: Vec<u64> = draw.tokens.iter().map(|&tokens| tokens.into()).collect();
    for (name, _, kind) in WIRES {
        let home = tempfile::tempdir().unwrap();
        let args = ["--wire", name, "--seed", "7", "--run", "3", "--effort", "rung-4"];
        let ran = fake(&args).env("FLYBALL_ROUND", "5").env("CODEX_HOME", home.path()).assert().success();
        let file = if name == "codex" { rollout(home.path()) } else { Vec::new() };
        let (out, closed) = read(kind, &ran.get_output().stdout, &file);
        let turns = turns(&out, &closed);
        assert_eq!(turns.iter().map(|turn| turn.output.count()).collect::<Vec<_>>(), expected, "{name}");
        assert_eq!(turns.iter().map(|turn| turn.end.millis()).collect::<Vec<_>>(), ends(&draw), "{name}");
        assert_eq!(closed.exit, RoundExit::Done, "{name}");
    }
}

#[test]
fn it_misbehaves_as_it_is_told() {
    let ran = fake(&["--act", "fail"]).assert().code(1);
    assert!(ran.get_output().stdout.is_empty());
    let ran = fake(&["--wire", "pi", "--act", "exit-0-with-error"]).assert().success();
    assert_eq!(read(AgentKind::Pi, &ran.get_output().stdout, b"").1.exit, RoundExit::Failed);
    let ran = fake(&["--act", "half-line"]).assert().success();
    assert!(!ran.get_output().stdout.ends_with(b"\n"));
    assert_eq!(read(AgentKind::Claude, &ran.get_output().stdout, b"").1.exit, RoundExit::Failed);
    for act in ["flood=1000000", "long-line=1000000"] {
        let whole = turns_of(&read(AgentKind::Claude, &fake(&[]).assert().success().get_output().stdout, b"").0);
        let ran = fake(&["--act", act]).assert().success();
        assert!(ran.get_output().stdout.len() > 1_000_000, "{act}");
        assert_eq!(turns_of(&read(AgentKind::Claude, &ran.get_output().stdout, b"").0), whole, "{act}");
    }
    let ran = fake(&["--effort", "rung-4", "--act", "ignores=rung-4@2"]).env("FLYBALL_ROUND", "2").assert().success();
    assert!(String::from_utf8_lossy(&ran.get_output().stderr).contains("Unknown --effort value 'rung-4'"));
    fake(&["--effort", "rung-4", "--act", "ignores=rung-4@2", "--wire", "codex"])
        .env("FLYBALL_ROUND", "2")
        .assert()
        .code(1);
    fake(&["--act", "dance"]).assert().code(2);
    fake(&[]).env("FLYBALL_ROUND", "0").assert().code(2);
    fake(&[]).env("FLYBALL_NOW_MS", "soon").assert().code(2);
}

#[test]
fn doctor_finds_what_is_on_the_path_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let doctor = |path: &Path| {
        let mut command = Command::cargo_bin("flyball").unwrap();
        command.args(["doctor", "--format", "json"]).env_clear().env("PATH", path).env("HOME", home.path());
        let ran = command.assert().success();
        serde_json::from_slice::<serde_json::Value>(&ran.get_output().stdout).unwrap()
    };
    let none = doctor(folder.path());
    assert_eq!(none["agents"].as_array().unwrap().len(), 6);
    assert!(none["agents"].as_array().unwrap().iter().all(|agent| agent["path"].is_null()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let program = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        program("claude", "echo '2.1.332 (Claude Code)'");
        program("codex", "echo codex-cli 9.9.9");
        program("pi", "echo broken; exit 1");
        fs::write(folder.path().join("gemini"), "not a program").unwrap();
        let some = doctor(folder.path());
        let of = |name: &str| some["agents"].as_array().unwrap().iter().find(|agent| agent["agent"] == name).unwrap();
        assert_eq!((&of("claude")["version"], &of("claude")["tested"]), (&"2.1.332".into(), &true.into()));
        assert!(of("codex")["problems"][0].as_str().unwrap().contains("9.9.9 was never run"));
        assert!(of("pi")["version"].is_null() && of("gemini")["path"].is_null());
        assert!(of("claude")["problems"][0].as_str().unwrap().contains("ANTHROPIC_API_KEY"));
    }
}

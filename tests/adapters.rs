//! The live ledger on what real programs printed and wrote: the counts are those of the script that the model server
//! answered from, and how each round ended is a table.
#![cfg(feature = "agents")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::fs;
use std::path::PathBuf;

use flyball::agents::adapter::AgentKind;
use flyball::agents::live::{Closed, Landed, ProcessEnd};
use flyball::engine::{Grade, RoundExit, TurnRecord};
use proptest::prelude::*;

/// One source of a scenario.
struct Source {
    name: &'static str,
    bytes: Vec<u8>,
}

const NAMES: [&str; 4] = [".stderr.txt", ".jsonl", ".session1.jsonl", ".session.jsonl"];

fn sources(scenario: &str) -> Vec<Source> {
    let folder = std::env::var("CAPS")
        .map(PathBuf::from)
        .unwrap_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures"));
    let read = |&name: &&'static str| {
        let bytes = fs::read(folder.join(format!("{scenario}{name}"))).ok()?;
        Some(Source { name, bytes })
    };
    NAMES.iter().filter_map(read).collect()
}

fn kind(scenario: &str) -> AgentKind {
    scenario.split(['/', '-']).next().unwrap().parse().unwrap()
}

/// Feeds a scenario in pieces of `cut` bytes, files as far as `files` says.
fn play(scenario: &str, end: ProcessEnd, cut: bool, piece: usize, files: bool) -> (Vec<Landed>, Closed) {
    let mut live = kind(scenario).adapter().live();
    let mut out = Vec::new();
    for source in sources(scenario) {
        for bytes in source.bytes.chunks(piece) {
            match source.name {
                ".jsonl" => live.stdout(bytes, &mut out),
                ".stderr.txt" => live.stderr(bytes, &mut out),
                name if files => live.followed(name, bytes, &mut out),
                _ => {}
            }
        }
    }
    (out, live.close(end, cut))
}

/// What a scenario came to.
struct Case {
    scenario: &'static str,
    end: ProcessEnd,
    /// It was ended by us.
    cut: bool,
    /// Output of each turn that lands.
    turns: &'static [u64],
    /// What comes late: output, and whether it is a turn.
    late: &'static [(u64, bool)],
    exit: RoundExit,
    /// What its reason says.
    why: &'static str,
}

const fn case(scenario: &'static str, code: i32, turns: &'static [u64], exit: RoundExit, why: &'static str) -> Case {
    Case { scenario, end: ProcessEnd::Exited(code), cut: false, turns, late: &[], exit, why }
}

impl Case {
    const fn late(mut self, late: &'static [(u64, bool)]) -> Self {
        self.late = late;
        self
    }

    const fn cut(mut self, end: ProcessEnd) -> Self {
        self.end = end;
        self.cut = true;
        self
    }
}

const DONE: RoundExit = RoundExit::Done;
const FAILED: RoundExit = RoundExit::Failed;
const CUT: RoundExit = RoundExit::Cut;

fn cases() -> Vec<Case> {
    use ProcessEnd::{Exited, Signalled};
    vec![
        // ten tools and answers: the counts of the script, whatever way the program tells them
        case("claude/success", 0, &[120, 33], DONE, ""),
        case("claude/success-partial", 0, &[120, 80, 33], DONE, ""),
        case("claude-2.1.197/success-partial", 0, &[120, 33], DONE, ""),
        case("claude-2.1.197/effort-bogus", 0, &[9], DONE, ""),
        case("codex/success", 0, &[120, 33], DONE, ""),
        case("pi/success", 0, &[120, 33], DONE, ""),
        case("opencode/success", 0, &[120, 33], DONE, ""),
        // its counts leave thoughts out: 30 and 11 beside them
        case("gemini/success", 0, &[150, 44], DONE, ""),
        case("copilot/success", 0, &[120, 33], DONE, ""),
        // 41 and 40 of a subagent, from its own file
        case("claude/subagent", 0, &[100, 40, 41, 50], DONE, ""),
        case("claude/subagent-partial", 0, &[100, 40, 41, 50], DONE, ""),
        // failed tries, and then it works
        case("claude/error-529-then-ok", 0, &[120, 33], DONE, ""),
        case("claude/sse-overloaded-then-ok", 0, &[9], DONE, ""),
        case("claude/stream-drop-then-ok", 0, &[9], DONE, "").late(&[(1, false)]),
        case("claude/stop-max-tokens", 0, &[64_000, 64_000, 9], DONE, ""),
        // 20, a summary that shows nowhere but in the sum, 10 of the stub's default
        case("claude/error-400-prompt-too-long-after-turn", 0, &[20, 10], DONE, "").late(&[(19, false)]),
        case("codex/stream-drop-then-ok", 0, &[9], DONE, ""),
        case("pi/stream-drop-then-ok", 0, &[9], DONE, "").late(&[(1, false)]),
        case("opencode/error-500-then-ok", 0, &[120, 33], DONE, ""),
        case("copilot/error-500-then-ok", 0, &[120, 33], DONE, ""),
        // a refusal and a cut answer are told by what there is to tell them by
        case("claude/refusal", 1, &[], FAILED, "can't help").late(&[(24, false)]),
        case("codex/refusal", 0, &[12], DONE, ""),
        case("pi/refusal", 0, &[12], FAILED, "refused"),
        case("opencode/refusal", 1, &[12], FAILED, "content filter"),
        case("gemini/refusal", 0, &[], FAILED, "failed").late(&[(48, false)]),
        case("copilot/refusal", 0, &[12], FAILED, "content filtering"),
        case("pi/stop-max-tokens", 0, &[32_000], FAILED, "length"),
        case("opencode/stop-length", 0, &[32_000], FAILED, "length"),
        case("gemini/stop-max-tokens", 0, &[65_000], DONE, ""),
        case("codex/incomplete-max-output", 1, &[64_000], FAILED, "max_output_tokens"),
        // the backend says no; four of six programs end with a zero in some of these
        case("claude/error-401", 1, &[], FAILED, "401"),
        case("claude/error-429", 1, &[], FAILED, "429"),
        case("claude/stream-garbage", 1, &[], FAILED, "malformed").late(&[(1, false)]),
        case("codex/error-401", 1, &[], FAILED, "401"),
        case("codex/error-429-usage-limit", 1, &[], FAILED, "usage limit"),
        case("codex/error-500-after-turn", 1, &[120], FAILED, "high demand"),
        case("pi/error-529", 0, &[], FAILED, "529"),
        case("opencode/error-400", 1, &[], FAILED, "400"),
        case("gemini/error-429-max2", 173, &[], FAILED, "429"),
        case("gemini/stream-drop", 0, &[], FAILED, "failed").late(&[(308, false)]),
        case("copilot/error-500", 1, &[], FAILED, "500"),
        // it never got so far
        case("claude/no-key", 1, &[], FAILED, "Not logged in"),
        case("claude/prompt-none", 1, &[], FAILED, "Input must be provided"),
        case("codex/no-key", 1, &[], FAILED, "Missing environment variable"),
        case("codex/not-a-git-repo", 1, &[], FAILED, "trusted directory"),
        case("pi/no-key", 1, &[], FAILED, "No API key"),
        case("gemini/no-key", 41, &[], FAILED, "GEMINI_API_KEY"),
        case("copilot/effort-bogus", 1, &[], FAILED, "invalid value 'bogus'"),
        // caps of its own
        case("claude/max-turns", 1, &[50, 50], FAILED, "max_turns"),
        case("claude/max-budget", 1, &[200], FAILED, "budget"),
        case("gemini/max-session-turns", 53, &[50, 50], FAILED, "max session turns"),
        // ended by us, in a tool and in an answer
        case("claude/sigint-mid-tool", 0, &[50], CUT, "aborted_tools").cut(Exited(0)),
        case("claude/sigint-partial", 0, &[50], CUT, "aborted").late(&[(1, true)]).cut(Exited(0)),
        case("claude/sigterm-mid-stream", 0, &[], CUT, "143").cut(Exited(143)),
        case("claude/sigkill-mid-tool", 0, &[50], CUT, "signal 9").cut(Signalled(9)),
        case("claude-2.1.197/sigint-mid-stream", 0, &[], CUT, "").cut(Exited(0)),
        case("codex/sigint-second-turn", 0, &[50], CUT, "").cut(Exited(1)),
        case("codex/sigterm-mid-tool", 0, &[50], CUT, "signal 15").cut(Signalled(15)),
        case("pi/sigterm-second-turn", 0, &[50], CUT, "143").late(&[(2, true)]).cut(Exited(143)),
        case("pi/sigint-mid-tool", 0, &[50], CUT, "signal 2").cut(Signalled(2)),
        // it prints a step's count after its tools: nothing is known of the step but that it was begun
        case("opencode/sigterm-mid-tool", 0, &[], CUT, "signal 15").late(&[(1, true)]).cut(Signalled(15)),
        case("opencode/stream-drop", 0, &[], CUT, "")
            .late(&[(2, false), (2, false), (2, false), (2, true)])
            .cut(Signalled(9)),
        case("gemini/sigterm-mid-tool", 0, &[50], CUT, "").cut(Exited(0)),
        case("copilot/sigterm-mid-tool", 0, &[50], CUT, "abort").cut(Exited(0)),
        case("copilot/sigint-mid-stream", 0, &[], CUT, "abort").late(&[(2, true)]).cut(Exited(0)),
    ]
}

fn turns(landed: &[Landed]) -> Vec<&TurnRecord> {
    let mut turns = Vec::new();
    for landed in landed {
        if let Landed::Turn(turn) = landed {
            turns.push(turn);
        }
    }
    turns
}

#[test]
fn each_round_comes_to_what_the_script_stated() {
    for case in cases() {
        let name = case.scenario;
        let (out, closed) = play(name, case.end, case.cut, 1 << 16, true);
        let mut landed: Vec<u64> = turns(&out).iter().map(|turn| turn.output.count()).collect();
        let mut expected = case.turns.to_vec();
        // sources are fed one after the other here, and subagents' files last
        if name.contains("subagent") {
            landed.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(landed, expected, "{name}");
        assert!(turns(&out).iter().all(|turn| turn.grade == Grade::Known && turn.counts_as_turn), "{name}");
        let late: Vec<_> = closed.late.iter().map(|turn| (turn.output.count(), turn.counts_as_turn)).collect();
        assert_eq!((late.as_slice(), &closed.total), (case.late, &None), "{name}");
        assert_eq!(closed.exit, case.exit, "{name}: {:?}", closed.why);
        let why = closed.why.as_deref().unwrap_or("");
        assert!(why.contains(case.why) && !why.contains('\n'), "{name}: {why}");
        assert_eq!(closed.why.is_some(), case.exit != DONE, "{name}");
        assert_eq!(closed.error.is_some(), case.exit == FAILED, "{name}");
        assert!(out.iter().filter(|landed| **landed == Landed::Request).count() >= case.turns.len(), "{name}");
    }
}

#[test]
fn every_scenario_of_the_data_is_in_the_table() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures");
    let known: Vec<&str> = cases().iter().map(|case| case.scenario).collect();
    let mut seen = 0;
    for program in fs::read_dir(&folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(program.path()).unwrap().map(Result::unwrap) {
            let name = file.file_name().into_string().unwrap();
            let stem = NAMES.iter().rev().find_map(|end| name.strip_suffix(end)).unwrap();
            let scenario = format!("{}/{stem}", program.file_name().into_string().unwrap());
            assert!(known.contains(&scenario.as_str()), "{scenario}");
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} files");
}

#[test]
fn the_effort_that_took_hold_is_told_and_one_that_was_ignored() {
    for (scenario, effort, model) in [
        ("claude/success-partial", Some("high"), "claude-opus-4-6"),
        ("claude-2.1.197/success-partial", None, "claude-opus-4-6"),
        ("codex/success", Some("high"), "gpt-5.5"),
        ("pi/success", Some("high"), "claude-opus-4-6"),
        ("gemini/success", None, "gemini-2.5-pro"),
        ("copilot/success", Some("high"), "claude-opus-4-6"),
    ] {
        let (out, closed) = play(scenario, ProcessEnd::Exited(0), false, 1000, true);
        assert_eq!((closed.confirmed.as_deref(), closed.model.as_deref()), (effort, Some(model)), "{scenario}");
        let told = out.iter().filter(|landed| matches!(landed, Landed::Effort { .. })).count();
        assert_eq!(told, usize::from(effort.is_some()), "{scenario}");
    }
    for scenario in ["claude-2.1.197/effort-bogus", "copilot/effort-bogus"] {
        let (out, _) = play(scenario, ProcessEnd::Exited(1), false, 1000, true);
        assert!(
            out.iter().any(|landed| matches!(landed, Landed::Ignored { why } if why.contains("bogus"))),
            "{scenario}"
        );
    }
    for scenario in ["claude/error-429", "codex/error-429-usage-limit", "gemini/error-429-max2"] {
        let (out, _) = play(scenario, ProcessEnd::Exited(1), false, 1000, true);
        assert!(out.iter().any(|landed| matches!(landed, Landed::Limit { .. })), "{scenario}");
    }
}

#[test]
fn what_is_printed_alone_counts_what_it_can() {
    let late = |scenario| {
        let (out, closed) = play(scenario, ProcessEnd::Exited(0), false, 1000, false);
        let late: Vec<_> =
            closed.late.iter().map(|turn| (turn.output.count(), turn.counts_as_turn, turn.grade)).collect();
        (turns(&out).len(), late, closed.coverage.ppm())
    };
    // partial messages say all but the subagent's calls; the one of them that is printed takes what the result has beyond
    let rest = vec![(81, true, Grade::Estimated)];
    assert_eq!(late("claude/subagent-partial"), (2, rest, 649_350));
    assert_eq!(late("pi/success").0, 2);
    // a sum and no call
    assert_eq!(late("codex/success"), (0, vec![(153, false, Grade::Known)], 0));
    // no count at all
    assert_eq!(late("copilot/success"), (0, vec![(0, true, Grade::Unknown), (0, true, Grade::Unknown)], 1_000_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn where_the_bytes_are_cut_makes_no_difference(at in 0..1000_usize, piece in 1..5000_usize) {
        let cases = cases();
        let case = &cases[at % cases.len()];
        let whole = play(case.scenario, case.end, case.cut, usize::MAX, true);
        prop_assert_eq!(whole, play(case.scenario, case.end, case.cut, piece, true));
    }
}

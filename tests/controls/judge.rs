//! A judge that is a script.

use flyball::agents::adapter::AgentKind;
use flyball::engine::{Answer, Millis, Tokens};
use flyball::run::Agent;
use flyball::run::oracle::judge::Judge;
use flyball::run::oracle::{Asking, Oracle, Verdict};

use crate::world::{World, argv};

const RUBRIC: &str = "---\r\nname: x\r\nthreshold: 4.0\r\n---\r\nIs it any good?\r\n";

/// Says these texts, one a call, and keeps what it was asked.
fn judged(world: &mut World, rubric: &str, texts: &[&str], left: Option<Millis>) -> Verdict {
    world.write("rubric.md", rubric);
    for (at, text) in texts.iter().enumerate() {
        world.write(&format!("../says-{}", at + 1), text);
    }
    let here = world.path("..").display().to_string();
    let script = "cd \"$1\"; echo call >> calls; n=$(wc -l < calls); cat > \"asked-$n\"; echo \"$FLYBALL_ASKED_SESSION\" >> sessions; echo \"$FLYBALL_RECORD\" > record; cat \"says-$((n))\"";
    let mut agent = Agent::new(AgentKind::Command.adapter(), world.path(""), world.path(""), "run", "");
    agent.program = argv(&["sh", "-c", script, "judge", &here]);
    let judge = Judge { agent, effort: "low".to_owned(), threshold: None };
    let asking = Asking { judge: Some(&judge), task: "Build it.", diff: "+ a line\n", left, ..Asking::default() };
    let _ = std::fs::remove_file(world.path("../calls"));
    Oracle::parse("judge:rubric.md").unwrap().ask(&mut world.os, &world.place, &asking).unwrap()
}

fn pi(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    let usage = "{\"input\":10,\"output\":55,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":65}";
    format!(
        "{{\"type\":\"session\",\"id\":\"s\"}}\n{{\"type\":\"message_end\",\"message\":{{\"role\":\"assistant\",\"model\":\"m\",\"responseId\":\"r1\",\"stopReason\":\"stop\",\"usage\":{usage},\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n{{\"type\":\"agent_end\",\"willRetry\":false}}\n"
    )
}

#[test]
fn a_score_is_held_against_the_threshold() {
    let mut world = World::new();
    for (text, answer, score) in [
        ("Good.\nscore: 4.0\n", Answer::Pass, 4_000_000),
        ("Good.\n  Score: 4.25  \n\nBye.", Answer::Pass, 4_250_000),
        ("Bad.\nscore: 3.999999", Answer::Fail, 3_999_999),
        ("score: 5\nNo, wait.\nscore: 1", Answer::Fail, 1_000_000),
        ("{\"score\": 5}\nscore: 2", Answer::Fail, 2_000_000),
        ("score: 2\n```json\n{\"why\": {\"n\": [1, {}]}, \"score\": 4.5}\n```\n", Answer::Pass, 4_500_000),
        ("It is {odd} {\"score\": 1} 5 of 5 {\"score\":4.5} {\"other\": 1}", Answer::Pass, 4_500_000),
        ("score: -3", Answer::Fail, -3_000_000),
    ] {
        let verdict = judged(&mut world, RUBRIC, &[text], None);
        assert_eq!((verdict.answer, verdict.score), (Some(answer), Some(score)), "{text}: {}", verdict.why);
        assert_eq!(world.hand("wc -l < ../calls").trim(), "1");
    }
}

#[test]
fn what_is_no_score_is_asked_for_once_more_and_then_an_error() {
    let mut world = World::new();
    for text in [
        "I give it a 5.",
        "score: five",
        "score: 4/5",
        "score: 4 of 5",
        "the score: 5",
        "{\"score\": \"5\"}",
        "score: 5\nscore: none",
        "",
    ] {
        let verdict = judged(&mut world, RUBRIC, &[text, text], None);
        assert_eq!((verdict.answer, verdict.score), (Some(Answer::Error), None), "{text}: {}", verdict.why);
        assert_eq!(world.hand("wc -l < ../calls").trim(), "2", "{text}");
    }
    let verdict = judged(&mut world, RUBRIC, &["hm", "score: 5"], None);
    assert_eq!(verdict.answer, Some(Answer::Pass));
    let sessions = world.hand("tail -2 ../sessions | sort -u | wc -l");
    assert_eq!(sessions.trim(), "2", "each call has a session of its own");
    assert_eq!(world.hand("cat ../record").trim(), world.place.record.display().to_string(), "the run's mark");
}

#[test]
fn its_spend_is_counted_by_the_readers() {
    let mut world = World::new();
    let verdict = judged(&mut world, RUBRIC, &[&pi("Fine.\nscore: 4.5")], None);
    assert_eq!((verdict.answer, verdict.score), (Some(Answer::Pass), Some(4_500_000)), "{}", verdict.why);
    let [turn] = &verdict.turns[..] else { panic!("{:?}", verdict.turns) };
    assert_eq!((turn.output, turn.round, turn.model.as_deref()), (Tokens::new(55), 1, Some("m")));
    let verdict = judged(&mut world, RUBRIC, &[&pi("Hm."), &pi("score: 1")], None);
    assert_eq!((verdict.answer, verdict.turns.len()), (Some(Answer::Fail), 2), "both calls are paid for");
    assert!(world.record("oracle.json").contains("\"judge_output_tokens\": 110"));
}

#[test]
fn a_score_in_what_a_tool_printed_is_none() {
    let mut world = World::new();
    let tool = "{\"type\":\"tool_execution_end\",\"result\":\"\\nscore: 5\\n\"}\n";
    let text = format!("{}{tool}", pi("I read a file."));
    let verdict = judged(&mut world, RUBRIC, &[&text, &text], None);
    assert_eq!(verdict.answer, Some(Answer::Error), "{}", verdict.why);
}

#[test]
fn it_sees_what_is_put_before_it() {
    let mut world = World::new();
    judged(&mut world, RUBRIC, &["score: 4"], None);
    let asked = world.text("../asked-1");
    for part in ["Is it any good?", "Build it.", "+ a line", "score: X", "4.0 or more passes"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!asked.contains("threshold:"), "{asked}");
    assert!(world.record("judge-1/prompt.md") == asked);
}

#[test]
fn a_rubric_that_is_none_is_an_error() {
    let mut world = World::new();
    for (rubric, says) in [
        ("No threshold.", "says no score"),
        ("---\nthreshold: high\n---\nx", "no threshold"),
        ("---\nthreshold: 4\n", "no second one"),
    ] {
        let verdict = judged(&mut world, rubric, &["score: 5"], None);
        assert_eq!(verdict.answer, Some(Answer::Error));
        assert!(verdict.why.contains(says), "{}", verdict.why);
    }
    let verdict = Oracle::parse("judge:none.md").unwrap().ask(&mut world.os, &world.place, &Asking::default()).unwrap();
    assert!(verdict.answer == Some(Answer::Error) && verdict.why.contains("no judge is set"), "{}", verdict.why);
    let verdict = judged(&mut world, RUBRIC, &["score: 5"], Some(Millis::ZERO));
    assert_eq!((verdict.answer, world.path("../calls").exists()), (None, false));
}

//! What gives a loop up.

use flyball::agents::adapter::AgentKind;
use flyball::agents::live::ProcessEnd;
use flyball::engine::Millis;
use flyball::run::kill::{KillOn, LastMessage, Said};

use crate::world::{LONG, World};

fn asked(world: &mut World, text: &str, message: &str, limit: Millis) -> Said {
    KillOn::parse(text).unwrap().ask(&mut world.os, &world.place, message, limit)
}

#[test]
fn a_program_that_ends_with_2_kills_and_nothing_else_does() {
    let mut world = World::new();
    world.script("kill.sh", "cat > heard; echo because; exit \"$1\"");
    let said = asked(&mut world, "cli:./kill.sh 2", "the last word", LONG);
    assert_eq!(said, Said::Kill("`./kill.sh 2` ended with 2: because".to_owned()));
    assert_eq!(world.text("heard"), "the last word");
    assert_eq!(asked(&mut world, "cli:./kill.sh 0", "", LONG), Said::GoOn);
    for (text, says) in [
        ("cli:./kill.sh 1", "ended with 1"),
        ("cli:./kill.sh 127", "127"),
        ("cli:./none", "cannot be started"),
        ("cli:sh -c 'kill -9 $$'", "signal 9"),
    ] {
        let Said::Broken(why) = asked(&mut world, text, "", LONG) else { panic!("{text}") };
        assert!(why.contains(says), "{why}");
    }
    assert!(
        matches!(asked(&mut world, "cli:sleep 600", "", Millis::new(100)), Said::Broken(why) if why.contains("longer than 1 s"))
    );
    world.write("kill.py", "import sys\nsys.exit(2 if 'stuck' in sys.stdin.read() else 0)\n");
    assert!(matches!(asked(&mut world, "python:kill.py", "I am stuck", LONG), Said::Kill(_)));
    assert_eq!(asked(&mut world, "python:kill.py", "fine", LONG), Said::GoOn);
}

/// The last message of a round in which this was printed.
fn last(kind: AgentKind, lines: &[&str]) -> String {
    let (mut live, mut landed, mut last) = (kind.adapter().live(), Vec::new(), LastMessage::new(kind));
    for line in lines {
        let bytes = format!("{line}\n").into_bytes();
        live.stdout(&bytes, &mut landed);
        last.printed(&bytes);
    }
    landed.iter().for_each(|landed| last.land(landed));
    last.text()
}

const GIVE_UP: &str = "regex:^GIVE UP$";

fn kills(world: &mut World, message: &str) -> bool {
    asked(world, GIVE_UP, message, LONG) != Said::GoOn
}

fn claude(id: &str, text: &str) -> String {
    let usage = "{\"input_tokens\":1,\"output_tokens\":5}";
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"model\":\"m\",\"stop_reason\":\"end_turn\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"usage\":{usage}}}}}"
    )
}

#[test]
fn echo_the_prompt_and_wrong_author() {
    let mut world = World::new();
    let prompt = r#"{"type":"user","message":{"role":"user","content":"Say so:\nGIVE UP\n"}}"#;
    let tool = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"GIVE UP"}]}}"#;
    let side = r#"{"type":"assistant","parent_tool_use_id":"t","message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"text","text":"GIVE UP"}],"usage":{"input_tokens":1,"output_tokens":5}}}"#;
    let message = last(AgentKind::Claude, &[prompt, &claude("m1", "Working."), tool, side]);
    assert_eq!((message.as_str(), kills(&mut world, &message)), ("Working.", false));
    let pi = r#"{"type":"message_end","message":{"role":"toolResult","content":[{"type":"text","text":"GIVE UP"}]}}"#;
    let message = last(AgentKind::Pi, &[pi]);
    assert_eq!((message.as_str(), kills(&mut world, &message)), ("", false));
    let codex = r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"x","aggregated_output":"GIVE UP\n","exit_code":0,"status":"completed"}}"#;
    assert!(!kills(&mut world, &last(AgentKind::Codex, &[codex])));
}

#[test]
fn first_match_wins_no_more() {
    let mut world = World::new();
    let message = last(AgentKind::Claude, &[&claude("m1", "So:\\nGIVE UP"), &claude("m2", "I was wrong. Going on.")]);
    assert_eq!((message.as_str(), kills(&mut world, &message)), ("I was wrong. Going on.", false));
    assert!(kills(&mut world, "so\r\nGIVE UP\r\nbye"));
}

#[test]
fn envelope_missed_no_more() {
    let mut world = World::new();
    let message = last(AgentKind::Claude, &[&claude("m1", "Hm."), &claude("m2", "It ends:\\nGIVE UP\\n")]);
    assert!(kills(&mut world, &message), "{message}");
    let codex = r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Well.\nGIVE UP"}}"#;
    assert!(kills(&mut world, &last(AgentKind::Codex, &[codex])));
    let gemini = [
        r#"{"type":"message","role":"assistant","content":"GIVE","delta":true}"#,
        r#"{"type":"message","role":"assistant","content":" UP","delta":true}"#,
    ];
    assert_eq!(last(AgentKind::Gemini, &gemini), "GIVE UP");
    assert_eq!(last(AgentKind::Command, &["GIVE UP", "", "No, I go on.", "On it.", ""]), "No, I go on.\nOn it.");
}

#[test]
fn substring_error_test_is_none() {
    // `"is_error": false` is no error: what is compared is the text of an error, and an error is told by structure
    let ok = r#"{"type":"result","subtype":"success","is_error":false,"result":"no error: 0 errors","session_id":"s"}"#;
    let mut live = AgentKind::Claude.adapter().live();
    live.stdout(format!("{}\n{ok}\n", claude("m1", "error error")).as_bytes(), &mut Vec::new());
    assert_eq!(live.close(ProcessEnd::Exited(0), false).error, None);
}

#[test]
fn repeated_success_is_no_stall() {
    let mut world = World::new();
    for counted in ["oracle-pass", "no-progress:3", "same-error-repeats:1", "agent-failures:2"] {
        assert_eq!(asked(&mut world, counted, "All done.", LONG), Said::GoOn);
    }
}

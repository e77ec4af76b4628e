//! What lands, when, and what closing makes of it, on made-up lines.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const S: &str = "11111111-2222-4333-8444-555555555555";

fn claude(mut line: Value) -> String {
    line["session_id"] = S.into();
    format!("{line}\n")
}

fn init() -> String {
    claude(json!({"type": "system", "subtype": "init", "model": "m", "claude_code_version": "9.9.9"}))
}

fn started(id: &str) -> String {
    let message = json!({"id": id, "model": "m", "usage": {"output_tokens": 1, "input_tokens": 5}});
    claude(json!({"type": "stream_event", "event": {"type": "message_start", "message": message}}))
}

fn piece(id: &str, text: &str) -> String {
    let event = json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}});
    claude(json!({"type": "stream_event", "api_message_id": id, "event": event}))
}

fn done(id: &str, output: u64) -> String {
    let event =
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}});
    claude(json!({"type": "stream_event", "api_message_id": id, "event": event}))
}

fn result(output: u64) -> String {
    claude(json!({"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.5, "uuid": "r",
                  "usage": {"output_tokens": output}, "modelUsage": {"m": {"outputTokens": output}}}))
}

fn filed(id: &str, output: u64, effort: &str) -> String {
    let message = json!({"id": id, "model": "m", "stop_reason": "end_turn", "usage": {"output_tokens": output}});
    let line = json!({"type": "assistant", "sessionId": S, "effort": effort, "message": message,
                      "timestamp": "2026-01-01T00:00:01Z"});
    format!("{line}\n")
}

fn turns(landed: &[Landed]) -> Vec<u64> {
    let count = |landed: &Landed| if let Landed::Turn(turn) = landed { Some(turn.output.count()) } else { None };
    landed.iter().filter_map(count).collect()
}

fn late(closed: &Closed) -> Vec<(u64, bool, Grade)> {
    closed.late.iter().map(|turn| (turn.output.count(), turn.counts_as_turn, turn.grade)).collect()
}

#[test]
fn a_turn_lands_when_its_count_is_final_and_once_over_all_sources() {
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout((init() + &started("a") + &piece("a", "hello")).as_bytes(), &mut out);
    assert_eq!((turns(&out), live.session(), live.requests()), (vec![], Some(S), 1));
    live.stdout(done("a", 40).as_bytes(), &mut out);
    assert_eq!(turns(&out), [40]);
    live.followed("log", filed("a", 40, "low").as_bytes(), &mut out);
    live.followed("log", filed("b", 7, "low").as_bytes(), &mut out);
    live.stdout((started("b") + &done("b", 7) + &result(47)).as_bytes(), &mut out);
    assert_eq!(turns(&out), [40, 7]);
    let efforts = out.iter().filter(|landed| matches!(landed, Landed::Effort { .. })).count();
    let results = out.iter().filter(|landed| **landed == Landed::Result).count();
    assert_eq!((efforts, results), (1, 1));
    let closed = live.close(ProcessEnd::Exited(0), false);
    assert_eq!((closed.exit, closed.why.as_deref(), &closed.total), (RoundExit::Done, None, &None));
    assert_eq!((closed.late, closed.notes), (vec![], Vec::<String>::new()));
    assert_eq!((closed.confirmed.as_deref(), closed.version.as_deref()), (Some("low"), Some("9.9.9")));
    assert_eq!((closed.model.as_deref(), closed.cost), (Some("m"), Some(MicroUsd::new(500_000))));
}

#[test]
fn a_count_that_grew_after_it_landed_is_settled_by_its_id() {
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout((init() + &started("a") + &done("a", 40) + &started("b") + &done("b", 5)).as_bytes(), &mut out);
    live.followed("log", filed("a", 60, "low").as_bytes(), &mut out);
    live.stdout(result(65).as_bytes(), &mut out);
    assert_eq!(turns(&out), [40, 5]);
    let closed = live.close(ProcessEnd::Exited(0), false);
    assert_eq!(closed.total, Some((Tokens::new(65), vec![("a".into(), Tokens::new(60))])));
}

#[test]
fn start_values_without_partial_messages_are_settled_by_the_result() {
    let said = |id: &str, text: &str| {
        let message =
            json!({"id": id, "model": "m", "content": [{"type": "text", "text": text}], "usage": {"output_tokens": 1}});
        claude(json!({"type": "assistant", "message": message}))
    };
    let text = init() + &said("a", "one") + &said("b", "two");
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout((text.clone() + &result(81)).as_bytes(), &mut out);
    assert_eq!((turns(&out), live.requests()), (vec![], 2));
    let closed = live.close(ProcessEnd::Exited(0), false);
    assert_eq!(late(&closed), [(41, true, Grade::Estimated), (40, true, Grade::Estimated)]);
    assert_eq!((closed.coverage.ppm(), closed.total), (0, None));
    // died by itself: nobody knows; cut by us: by what was printed
    let close = |cut| {
        let mut live = Live::new(AgentKind::Claude);
        live.stdout(text.as_bytes(), &mut Vec::new());
        live.close(ProcessEnd::Signalled(9), cut)
    };
    assert_eq!(late(&close(false)), [(0, true, Grade::Unknown); 2]);
    assert_eq!(close(false).exit, RoundExit::Failed);
    assert_eq!(late(&close(true)), [(1, true, Grade::Estimated); 2]);
}

#[test]
fn what_was_cut_is_estimated_by_what_was_printed_and_a_broken_try_is_no_turn() {
    let text = init() + &started("a") + &piece("a", "never to end") + &started("b") + &piece("b", &"x".repeat(400));
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout(text.as_bytes(), &mut out);
    let closed = live.close(ProcessEnd::Signalled(15), true);
    assert_eq!(late(&closed), [(3, false, Grade::Estimated), (100, true, Grade::Estimated)]);
    assert_eq!((closed.exit, closed.notes.len()), (RoundExit::Cut, 1));
    let mut live = Live::new(AgentKind::Claude);
    live.stdout((text + &done("b", 300) + &result(301)).as_bytes(), &mut out);
    assert_eq!(late(&live.close(ProcessEnd::Exited(0), false)), [(3, false, Grade::Estimated)]);
}

#[test]
fn no_single_sign_makes_a_success() {
    let close = |text: String, end| {
        let mut live = Live::new(AgentKind::Claude);
        live.stdout(text.as_bytes(), &mut Vec::new());
        live.close(end, false)
    };
    let fine = init() + &started("a") + &done("a", 4);
    assert_eq!(close(fine.clone() + &result(4), ProcessEnd::Exited(0)).exit, RoundExit::Done);
    assert_eq!(close(fine.clone(), ProcessEnd::Exited(0)).exit, RoundExit::Failed);
    let coded = close(fine.clone() + &result(4), ProcessEnd::Exited(3));
    assert_eq!((coded.exit, coded.why.as_deref()), (RoundExit::Failed, Some("exit code 3")));
    let killed = close(fine + &result(4), ProcessEnd::Signalled(6));
    assert_eq!((killed.exit, killed.error.as_deref()), (RoundExit::Failed, Some("killed by signal 6")));
}

#[test]
fn a_limit_says_until_when() {
    let info = json!({"status": "rejected", "resetsAt": 1_778_565_600, "rateLimitType": "five_hour"});
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout(claude(json!({"type": "rate_limit_event", "rate_limit_info": info})).as_bytes(), &mut out);
    let [Landed::Limit { until_unix_ms, .. }] = &out[..] else { panic!("{out:?}") };
    assert_eq!(*until_unix_ms, Some(1_778_565_600_000));
    let allowed = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}});
    live.stdout(claude(allowed).as_bytes(), &mut out);
    assert_eq!(out.len(), 1);
}

#[test]
fn a_command_is_known_by_what_it_prints_and_else_is_unmetered() {
    let close = |text: &str, end| {
        let (mut live, mut out) = (Live::new(AgentKind::Command), Vec::new());
        live.stdout(text.as_bytes(), &mut out);
        (out, live.close(end, false))
    };
    let (_, plain) = close("thinking about it\nall done\n", ProcessEnd::Exited(0));
    assert_eq!((late(&plain), plain.exit), (vec![(0, true, Grade::Unknown)], RoundExit::Done));
    assert_eq!(plain.coverage.ppm(), 0);
    let text = format!("hello\n{}{}{}{}", init(), started("a"), done("a", 9), result(9));
    let (out, known) = close(&text, ProcessEnd::Exited(0));
    assert_eq!((turns(&out), late(&known), known.exit), (vec![9], vec![], RoundExit::Done));
    let broken = close(&(init() + &started("a") + &done("a", 9)), ProcessEnd::Exited(0)).1;
    assert_eq!(broken.exit, RoundExit::Failed, "what looks like claude is judged like claude");
    let own = "{\"format\":\"flyball-trace\",\"version\":1}\n{\"kind\":\"turned\",\"round\":1,\"at_ms\":5,\"output_tokens\":12,\"grade\":\"known\"}\n";
    let (out, own) = close(own, ProcessEnd::Exited(0));
    assert_eq!((turns(&out), late(&own), own.exit), (vec![12], vec![], RoundExit::Done));
}

#[test]
fn a_round_whose_log_was_never_found_is_unmetered() {
    let text = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n";
    let close = |text: &str| {
        let mut live = Live::new(AgentKind::Codex);
        live.stdout(text.as_bytes(), &mut Vec::new());
        live.close(ProcessEnd::Exited(1), false)
    };
    assert_eq!(late(&close(text)), [(0, true, Grade::Unknown)]);
    let summed = format!("{text}{}\n", json!({"type": "turn.completed", "usage": {"output_tokens": 50}}));
    assert_eq!(late(&close(&summed)), [(50, false, Grade::Known)]);
    assert_eq!(late(&close("")), [], "it never asked for anything");
}

#[test]
fn standard_error_tells_why_in_one_line_and_what_was_ignored() {
    let (mut live, mut out) = (Live::new(AgentKind::Pi), Vec::new());
    live.stderr(
        b"Warning: Invalid thinking level \"HIGH\". Valid values: off\nNo API key found for x.\n\nsee docs\n",
        &mut out,
    );
    assert!(matches!(&out[..], [Landed::Ignored { why }] if why.contains("HIGH")), "{out:?}");
    let closed = live.close(ProcessEnd::Exited(1), false);
    assert_eq!(closed.why.as_deref(), Some("exit code 1: No API key found for x."));
    assert_eq!(closed.error.as_deref(), Some("No API key found for x."));
}

#[test]
fn a_last_half_line_and_an_endless_one_cost_nothing_else() {
    let whole = started("b") + &done("b", 5);
    let half = &whole[..whole.len() - 1];
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout((init() + half).as_bytes(), &mut out);
    assert!(turns(&out).is_empty());
    assert_eq!(late(&live.close(ProcessEnd::Signalled(9), true)), [(5, true, Grade::Known)]);
    let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
    live.stdout(init().as_bytes(), &mut out);
    for _ in 0..40 {
        live.stdout(&vec![b'x'; MAX_LIVE_LINE / 16], &mut out);
    }
    live.stdout(("\n".to_owned() + &started("a") + &done("a", 3)).as_bytes(), &mut out);
    assert_eq!(turns(&out), [3]);
}

proptest! {
    #[test]
    fn random_bytes_never_make_it_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0..7_usize, cut in any::<bool>(),
    ) {
        let (mut live, mut out) = (Live::new(AgentKind::ALL[kind]), Vec::new());
        live.stdout(&bytes, &mut out);
        live.stderr(&bytes, &mut out);
        live.followed("f", &bytes, &mut out);
        let _ = live.close(ProcessEnd::Exited(0), cut);
    }

    #[test]
    fn damaged_lines_never_make_it_panic(at in 0..900_usize, byte in any::<u8>(), cut in 1..60_usize) {
        let text = init() + &started("a") + &piece("a", "text") + &done("a", 3) + &result(3);
        let mut bytes = text.into_bytes();
        let place = at % bytes.len();
        bytes[place] = byte;
        let play = |pieces: &mut dyn Iterator<Item = &[u8]>| {
            let (mut live, mut out) = (Live::new(AgentKind::Claude), Vec::new());
            pieces.for_each(|piece| live.stdout(piece, &mut out));
            (out, live.close(ProcessEnd::Exited(0), true))
        };
        prop_assert_eq!(play(&mut core::iter::once(&bytes[..])), play(&mut bytes.chunks(cut)));
    }
}

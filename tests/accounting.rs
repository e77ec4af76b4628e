//! The ways in which tokens of agents' loops were miscounted, as their users reported them, each as a small log.
//!
//! A test is named by its kind; the report that it follows stands above it. The lines are made up.
#![cfg(feature = "agents")]
#![expect(clippy::unwrap_used, reason = "a test that cannot read its own lines has failed")]

use flyball::agents::ledger::{Dedup, Ledger};
use flyball::agents::{Log, LogReader, join};
use flyball::engine::Grade;
use serde_json::{Value, json};

fn read(bytes: &[u8]) -> Log {
    let mut reader = LogReader::new();
    reader.push(bytes);
    reader.finish().unwrap()
}

fn log(lines: &[Value]) -> Log {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    read(text.as_bytes())
}

fn ledger(logs: &[Log]) -> Ledger {
    Ledger::of(logs, Dedup::PerFile)
}

/// Turns, known turns, output of known turns, estimated output.
fn sums(logs: &[Log]) -> (u64, u64, u64, u64) {
    let all = ledger(logs).total.all;
    (all.turns, all.known_turns, all.output.count(), all.estimated.count())
}

fn session_row(session: &str, id: &str, output: u64, stop: Option<&str>) -> Value {
    json!({"type": "assistant", "sessionId": session, "timestamp": "2026-01-01T00:00:02Z",
           "message": {"id": id, "model": "claude-x", "stop_reason": stop, "usage": {"input_tokens": 3, "output_tokens": output}}})
}

fn stream_row(session: &str, id: &str, output: u64) -> Value {
    json!({"type": "assistant", "session_id": session,
           "message": {"id": id, "model": "claude-x", "stop_reason": null, "usage": {"output_tokens": output}}})
}

fn result(session: &str, uuid: &str, output: u64, usd: f64) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "session_id": session, "uuid": uuid, "num_turns": 27, "total_cost_usd": usd,
           "usage": {"output_tokens": output}, "modelUsage": {"claude-x": {"outputTokens": output}}})
}

fn exec(thread: &str, outputs: &[u64]) -> Vec<Value> {
    let start = json!({"type": "thread.started", "thread_id": thread});
    let ends = outputs.iter().map(|&output| {
        json!({"type": "turn.completed",
               "usage": {"input_tokens": 10 * output, "cached_input_tokens": output, "output_tokens": output, "reasoning_output_tokens": 0}})
    });
    core::iter::once(start).chain(ends).collect()
}

fn counted(at: u32, total: &Value, last: u64) -> Value {
    json!({"timestamp": format!("2026-01-01T00:00:{at:02}Z"), "type": "event_msg", "payload": {"type": "token_count",
           "info": {"total_token_usage": total, "last_token_usage": {"output_tokens": last}}}})
}

// titeya/dms-claudecode 52, getagentseal/codeburn 201
#[test]
fn a_row_for_each_block_of_a_message_and_only_the_last_is_final() {
    let rows =
        [session_row("s", "m", 1, None), session_row("s", "m", 1, None), session_row("s", "m", 400, Some("tool_use"))];
    assert_eq!(sums(&[log(&rows)]), (1, 1, 400, 0));
}

// sirmalloc/ccstatusline 549
#[test]
fn identical_repeats_are_one_turn() {
    let row = session_row("s", "m", 77, Some("end_turn"));
    let log = log(&[row.clone(), row]);
    assert_eq!(log.health.repeats, 1);
    assert_eq!(sums(&[log]), (1, 1, 77, 0));
}

// anthropics/claude-code 22686
#[test]
fn start_values_are_no_counts_and_the_result_is_laid_onto_their_turns() {
    let mut rows: Vec<Value> = ["a", "b", "c"].iter().map(|id| stream_row("s", id, 1)).collect();
    assert_eq!(sums(&[log(&rows)]), (3, 0, 0, 0), "unknown, and not zero");
    assert_eq!(ledger(&[log(&rows)]).total.unknown_turns, 3);
    rows.push(result("s", "r", 900, 0.5));
    let log = log(&rows);
    let joined = join(std::slice::from_ref(&log));
    let laid: Vec<_> = joined.turns.iter().map(|turn| (turn.output.count(), turn.grade)).collect();
    assert_eq!(laid, [(300, Grade::Estimated); 3]);
    let stated = log.stated.unwrap();
    assert_eq!((stated.counted.count(), stated.stated.count(), stated.ppm()), (0, 900, 0));
    assert_eq!(sums(&[log]), (3, 0, 0, 900));
}

// iOfficeAI/AionCore 767, mosonlab/anneal 600
#[test]
fn a_cost_that_runs_on_over_a_process_begins_again_with_the_next() {
    let first =
        [stream_row("s", "a", 1), result("s", "r1", 10, 0.25), stream_row("s", "b", 1), result("s", "r2", 20, 0.28)];
    let second = [stream_row("s", "c", 1), result("s", "r3", 5, 0.03)];
    let both = ledger(&[log(&first), log(&second)]).total;
    assert_eq!((both.cost.unwrap().count(), both.all.estimated.count(), both.results), (310_000, 25, 3));
    // and where the two processes wrote into one file
    let one = ledger(&[log(&[&first[..], &second[..]].concat())]).total;
    assert_eq!((one.cost, one.all.estimated), (both.cost, both.all.estimated));
    assert_eq!(one.health.falls, 1);
}

// link-assistant/hive-mind 1889 and 2067
#[test]
fn a_run_without_a_result_keeps_what_it_spent_and_says_that_the_rest_is_unknown() {
    let limit = json!({"type": "assistant", "session_id": "one", "error": "rate_limit",
                       "message": {"id": "x", "model": "<synthetic>", "usage": {"output_tokens": 0}}});
    let cut = log(&[stream_row("one", "a", 1), stream_row("one", "b", 1), limit]);
    let next = log(&[stream_row("two", "c", 1), result("two", "r", 40, 0.1)]);
    assert_eq!(cut.stated, None);
    let total = ledger(&[cut, next]).total;
    assert_eq!((total.sessions, total.all.turns, total.unknown_turns, total.all.estimated.count()), (2, 3, 2, 40));
    assert_eq!(total.health.error_kinds["rate_limit"], 1);
}

// jonwiggins/optio 573
#[test]
fn two_runs_of_one_task_add_up() {
    let run = |id: &str, uuid: &str, usd| log(&[stream_row("s", id, 1), result("s", uuid, 100, usd)]);
    let total = ledger(&[run("a", "r1", 0.2), run("b", "r2", 0.3)]).total;
    assert_eq!((total.cost.unwrap().count(), total.all.estimated.count(), total.results), (500_000, 200, 2));
}

// TarekAwwad/checkyouragent 41
#[test]
fn history_that_a_resumed_or_forked_file_replays_adds_nothing() {
    let old = [session_row("s", "a", 10, Some("tool_use")), session_row("s", "b", 20, Some("end_turn"))];
    let mut copy: Vec<Value> = old.to_vec();
    for row in &mut copy {
        row["sessionId"] = json!("fork");
    }
    copy.push(session_row("fork", "c", 5, Some("end_turn")));
    let logs = [log(&old), log(&copy)];
    assert_eq!(sums(&logs), (3, 3, 35, 0));
    assert_eq!(ledger(&logs).doubled.output.count(), 30);
    // what a run printed and its session file are one run
    let printed = log(&[stream_row("s", "a", 1), stream_row("s", "b", 1), result("s", "r", 30, 0.1)]);
    assert_eq!(sums(&[log(&old), printed]), (2, 2, 30, 0));
}

#[test]
fn a_total_is_laid_onto_what_no_file_knows_and_never_beside_what_one_knows() {
    // cut in its second answer: stdout knows a sum, the session file the first answer
    let printed = log(&[stream_row("s", "a", 1), stream_row("s", "b", 1), result("s", "r", 51, 0.1)]);
    let kept = log(&[session_row("s", "a", 50, Some("tool_use")), session_row("s", "b", 1, None)]);
    assert_eq!(sums(std::slice::from_ref(&printed)), (2, 0, 0, 51));
    assert_eq!(sums(&[kept.clone(), printed.clone()]), (2, 1, 50, 1));
    assert_eq!(sums(&[printed.clone(), printed, kept]), (2, 1, 50, 1), "a copy of the total adds nothing");
    // what both files' calls do not tell was spent all the same: a summary, a failed try
    let more = log(&[stream_row("s", "a", 1), result("s", "r2", 69, 0.1)]);
    let known = log(&[session_row("s", "a", 50, Some("end_turn"))]);
    assert_eq!(sums(&[known, more]), (1, 1, 50, 19));
}

// gitmoot/gitmoot 661
#[test]
fn a_resumed_thread_states_its_sum_so_far() {
    let runs = [log(&exec("t", &[16_504])), log(&exec("t", &[85_681])), log(&exec("t", &[103_779]))];
    assert_eq!(sums(&runs), (0, 0, 0, 103_779));
    assert_eq!(sums(&[log(&exec("t", &[16_504, 85_681, 103_779]))]), (0, 0, 0, 103_779));
    assert_eq!(sums(&[log(&exec("t", &[100])), log(&exec("u", &[100]))]).3, 200, "threads of their own add up");
}

#[test]
fn a_sum_without_calls_gives_way_to_the_calls_of_its_thread() {
    let meta = json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "t"}});
    let total = |output: u64| json!({"output_tokens": output, "total_tokens": output});
    let rollout = log(&[meta, counted(1, &total(60), 60), counted(2, &total(100), 40)]);
    assert_eq!(sums(&[rollout, log(&exec("t", &[100]))]), (2, 2, 100, 0));
}

// majiayu000/ccstats 36
#[test]
fn totals_that_lack_one_field_still_tell_new_calls_from_repeats() {
    let total = |output: u64| json!({"input_tokens": 5, "output_tokens": output});
    let rows = [
        counted(1, &total(10), 10),
        counted(2, &total(10), 10),
        counted(3, &total(30), 20),
        counted(4, &total(60), 30),
    ];
    assert_eq!(sums(&[log(&rows)]), (3, 3, 60, 0));
}

// first-tree-ai/first-tree 1241
#[test]
fn a_sum_that_a_compaction_lowered_never_takes_away() {
    let log = log(&exec("t", &[500, 200, 260]));
    assert_eq!(log.health.falls, 1, "and is said");
    assert_eq!(sums(&[log]), (0, 0, 0, 560));
}

// anthropics/claude-code-action 1762
#[test]
fn turns_are_answers_of_the_model_whatever_the_result_calls_a_turn() {
    let mut rows: Vec<Value> = (0..14).map(|at| stream_row("s", &format!("m{at}"), 1)).collect();
    rows.push(result("s", "r", 1400, 1.0));
    assert_eq!(sums(&[log(&rows)]), (14, 0, 0, 1400));
}

// paperclipai/paperclip 3406
#[test]
fn usage_that_is_absent_is_unknown() {
    let bare = json!({"type": "assistant", "sessionId": "s", "timestamp": "2026-01-01T00:00:02Z",
                      "message": {"id": "m", "model": "claude-x", "stop_reason": "end_turn"}});
    let total = ledger(&[log(&[bare])]).total;
    assert_eq!((total.all.turns, total.unknown_turns, total.zero_turns, total.cost), (1, 1, 0, None));
}

// mikeyobrien/pi-provider-kiro 52
#[test]
fn a_turn_of_no_output_is_a_turn_of_zero() {
    let total = ledger(&[log(&[session_row("s", "m", 0, Some("tool_use"))])]).total;
    assert_eq!((total.all.turns, total.all.known_turns, total.zero_turns, total.unknown_turns), (1, 1, 1, 0));
}

#[test]
fn numbers_that_cannot_be_make_the_turn_unknown_and_are_said() {
    for bad in ["NaN", "-5", "1e300", "\"400\"", "400.5", "[400]", "99999999999"] {
        let text = session_row("s", "m", 0, Some("end_turn"))
            .to_string()
            .replace("\"output_tokens\":0", &format!("\"output_tokens\":{bad}"));
        let log = read(format!("{text}\n").as_bytes());
        assert_eq!((log.turns.at(0).record.grade, log.health.bad_numbers), (Grade::Unknown, 1), "{bad}");
    }
}

#[test]
fn subagents_stand_in_the_total_by_model_and_not_in_the_main_chain() {
    let side = json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": "toolu_1",
                      "message": {"id": "sub", "model": "claude-x", "stop_reason": null, "usage": {"output_tokens": 1}}});
    let delta = |id: &str, output: u64| {
        json!({"type": "stream_event", "session_id": "s", "api_message_id": id,
               "event": {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": output}}})
    };
    let mut end = result("s", "r", 231, 0.1);
    end["usage"]["output_tokens"] = json!(150);
    let rows = [stream_row("s", "a", 1), delta("a", 100), side, stream_row("s", "b", 1), delta("b", 50), end];
    assert_eq!(sums(&[log(&rows)]), (3, 2, 150, 81), "the subagent has what is left of the total by model");
    let mut main_only = rows.to_vec();
    main_only[5]["modelUsage"] = json!({});
    assert_eq!(sums(&[log(&main_only)]), (3, 2, 150, 0), "and nothing of a total of the main chain");
}

// anthropics/claude-code 79500
#[test]
fn a_result_that_says_success_and_error_is_an_error() {
    let end = json!({"type": "result", "subtype": "success", "is_error": true, "session_id": "s", "stop_reason": "stop_sequence", "terminal_reason": "api_error",
                     "usage": {"output_tokens": 0}, "modelUsage": {}});
    let log = log(&[stream_row("s", "a", 1), end]);
    assert_eq!((log.closings[0].ok, log.health.error_kinds["api_error"]), (Some(false), 1));
}

// nexu-io/open-design 7465, git-ai-project/git-ai 2268
#[test]
fn characters_cut_between_reads_and_bytes_that_are_no_text_cost_nothing_but_themselves() {
    let row = session_row("s", "m\u{1F980}", 7, Some("end_turn")).to_string();
    let mut bytes =
        b"\xEF\xBB\xBF{\"type\":\"summary\",\"sessionId\":\"s\",\"x\":\"\xFF\"}\r\n\"bare\"\n12\nnull\n".to_vec();
    bytes.extend(
        format!("{{\"type\":\"user\",\"sessionId\":\"s\",\"x\":\"\u{2028}\"}}\r\n{row}\r\n{{\"type\":\"assi").bytes(),
    );
    let whole = read(&bytes);
    for cut in 1..bytes.len() {
        let mut reader = LogReader::new();
        reader.push(&bytes[..cut]);
        reader.push(&bytes[cut..]);
        assert_eq!(reader.finish().unwrap(), whole, "cut at {cut}");
    }
    assert_eq!(whole.turns.at(0).record.id.as_deref(), Some("m\u{1F980}"));
    let health = &whole.health;
    assert_eq!((health.lines, health.not_utf8, health.unreadable, health.half_last), (7, 1, 3, 1));
}

#[test]
fn copies_of_statements_that_are_no_results_take_no_result_away() {
    let lines = [
        json!({"type": "session.start", "data": {"sessionId": "s"}, "id": "i", "timestamp": "2026-01-01T00:00:00Z"}),
        json!({"type": "assistant.message", "data": {"messageId": "m", "content": "x", "outputTokens": 9, "model": "g"}, "id": "a", "timestamp": "2026-01-01T00:00:02Z"}),
        json!({"type": "session.shutdown", "data": {"modelMetrics": {"g": {"usage": {"outputTokens": 9}}}}, "id": "z", "timestamp": "2026-01-01T00:00:03Z"}),
    ];
    let once = log(&lines);
    assert_eq!(once.closings.len(), 1);
    let total = ledger(&[once.clone(), once]).total;
    assert_eq!((total.results, total.all.output.count()), (0, 9));
}

#[test]
fn prices_of_turns_stand_beside_costs_of_runs() {
    let pi = log(&[
        json!({"type": "session", "id": "p", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}),
        json!({"type": "message", "id": "1", "timestamp": "2026-01-01T00:00:05Z", "message": {"role": "assistant", "model": "m", "stopReason": "stop",
               "usage": {"input": 5, "output": 7, "cost": {"total": 1.5}}, "timestamp": 1_767_225_601_000_u64}}),
    ]);
    let run = log(&[stream_row("s", "a", 1), result("s", "r", 10, 0.25)]);
    assert_eq!(ledger(&[pi, run]).total.cost.unwrap().count(), 1_750_000);
}

#[test]
fn a_subagent_in_a_file_of_its_own_is_in_the_total_of_its_run() {
    let side = json!({"type": "assistant", "sessionId": "s", "timestamp": "2026-01-01T00:00:02Z", "isSidechain": true,
                      "message": {"id": "sub", "model": "claude-x", "stop_reason": "end_turn", "usage": {"output_tokens": 41}}});
    let printed = log(&[stream_row("s", "a", 1), result("s", "r", 141, 0.1)]);
    let kept = log(&[session_row("s", "a", 100, Some("end_turn"))]);
    assert_eq!(sums(&[printed, kept, log(&[side])]), (2, 2, 141, 0));
}

#[test]
fn totals_alone_tell_calls_by_what_they_grew() {
    let row = |at: u32, output: u64| {
        json!({"timestamp": format!("2026-01-01T00:00:{at:02}Z"), "type": "event_msg", "payload": {"type": "token_count",
               "info": {"total_token_usage": {"output_tokens": output}}}})
    };
    assert_eq!(sums(&[log(&[row(1, 500), row(2, 700), row(3, 960)])]), (3, 3, 960, 0));
    let fell = log(&[row(1, 500), row(2, 200), row(3, 260)]);
    assert_eq!((fell.health.falls, sums(&[fell])), (1, (3, 3, 560, 0)));
}

#[test]
fn threads_in_one_file_are_no_copies_of_each_other() {
    let both = [exec("t", &[153]), exec("u", &[153])].concat();
    assert_eq!(sums(&[log(&both)]).3, 306);
}

#[test]
fn a_killed_run_in_the_same_file_stays_unknown() {
    let rows = [stream_row("one", "a", 1), stream_row("two", "b", 1), result("two", "r", 40, 0.1)];
    let total = ledger(&[log(&rows)]).total;
    assert_eq!((total.unknown_turns, total.estimated_turns, total.all.estimated.count()), (1, 1, 40));
}

#[test]
fn a_row_without_any_id_is_a_turn() {
    let mut row = session_row("s", "m", 10, Some("end_turn"));
    row["message"]["id"] = Value::Null;
    assert_eq!(sums(&[log(&[row.clone(), row])]), (2, 2, 20, 0));
}

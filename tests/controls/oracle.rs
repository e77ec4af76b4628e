//! What oracles answer.

use flyball::engine::{Answer, Millis};
use flyball::run::oracle::{Asking, Exits, Oracle, Rules, Verdict};

use crate::world::World;

const ANSWERS: [Answer; 4] = [Answer::Pass, Answer::Fail, Answer::Blocked, Answer::Error];

fn asked(world: &mut World, text: &str, asking: &Asking<'_>) -> Verdict {
    let oracle = Oracle::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    oracle.ask(&mut world.os, &world.place, asking).unwrap()
}

fn with(exits: Exits) -> Asking<'static> {
    Asking { rules: Rules { exits, ..Rules::default() }, ..Asking::default() }
}

fn answer(world: &mut World, text: &str) -> (Option<Answer>, String) {
    let verdict = asked(world, text, &Asking::default());
    (verdict.answer, verdict.why)
}

#[test]
fn exit_codes_are_answers() {
    let mut world = World::new();
    let usual = Exits::default();
    let strict = Exits { strict: true, blocked: None };
    let three = Exits { strict: false, blocked: Some(3) };
    let both = Exits { strict: true, blocked: Some(3) };
    use Answer::{Blocked, Error, Fail, Pass};
    for (script, answers) in [
        ("exit 0", [Pass, Pass, Pass, Pass]),
        ("exit 1", [Fail, Error, Fail, Error]),
        ("exit 2", [Fail, Fail, Fail, Fail]),
        ("exit 3", [Fail, Error, Blocked, Blocked]),
        ("exit 101", [Fail, Error, Fail, Error]),
        ("exit 126", [Error; 4]),
        ("exit 127", [Error; 4]),
        ("kill -9 $$", [Error; 4]),
        ("kill -11 $$", [Error; 4]),
        ("echo flyball: blocked: a person must pay; exit 1", [Blocked, Error, Blocked, Error]),
        ("echo flyball: blocked; exit 2", [Blocked; 4]),
        ("echo flyball: blocked; echo more; exit 2", [Fail; 4]),
        ("echo flyball: blocked; exit 0", [Pass; 4]),
    ] {
        for (exits, answer) in [usual, strict, three, both].into_iter().zip(answers) {
            let verdict = asked(&mut world, &format!("cli:sh -c \"{script}\""), &with(exits));
            assert_eq!(verdict.answer, Some(answer), "{script} {exits:?}: {}", verdict.why);
        }
    }
}

#[test]
fn missing_blocked_outcome_is_an_answer_of_its_own() {
    let mut world = World::new();
    world.script("check.sh", "echo all green; echo 'flyball: blocked: only a person can sign this'; exit 1");
    let (answer, why) = answer(&mut world, "./check.sh");
    assert_eq!(answer, Some(Answer::Blocked));
    assert_eq!(why, "ended with 1: flyball: blocked: only a person can sign this");
}

#[test]
fn why_is_the_last_line_and_all_is_kept() {
    let mut world = World::new();
    world.script("check.sh", "echo begin; printf 'score: 3.5\\n\\033[31mtest x failed\\033[0m\\n\\n' >&2; exit 101");
    let verdict = asked(&mut world, "cli:./check.sh", &Asking::default());
    assert_eq!((verdict.why.as_str(), verdict.score), ("ended with 101: test x failed", Some(3_500_000)));
    assert!(world.record("oracle.log").starts_with("begin\nscore: 3.5\n"));
    let json = world.record("oracle.json");
    assert!(json.contains("\"answer\": \"fail\"") && json.contains("\"score_millionths\": 3500000"), "{json}");
    let (answer, why) = answer(&mut world, "./no-such.sh 'a b'");
    assert_eq!(answer, Some(Answer::Error));
    assert!(why.contains("./no-such.sh cannot be started"), "{why}");
}

#[test]
fn each_has_a_limit_and_never_more_than_is_left() {
    let mut world = World::new();
    let rules = Rules { limit: Millis::new(200), ..Rules::default() };
    let verdict = asked(&mut world, "cli:sleep 600", &Asking { rules, ..Asking::default() });
    assert_eq!(verdict.answer, Some(Answer::Error));
    assert_eq!(verdict.why, "`sleep 600` was ended after 1 s");
    let verdict = asked(&mut world, "cli:sleep 600", &Asking { left: Some(Millis::new(100)), ..Asking::default() });
    assert_eq!(verdict.answer, Some(Answer::Error));
    let none = Asking { left: Some(Millis::ZERO), ..Asking::default() };
    let verdict = asked(&mut world, "cli:touch asked", &none);
    assert_eq!((verdict.answer, world.path("asked").exists()), (None, false));
    let verdict = asked(
        &mut world,
        "all(cli:sleep 0.1; cli:touch asked)",
        &Asking { left: Some(Millis::new(50)), ..Asking::default() },
    );
    assert_eq!((verdict.answer, world.path("asked").exists()), (Some(Answer::Error), false));
}

#[test]
fn an_oracle_that_somebody_interrupts_has_no_answer() {
    let mut world = World::new();
    let verdict = asked(&mut world, "all(cli:sh -c 'kill -INT $PPID; sleep 600'; cli:touch asked)", &Asking::default());
    assert_eq!((verdict.answer, world.path("asked").exists()), (None, false));
}

#[test]
fn a_python_script_is_run_by_python() {
    let mut world = World::new();
    world.write("a b.py", "import sys\nprint('as it is')\nsys.exit(5)\n");
    assert_eq!(answer(&mut world, "python: a b.py "), (Some(Answer::Fail), "ended with 5: as it is".to_owned()));
}

#[test]
fn line_endings_and_marks_of_order_change_no_pattern() {
    let mut world = World::new();
    for (text, answers) in [
        ("x\nDONE\ny\n", Answer::Pass),
        ("\u{FEFF}DONE\r\nx\r\n", Answer::Pass),
        ("x\r\nDONE\r\n", Answer::Pass),
        ("DONE", Answer::Pass),
        ("NOT DONE\n", Answer::Fail),
        ("", Answer::Fail),
    ] {
        world.write("out.log", text);
        assert_eq!(answer(&mut world, "regex:./out.log:^DONE$").0, Some(answers), "{text:?}");
    }
    assert_eq!(answer(&mut world, "regex:none.log:^DONE$").0, Some(Answer::Fail));
    world.hand("echo DONE > ../outside; ln -s ../outside led; mkfifo pipe");
    let (answers, why) = answer(&mut world, "regex:led:DONE");
    assert!(answers == Some(Answer::Fail) && why.contains("symbolic link"), "{why}");
    assert_eq!(answer(&mut world, "regex:pipe:DONE").0, Some(Answer::Fail));
}

/// What composites must answer, written out anew.
fn expected(all: bool, parts: &[Answer]) -> Answer {
    if all {
        return parts.iter().copied().find(|part| *part != Answer::Pass).unwrap_or(Answer::Pass);
    }
    let has = |answer| parts.contains(&answer);
    [Answer::Pass, Answer::Error, Answer::Fail].into_iter().find(|answer| has(*answer)).unwrap_or(Answer::Blocked)
}

#[test]
fn composites_keep_their_table() {
    let mut world = World::new();
    let asking = with(Exits { strict: false, blocked: Some(3) });
    let exit = |answer| match answer {
        Answer::Pass => 0,
        Answer::Fail => 1,
        Answer::Blocked => 3,
        Answer::Error => 127,
    };
    let mut rows: Vec<Vec<Answer>> = Vec::new();
    for one in ANSWERS {
        rows.push(vec![one]);
        for two in ANSWERS {
            rows.push(vec![one, two]);
            rows.extend(ANSWERS.map(|three| vec![one, two, three]));
        }
    }
    assert_eq!(rows.len(), 4 + 16 + 64);
    for parts in rows {
        for (word, all) in [("all", true), ("any", false)] {
            let list: Vec<String> = parts.iter().map(|part| format!("sh -c 'exit {}'", exit(*part))).collect();
            let verdict = asked(&mut world, &format!("{word}({})", list.join("; ")), &asking);
            assert_eq!(verdict.answer, Some(expected(all, &parts)), "{word} {parts:?}: {}", verdict.why);
        }
    }
    let asked_in_order = |world: &mut World, text: &str| {
        asked(world, text, &Asking::default());
        world.hand("touch log; cat log; rm log")
    };
    let say = |word: &str, code: u8| format!("sh -c 'echo {word} >> log; exit {code}'");
    let text = format!("all({}; {}; {})", say("a", 0), say("b", 1), say("c", 0));
    assert_eq!(asked_in_order(&mut world, &text), "a\nb\n", "nothing is asked after the first that does not pass");
    let text = format!("any({}; all({}; {}); {})", say("a", 1), say("b", 0), say("c", 0), say("d", 0));
    assert_eq!(asked_in_order(&mut world, &text), "a\nb\nc\n", "nothing is asked after the first that passes");
}

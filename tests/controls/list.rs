//! Check lists.

use flyball::engine::{Answer, Millis};
use flyball::run::oracle::Asking;
use flyball::run::oracle::list::{CheckList, Listed};
use flyball::run::tree::TreeAsk;

use crate::world::World;

fn asked(world: &mut World, checks: &[&str], left: Option<Millis>) -> Listed {
    let names = ["a", "b", "c", "d"];
    let text: String = names
        .iter()
        .zip(checks)
        .map(|(name, script)| format!("[[check]]\nname = \"{name}\"\nargv = [\"sh\", \"-c\", '''{script}''']\n"))
        .collect();
    let content = TreeAsk::project(&world.place.project);
    CheckList::parse(&text)
        .unwrap()
        .ask(&mut world.os, &world.place, &Asking { left, ..Asking::default() }, &content)
        .unwrap()
}

#[test]
fn all_are_asked_each_time_and_the_first_that_fails_is_the_task() {
    let mut world = World::new();
    let listed = asked(&mut world, &["exit 0", "echo broken here; exit 1", "exit 127", "exit 0"], None);
    assert_eq!(
        listed.results.iter().map(|result| result.answer.unwrap()).collect::<Vec<_>>(),
        [Answer::Pass, Answer::Fail, Answer::Error, Answer::Pass]
    );
    assert_eq!(
        (listed.verdict.answer, listed.verdict.why.as_str()),
        (Some(Answer::Fail), "b: ended with 1: broken here")
    );
    assert_eq!(listed.first.unwrap().name, "b");
    let log = world.record("oracle.log");
    assert!(
        log.contains("== a: pass") && log.contains("== b: fail: ended with 1: broken here\nbroken here\n== c: error"),
        "{log}"
    );
    let json: serde_json::Value = serde_json::from_str(&world.record("oracle.json")).unwrap();
    assert_eq!(json["checks"][2]["answer"], "error");
}

#[test]
fn all_pass_only_on_content_that_stays() {
    let mut world = World::new();
    world.write("x", "1");
    let listed = asked(&mut world, &["exit 0", "mkdir -p target && touch target/built"], None);
    assert_eq!((listed.verdict.answer, listed.first), (Some(Answer::Pass), None));
    assert_eq!(listed.tree.entries.len(), 1);
    let listed = asked(&mut world, &["echo 2 > x", "exit 0"], None);
    assert_eq!(listed.verdict.answer, Some(Answer::Fail));
    assert!(listed.verdict.why.contains("changed meanwhile: x"), "{}", listed.verdict.why);
    assert_eq!(listed.first, None);
}

#[test]
fn what_no_time_is_left_for_is_not_asked() {
    let mut world = World::new();
    let listed = asked(&mut world, &["touch asked"], Some(Millis::ZERO));
    assert_eq!((listed.verdict.answer, world.path("asked").exists()), (None, false));
    let listed = asked(&mut world, &["sleep 600", "touch asked"], Some(Millis::new(100)));
    assert_eq!((listed.verdict.answer, world.path("asked").exists()), (Some(Answer::Error), false));
}

#[test]
fn each_check_has_its_own_limit() {
    let mut world = World::new();
    let text = "[[check]]\nname = \"a\"\nargv = [\"sleep\", \"600\"]\ntimeout = 1\n[[check]]\nname = \"b\"\ncommand = \"true\"\n";
    let content = TreeAsk::project(&world.place.project);
    let listed =
        CheckList::parse(text).unwrap().ask(&mut world.os, &world.place, &Asking::default(), &content).unwrap();
    assert_eq!(listed.results[0].why, "`sleep 600` was ended after 1 s");
    assert_eq!(listed.results[1].answer, Some(Answer::Pass));
}

#[test]
fn one_is_said_to_be_one() {
    let mut world = World::new();
    assert_eq!(asked(&mut world, &["true"], None).verdict.why, "the one check passed");
    assert_eq!(asked(&mut world, &["true", "true"], None).verdict.why, "all 2 checks passed");
}

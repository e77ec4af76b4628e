//! The list of features.

use std::path::Path;

use flyball::engine::Millis;
use flyball::run::features::{Features, Gate, Looked};
use flyball::run::git::Git;
use flyball::run::os::Os as _;

use crate::world::{LONG, World, argv};

const LIST: &str = r#"[
  {"description": "one", "steps": ["a"], "passes": false, "test": "t1"},
  {"description": "two: \"passes\": true", "passes" : false,"test":"t2" }
]
"#;

fn committed(text: &str) -> World {
    let world = World::at("p", "r");
    world.write("features.json", text);
    world.hand("git init -q -b main; git add .; git commit -qm list; mkdir -p ../gate; printf 'test -e %s' '\"$FLYBALL_PROJECT/$1.ok\"' > ../gate/run.sh");
    world
}

fn gate(world: &World) -> Gate {
    Gate {
        command: argv(&["sh", "run.sh", "{test}"]),
        folder: world.place.project.parent().unwrap().join("gate"),
        limit: LONG,
        strict: false,
    }
}

fn open(world: &mut World, gate: Option<Gate>) -> Result<(Features, Vec<String>), String> {
    let git = Git::find(&mut world.os, &world.place);
    Features::open(&mut world.os, &world.place, &git, Path::new("./features.json"), None, gate)
}

fn look(world: &mut World, list: &mut Features) -> Looked {
    list.look(&mut world.os, &world.place, None)
}

fn flipped(text: &str, flags: [bool; 2]) -> String {
    let (head, tail) = text.split_at(text.find("two").unwrap());
    let head = head.replace("\"passes\": false", &format!("\"passes\": {}", flags[0]));
    head + &tail.replace("\"passes\" : false", &format!("\"passes\" : {}", flags[1]))
}

#[test]
fn a_flip_survives_only_with_its_test() {
    let mut world = committed(LIST);
    let gate = gate(&world);
    let (mut list, notes) = open(&mut world, Some(gate)).unwrap();
    assert!(notes[0].contains("can be written by this user"), "{notes:?}");
    assert_eq!(list.missing().collect::<Vec<_>>(), ["one", "two: \"passes\": true"]);
    let looked = look(&mut world, &mut list);
    assert_eq!((looked.passing, looked.count, looked.is_done(), looked.notes.len()), (0, 2, false, 0));
    // one flip with its test, one without
    world.write("features.json", &flipped(LIST, [true, true]));
    world.hand("touch t1.ok");
    let looked = look(&mut world, &mut list);
    assert_eq!((looked.passing, looked.is_done()), (1, false));
    assert!(looked.notes[0].contains("does not pass its test t2"), "{:?}", looked.notes);
    assert_eq!(world.text("features.json"), flipped(LIST, [true, false]));
    // what passed and does no more
    world.hand("rm t1.ok; touch t2.ok");
    world.write("features.json", &flipped(LIST, [true, true]));
    let looked = look(&mut world, &mut list);
    assert_eq!((looked.passing, world.text("features.json")), (1, flipped(LIST, [false, true])));
    world.hand("touch t1.ok");
    world.write("features.json", &flipped(LIST, [true, true]));
    let looked = look(&mut world, &mut list);
    assert!(looked.is_done() && looked.notes.is_empty(), "{looked:?}");
    // back to false is free
    world.write("features.json", &flipped(LIST, [true, false]));
    let looked = look(&mut world, &mut list);
    assert_eq!((looked.passing, looked.notes.len(), list.missing().count()), (1, 0, 1));
}

#[test]
fn any_other_edit_is_put_back() {
    let mut world = committed(LIST);
    let (mut list, _) = open(&mut world, None).unwrap();
    let one = flipped(LIST, [true, false]);
    world.write("features.json", &one);
    assert_eq!(look(&mut world, &mut list).passing, 1);
    for (script, says) in [
        ("sed -i s/one/easier/ features.json", "`one` is another"),
        ("sed -i 's/\"passes\": true/\"passes\": \"yes\"/' features.json", "true or false"),
        ("sed -i 2d features.json", "1 feature instead of 2"),
        (
            "python3 -c 'import json; l=json.load(open(\"features.json\")); json.dump(l[::-1], open(\"features.json\",\"w\"))'",
            "is another",
        ),
        (
            "python3 -c 'import json; l=json.load(open(\"features.json\")); l[0][\"x\"]=1; json.dump(l, open(\"features.json\",\"w\"))'",
            "is another",
        ),
        (
            "python3 -c 'import json; l=json.load(open(\"features.json\")); l[1][\"test\"]=\"t1\"; json.dump(l, open(\"features.json\",\"w\"))'",
            "is another",
        ),
        (
            "python3 -c 'import json; l=json.load(open(\"features.json\")); json.dump(l+l[:1], open(\"features.json\",\"w\"))'",
            "3 features instead of 2",
        ),
        ("echo '[' > features.json", "no JSON"),
        ("printf '\\377' > features.json", "no text"),
        ("echo '[]' > features.json", "no feature"),
        ("rm features.json", "No such file"),
        ("rm features.json; echo '[]' > ../f; ln -s ../f features.json", "symbolic link"),
        ("rm features.json; mkdir features.json", "a folder"),
        ("sed -i 's/\"passes\": true/\"passes\": false, \"passes\": true/' features.json", "twice"),
    ] {
        world.hand(script);
        let looked = look(&mut world, &mut list);
        assert!(looked.notes.len() == 1 && looked.notes[0].contains(says), "{script}: {:?}", looked.notes);
        assert_eq!((world.text("features.json"), looked.passing), (one.clone(), 1), "{script}");
    }
    world.hand("python3 -c 'import json; l=json.load(open(\"features.json\")); l[1][\"passes\"]=True; json.dump(l, open(\"features.json\",\"w\"))'");
    let looked = look(&mut world, &mut list);
    assert!(looked.is_done() && looked.notes[0].contains("written otherwise"), "{looked:?}");
    assert_eq!(world.text("features.json"), flipped(LIST, [true, true]));
}

#[test]
fn a_commit_of_the_agent_changes_nothing_about_the_list() {
    let mut world = committed(LIST);
    let (mut list, _) = open(&mut world, None).unwrap();
    world.hand("sed -i s/one/easier/ features.json; git commit -qam easier");
    assert_eq!(look(&mut world, &mut list).notes.len(), 1);
    assert_eq!(world.text("features.json"), LIST);
    // nor about the next process of the run
    let commit = list.commit().to_owned();
    let git = Git::find(&mut world.os, &world.place);
    let (mut again, _) =
        Features::open(&mut world.os, &world.place, &git, Path::new("features.json"), Some(&commit), None).unwrap();
    world.hand("git checkout -q HEAD features.json");
    assert_eq!(look(&mut world, &mut again).notes.len(), 1);
    assert_eq!(world.text("features.json"), LIST);
}

#[test]
fn a_list_around_features_keeps_what_is_around() {
    let text = format!("{{\"title\": \"x\", \"n\": [1, 2],\n \"features\": {LIST}}}");
    let mut world = committed(&text);
    let (mut list, _) = open(&mut world, None).unwrap();
    world.write("features.json", &flipped(&text, [false, true]));
    let looked = look(&mut world, &mut list);
    assert_eq!(
        (looked.passing, looked.notes.len(), world.text("features.json")),
        (1, 0, flipped(&text, [false, true]))
    );
    world.write("features.json", &text.replace("\"x\"", "\"y\""));
    assert!(look(&mut world, &mut list).notes[0].contains("around the features"));
}

#[test]
fn what_cannot_be_held_against_a_commit_is_refused_at_the_start() {
    let mut world = World::at("p", "r");
    world.write("features.json", LIST);
    assert!(open(&mut world, None).unwrap_err().contains("no commit here"));
    world.hand("git init -q -b main; touch x; git add x; git commit -qm x");
    assert!(open(&mut world, None).unwrap_err().contains("must be committed"));
    world.hand("git add .; git commit -qm list");
    assert!(open(&mut world, None).is_ok());
    world.write("features.json", &flipped(LIST, [true, false]));
    assert!(open(&mut world, None).is_ok(), "flips are the agent's");
    world.write("features.json", &LIST.replace("one", "other"));
    assert!(open(&mut world, None).unwrap_err().contains("is not as it is committed"));
    for (text, says) in [
        ("{}", "neither an array"),
        ("[]", "no feature"),
        ("[{}]", "feature 1 has no `passes`"),
        ("[{\"passes\": 1}]", "true or false"),
        ("x", "no JSON"),
        ("3", "neither"),
    ] {
        world.write("features.json", text);
        world.hand("git commit -qam x");
        let why = open(&mut world, None).unwrap_err();
        assert!(why.contains(says), "{text}: {why}");
    }
}

#[test]
fn a_gate_that_proves_nothing_is_refused() {
    let mut world = committed(LIST);
    let right = gate(&world);
    let inside = world.place.project.join("tests");
    let mut refused = |gate: Gate, says: &str| {
        let why = open(&mut world, Some(gate)).unwrap_err();
        assert!(why.contains(says), "{why}");
    };
    refused(
        Gate { strict: true, ..right.clone() },
        "gate of the gate can be written by this user, and so by the agent; give it to another user",
    );
    refused(Gate { command: argv(&["pytest"]), ..right.clone() }, "no `{test}`");
    refused(Gate { command: Vec::new(), ..right.clone() }, "no command");
    refused(Gate { folder: inside, ..right.clone() }, "outside the project");
    refused(Gate { folder: "gate".into(), ..right }, "outside the project");
    let mut world = {
        drop(world);
        committed("[{\"passes\": false}]")
    };
    let gate = gate(&world);
    assert!(open(&mut world, Some(gate)).unwrap_err().contains("has no `test`"));
}

#[test]
fn without_time_nothing_survives_and_nothing_is_done() {
    let mut world = committed(LIST);
    let gate = gate(&world);
    let (mut list, _) = open(&mut world, Some(gate)).unwrap();
    world.hand("touch t1.ok t2.ok");
    world.write("features.json", &flipped(LIST, [true, true]));
    let looked = list.look(&mut world.os, &world.place, Some(Millis::ZERO));
    assert_eq!((looked.passing, looked.cut, looked.is_done()), (0, true, false));
    assert!(world.os.now().millis() < u64::MAX);
}

#[test]
fn a_test_that_cannot_be_started_is_the_gates_fault_and_says_nothing_of_the_feature() {
    let mut world = committed(LIST);
    let right = gate(&world);
    let (mut list, _) = open(&mut world, Some(right.clone())).unwrap();
    world.hand("touch t1.ok; echo exit 0 > ../gate/plain; mkdir ../gate/sub");
    world.write("features.json", &flipped(LIST, [true, false]));
    assert_eq!(look(&mut world, &mut list).passing, 1);
    for (program, words, advice) in [
        ("no-such-program", "No such file or directory", "install it, or name it"),
        ("./plain", "Permission denied", "chmod +x"),
    ] {
        let broken = Gate { command: argv(&[program, "{test}"]), ..right.clone() };
        let (mut list, _) = open(&mut world, Some(broken)).unwrap();
        world.write("features.json", &flipped(LIST, [true, true]));
        let looked = look(&mut world, &mut list);
        let why = looked.broken.clone().unwrap();
        let first = format!("the test t1 of `one` could not be run: {program} cannot be started: {words}");
        assert!(why.starts_with(&first) && why.contains(advice), "{why}");
        assert!(
            looked.notes.len() == 2 && looked.notes[0].ends_with("`one` is as it was before the round"),
            "{looked:?}"
        );
        assert!(!looked.is_done() && !looked.notes.iter().any(|note| note.contains("does not pass")), "{looked:?}");
        world.hand("git checkout -q features.json");
    }
}

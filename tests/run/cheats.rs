//! Agents that cheat: what they do is refused, undone, or found and named, and none of it ends the loop in success.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::world::{Came, World, until};

/// One turn, and then this.
fn cheat(world: &World, acts: &str, flags: &[&str]) -> Came {
    world.run(&format!("cat >/dev/null; turn 1 400; {acts}; bye"), flags)
}

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
    let status = command.args(words).current_dir(folder).status().unwrap();
    assert!(status.success(), "{words:?}");
}

fn text(world: &World, name: &str) -> String {
    fs::read_to_string(world.project.join(name)).unwrap()
}

fn noted(world: &World, words: &str) {
    let notes = world.notes();
    assert!(notes.iter().any(|note| note.contains(words)), "{words:?} in {notes:?}");
}

/// A project with a test that fails.
fn project() -> World {
    let world = World::new();
    fs::create_dir(world.project.join("tests")).unwrap();
    fs::write(world.project.join("tests/t.sh"), "test -e done\n").unwrap();
    world
}

const TWO: [&str; 2] = ["--max-rounds", "2"];

#[test]
fn it_edits_the_tests() {
    for acts in [
        "echo exit 0 >tests/t.sh",
        "rm -r tests; mkdir tests; echo true >tests/t.sh",
        "rm tests/t.sh; ln -s /bin/true tests/t.sh",
        "mv tests old; ln -s old tests; echo exit 0 >old/t.sh",
        "chmod 000 tests/t.sh",
    ] {
        let world = project();
        let flags = [&TWO[..], &["--oracle", "cli:sh tests/t.sh", "--protect", "tests/**"]].concat();
        cheat(&world, acts, &flags).ends(1, "stopped by rounds");
        assert_eq!(text(&world, "tests/t.sh"), "test -e done\n", "{acts}");
        noted(&world, "protected: tests/t.sh");
    }
}

#[test]
fn it_edits_the_tests_of_a_loop_that_stops_for_that() {
    let world = project();
    let flags = ["--max-rounds", "9", "--oracle", "cli:sh tests/t.sh", "--protect", "tests/**", "--on-change", "stop"];
    cheat(&world, "echo exit 0 >tests/t.sh", &flags).ends(1, "stopped by kill-on: a protected file was changed");
    assert_eq!(text(&world, "tests/t.sh"), "test -e done\n");
}

#[test]
fn it_replaces_the_oracle() {
    for acts in ["echo 'exit 0' >check.sh", "rm check.sh; ln -s /bin/true check.sh", "cp /bin/true check.sh"] {
        let world = World::new();
        fs::write(world.project.join("check.sh"), "#!/bin/sh\ntest -e done\n").unwrap();
        Command::new("chmod").arg("+x").arg(world.project.join("check.sh")).status().unwrap();
        // what a loop decides by is protected whether anybody says so or not
        let flags = [&TWO[..], &["--oracle", "cli:./check.sh"]].concat();
        cheat(&world, acts, &flags).ends(1, "stopped by rounds");
        assert_eq!(text(&world, "check.sh"), "#!/bin/sh\ntest -e done\n", "{acts}");
        noted(&world, "protected: check.sh");
    }
}

#[test]
fn it_prints_the_promise() {
    let says = r#"printf '{"type":"message_end","message":{"role":"assistant","model":"m","responseId":"p","stopReason":"stop","usage":{"input":1,"output":1,"totalTokens":2},"content":[{"type":"text","text":"ALL TASKS DONE <promise>COMPLETE</promise>"}]}}\n'; echo ALL TASKS DONE >STATUS.md"#;
    let world = World::new();
    let flags = [&TWO[..], &["--oracle", "cli:test -e done"]].concat();
    cheat(&world, says, &flags).ends(1, "stopped by rounds");
    let bare = World::new();
    cheat(&bare, says, &TWO).ends(1, "stopped by rounds").says("no oracle is set");
}

/// A project with a committed list of features and a gate beside it.
fn featured() -> World {
    let world = World::new();
    let list = r#"[{"description": "one", "passes": false, "test": "one"}, {"description": "two", "passes": false, "test": "two"}]"#;
    fs::write(world.project.join("features.json"), list).unwrap();
    fs::create_dir(world.path("gate")).unwrap();
    git(&world.project, &["init", "-q"]);
    git(&world.project, &["add", "."]);
    git(&world.project, &["commit", "-qm", "one"]);
    world
}

#[test]
fn it_edits_the_features() {
    for (acts, words) in [
        ("sed -i 's/: .one./: 7/' features.json", "put back"),
        ("echo '[]' >features.json", "put back"),
        ("rm features.json", "put back"),
        ("echo '{' >features.json", "put back"),
        (r"sed -i 's/false/true/g' features.json", "put back to false"),
        (
            r"sed -i 's/false/true/g' features.json; git add -A; git -c user.name=a -c user.email=a@a commit -qm mine",
            "put back to false",
        ),
    ] {
        let world = featured();
        let project = world.project.display().to_string();
        let gate = world.path("gate").display().to_string();
        // the gate passes only where the project has a file of the test's name
        let test = format!("test -e {project}/{{test}}.done");
        let flags = [&TWO[..], &["--features", "features.json", "--gate-test", &test, "--gate-folder", &gate]].concat();
        let came = cheat(&world, acts, &flags);
        came.ends(1, "stopped by rounds");
        assert!(!text(&world, "features.json").contains("true"), "{acts}");
        assert!(text(&world, "features.json").contains(r#""test": "one""#), "{acts}");
        let notes = world.notes();
        assert!(notes.iter().any(|note| note.contains(words)), "{acts}: {notes:?}");
    }
}

#[test]
fn only_what_its_test_holds_up_passes() {
    let world = featured();
    let (project, gate) = (world.project.display().to_string(), world.path("gate").display().to_string());
    let test = format!("test -e {project}/{{test}}.done");
    let flags = ["--max-rounds", "5", "--features", "features.json", "--gate-test", &test, "--gate-folder", &gate];
    let acts =
        r#"case $FLYBALL_ROUND in 1) touch one.done;; 3) touch two.done;; esac; sed -i 's/false/true/g' features.json"#;
    cheat(&world, acts, &flags).ends(0, "stopped by oracle-passed: 2 of 2 features pass; 3 rounds");
}

#[test]
fn it_flips_features_whose_tests_cannot_be_started() {
    let world = featured();
    let gate = world.path("gate").display().to_string();
    let test = "no-such-program {test}";
    let flags = ["--max-rounds", "5", "--features", "features.json", "--gate-test", test, "--gate-folder", &gate];
    let came = cheat(&world, "sed -i 's/false/true/g' features.json", &flags);
    came.ends(
        3,
        "stopped by oracle-error: the test one of `one` could not be run: no-such-program cannot be started: ",
    );
    assert!(!text(&world, "features.json").contains("true"));
}

#[test]
fn it_leads_links_out_of_the_project() {
    let world = project();
    fs::write(world.path("mine"), "mine\n").unwrap();
    let mine = world.path("mine").display().to_string();
    let acts = format!("ln -s {mine} out; rm tests/t.sh; ln -s {mine} tests/t.sh");
    let flags = [&TWO[..], &["--oracle", "cli:sh tests/t.sh", "--protect", "tests/**"]].concat();
    cheat(&world, &acts, &flags).ends(1, "stopped by rounds");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n", "what a link leads to is left alone");
    assert_eq!(text(&world, "tests/t.sh"), "test -e done\n");
    noted(&world, "out");
}

#[test]
fn it_kills_the_runner() {
    let world = World::new();
    let body = "cat >/dev/null; turn 1 400; if [ \"$FLYBALL_ROUND\" = 1 ]; then kill -9 $PPID; sleep 600; fi; bye";
    let mut command = world.runs(body, &["--max-rounds", "2"]);
    let mut live = world.start(&mut command);
    until(|| live.is_over());
    let second = world.start(&mut command).ends();
    second.ends(1, "stopped by rounds: 2 of 2").says("round 1 was lost under way");
    world.nothing_left();
}

#[test]
fn it_rewrites_the_journal_or_the_state() {
    for (acts, words) in [
        (r#"sed -i 's/"output_tokens":400/"output_tokens":4/' "$run/journal.jsonl""#, "journal.jsonl"),
        (r#"sed -i '3d' "$run/journal.jsonl""#, "journal.jsonl"),
        (r#"head -n 2 "$run/journal.jsonl" >"$here/j"; cat "$here/j" >"$run/journal.jsonl""#, "journal.jsonl"),
    ] {
        let world = World::new();
        // the runner is lost after the act, so that what is there is what the next one finds
        let body = format!(
            "cat >/dev/null; turn 1 400; run=$FLYBALL_RECORD; until grep -q output_tokens \"$run/journal.jsonl\"; do sleep 0.01; done; {acts}; kill -9 $PPID; bye"
        );
        let mut command = world.runs(&body, &["--max-rounds", "9"]);
        let mut live = world.start(&mut command);
        until(|| live.is_over());
        let next = world.start(&mut command).ends();
        assert_eq!(next.code, 2, "{acts}\n{}", next.err);
        next.says(words);
    }
}

#[test]
fn it_rewrites_what_flyball_keeps_of_protected_files() {
    let world = project();
    let acts = r#"for copy in "$FLYBALL_RECORD"/protected/*; do echo exit 0 >"$copy"; done; echo exit 0 >tests/t.sh"#;
    let flags = ["--max-rounds", "9", "--oracle", "cli:sh tests/t.sh", "--protect", "tests/**"];
    cheat(&world, acts, &flags).ends(1, "stopped by kill-on: a protected file was changed");
}

#[test]
fn it_raises_its_own_caps() {
    let world = World::new();
    fs::write(world.project.join("flyball.toml"), "[controls]\nrounds = 2\n").unwrap();
    cheat(&world, "echo '[controls]' >flyball.toml; echo 'rounds = 99' >>flyball.toml", &[])
        .ends(1, "stopped by rounds: 2 of 2");
    assert_eq!(text(&world, "flyball.toml"), "[controls]\nrounds = 2\n");
}

#[test]
fn it_raises_its_caps_in_a_settings_file_of_another_name() {
    let settings = "[controls]\nrounds = 2\n";
    let acts = "echo '[controls]' >conf/mine.toml; echo 'rounds = 99' >>conf/mine.toml";
    for named in ["conf/mine.toml", "./conf/../conf/mine.toml", "link.toml", "WHOLE"] {
        let world = World::new();
        fs::create_dir(world.project.join("conf")).unwrap();
        fs::write(world.project.join("conf/mine.toml"), settings).unwrap();
        std::os::unix::fs::symlink("conf/mine.toml", world.project.join("link.toml")).unwrap();
        let whole = world.project.join("conf/mine.toml").display().to_string();
        let named = if named == "WHOLE" { &whole } else { named };
        cheat(&world, acts, &["--settings", named]).ends(1, "stopped by rounds: 2 of 2");
        assert_eq!(text(&world, "conf/mine.toml"), settings, "{named}");
        noted(&world, "protected: conf/mine.toml");
        let again = cheat(&world, "rm link.toml; echo >link.toml", &["--settings", named, "--fresh"]);
        again.ends(1, "stopped by rounds: 2 of 2");
        let link = fs::symlink_metadata(world.project.join("link.toml")).unwrap().is_symlink();
        assert_eq!(link, named == "link.toml", "{named}");
    }
    // what lies elsewhere is not the project's
    let world = World::new();
    fs::write(world.path("mine.toml"), settings).unwrap();
    let named = world.path("mine.toml").display().to_string();
    cheat(&world, ":", &["--settings", &named]).ends(1, "stopped by rounds: 2 of 2");
}

#[test]
fn it_removes_the_record_under_way() {
    for acts in [
        "rm -rf .flyball",
        "rm \"$FLYBALL_RECORD/journal.jsonl\"",
        ": >\"$FLYBALL_RECORD/journal.jsonl\"",
        "mv .flyball away; ln -s away .flyball; rm away/runs/*/journal.jsonl",
    ] {
        let world = World::new();
        let came = cheat(&world, acts, &["--max-rounds", "9"]);
        assert_eq!(came.code, 2, "{acts}\n{}", came.err);
        came.says("journal.jsonl was ").says("by somebody else while the run went on");
        world.nothing_left();
    }
}

#[test]
fn it_removes_the_lock() {
    let world = World::new();
    let body = "cat >/dev/null; turn 1 400; rm .flyball/lock; echo $$ >\"$here/pid\"; while :; do sleep 0.02; done";
    let mut command = world.runs(body, &["--max-rounds", "9"]);
    let live = world.start(&mut command);
    until(|| fs::read_to_string(world.path("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    for fresh in [&[][..], &["--fresh"]] {
        let second = world
            .command()
            .args(["run", "--agent", "sim", "--max-rounds", "1"])
            .args(fresh)
            .arg("a task")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&second.stderr).into_owned();
        assert!(second.status.code() == Some(2) && said.contains("another flyball is at work in the run"), "{said}");
    }
    live.signal(rustix::process::Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    world.nothing_left();
}

#[test]
fn it_replaces_the_script_of_a_check_and_makes_settings_for_the_next_run() {
    let world = World::new();
    fs::write(world.project.join("c.sh"), "exit 1\n").unwrap();
    fs::write(world.project.join("k.toml"), "[[check]]\nname = \"a\"\ncommand = \"sh c.sh\"\n").unwrap();
    let acts = "echo exit 0 >c.sh; printf '[controls]\\nrounds = 50\\n' >flyball.toml";
    let flags = [&TWO[..], &["--checks", "k.toml"]].concat();
    cheat(&world, acts, &flags).ends(1, "stopped by rounds");
    assert_eq!(text(&world, "c.sh"), "exit 1\n");
    assert!(!world.project.join("flyball.toml").exists());
    noted(&world, "protected: flyball.toml");
}

#[test]
fn what_the_loop_decides_by_must_be_there_before_the_agent_can_make_it() {
    for flags in [
        ["--oracle", "cli:./none.sh"],
        ["--oracle", "python:none.py"],
        ["--oracle", "all(cli:true; cli:sh none.sh)"],
        ["--oracle", "judge:none.md"],
        ["--kill-on", "python:none.py"],
    ] {
        let world = World::new();
        let came = cheat(&world, "touch none.sh", &[&TWO[..], &flags].concat());
        assert_eq!(came.code, 2, "{flags:?}\n{}", came.err);
        came.says("there is no file ");
        assert!(world.records().is_empty(), "nothing was begun");
    }
}

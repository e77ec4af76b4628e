//! `export` and `init`: files for other tools, and files for a new project.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{Came, POLITE, World, at_work};

/// Speaks twice in its second round.
const TWICE: &str = r#"cat >/dev/null; turn 1 400; if [ "$FLYBALL_ROUND" = 2 ]; then turn 2 9000; fi; bye"#;

fn flyball(world: &World, arguments: &[&str]) -> Came {
    world.start(world.command().args(arguments)).ends()
}

fn export(world: &World, layout: &str) -> (PathBuf, Came) {
    let out = world.path(&format!("out-{layout}"));
    let came = flyball(world, &["export", "--layout", layout, "-o", out.to_str().unwrap()]);
    (out, came)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A loop of three rounds that a cap stopped; its rounds have what a project's side of the host leaves.
fn stopped() -> World {
    let world = World::new();
    world.run(TWICE, &["--max-rounds", "3", "--budget", "0.009"]).ends(1, "stopped by");
    let run = world.records().pop().unwrap();
    for round in 1..=2 {
        let folder = run.join(format!("rounds/{round:04}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("output.md"), format!("words of round {round}\n")).unwrap();
        fs::write(folder.join("diff.patch"), "-a\n+b\n").unwrap();
        let checks = r#"{"answer": "fail", "why": "unit: exit 1", "checks": [{"name": "build", "answer": "pass"}, {"name": "unit", "answer": "fail"}]}"#;
        fs::write(folder.join("oracle.json"), checks).unwrap();
        fs::write(folder.join("oracle.log"), "1 failed\n").unwrap();
    }
    world
}

#[test]
fn a_shell_loops_layout_has_its_ledger_its_results_and_its_lines() {
    let world = stopped();
    let (out, came) = export(&world, "loop");
    assert_eq!(came.code, 0, "{}", came.err);
    assert_eq!(text(&out.join("spend.log")), "1\t0.000000\n2\t0.000000\n");
    let second = json(&out.join("logs/iter-2.json"));
    assert_eq!((&second["subtype"], &second["num_turns"]), (&"success".into(), &2.into()));
    assert_eq!((&second["usage"]["output_tokens"], &second["usage"]["input_tokens"]), (&9400.into(), &20.into()));
    assert_eq!((&second["total_cost_usd"], &second["result"]), (&0.0.into(), &"words of round 2\n".into()));
    assert_eq!(text(&out.join("logs/gate-1.log")), "1 failed\n");
    let lines = text(&out.join("progress.txt"));
    let last = lines.lines().last().unwrap();
    assert!(last.contains("Z [flyball] stopped by budget after 2 round(s), spend $0.00"), "{lines}");
    assert!(lines.contains("round 2 at ") && lines.starts_with("20"), "{lines}");
}

#[test]
fn ralfs_layout_has_a_folder_a_round_and_names_the_runaway() {
    let world = stopped();
    let (out, came) = export(&world, "ralf");
    assert_eq!(came.code, 0, "{}", came.err);
    let run = world.records().pop().unwrap();
    let id = run.file_name().unwrap().to_str().unwrap();
    let home = out.join("ralph").join(id);
    assert_eq!(text(&home.join("initial-prompt.md")), "a task");
    for name in ["prompt.md", "output.md", "diff.patch", "oracle-result.json", "tokens.json"] {
        assert!(home.join("iter-001").join(name).is_file(), "{name}");
    }
    assert_eq!(text(&home.join("iter-002/output.md")), "words of round 2\n");
    let (first, second) = (json(&home.join("iter-001/tokens.json")), json(&home.join("iter-002/tokens.json")));
    // the fair share is 9000 over 3
    assert_eq!((&first["tokens"], first.get("runaway")), (&410.into(), None));
    assert_eq!((&second["output_tokens"], &second["runaway"]), (&9400.into(), &true.into()));
    let warnings = text(&out.join("ralph-warnings.log"));
    assert!(warnings.lines().count() == 1 && warnings.contains("iter-002: 9400 output tokens"), "{warnings}");
    let budget = json(&home.join("budget.json"));
    assert_eq!((&budget["iterations"], &budget["exit_reason"]), (&2.into(), &"budget".into()));
    let history: Value = serde_json::from_str(text(&out.join("ralph-history.jsonl")).trim()).unwrap();
    assert_eq!((&history["run_id"], &history["output_tokens"]), (&id.into(), &9800.into()));
    let config = json(&home.join("config.json"));
    assert_eq!((&config["max_iterations"], &config["output_token_budget"]), (&3.into(), &9000.into()));
    assert!(!home.join("active.lock").exists());
}

#[test]
fn the_pi_controllers_layout_has_its_state_and_its_attempts() {
    let world = stopped();
    let (out, came) = export(&world, "pi");
    assert_eq!(came.code, 0, "{}", came.err);
    let state = json(&out.join("state.json"));
    assert_eq!(
        (&state["attempts"], &state["phase"], &state["control"]),
        (&2.into(), &"stopped".into(), &"budget".into())
    );
    assert_eq!((&state["last_task"], &state["max_iterations"]), (&"unit".into(), &3.into()));
    assert_eq!(state["config_sha256"].as_str().unwrap().len(), 64);
    for name in ["prompt.md", "agent.stdout.log", "checks.json", "checks.log", "diff.patch"] {
        assert!(out.join("attempt-0002").join(name).is_file(), "{name}");
    }
    assert!(!out.join("attempt-0000").exists(), "nothing was checked before the first attempt");
    let before = world.records().pop().unwrap().join("rounds/0000");
    fs::create_dir_all(&before).unwrap();
    fs::write(before.join("oracle.json"), "{}").unwrap();
    export(&world, "pi").1.says("left out").says("rounds/0000/oracle.log");
    assert!(out.join("attempt-0000/checks.json").is_file());
}

#[test]
fn what_a_real_round_leaves_is_where_an_export_looks_for_it() {
    let world = World::new();
    fs::write(world.project.join("checks.toml"), "[[check]]\nname = \"there\"\ncommand = \"test -f done\"\n").unwrap();
    let body = r#"cat >/dev/null; turn 1 400; if [ "$FLYBALL_ROUND" = 2 ]; then echo x >done; fi; echo y >>work; bye"#;
    world.run(body, &["--checks", "checks.toml", "--max-rounds", "5"]).ends(0, "stopped by oracle-passed");
    for layout in ["loop", "ralf", "pi"] {
        let (_, came) = export(&world, layout);
        assert_eq!(came.code, 0, "{}", came.err);
        let missing = came.err.lines().filter(|line| line.contains("left out") && !line.contains("output.md"));
        assert_eq!(missing.count(), 0, "{layout}: {}", came.err);
    }
    let state = json(&world.path("out-pi/state.json"));
    assert_eq!((&state["phase"], &state["last_task"]), (&"complete".into(), &"there".into()));
    assert!(state["fingerprint"].as_str().is_some_and(|hex| hex.len() == 64), "{state}");
    assert!(text(&world.path("out-pi/attempt-0000/checks.log")).contains("there"));
    assert!(text(&world.path("out-pi/attempt-0001/diff.patch")).contains("work"));
}

#[test]
fn what_goes_on_has_a_lock_that_goes_when_it_is_over_and_what_is_missing_is_said() {
    let world = World::new();
    let (live, _) = at_work(&world, POLITE, &["--max-rounds", "2"]);
    let (out, came) = export(&world, "ralf");
    assert_eq!(came.code, 0, "{}", came.err);
    came.says("left out, for the run does not have them: ").says("diff.patch");
    let home = fs::read_dir(out.join("ralph")).unwrap().next().unwrap().unwrap().path();
    assert!(home.join("active.lock").is_file() && !home.join("budget.json").exists());
    assert!(!out.join("ralph-history.jsonl").exists());
    live.signal(rustix::process::Signal::INT);
    live.ends().ends(130, "interrupted");
    export(&world, "ralf");
    assert!(!home.join("active.lock").exists(), "the same folder is written anew");
    assert_eq!(json(&home.join("budget.json"))["exit_reason"], "interrupted");
}

#[test]
fn what_is_left_out_is_named_once() {
    let world = stopped();
    fs::remove_file(world.records().pop().unwrap().join("rounds/0001/prompt.md")).unwrap();
    let (_, came) = export(&world, "ralf");
    assert_eq!(came.err.matches("rounds/0001/prompt.md").count(), 1, "{}", came.err);
}

#[test]
fn nothing_of_anybody_elses_is_overwritten_or_followed() {
    let world = stopped();
    let out = world.path("out-loop");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine"), "mine").unwrap();
    let came = flyball(&world, &["export", "--layout", "loop", "-o", out.to_str().unwrap()]);
    assert_eq!(came.code, 2);
    came.says("out-loop").says("no export of flyball").says("empty");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    fs::remove_file(out.join("mine")).unwrap();

    // a file of the record that leads out of it, and a mark that names other files
    let secret = world.path("secret");
    fs::write(&secret, "mine").unwrap();
    let run = world.records().pop().unwrap();
    fs::remove_file(run.join("rounds/0001/oracle.log")).unwrap();
    symlink(&secret, run.join("rounds/0001/oracle.log")).unwrap();
    let (out, came) = export(&world, "loop");
    assert_eq!(came.code, 0, "{}", came.err);
    came.says("left out").says("rounds/0001/oracle.log");
    assert!(!out.join("logs/gate-1.log").exists());
    let mark = text(&out.join(".flyball-export.json")).replace("\"spend.log\"", "\"../secret\"");
    fs::write(out.join(".flyball-export.json"), mark).unwrap();
    fs::remove_file(out.join("spend.log")).unwrap();
    symlink(&secret, out.join("spend.log")).unwrap();
    assert_eq!(export(&world, "loop").1.code, 0);
    assert_eq!(text(&secret), "mine");
    assert!(text(&out.join("spend.log")).starts_with("1\t"));
    let came = flyball(&world, &["export", "nobody", "--layout", "pi", "-o", "x"]);
    assert_eq!(came.code, 2);
    came.says("no run is called nobody");
}

#[test]
fn a_project_gets_settings_checks_and_a_recipe_and_keeps_what_it_has() {
    let world = World::at("a b/ü");
    fs::write(world.project.join("Cargo.toml"), "[package]\nname = \"x\"\n").unwrap();
    let printed = flyball(&world, &["init", "--print"]);
    assert_eq!(printed.code, 0);
    for words in ["# ==== flyball.toml ====", "# ==== checks.toml ====", "# ==== Containerfile ====", "cargo test"] {
        assert!(printed.out.contains(words), "{words}: {}", printed.out);
    }
    assert_eq!(fs::read_dir(&world.project).unwrap().count(), 1, "printing writes nothing");
    fs::write(world.project.join("Containerfile"), "FROM mine\n").unwrap();
    let came = flyball(&world, &["init"]);
    assert_eq!(came.code, 0, "{}", came.err);
    came.says("found in ")
        .says("Rust")
        .says("Containerfile is there, and stays as it is")
        .says("checks.toml was written");
    assert_eq!(text(&world.project.join("Containerfile")), "FROM mine\n");
    let config = flyball(&world, &["run", "--agent", "sim", "--print-config"]);
    let line = config.out.lines().find(|line| line.starts_with("oracle.checks")).unwrap();
    assert!(line.contains("checks.toml") && line.contains("flyball.toml:"), "{line}");
    let again = flyball(&world, &["init"]);
    again.says("flyball.toml is there").says("checks.toml is there");
    let nowhere = flyball(&world, &["init", "/nowhere"]);
    assert_eq!(nowhere.code, 2);
    nowhere.says("cannot use the project /nowhere");
}

//! Disks that are full, folders that cannot be written, odd names, odd prompts, closed pipes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::world::{SHORT, WELL, World, journal_of, output, records, spawned};

/// Keeps what it was asked.
const KEEPS: &str = r#"cat >"$here/got"; turn 1 400; bye"#;

#[test]
fn a_project_with_spaces_quotes_and_umlauts_in_its_name() {
    let world = World::at("a b/ü 'q' $(x) \"z\"");
    world.run(r#"cat >/dev/null; pwd >"$here/where"; turn 1 400; bye"#, &["--max-rounds", "2"]).ends(1, "2 of 2");
    let place = fs::read_to_string(world.path("where")).unwrap();
    assert_eq!(Path::new(place.trim_end()), world.project);
    let flags = ["run", "--agent", "sim", "--max-rounds", "3", "--fresh", "a task"];
    world.start(world.command().args(flags)).ends().ends(1, "stopped by rounds: 3 of 3");
}

/// What an agent reads where the task is this argument, file or input.
fn arrives(world: &World, how: &dyn Fn(&mut Command), input: &str) -> Vec<u8> {
    let program = world.agent(KEEPS);
    let given = world.path("input");
    fs::write(&given, input).unwrap();
    let mut command = world.command();
    command.args(["run", "--agent", "pi", "--max-rounds", "1", "--fresh"]).args(SHORT);
    how(&mut command);
    command.arg("--").arg(program).stdin(fs::File::open(given).unwrap());
    world.start(&mut command).ends().ends(1, "stopped by rounds");
    fs::read(world.path("got")).unwrap()
}

#[test]
fn a_task_arrives_byte_for_byte() {
    let world = World::new();
    let odd = "say \"it's\" `id` $(id) $HOME \\n %s {effort} {prompt_file}\n\n\ttab ü 漢字 🦀\r\nend  \n";
    let dash = "--max-rounds 5\n-x";
    let large = "0123456789abcdef\n".repeat(300_000 / 17 + 1);
    assert_eq!(
        arrives(
            &world,
            &|run| {
                run.arg(odd);
            },
            ""
        ),
        odd.as_bytes()
    );
    for text in [odd, dash, &large] {
        let file = world.path("task.md");
        fs::write(&file, text).unwrap();
        assert_eq!(
            arrives(
                &world,
                &|run| {
                    run.arg("--prompt-file").arg(&file);
                },
                ""
            ),
            text.as_bytes()
        );
        assert_eq!(
            arrives(
                &world,
                &|run| {
                    run.args(["--prompt-file", "-"]);
                },
                text
            ),
            text.as_bytes()
        );
    }
}

#[test]
fn a_byte_order_mark_is_left_out_and_line_ends_are_left_alone() {
    let world = World::new();
    let got = arrives(
        &world,
        &|run| {
            run.args(["--prompt-file", "-"]);
        },
        "\u{feff}one\r\ntwo\r\n",
    );
    assert_eq!(got, b"one\r\ntwo\r\n");
}

#[test]
fn no_flag_is_taken_for_a_part_of_the_task() {
    let world = World::new();
    for words in [&["a task", "--max-round=5x"][..], &["--max-rounds 5"], &["a task", "more"]] {
        let mut command = world.command();
        let came = world.start(command.args(["run", "--agent", "sim"]).args(words)).ends();
        assert_eq!(came.code, 2, "{words:?}: {}", came.err);
        assert_eq!(world.records().len(), 0, "{words:?}: nothing was started");
    }
    let came = world.start(world.command().args(["run", "--agent", "sim", "--", "-x"])).ends();
    assert_eq!(came.code, 2);
    came.says("there is no task").says("begins with a dash");
}

#[test]
fn the_prompt_can_go_by_a_file_also_where_the_records_are_named_from_elsewhere() {
    let world = World::new();
    let program = world.agent(r#"cp "$1" "$here/got"; turn 1 400; bye"#);
    let mut command = world.command();
    command.args(["run", "--agent", "command", "--max-rounds", "1", "--state", "records", "--project"]);
    command.arg(&world.project).args(SHORT).args(["--budget", "0", "a task", "--", &program, "{prompt_file}"]);
    world.start(command.current_dir(world.path(""))).ends();
    assert_eq!(fs::read_to_string(world.path("got")).unwrap(), "a task");
    assert_eq!(records(&world.path("records")).len(), 1);
    assert!(!world.project.join(".flyball").exists());
}

#[test]
fn a_program_is_looked_for_where_it_is_started() {
    let world = World::new();
    let agent = world.agent(WELL);
    fs::copy(&agent, world.project.join("own")).unwrap();
    let run = |program: &str| {
        let mut command = world.command();
        command.args(["run", "--agent", "pi", "--max-rounds", "1", "--fresh", "--project"]).arg(&world.project);
        command.args(SHORT).args(["a task", "--", program]).current_dir(world.path(""));
        world.start(&mut command).ends()
    };
    run("./own").ends(1, "stopped by rounds: 1 of 1");
    // it is there from here, and not from the project
    assert_eq!(run("./agent-1").code, 4);
}

fn git(folder: &Path) {
    fs::create_dir_all(folder.join(".git/info")).unwrap();
    fs::write(folder.join(".git/info/exclude"), "# mine\n*.o").unwrap();
    fs::write(folder.join(".gitignore"), "target\n").unwrap();
}

#[test]
fn the_records_are_excluded_from_git_once_and_by_the_innermost_repository() {
    let world = World::at("outer/inner/deep");
    let (outer, inner) = (world.path("outer"), world.path("outer/inner"));
    git(&outer);
    git(&inner);
    for _ in 0..2 {
        world.run(WELL, &["--max-rounds", "1", "--fresh"]).ends(1, "stopped by rounds");
    }
    let exclude = |folder: &Path| fs::read_to_string(folder.join(".git/info/exclude")).unwrap();
    assert_eq!(exclude(&inner), "# mine\n*.o\n.flyball/\n");
    assert_eq!(exclude(&outer), "# mine\n*.o");
    for folder in [&outer, &inner] {
        assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "target\n");
    }
}

#[test]
fn a_git_folder_that_is_broken_is_a_warning() {
    let world = World::new();
    fs::write(world.project.join(".git"), "nonsense").unwrap();
    world.run(WELL, &["--max-rounds", "1"]).ends(1, "stopped by rounds").says("exclude file of git");
}

/// Runs in a project that cannot be written.
fn unwritable(world: &World, project: &Path) {
    let run = |more: &[&str]| {
        let program = world.agent(WELL);
        let mut command = world.command();
        command.args(["run", "--agent", "pi", "--max-rounds", "1", "--project"]).arg(project).args(SHORT);
        command.args(more).args(["a task", "--", &program]).current_dir(world.path(""));
        world.start(&mut command).ends()
    };
    let came = run(&[]);
    assert_eq!(came.code, 2, "{}", came.err);
    came.says("--state DIR keeps them elsewhere");
    run(&["--state", "elsewhere"]).ends(1, "stopped by rounds");
    assert_eq!(records(&world.path("elsewhere")).len(), 1);
}

#[test]
fn a_project_that_cannot_be_written_needs_its_records_elsewhere() {
    let world = World::new();
    if cfg!(target_os = "linux") {
        // where not even root can make a folder
        unwritable(&world, Path::new("/proc"));
    }
    let closed = world.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(closed.join("probe"), "").is_err() {
        unwritable(&World::new(), &closed);
    }
}

#[test]
fn a_full_disk_ends_the_agent_and_the_next_start_goes_on() {
    let world = World::new();
    let run = world.runs(WELL, &["--max-rounds", "60"]);
    let mut command = world.command();
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"]).arg(run.get_program()).args(run.get_args());
    limited.current_dir(&world.project).stdin(Stdio::null());
    let came = world.start(&mut limited).ends();
    assert_eq!(came.code, 2, "{}", came.err);
    came.says("cannot write the run's record").says("free the disk and run the same command again");
    assert_eq!(came.err.matches("os error").count(), 1, "why is said once:\n{}", came.err);
    world.nothing_left();
    let rounds = spawned(&world.journal());
    assert!((2..60).contains(&rounds), "{rounds} rounds were begun");
    let came = world.start(command.args(run.get_args())).ends();
    came.ends(1, "stopped by rounds: 60 of 60").says("goes on with run");
    let trace = journal_of(&world.records()[0]);
    assert!(!trace.torn && world.records().len() == 1);
    // the round that was under way may have reported, or not
    assert!((59..=60).contains(&(output(&trace) / 400)), "{}", output(&trace));
}

#[test]
fn nobody_needs_to_read_what_it_prints() {
    let world = World::new();
    for format in ["text", "json"] {
        let mut run = world.runs(WELL, &["--max-rounds", "4", "--fresh", "--format", format]);
        let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert_eq!(spawned(&world.journal()), 4);
    }
}

#[test]
fn no_colours_off_a_terminal_nor_with_no_color() {
    let world = World::new();
    for forced in [None, Some("1")] {
        let mut run = world.runs("exit 1", &["--max-rounds", "1", "--fresh"]);
        run.env("NO_COLOR", "1");
        if let Some(forced) = forced {
            run.env("CLICOLOR", forced);
        }
        let came = world.start(&mut run).ends();
        assert!(!came.err.contains('\u{1b}') && !came.out.contains('\u{1b}'), "{}", came.err);
    }
}

#[test]
fn status_and_runs_for_programs_are_an_object_a_line() {
    let world = World::new();
    world.run(WELL, &["--max-rounds", "2"]).ends(1, "stopped by rounds");
    for (command, rounds) in [("status", 2), ("runs", 0)] {
        let came = world.start(world.command().args([command, "--format", "json"])).ends();
        assert_eq!((came.code, came.out.lines().count()), (0, 1), "{command}: {}", came.out);
        let object: serde_json::Value = serde_json::from_str(&came.out).unwrap();
        assert_eq!((&object["control"], object["rounds"].as_array().unwrap().len()), (&"rounds".into(), rounds));
    }
}

#[test]
fn each_line_for_programs_is_an_object() {
    let world = World::new();
    let came = world.run(WELL, &["--max-rounds", "3", "--format", "json", "--verbose"]);
    let lines: Vec<serde_json::Value> = came.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events = |name: &str| lines.iter().filter(|line| line["event"] == name).count();
    assert_eq!((events("began"), events("turn"), events("round"), events("stop")), (3, 3, 3, 1), "{}", came.out);
    assert_eq!((&lines.last().unwrap()["control"], &lines.last().unwrap()["rounds"]), (&"rounds".into(), &3.into()));
}

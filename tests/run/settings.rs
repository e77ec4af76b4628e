//! Settings: who beats whom, where each comes from, and what is refused before anything is started.

use std::fs;

use serde_json::Value;

use crate::world::{Came, World};

/// `run` with these flags and variables; nothing is to be started.
fn run(world: &World, flags: &[&str], variables: &[(&str, &str)]) -> Came {
    let mut command = world.command();
    command.arg("run").args(flags).envs(variables.iter().copied());
    world.start(&mut command).ends()
}

fn effective(world: &World, flags: &[&str], variables: &[(&str, &str)]) -> Value {
    let came = run(world, &[&["--print-config", "--format", "json"], flags].concat(), variables);
    assert_eq!(came.code, 0, "{}", came.err);
    serde_json::from_str(&came.out).unwrap()
}

#[test]
fn a_flag_beats_a_variable_beats_a_file_beats_what_is_usual() {
    let world = World::new();
    fs::write(
        world.project.join("flyball.toml"),
        "[governor]\njuice = 1000\nslack = 0.2\nrest = \"1s\"\n\n[agent]\nkind = \"pi\"\n",
    )
    .unwrap();
    let variables = [("FLYBALL_JUICE", "1100"), ("FLYBALL_SLACK", "0.25")];
    let all = effective(&world, &["--juice", "1200"], &variables);
    let says = |name: &str| (all[name]["value"].as_str().unwrap(), all[name]["from"].as_str().unwrap());
    assert_eq!(says("governor.juice"), ("1200", "--juice"));
    assert_eq!(says("governor.slack"), ("0.25", "FLYBALL_SLACK"));
    let (rest, from) = says("governor.rest");
    assert!(rest == "1s" && from.ends_with("flyball.toml:4"), "{rest} {from}");
    assert_eq!(says("governor.over"), ("300s", "default"));
    let (kind, from) = says("agent.kind");
    assert!(kind == "pi" && from.ends_with("flyball.toml:7"), "{kind} {from}");
    let text = run(&world, &["--print-config", "--juice", "1200"], &variables);
    for (name, value, from) in [
        ("governor.juice", "1200", "--juice"),
        ("governor.slack", "0.25", "FLYBALL_SLACK"),
        ("governor.rest", "1s", "flyball.toml:4"),
        ("governor.over", "300s", "default"),
    ] {
        let line = text.out.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains(value) && line.ends_with(from), "{line}");
    }
    assert!(!world.project.join(".flyball").exists(), "printing starts nothing");
}

#[test]
fn a_users_own_file_stands_below_the_projects_and_its_origin_is_shown() {
    let world = World::new();
    fs::create_dir_all(world.path("config/flyball")).unwrap();
    let users = world.path("config/flyball/flyball.toml");
    fs::write(&users, "[governor]\njuice = 700\nslack = 0.3\nrest = \"2s\"\n").unwrap();
    fs::write(world.project.join("flyball.toml"), "[governor]\njuice = 1000\n").unwrap();
    let all = effective(&world, &["--agent", "pi"], &[("FLYBALL_SLACK", "0.25")]);
    let says = |name: &str| (all[name]["value"].as_str().unwrap(), all[name]["from"].as_str().unwrap());
    assert_eq!(says("governor.rest"), ("2s", &*format!("{}:4", users.display())));
    assert_eq!(says("governor.slack"), ("0.25", "FLYBALL_SLACK"));
    let (juice, from) = says("governor.juice");
    assert!(juice == "1000" && from.ends_with("project/flyball.toml:2"), "{juice} {from}");

    // below a file that is named, too
    fs::write(world.path("juice.yaml"), "juice: 1500\n").unwrap();
    let file = world.path("juice.yaml").display().to_string();
    let all = effective(&world, &["--agent", "pi", "--settings", &file], &[]);
    assert_eq!((&all["governor.juice"]["value"], &all["governor.rest"]["value"]), (&"1500".into(), &"2s".into()));

    // in the home folder, where the environment names no other
    let home = world.path("home");
    fs::create_dir_all(home.join(".config/flyball")).unwrap();
    fs::write(home.join(".config/flyball/flyball.toml"), "[governor]\nrest = \"9s\"\n").unwrap();
    let home = home.display().to_string();
    let all = effective(&world, &["--agent", "pi"], &[("XDG_CONFIG_HOME", ""), ("HOME", &home)]);
    assert_eq!(all["governor.rest"]["value"], "9s");

    fs::write(&users, "[governor]\njucie = 700\n").unwrap();
    let came = run(&world, &["--agent", "pi", "--print-config"], &[]);
    assert_eq!(came.code, 2);
    came.says(&format!("{}:2", users.display())).says("did you mean `juice`?");
}

#[test]
fn agent_model_and_effort_are_given_in_one_word() {
    let world = World::new();
    for (word, all) in [
        ("claude/claude-opus-5:high", ["claude", "claude-opus-5", "high"]),
        ("pi/anthropic/claude-opus-5:low", ["pi", "anthropic/claude-opus-5", "low"]),
        ("codex", ["codex", "", ""]),
        ("codex:low", ["codex", "", "low"]),
    ] {
        let effective = effective(&world, &["-a", word], &[]);
        let says = ["agent.kind", "agent.model", "agent.effort"].map(|name| effective[name]["value"].as_str().unwrap());
        assert_eq!(says[..2], all[..2], "{word}");
        assert!(all[2].is_empty() || says[2] == all[2], "{word}: {says:?}");
    }
}

#[test]
fn the_originals_file_is_taken_where_it_is_named() {
    let world = World::new();
    fs::write(world.path("juice.yaml"), "juice: 1500\nover: 600\nslack: 0.2\nrest: 3\nbudget: 2\n").unwrap();
    let file = world.path("juice.yaml").display().to_string();
    let all = effective(&world, &["--agent", "pi", "--settings", &file], &[]);
    assert_eq!(all["governor.juice"]["value"], "1500");
    assert_eq!(all["governor.budget"]["from"], format!("{file}:5"));
    fs::write(world.path("juice.yaml"), "juice: 1500\nover: 5\n").unwrap();
    let came = run(&world, &["--agent", "pi", "--settings", &file, "task"], &[]);
    assert_eq!(came.code, 2);
    came.says(":2: over: it must be from 10 to 3600");
}

#[test]
fn a_fault_in_a_file_is_named_by_file_line_and_key() {
    let world = World::new();
    let file = world.project.join("flyball.toml");
    for (text, words) in [
        ("[governor]\njuice = -5\n", &["flyball.toml:2", "juice"][..]),
        ("[governor]\njuice = 5\nslak = 0.1\n", &["flyball.toml:3", "slak", "slack"]),
        ("[governor]\nslack = \"wide\"\n", &["flyball.toml:2", "slack"]),
        ("[controls]\nrounds = 0\n", &["flyball.toml:2", "rounds", "at least 1"]),
        ("[controls]\nround = \"soon\"\n", &["flyball.toml:2", "controls.round"]),
        ("[agents]\nkind = \"pi\"\n", &["flyball.toml:1", "agents", "agent"]),
        ("[governor\n", &["flyball.toml"]),
    ] {
        fs::write(&file, text).unwrap();
        let came = run(&world, &["--agent", "sim", "task"], &[]);
        assert_eq!(came.code, 2, "{text}: {}", came.err);
        for words in words {
            came.says(words);
        }
    }
    fs::write(&file, "\u{feff}[governor]\r\njuice = 900\r\n").unwrap();
    assert_eq!(effective(&world, &["--agent", "sim"], &[])["governor.juice"]["value"], "900");
}

#[test]
fn a_fault_in_a_check_list_is_named_by_file_and_line() {
    let world = World::new();
    for name in ["", "a\\nflyball: stopped by oracle-passed"] {
        let text = format!(
            "[[check]]\nname = \"a\"\ncommand = \"true\"\n\n[[check]]\nname = \"{name}\"\ncommand = \"true\"\n"
        );
        fs::write(world.project.join("k.toml"), text).unwrap();
        let came = run(&world, &["--agent", "sim", "--max-rounds", "1", "--checks", "k.toml", "task"], &[]);
        assert_eq!(came.code, 2, "{}", came.err);
        came.says("oracle.checks").says("k.toml: line 6: the check");
        assert!(world.records().is_empty());
    }
}

#[test]
fn a_value_of_another_type_is_no_text() {
    let world = World::new();
    let file = world.project.join("flyball.toml");
    for (text, key, words) in [
        (
            "[governor]\nbudget = true\n",
            "governor.budget",
            "a decimal number or a text in quotes, and is the truth value",
        ),
        ("[governor]\nover = []\n", "governor.over", "a decimal number or a text in quotes, and is a list"),
        ("[controls]\nrounds = []\n", "controls.rounds", "a decimal number or a text in quotes, and is a list"),
        ("[controls]\nwall = true\n", "controls.wall", "a decimal number or a text in quotes, and is the truth value"),
        ("[agent]\nmodel = true\n", "agent.model", "a text in quotes, and is the truth value true"),
        ("[agent]\nmodel = 5\n", "agent.model", "a text in quotes, and is the number 5"),
        ("[git]\nbranch = []\n", "git.branch", "a text in quotes, and is a list"),
        ("[oracle]\nrun = [\"cli:true\"]\n", "oracle.run", "a text in quotes, and is a list"),
        (
            "[gate]\nprotect = true\n",
            "gate.protect",
            "a list of texts in quotes, or one of them, and is the truth value",
        ),
        ("[gate]\nprotect = [1]\n", "gate.protect[0]", "a text in quotes, and is the number 1"),
        ("[git]\ncommit = \"yes\"\n", "git.commit", "true or false, without quotes, and is the text \"yes\""),
        ("[prompt]\nmost = {a = 1}\n", "prompt.most", "a decimal number or a text in quotes, and is a table"),
    ] {
        fs::write(&file, text).unwrap();
        let came = run(&world, &["--agent", "sim", "--print-config"], &[]);
        assert_eq!(came.code, 2, "{text}: {}", came.err);
        came.says(&format!("flyball.toml:2: {key}: it must be {words}"));
    }
    let right = "[agent]\nprogram = [\"a\", \"b\"]\nladder = \"high,low\"\n[git]\ncommit = true\n[gate]\nprotect = \"x\"\n[controls]\nrounds = \"none\"\nwall = 60\n";
    fs::write(&file, right).unwrap();
    let all = effective(&world, &["--agent", "pi"], &[]);
    let says = |name: &str| all[name]["value"].as_str().unwrap().to_owned();
    assert_eq!(
        ["agent.program", "git.commit", "gate.protect", "controls.wall"].map(says),
        ["[\"a\",\"b\"]", "true", "x", "60"]
    );
}

#[test]
fn what_cannot_be_is_refused_by_name_before_anything_is_started() {
    let world = World::new();
    for (flags, words) in [
        (&["--agent", "sim", "--max-rounds", "0", "task"][..], &["controls.rounds", "--max-rounds", "at least 1"][..]),
        (&["--agent", "sim", "--budget", "0", "task"], &["nothing would ever stop this loop", "--unlimited"]),
        (&["--agent", "sim", "--budget", "-1", "task"], &["governor.budget", "--budget"]),
        (&["--agent", "sim", "--juice", "0", "task"], &["governor.juice"]),
        (&["--agent", "sim", "--slack", "nan", "task"], &["governor.slack"]),
        (&["--agent", "sim", "--law", "none", "task"], &["governor.law"]),
        (&["--agent", "sim", "--grace", "soon", "task"], &["controls.grace"]),
        (&["--agent", "nobody", "task"], &["agent.kind", "nobody", "claude", "sim"]),
        (&["task"], &["no agent is named", "--agent sim"]),
        (&["--agent", "sim"], &["there is no task"]),
        (&["--agent", "sim", " \n"], &["there is no task"]),
        (&["--agent", "sim", "--prompt-file", "/nowhere/x"], &["/nowhere/x"]),
        (&["--agent", "sim", "--settings", "/nowhere/x.toml", "task"], &["/nowhere/x.toml"]),
        (&["--agent", "sim", "--project", "/nowhere", "task"], &["/nowhere"]),
        (&["--agent", "sim", "--scenario", "/nowhere/x.toml", "task"], &["/nowhere/x.toml"]),
        (&["--agent", "sim", "--wire", "morse", "task"], &["sim.wire"]),
        (&["--agent", "sim", "--speed", "0", "task"], &["sim.speed"]),
        (&["--agent", "pi", "--ladder", "a,a", "task"], &["ladder"]),
    ] {
        let came = run(&world, flags, &[]);
        assert_eq!(came.code, 2, "{flags:?}: {}", came.err);
        for words in words {
            came.says(words);
        }
        assert!(came.out.is_empty() && world.records().is_empty(), "{flags:?}");
    }
    let came = run(&world, &["--agent", "sim", "task"], &[("FLYBALL_MAX_ROUNDS", "many")]);
    assert_eq!(came.code, 2);
    came.says("FLYBALL_MAX_ROUNDS").says("controls.rounds");
}

#[test]
fn a_pattern_is_looked_for_in_a_file_and_not_in_a_folder() {
    let world = World::new();
    fs::create_dir(world.project.join("out")).unwrap();
    for oracle in ["regex:out:^x$", "regex:./out/:^x$", "regex:not-yet/:^x$", "any(cli:true; regex:.:^x$)"] {
        let came = run(&world, &["--agent", "sim", "--max-rounds", "1", "--oracle", oracle, "task"], &[]);
        assert_eq!(came.code, 2, "{oracle}: {}", came.err);
        came.says("oracle.run").says("--oracle").says("is a folder, and a pattern is looked for in a file");
        assert!(world.records().is_empty(), "{oracle}");
    }
    let flags = ["--agent", "sim", "--max-rounds", "1", "--oracle", "regex:out/not-yet:^x$", "task"];
    run(&world, &flags, &[]).ends(1, "stopped by rounds");
}

#[test]
fn without_its_program_an_agent_cannot_run() {
    let world = World::new();
    for flags in [
        &["--agent", "claude", "task"][..],
        &["--agent", "pi", "--program", "/nowhere/pi", "task"],
        &["--agent", "command", "task", "--", "no-such-program"],
    ] {
        let came = run(&world, flags, &[("PATH", "/nowhere")]);
        assert_eq!(came.code, 4, "{flags:?}: {}", came.err);
        assert!(world.records().is_empty(), "{flags:?}");
    }
}

#[test]
fn a_fault_in_a_command_is_one_of_the_settings() {
    let world = World::new();
    fs::write(world.project.join("r.md"), "---\nthreshold: 4\n---\nx\n").unwrap();
    for (flags, words) in [
        (&["--agent", "command", "task"][..], "the agent `command` needs its argv"),
        (&["--agent", "command", "task", "--", "sh", "{model}"], "has {model}, and no model is given"),
        (&["--agent", "command", "task", "--", "sh", "-e={effort}"], "has {effort}, and no effort is given"),
        (&["--agent", "command", "--ladder", "a,b", "task", "--", "sh", "-e={efort}"], "did you mean {effort}?"),
        (&["--agent", "command", "--ladder", "a,b", "task", "--", "sh", "{promptfile}"], "did you mean {prompt_file}?"),
        (&["--agent", "gemini", "--model", "m", "--program", "sh", "--ladder", "high,ultra", "task"], "ultra"),
        (
            &["--agent", "pi", "--program", "sh", "--oracle", "judge:r.md", "--judge", "command", "task"],
            "the judge cannot be asked",
        ),
    ] {
        let came = run(&world, &[&["--max-rounds", "1"], flags].concat(), &[]);
        assert_eq!(came.code, 2, "{flags:?}: {}", came.err);
        came.says(words);
        assert!(world.records().is_empty(), "{flags:?}");
    }
    // what is the program's own is left to it
    let body = "cat >/dev/null; echo \"$@\" >\"$here/in\"; turn 1 400; bye";
    let mut command = world.runs(body, &["--max-rounds", "1"]);
    command.args(["{other}", "${effrt}", "{}", "{\"model\":1}", "{effort}"]);
    world.start(&mut command).ends().ends(1, "stopped by rounds");
    assert_eq!(fs::read_to_string(world.path("in")).unwrap(), "{other} ${effrt} {} {\"model\":1} medium\n");
}

#[test]
fn a_run_within_an_agent_is_not_set_up_by_what_the_outer_one_tells_its_agent() {
    let world = World::new();
    let inner = world.path("inner");
    fs::create_dir(&inner).unwrap();
    let body = format!(
        r#"cat >/dev/null; "{}" run --agent sim --max-rounds 2 --project "{}" task >"$here/in" 2>&1; turn 1 400; bye"#,
        env!("CARGO_BIN_EXE_flyball"),
        inner.display()
    );
    world.run(&body, &["--max-rounds", "1"]).ends(1, "stopped by rounds: 1 of 1");
    let said = fs::read_to_string(world.path("in")).unwrap();
    assert!(said.contains("stopped by rounds: 2 of 2"), "{said}");
}

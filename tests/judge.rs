//! The commands that judge settings and laws, end to end.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn flyball(dir: &Path, args: &[&str]) -> std::process::Output {
    Command::cargo_bin("flyball").unwrap().current_dir(dir).args(args).output().unwrap()
}

fn scenario(name: &str) -> String {
    format!("{}/scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What must hold of any page: whole, with nothing from outside, and no script but its own.
fn whole_page(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("default-src 'none'") && page.matches("<script").count() == 1);
    for outside in ["src=", "href=", "@import", "url(http", "<link", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // the names of SVG's own words are no address that anything is fetched from
    let addresses = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http://") && !addresses.contains("https://"));
    let svgs = page.matches("<svg").count();
    assert_eq!(svgs, page.matches("</svg>").count());
    for svg in page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next()) {
        says_values(svg);
    }
}

/// What must hold of any picture: what is pointed at says a value.
fn says_values(svg: &str) {
    // the first is the picture's own
    let told: Vec<&str> = svg.split("<title>").skip(2).filter_map(|rest| rest.split("</title>").next()).collect();
    assert!(told.iter().any(|told| told.contains(|c: char| c.is_ascii_digit())), "{svg}");
    // a disc without words lies in a group that has them, under a strip that has them, or beside its words in the key
    let number = |line: &str, name: &str| -> f64 {
        let from = line.split(&format!(" {name}=\"")).nth(1).unwrap();
        from.split('"').next().unwrap().parse().unwrap()
    };
    let strips: Vec<[f64; 4]> = svg
        .lines()
        .filter(|line| line.starts_with("<rect") && line.ends_with("</title></rect>"))
        .map(|line| ["x", "y", "width", "height"].map(|name| number(line, name)))
        .collect();
    let (mut lines, mut grouped) = (svg.lines().peekable(), false);
    while let Some(line) = lines.next() {
        grouped = if line.starts_with("<g") { line.starts_with("<g><title>") } else { grouped && line != "</g>" };
        let key = lines.peek().is_some_and(|next| next.starts_with("<text"));
        if !grouped && !key && line.starts_with("<circle") && line.ends_with("/>") {
            let (x, y) = (number(line, "cx"), number(line, "cy"));
            let under = |[left, top, wide, high]: &[f64; 4]| {
                (left - 0.1..=left + wide + 0.1).contains(&x) && (top - 6.0..=top + high + 6.0).contains(&y)
            };
            assert!(strips.iter().any(under), "{line} says nothing");
        }
    }
}

#[test]
fn explain_says_it_in_words_and_as_json() {
    let dir = TempDir::new().unwrap();
    let out = flyball(dir.path(), &["explain", &scenario("s03-mid-gap")]);
    assert!(out.status.success());
    let said = text(&out.stdout);
    for words in
        ["half way between two rungs", "goes round for ever", "the nearest target that a rung holds", "legal slack"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let out = flyball(
        dir.path(),
        &["explain", &scenario("s02-typical"), "--law", "reset", "--over", "1h", "--format", "json"],
    );
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((json["law"].as_str(), json["over"].as_f64()), (Some("reset"), Some(3600.0)));
    assert!(json["chain"].is_null() && json["no_chain"].as_str().unwrap().contains("rounds"));
    assert!(json["sentences"].as_array().unwrap().len() >= 4);
    let said = text(&flyball(dir.path(), &["explain", &scenario("s02-typical"), "--law", "fixed"]).stdout);
    assert!(said.contains("fixed never moves") && !said.contains("fixed remembers"), "{said}");
    let out = flyball(dir.path(), &["explain", &scenario("s02-typical"), "--slack", "2"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("--slack"));
}

#[test]
fn recommend_writes_settings_for_both_and_a_page() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("juice.yaml"), "juice: 2048\nover: 300\nslack: 0.15\nbudget: 5\n").unwrap();
    let args = [
        "recommend",
        &scenario("s06-short-rounds"),
        "--current",
        "juice.yaml",
        "--price",
        "15",
        "--rounds",
        "40",
        "--runs",
        "10",
        "--race",
        "8",
        "--over",
        "60s,10m",
        "--slack",
        "0.15,0.3",
        "--law",
        "reference,reset",
        "--html",
        "page.html",
        "--out",
        "out",
    ];
    let out = flyball(dir.path(), &args);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let said = text(&out.stdout);
    for words in
        ["recommended: --law", "no part in the choice", "USD", "Again: flyball recommend", "twice the weight on"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let settings = fs::read_to_string(dir.path().join("out/flyball.toml")).unwrap();
    assert!(settings.contains("juice = 2048") && settings.contains("budget = 5"), "{settings}");
    // what speaks against it stands first there too
    assert_eq!(said.starts_with("warning: "), settings.contains("\n# warning: "), "{said}\n{settings}");
    let original = fs::read_to_string(dir.path().join("out/juice.yaml")).unwrap();
    assert!(original.contains("\njuice: 2048 ") && original.contains("# again: flyball recommend"), "{original}");
    assert!(
        original.contains("The original cannot run that") && original.contains("% of rounds on a right rung"),
        "{original}"
    );
    whole_page(&fs::read_to_string(dir.path().join("page.html")).unwrap());
    // the command that it prints says the same again
    let again = said.lines().find_map(|line| line.strip_prefix("Again: flyball ")).unwrap();
    let words: Vec<&str> = again.split(' ').collect();
    let json = |args: &[&str]| -> Value {
        let out = flyball(dir.path(), &[args, &["--format", "json", "--out", "again"]].concat());
        serde_json::from_slice(&out.stdout).unwrap()
    };
    // with its page and its folder
    assert!(again.contains("--out out") && again.contains("--html page.html"), "{again}");
    let words: Vec<&str> = words.iter().copied().filter(|word| !["--out", "out"].contains(word)).collect();
    let (first, second) = (json(&args[..args.len() - 4]), json(&words));
    assert_eq!((&first["promises"], &first["regret"]), (&second["promises"], &second["regret"]));
    let used = first["promises"].as_array().unwrap().iter().find(|promise| promise["who"] == "in use").unwrap();
    assert_eq!(used["setting"]["law"], "reference", "the original has one law");
    assert_eq!(first["promises"][2]["who"], "in use");
}

#[test]
fn recommend_refuses_what_it_cannot_use() {
    let dir = TempDir::new().unwrap();
    for (args, want) in [
        (["recommend", "nothing.toml", "--runs", "5"], "nothing.toml"),
        (["recommend", &scenario("s06-short-rounds"), "--weights", "speed=1"], "no part of the loss"),
        (["recommend", &scenario("s06-short-rounds"), "--current", "no.yaml"], "no.yaml"),
        (["recommend", &scenario("s06-short-rounds"), "--model", "gpt-5.5"], "--model: it chooses among logs"),
        (
            ["recommend", &scenario("s06-short-rounds"), "--weights", "excess=0,bias=0,reversals=0,settle=0"],
            "weighs nothing",
        ),
    ] {
        let out = flyball(dir.path(), &args);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(want), "{}", text(&out.stderr));
    }
}

#[test]
fn what_never_settles_has_no_number_in_any_form() {
    let dir = TempDir::new().unwrap();
    let few = ["--rounds", "30", "--runs", "20", "--race", "2", "--law", "fixed", "--as-is", "--out", "o"];
    let more = ["--format", "json", "--html", "page.html"];
    let out = flyball(dir.path(), &[&["recommend", &scenario("s16-far-start")], &few[..], &more].concat());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let chosen = &json["promises"][0];
    assert!(chosen["settle_rounds"].is_null() && chosen["settle_tokens"].is_null(), "{chosen}");
    assert_eq!((&chosen["settle_within_half"]["tokens"], &chosen["unsettled"]["mean"]), (&"never".into(), &1.0.into()));
    assert!(json["warnings"][0].as_str().unwrap().contains("least bad"), "{json}");
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}: {page}"));
    assert!(at("Warning: This is the least bad") < at("Use --law fixed") && at(">never<") > 0);
    let settings = fs::read_to_string(dir.path().join("o/flyball.toml")).unwrap();
    assert!(settings.contains("# warning: This is the least bad"), "{settings}");
}

#[test]
fn recommend_reads_logs() {
    let dir = TempDir::new().unwrap();
    let logs = format!("{}/tests/data/logs/codex-rollout", env!("CARGO_MANIFEST_DIR"));
    let few = ["--rounds", "30", "--runs", "6", "--race", "4", "--law", "reset", "--over", "10m,1h", "--as-is"];
    let of = |more: &[&str]| {
        let out = flyball(dir.path(), &[&["recommend", &logs], &few[..], more].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        (text(&out.stdout), text(&out.stderr))
    };
    let (said, talk) = of(&["--juice", "2000", "--snap"]);
    assert!(talk.contains("fitted to"), "{talk}");
    let folder = dir.path().join("out/recommend-gpt-5.5");
    for name in ["flyball.toml", "juice.yaml", "gpt-5.5.toml"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    // the top of the ladder is on it, and is told in whole tokens
    assert!(!said.contains("above the whole ladder") && said.contains("as --snap asks"), "{said}");
    let settings = fs::read_to_string(folder.join("flyball.toml")).unwrap();
    let juice = settings.lines().find_map(|line| line.strip_prefix("juice = ")).unwrap();
    assert!(juice.split(' ').next().unwrap().parse::<u64>().is_ok(), "{juice}");
    // where nobody names a target it is said where it comes from, and calls of other models are named
    let claude = format!("{}/tests/data/logs/claude-code-session", env!("CARGO_MANIFEST_DIR"));
    let (said, talk) = of(&[&claude, "--model", "gpt-5.5"]);
    assert!(said.contains("which flyball took from the logs"), "{said}");
    assert!(talk.contains("left out, being of other models: ") && talk.contains(" of claude-"), "{talk}");
}

#[test]
fn what_a_law_never_reads_is_not_written_for_it_and_a_scenario_counts_once() {
    let dir = TempDir::new().unwrap();
    let text_of = fs::read_to_string(scenario("s06-short-rounds")).unwrap();
    let own = text_of.replace("[plan]", "[governor.stride]\ndrift = 0.06\n\n[plan]");
    fs::write(dir.path().join("s06-short-rounds.toml"), own).unwrap();
    let file = "s06-short-rounds.toml";
    let few =
        ["--rounds", "20", "--runs", "2", "--race", "2", "--over", "300s", "--slack", "0.3", "--as-is", "--out", "o"];
    for (law, written) in [("reset", false), ("stride", true)] {
        let out = flyball(dir.path(), &[&["recommend", file, file, "--law", law], &few[..]].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        assert!(text(&out.stderr).contains("is named twice"), "{}", text(&out.stderr));
        assert!(text(&out.stdout).contains("each in 1 world;"), "{}", text(&out.stdout));
        let settings = fs::read_to_string(dir.path().join("o/flyball.toml")).unwrap();
        assert_eq!(settings.contains("[governor.stride]"), written, "{settings}");
    }
}

#[test]
fn a_gate_passes_what_is_as_it_was_and_stops_what_is_not() {
    let dir = TempDir::new().unwrap();
    let suite = format!(
        "format = 1\nscenarios = [{:?}]\nlaws = [\"reference\", \"reset\"]\nruns = 4\nrounds = 30\nseed = 1\n\
         settings = [{{ over = \"300s\", slack = 0.15 }}]\n",
        scenario("s06-short-rounds")
    );
    fs::write(dir.path().join("suite.toml"), suite).unwrap();
    let gate = |more: &[&str]| flyball(dir.path(), &[&["gate", "suite.toml"], more].concat());
    assert_eq!(gate(&[]).status.code(), Some(2), "there is no baseline yet");
    assert_eq!(gate(&["--write"]).status.code(), Some(0));
    let out = gate(&["--html", "gate.html"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
    whole_page(&fs::read_to_string(dir.path().join("gate.html")).unwrap());
    assert_eq!(gate(&["--seed", "9"]).status.code(), Some(0));
    // one run of one row is not what it was
    let path = dir.path().join("baseline.jsonl");
    let before = fs::read_to_string(&path).unwrap();
    let line = before.lines().find(|line| line.contains("\"runs\":[[")).unwrap();
    let from = line.find("[[").unwrap() + 2;
    let number: u64 = line[from..].split(',').next().unwrap().parse().unwrap();
    let changed = format!("{}{}{}", &line[..from], number + 1, &line[from + number.to_string().len()..]);
    fs::write(&path, before.replace(line, &changed)).unwrap();
    let out = gate(&["--html", "changed.html"]);
    assert_eq!(out.status.code(), Some(1));
    let page = fs::read_to_string(dir.path().join("changed.html")).unwrap();
    whole_page(&page);
    assert_eq!(page.matches("<svg").count(), 1, "one count of one row");
    for words in [
        "By how much",
        "points of rounds, now less before",
        "<title>s06-short-rounds, reference",
        "4 runs of 30 rounds a row",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let said = text(&out.stdout);
    assert!(
        said.contains("s06-short-rounds, reference")
            && said.contains("(seed 1)")
            && said.contains("the first is run 0"),
        "{said}"
    );
    // a report that somebody wrote by hand
    fs::write(&path, before).unwrap();
    fs::write(dir.path().join("report.md"), "fine\n").unwrap();
    assert_eq!(gate(&[]).status.code(), Some(1));
}

#[test]
fn a_sweep_stops_when_it_knows_enough_and_makes_a_page() {
    let dir = TempDir::new().unwrap();
    let out = flyball(
        dir.path(),
        &[
            "sweep",
            &scenario("s06-short-rounds"),
            "--law",
            "reset",
            "--over",
            "300s",
            "--slack",
            "0.3",
            "--juice",
            "1500,1800,2048",
            "--rounds",
            "40",
            "--runs",
            "300",
            "--precision",
            "0.05",
            "--html",
            "sweep.html",
        ],
    );
    assert!(out.status.success(), "{}", text(&out.stderr));
    let result: Value =
        serde_json::from_slice(&fs::read(dir.path().join("out/s06-short-rounds/result.json")).unwrap()).unwrap();
    let runs = result["runs"].as_u64().unwrap();
    assert!((50..300).contains(&runs) && result["incomplete"].is_null(), "{runs}");
    let page = fs::read_to_string(dir.path().join("sweep.html")).unwrap();
    whole_page(&page);
    assert!(page.contains("place between rungs") && page.contains("<button type=\"button\">on rung</button>"));
    for words in ["--law reset --juice 1500,1800,2048", "--rounds 40 --seed ", "--html sweep.html</code>"] {
        assert!(page.contains(words), "{words}");
    }
    // the command that it prints makes the same page
    let again = page.split("<code>flyball ").nth(1).unwrap().split("</code>").next().unwrap();
    assert!(flyball(dir.path(), &again.split(' ').collect::<Vec<_>>()).status.success());
    assert_eq!(fs::read_to_string(dir.path().join("sweep.html")).unwrap(), page);
    for picture in ["phase", "occupancy", "returns"] {
        assert!(dir.path().join(format!("out/s06-short-rounds/{picture}.svg")).is_file(), "{picture}");
    }
}

#[test]
fn every_picture_of_a_sweep_and_a_run_says_its_values() {
    let dir = TempDir::new().unwrap();
    let file = scenario("s06-short-rounds");
    let few =
        ["--over", "60s,300s", "--slack", "0.15,0.3", "--juice", "1500,1800,2048", "--rounds", "40", "--runs", "12"];
    let sweep = [&["sweep", &file, "--law", "reference,reset", "--out", "out"], &few[..]].concat();
    for args in [&sweep[..], &["simulate", &file, "--rounds", "40", "--out", "out"]] {
        let out = flyball(dir.path(), args);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
    let mut seen: Vec<String> = Vec::new();
    for entry in fs::read_dir(dir.path().join("out")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "svg") {
            let svg = fs::read_to_string(&path).unwrap();
            says_values(&svg);
            assert!(svg.contains("seed ") && svg.contains(" round"), "{}", path.display());
            seen.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    seen.sort_unstable();
    let all = [
        "burn",
        "false-moves",
        "forest",
        "forest-targets",
        "heat-reference",
        "heat-reset",
        "occupancy",
        "phase",
        "returns",
        "settle",
        "still",
        "trace",
    ];
    assert_eq!(seen, all);
    let svg = |name: &str| fs::read_to_string(dir.path().join(format!("out/{name}.svg"))).unwrap();
    let json: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("out/heat-reset.json")).unwrap()).unwrap();
    let share = json["panels"][0]["cells"][0][0]["value"].as_f64().unwrap();
    assert!(svg("heat-reset").contains(&format!("<title>on a right rung: {share:.1} ±")), "{share}");
    assert_eq!(svg("still").matches("<title>round ").count(), 40);
    assert_eq!(svg("trace").matches("round 40: ").count(), 2, "with noise and without");
}

#[test]
fn sensitivity_ranks() {
    let dir = TempDir::new().unwrap();
    let of = |more: &[&str]| {
        let file = scenario("s06-short-rounds");
        let few = ["sensitivity", &file, "--law", "reset", "--rounds", "20", "--runs", "1"];
        let args = [&few[..], more].concat();
        let out = flyball(dir.path(), &args);
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    let said = of(&["--points", "4", "--html", "morris.html"]);
    assert!(said.contains("4 trajectories") && said.contains("slack"), "{said}");
    let json: Value = serde_json::from_str(&of(&[
        "--method",
        "sobol",
        "--points",
        "20",
        "--format",
        "json",
        "--plots",
        "pictures",
        "--html",
        "sobol.html",
    ]))
    .unwrap();
    assert!(json["results"]["on_rung"]["slack"]["total"].as_f64().unwrap() >= 0.0);
    assert!(dir.path().join("pictures/sensitivity.svg").is_file());
    for (file, words) in [("morris.html", "points of rounds"), ("sobol.html", "share of the variance")] {
        let page = fs::read_to_string(dir.path().join(file)).unwrap();
        whole_page(&page);
        assert_eq!((page.matches("<svg").count(), page.matches("<table").count()), (1, 3), "{file}");
        assert!(page.contains(words) && page.contains("flyball sensitivity"), "{page}");
    }
}

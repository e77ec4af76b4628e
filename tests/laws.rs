//! The page on the laws says what the program has and what the committed study measured; the study is what its command makes.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use flyball::engine::LawKind;
use flyball::engine::laws::Knob;

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The rows of the first table under a heading, cells trimmed.
fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let after = text.split_once(heading).unwrap_or_else(|| panic!("no {heading}")).1;
    let lines = after.lines().skip(1).take_while(|line| !line.starts_with('#'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    lines.filter(|line| line.starts_with("| ")).map(cells).collect()
}

fn row<'a>(rows: &'a [Vec<String>], name: &str) -> &'a [String] {
    rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// A law's cell in a table that has a column a law.
fn cell(rows: &[Vec<String>], scenario: &str, law: &str) -> String {
    let column = rows[0].iter().position(|name| name == law).unwrap();
    row(rows, scenario)[column].clone()
}

const BY_SCENARIO: &str = "### By scenario: on a right rung";

/// What stands under a law: its figures as a row.
fn measured(study: &str, ladders: &str, law: &str) -> String {
    let (means, family) = (rows(study, "## Means over S01 to S18"), rows(study, "## Random family"));
    let mean = row(&means, law);
    let cells = [
        mean[2].clone(),
        mean[1].clone(),
        mean[3].clone(),
        mean[4].clone(),
        row(&family, law)[1].clone(),
        cell(&rows(study, BY_SCENARIO), "s13-uneven-inverted", law),
        cell(&rows(ladders, BY_SCENARIO), "swapped", law),
        cell(&rows(ladders, BY_SCENARIO), "upside-down", law),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// Millionths as the page writes them.
fn short(millionths: u32) -> String {
    format!("{}", f64::from(millionths) / 1e6)
}

fn setting(knob: &Knob) -> String {
    let Knob { name, about, usual, least, most, .. } = knob;
    let to = if knob.is_switch() { "or" } else { "to" };
    format!("| `{name}` | {} | {} {to} {} | {about} |\n", short(*usual), short(*least), short(*most))
}

/// The part of the page under `## ` and this.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let from = page.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section on {heading}"));
    let rest = &page[from + 1..];
    &rest[..rest[3..].find("\n## ").map_or(rest.len(), |at| at + 3)]
}

#[test]
fn every_law_has_its_section_with_its_settings_and_its_measured_row() {
    let (page, study, ladders) = (file("src/LAWS.md"), file("gate/study.md"), file("gate/ladders.md"));
    for law in LawKind::ALL {
        let text = section(&page, &format!("`{law}`"));
        for knob in law.knobs() {
            assert!(text.contains(&setting(knob)), "{law} lacks {}", setting(knob));
        }
        let settings = text.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(settings, law.knobs().len(), "{law} has other settings");
        let row = measured(&study, &ladders, law.name());
        assert!(text.contains(&row), "{law} lacks {row}");
        if law != LawKind::Fixed {
            assert!(text.contains("*Theory.* ") && text.contains("*Hard ladders.* "), "{law}");
            assert!(text.contains("Remembers "), "{law}");
        }
        // what it is measured at, where its window or its slack makes a difference
        let at = rows(&study, "# The laws, compared");
        let (over, slack) = (&row_of(&at, law)[1], &row_of(&at, law)[2]);
        if text.contains("Measured with") {
            assert!(text.contains(&format!("`slack` {slack}")), "{law}: {slack}");
            assert!(
                !text.contains("Measured with `over`") || text.contains(&format!("`over` {over} s")),
                "{law}: {over}"
            );
        }
    }
    let dither = measured(&study, &ladders, "stride, dither");
    assert!(section(&page, "`stride`").contains(&dither), "{dither}");
    assert!(file("README.md").contains("(src/LAWS.md)"));
}

fn row_of(rows: &[Vec<String>], law: LawKind) -> Vec<String> {
    row(rows, law.name()).to_vec()
}

/// What the page says of the goals, and the record of the decision, are the study's figures too.
#[test]
fn the_claims_are_the_studys_figures() {
    let (page, record, study) = (file("src/LAWS.md"), file("src/decisions/0013-default-law.md"), file("gate/study.md"));
    let (means, family) = (rows(&study, "## Means over S01 to S16"), rows(&study, "## Random family"));
    let of = |law| (row(&means, law), row(&family, law)[1].as_str());
    let ((stride, on), (three, on_three)) = (of("stride"), of("stride3"));
    for claim in [
        format!("`stride3` has {}, {} and {on_three};", three[2], three[1]),
        format!("`stride` {}, {} and {on};", stride[2], stride[1]),
    ] {
        assert!(page.contains(&claim), "{claim}");
    }
    let plain = |cell: &str| cell.split(' ').next().unwrap().to_owned();
    for law in ["stride", "stride3", "model", "evidence", "reset", "reference"] {
        let (mean, on) = of(law);
        let cells = [mean[2].clone(), mean[1].clone(), plain(&mean[3]), plain(&mean[4]), on.to_owned()];
        let claim = format!("| `{law}` | {} |", cells.join(" | ")).replace(" +-", " ± ");
        assert!(record.contains(&claim), "{claim}");
    }
}

/// In the means over S01 to S18 the law where nobody names one is no worse than the original's, whatever is looked at.
#[test]
fn the_default_is_worse_than_the_original_in_nothing() {
    let means = rows(&file("gate/study.md"), "## Means over S01 to S18");
    let (ours, original) = (row(&means, LawKind::DEFAULT.name()), row(&means, "reference"));
    let number = |cell: &str| cell.split(' ').next().unwrap().parse::<f64>().unwrap();
    for (place, title) in means[0].iter().enumerate().skip(1) {
        let (ours, original) = (number(&ours[place]), number(&original[place]));
        let better = match title.as_str() {
            "worst" | "on a right rung, % of rounds" | "runs that settled, %" => ours > original,
            "bias, %" => ours.abs() < original.abs(),
            _ => ours < original,
        };
        assert!(better, "{title}: {ours} for {original}");
    }
}

/// The same on agents fitted to logs, but for one figure, which the page and the record tell.
#[test]
fn on_fitted_agents_the_default_is_worse_in_one_thing_that_is_told() {
    let fitted = rows(&file("gate/study.md"), "## Agents fitted to logs");
    let names = [LawKind::DEFAULT.name(), "reference"];
    let columns = names.map(|name| fitted[0].iter().position(|title| title == name).unwrap());
    let mut worse = Vec::new();
    for line in &fitted[1..] {
        let number = |column: usize| line[column].split(' ').next().unwrap().parse::<f64>().unwrap();
        let [ours, original] = columns.map(number);
        let better = match line[0].rsplit(": ").next().unwrap() {
            "on a right rung, % of rounds" => ours > original,
            "bias, %" => ours.abs() < original.abs(),
            _ => ours < original,
        };
        if !better {
            worse.push(line[0].as_str());
        }
    }
    let told = |effort| format!("gpt-5.5, effort on {effort} turns, between: error of 20 rounds together, nats");
    assert_eq!(worse, [told("long"), told("all")]);
    let (page, record) = (file("src/LAWS.md"), file("src/decisions/0013-default-law.md"));
    let claim = "where the target lies between two rungs of gpt-5.5";
    assert!(page.contains(claim) && record.contains("between two rungs of gpt-5.5"));
}

/// Both tables, made again by the commands that they name.
#[test]
#[ignore = "slow: the whole study"]
fn the_study_is_what_its_command_makes() {
    for path in ["gate/ladders.md", "gate/study.md"] {
        let committed = file(path);
        let command = committed.split_once("Made by `flyball ").unwrap().1.split_once('`').unwrap().0;
        let made = assert_cmd::Command::cargo_bin("flyball")
            .unwrap()
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(command.split(' '))
            .output()
            .unwrap();
        assert!(made.status.success());
        assert_eq!(String::from_utf8(made.stdout).unwrap().trim_end(), committed.trim_end(), "{path}");
    }
}

//! `flyball gate`: laws against a committed report.

use std::path::Path;

use super::common;
use crate::cli::args::Gate;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::input::{self, Role};
use crate::cli::output;
use crate::engine::{Law, counted};
use crate::lab::gate::{self, Rows, Suite, Verdict, report};
use crate::lab::page::{self, Page, Section};
use crate::lab::pictures::changes::changes;
use crate::lab::scenario::Scenario;

const SUITE: Role = Role { name: "suite", hint: "name a suite, such as gate/suite.toml" };
const BASELINE: Role = Role { name: "baseline", hint: "make it with --write" };
const REPORT: Role = Role { name: "report of the baseline", hint: "make it with --write" };

/// Compares, or renews.
///
/// # Errors
/// A suite, scenario or baseline that cannot be read; files that cannot be written.
pub fn run(args: &Gate) -> Outcome {
    let text = input::text(SUITE, &args.suite, input::SHORT)?;
    let suite = Suite::load(&text, &args.suite.display().to_string())
        .map_err(|error| input::faulty(SUITE, &args.suite, error))?;
    let beside = args.suite.parent().map(Path::to_path_buf).unwrap_or_default();
    let scenarios: Vec<Scenario> =
        suite.scenarios.iter().map(|path| common::scenario(&beside.join(path))).collect::<Outcome<_>>()?;
    let (baseline, told) = (beside.join("baseline.jsonl"), beside.join("report.md"));
    let written: Vec<&Path> =
        if args.write { vec![&baseline, &told] } else { args.html.as_deref().into_iter().collect() };
    written.into_iter().try_for_each(output::can_write)?;
    // what it is compared with is read before the long work
    let before = if args.write { None } else { Some(Before::read(&suite, &baseline, &told)?) };
    let seed = args.seed.unwrap_or(suite.seed);
    let now = gate::run(&suite, &scenarios, seed, &|cell| -> Box<dyn Law> { Box::new(cell.law.build()) });
    let now = now.map_err(Failure::usage)?;
    match before {
        Some(before) => judge(&before, &now, args.html.as_deref()),
        None => renew(&baseline, &told, &now),
    }
}

fn renew(baseline: &Path, told: &Path, now: &Rows) -> Outcome {
    output::write_whole(baseline, |out| gate::write(now, out))?;
    output::write_whole(told, |out| out.write_all(report::markdown(now).as_bytes()))?;
    output::say(&format!("wrote {} to {} and {}", counted(now.rows.len(), "row"), baseline.display(), told.display()));
    Ok(Exit::Success)
}

/// What was committed.
struct Before {
    rows: Rows,
    /// Where the rows stand, and where their report does.
    places: [String; 2],
    /// The report is the one of the rows.
    sound: bool,
}

impl Before {
    fn read(suite: &Suite, baseline: &Path, report_md: &Path) -> Outcome<Self> {
        const DAMAGED: Role = Role {
            hint: "take it from the project's history again: --write makes a new one, and would take every change of a law as meant",
            ..BASELINE
        };
        const OTHER: &str =
            "put the numbers back, or renew the baseline with --write and review the diff of its report";
        let text = input::text(BASELINE, baseline, input::LONG)?;
        let rows = gate::read(&text).map_err(|error| input::unread(DAMAGED, baseline, error))?;
        gate::check(&rows, suite).map_err(|error| {
            Failure::usage(error).while_(format!("cannot compare with the baseline {}", baseline.display())).hint(OTHER)
        })?;
        let told = input::text(REPORT, report_md, input::LONG)?;
        let sound = told == report::markdown(&rows);
        Ok(Self { rows, places: [baseline, report_md].map(|path| path.display().to_string()), sound })
    }
}

fn judge(before: &Before, now: &Rows, html: Option<&Path>) -> Outcome {
    let verdict = gate::compare(&before.rows, now);
    if let Some(file) = html {
        let html = page::html(&page(&before.rows, now, &verdict));
        output::write_whole(file, |out| out.write_all(html.as_bytes()))?;
        output::say(&format!("wrote {}", file.display()));
    }
    output::print(report::verdict(&verdict).as_bytes())?;
    if !before.sound {
        let [baseline, report_md] = &before.places;
        output::say(&format!("{report_md} is not the report of {baseline}"));
        output::hint("renew both with --write, and review their diff");
        return Ok(Exit::Failed);
    }
    if verdict.findings.is_empty() {
        return Ok(Exit::Success);
    }
    output::hint("where the change is meant, renew the baseline with --write and review the diff of its report");
    Ok(Exit::Failed)
}

/// The report with pictures of what changed, before the rows themselves.
fn page(before: &Rows, now: &Rows, verdict: &Verdict) -> Page {
    let mut page = report::page(now, verdict);
    let pictures: Vec<String> = changes(before, now, verdict).iter().map(|bars| bars.svg()).collect();
    if !pictures.is_empty() {
        let text =
            vec!["A row for each noisy row that changed: what it counts now less what it counted before.".to_owned()];
        let heading = "By how much".to_owned();
        // the words come first: what changed, then by how much
        page.sections.insert(1.min(page.sections.len()), Section { heading, text, pictures, ..Section::default() });
    }
    page
}

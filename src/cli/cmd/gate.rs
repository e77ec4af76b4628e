//! `flyball gate`: laws against a committed report.

use std::fs;
use std::path::Path;

use super::common;
use crate::cli::args::Gate;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Law, counted};
use crate::lab::gate::{self, Rows, Suite, Verdict, report};
use crate::lab::page::{self, Page, Section};
use crate::lab::pictures::changes::changes;
use crate::lab::scenario::Scenario;

/// Compares, or renews.
///
/// # Errors
/// A suite, scenario or baseline that cannot be read; files that cannot be written.
pub fn run(args: &Gate) -> Outcome {
    let text = read(&args.suite, "name a suite, such as gate/suite.toml")?;
    let suite = Suite::load(&text)
        .map_err(|error| Failure::usage(error).while_(format!("cannot use the suite {}", args.suite.display())))?;
    let beside = args.suite.parent().map(Path::to_path_buf).unwrap_or_default();
    let scenarios: Vec<Scenario> =
        suite.scenarios.iter().map(|path| common::scenario(&beside.join(path))).collect::<Outcome<_>>()?;
    let (baseline, told) = (beside.join("baseline.jsonl"), beside.join("report.md"));
    let seed = args.seed.unwrap_or(suite.seed);
    let now = gate::run(&suite, &scenarios, seed, &|cell| -> Box<dyn Law> { Box::new(cell.law.build()) });
    let now = now.map_err(Failure::usage)?;
    if args.write {
        output::write_whole(&baseline, |out| gate::write(&now, out))?;
        output::write_whole(&told, |out| out.write_all(report::markdown(&now).as_bytes()))?;
        output::say(&format!(
            "wrote {} to {} and {}",
            counted(now.rows.len(), "row"),
            baseline.display(),
            told.display()
        ));
        return Ok(Exit::Success);
    }
    judge(&baseline, &told, &now, args.html.as_deref())
}

fn judge(baseline: &Path, report_md: &Path, now: &Rows, html: Option<&Path>) -> Outcome {
    const RENEW: &str = "make it with --write";
    let before = gate::read(&read(baseline, RENEW)?)
        .map_err(|error| Failure::usage(error).while_(format!("cannot read {}", baseline.display())).hint(RENEW))?;
    let verdict = gate::compare(&before, now);
    if let Some(file) = html {
        let html = page::html(&page(&before, now, &verdict));
        output::write_whole(file, |out| out.write_all(html.as_bytes()))?;
        output::say(&format!("wrote {}", file.display()));
    }
    output::print(report::verdict(&verdict).as_bytes())?;
    let told = read(report_md, RENEW)?;
    if told != report::markdown(&before) {
        output::say(&format!("{} is not the report of {}", report_md.display(), baseline.display()));
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

fn read(path: &Path, hint: &str) -> Outcome<String> {
    fs::read_to_string(path)
        .map_err(|error| Failure::usage(error).while_(format!("cannot read {}", path.display())).hint(hint))
}

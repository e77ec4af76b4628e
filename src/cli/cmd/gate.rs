//! `flyball gate`: laws against a committed report.

use std::path::Path;

use super::common;
use crate::cli::args::Gate;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::input::{self, Role};
use crate::cli::output;
use crate::engine::{Law, counted};
use crate::lab::gate::{self, Rows, Suite, report};
use crate::lab::page;
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
    let before = gate::read(&input::text(BASELINE, baseline, input::LONG)?)
        .map_err(|error| input::unread(BASELINE, baseline, error))?;
    let verdict = gate::compare(&before, now);
    if let Some(file) = html {
        let html = page::html(&report::page(now, &verdict));
        output::write_whole(file, |out| out.write_all(html.as_bytes()))?;
        output::say(&format!("wrote {}", file.display()));
    }
    output::print(report::verdict(&verdict).as_bytes())?;
    let told = input::text(REPORT, report_md, input::LONG)?;
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

//! `flyball conform`: recorded runs, line by line, through the real engine.

use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::cli::args::Conform;
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::input::{self, Role};
use crate::cli::output::print;
use crate::lab::conform::{Count, Recording, Verdict, check};
use crate::lab::scenario::file::unmarked_lines;

/// The most bytes of one recorded run.
const MAX_LINE: u64 = 256 << 20;

const RUNS: Role = Role { name: "recorded runs", hint: "name a file of recorded runs, or - for stdin" };

/// Compares every run of every file.
///
/// # Errors
/// Bad input with its file and line, or a stdout that cannot be written.
pub fn run(args: &Conform) -> Outcome {
    let mut count = Count::default();
    for path in &args.files {
        if path == Path::new("-") {
            compare("stdin", lines("stdin", io::stdin().lock())?, args, &mut count)?;
        } else {
            let file = path.display().to_string();
            let opened = input::open(RUNS, path)?;
            compare(&file, lines(&file, opened)?, args, &mut count)?;
        }
    }
    let mut text: String = count.explained.iter().map(|(set, runs)| format!("explained by {set}: {runs}\n")).collect();
    text.push_str(&format!("{count}\n"));
    print(text.as_bytes())?;
    Ok(if count.differ == 0 { Exit::Success } else { Exit::Failed })
}

fn lines(file: &str, source: impl Read) -> Outcome<impl BufRead> {
    unmarked_lines(source).map_err(|error| Failure::usage(error).while_(format!("cannot read {file}")))
}

/// Compares the runs of one file.
fn compare(file: &str, mut lines: impl BufRead, args: &Conform, count: &mut Count) -> Outcome<()> {
    let (mut line, mut number, mut runs) = (Vec::new(), 0_u64, 0_u64);
    loop {
        line.clear();
        let read = Read::take(&mut lines, MAX_LINE).read_until(b'\n', &mut line);
        number += 1;
        let fault = |error: anyhow::Error| {
            Failure::usage(error).while_(format!("{file}:{number}: this is no recorded run")).hint(
                "each line must be one JSON object with id, config, ladder, rounds, expect, stopped and state_out",
            )
        };
        if read.map_err(|error| fault(error.into()))? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let recording: Recording =
            serde_json::from_slice(&line).map_err(|error| fault(anyhow::anyhow!(column(&error))))?;
        let verdict = check(&recording, args.original, &args.skip_tag).map_err(|error| fault(error.into()))?;
        tell(&recording.id.escape_debug().to_string(), &verdict)?;
        count.add(&verdict);
        runs += 1;
    }
    if runs == 0 {
        return Err(Failure::said(format!("{file}: there is no recorded run in it")));
    }
    Ok(())
}

/// What is wrong with a line, and where in it: the line's own number is told beside.
fn column(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("{what}, at column {}", error.column())
}

fn tell(id: &str, verdict: &Verdict) -> Outcome<()> {
    match verdict {
        Verdict::Differs(differences) => {
            let lines: String = differences.iter().map(|difference| format!("{id}: {difference}\n")).collect();
            print(lines.as_bytes())
        }
        Verdict::Agrees | Verdict::Explained(_) | Verdict::Skipped => Ok(()),
    }
}

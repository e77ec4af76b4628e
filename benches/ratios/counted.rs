//! Instructions, which do not move with the load of a machine: counted by valgrind, where there is one, in processes that do
//! less and more of the same work, so that what both do once drops out.

use std::error::Error;
use std::hint::black_box;
use std::process::Command;

use flyball::engine::LawKind;
use flyball::lab::scenario::Scenario;

use super::swept::{grid, swept};
use super::typical::ROUNDS;
use super::{ours, peers};

/// The word that makes this program do counted work and nothing else; the work and how much of it follow.
const COUNTED: &str = "--counted";
const SWEEP: &str = "sweep";
const METER: &str = "meter";

/// Does counted work if this process is asked to.
pub(crate) fn asked(scenario: &Scenario) -> Result<bool, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip_while(|word| word != COUNTED).collect();
    let [_, work, amount] = words.as_slice() else { return Ok(false) };
    if work == SWEEP {
        black_box(swept(scenario, &grid(scenario, LawKind::Reference, [10, 10, 10])?, amount.parse()?, 1)?);
    } else {
        black_box(ours::meter(&peers::reports()[..amount.parse()?], 1, 64_000));
    }
    Ok(true)
}

/// What was counted, in words.
pub(crate) fn told() -> String {
    let round = each(SWEEP, [1, 3], 1000.0 * f64::from(ROUNDS));
    let push = each(METER, [100_000, 300_000], 1.0);
    round.zip(push).map_or_else(
        || "instructions: not counted, there is no valgrind".into(),
        |(round, push)| {
            format!("instructions: {round:.0} a governed round of 1000 cells, all told; {push:.0} a push and a mean")
        },
    )
}

/// Instructions for each of `units` in an amount of some work.
fn each(work: &str, [few, many]: [u32; 2], units: f64) -> Option<f64> {
    let (less, more) = (instructions(work, few)?, instructions(work, many)?);
    Some((more - less) / (units * f64::from(many - few)))
}

fn instructions(work: &str, amount: u32) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args([COUNTED, work, &amount.to_string()])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let told = String::from_utf8_lossy(&output.stderr);
    told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

//! Instructions, which do not move with the load of a machine: counted by valgrind, where there is one, in processes that do
//! less and more of the same work, so that what both do once drops out.

use std::error::Error;
use std::hint::black_box;
use std::process::Command;

use flyball::engine::LawKind;
use flyball::lab::scenario::Scenario;

use super::gate::Gate;
use super::swept::{grid, swept};
use super::typical::ROUNDS;
use super::{ours, peers};

/// The word that makes this program do counted work and nothing else; the work and how much of it follow.
const COUNTED: &str = "--counted";
const METER: &str = "meter";

/// Does counted work if this process is asked to.
pub(crate) fn asked(scenario: &Scenario) -> Result<bool, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip_while(|word| word != COUNTED).collect();
    let [_, work, amount] = words.as_slice() else { return Ok(false) };
    if work == METER {
        black_box(ours::meter(&peers::reports()[..amount.parse()?], 1, 64_000));
    } else {
        black_box(swept(scenario, &grid(scenario, work.parse()?, [10, 10, 10])?, amount.parse()?, 1)?);
    }
    Ok(true)
}

/// What was counted, in words, and what of it is asked for.
pub(crate) fn gates(_: &Scenario) -> Result<Vec<Gate>, Box<dyn Error>> {
    let round = |law: LawKind| each(law.name(), [1, 3], 1000.0 * f64::from(ROUNDS));
    let [reference, stride, stride3] = [LawKind::Reference, LawKind::Stride, LawKind::Stride3].map(round);
    let push = each(METER, [100_000, 300_000], 1.0);
    match reference.zip(stride).zip(push) {
        None => println!("instructions: not counted, there is no valgrind"),
        Some(((reference, stride), push)) => println!(
            "instructions: {reference:.0} a governed round of 1000 cells by reference, all told, {stride:.0} by stride; {push:.0} a \
             push and a mean"
        ),
    }
    let over = |law: Option<f64>| reference.zip(law).map(|(reference, law)| reference / law);
    Ok(vec![
        Gate::at_least("instructions of a round by reference, over stride's", 1.0 / 6.0, 0.25, over(stride)),
        Gate::at_least("the same over stride3's", 1.0 / 6.0, 0.25, over(stride3)),
    ])
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

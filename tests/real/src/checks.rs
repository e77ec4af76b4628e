//! What must be so after a case: counts equal to what the server stated, efforts as asked, the stop by its control.

use std::collections::{BTreeMap, BTreeSet};

use crate::cases::{Ran, ended};
use crate::cli::Tells;
use crate::journal::{Journal, Round};
use crate::stub::{For, HIDDEN, Seen};

/// The last line of a run that a control stopped, with its exit code.
fn stopped_by(ran: &Ran<'_>, control: &str, code: i32) -> Result<(), String> {
    let last = ran.stderr.lines().last().unwrap_or_default();
    let named = last.strip_prefix("flyball: stopped by ").and_then(|rest| rest.split([':', ' ']).next());
    if named != Some(control) {
        return Err(format!("not stopped by {control}"));
    }
    if ran.status.and_then(|status| status.code()) != Some(code) {
        return Err(format!("{} where {code} was due", ended(ran.status)));
    }
    let recorded = journal(ran)?.stop.as_deref();
    if recorded != Some(control) {
        return Err(format!("the journal says {recorded:?} of the stop"));
    }
    Ok(())
}

fn journal<'a>(ran: &'a Ran<'_>) -> Result<&'a Journal, String> {
    ran.journal.as_ref().map_err(Clone::clone)
}

/// Output tokens per round as the server stated them, sorted.
fn stated(seen: &[Seen]) -> BTreeMap<u64, Vec<u64>> {
    let mut out: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for turn in seen.iter().filter_map(Seen::stated) {
        out.entry(turn.round).or_default().push(turn.output);
    }
    out.values_mut().for_each(|counts| counts.sort_unstable());
    out
}

/// Every turn that the server stated is in the journal with its count, and no other; sums agree.
///
/// Turns of a grade that is not known are left out of the lists: nothing was stated for them.
fn counts(ran: &Ran<'_>) -> Result<String, String> {
    let (journal, stated) = (journal(ran)?, stated(&ran.seen));
    let mut turns = 0;
    let rounds: BTreeSet<u64> = stated.keys().chain(journal.rounds.keys()).copied().collect();
    for number in rounds {
        let due = stated.get(&number).cloned().unwrap_or_default();
        let Some(round) = journal.rounds.get(&number) else { return Err(format!("round {number} is not recorded")) };
        let known = round.turns.iter().filter(|turn| turn.grade == "known");
        let mut got: Vec<u64> = known.map(|turn| turn.output).filter(|output| *output > 0).collect();
        got.sort_unstable();
        if got != due {
            return Err(format!("round {number}: recorded {got:?}, stated {due:?}"));
        }
        let (sum, estimated): (u64, u64) = (due.iter().sum(), round.estimated());
        if round.sum() != sum + estimated {
            return Err(format!("round {number}: {} in all, stated {sum}, estimated {estimated}", round.sum()));
        }
        turns += due.len();
    }
    let hidden = ran.seen.iter().filter(|seen| seen.of == For::Hidden).count();
    Ok(match hidden {
        0 => format!("{turns} turns to the token"),
        _ => format!("{turns} turns to the token, {hidden} hidden calls"),
    })
}

/// The effort in every request of a round is the one that the round was started with.
fn efforts(ran: &Ran<'_>) -> Result<Vec<String>, String> {
    let journal = journal(ran)?;
    let turns = ran.seen.iter().filter(|seen| matches!(seen.of, For::Turn(_)));
    for seen in turns {
        let number = seen.turn.as_ref().map_or(0, |turn| turn.round);
        let Some(round) = journal.rounds.get(&number) else { continue };
        if seen.effort.as_deref() != Some(&*round.effort) {
            return Err(format!("round {number} asked for {}, the request says {:?}", round.effort, seen.effort));
        }
    }
    Ok(journal.rounds.values().map(|round| round.effort.clone()).collect())
}

pub fn alone(ran: &Ran<'_>) -> Result<String, String> {
    let stated: Vec<u64> = stated(&ran.seen).into_values().flatten().collect();
    if stated != [33, 120] {
        return Err(format!("the server stated {stated:?}"));
    }
    if ran.status.and_then(|status| status.code()) != Some(0) {
        return Err("it failed".into());
    }
    Ok("it works by itself".into())
}

pub fn ten_rounds(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by(ran, "rounds", 1)?;
    let counts = counts(ran)?;
    let efforts = efforts(ran)?;
    if efforts.len() != 10 {
        return Err(format!("{} rounds", efforts.len()));
    }
    let place = |word: &String| ran.cli.ladder.iter().position(|rung| rung == word);
    let places: Vec<usize> = efforts.iter().filter_map(place).collect();
    let softer = places.windows(2).any(|pair| pair[1] > pair[0]);
    let harder = places.windows(2).any(|pair| pair[1] < pair[0]);
    if !(softer && harder) {
        return Err(format!("the rung did not go both ways: {}", efforts.join(" ")));
    }
    Ok(format!("{counts}; {}", efforts.join(" ")))
}

pub fn sub_agent(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by(ran, "rounds", 1)?;
    let stated: Vec<u64> = stated(&ran.seen).into_values().flatten().collect();
    if ![40, 41, 50, 100].iter().all(|output| stated.contains(output)) {
        return Err(format!("no sub-agent was run: the server stated {stated:?}"));
    }
    counts(ran)
}

pub fn budget(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by(ran, "budget", 1)?;
    let spent: u64 = stated(&ran.seen).into_values().flatten().sum();
    // what lands last may go over by one turn, not by a round
    if !(1_200..=1_700).contains(&spent) {
        return Err(format!("{spent} tokens were spent of 1200"));
    }
    Ok(format!("{}; {spent} tokens of 1200", counts(ran)?))
}

pub fn interrupted(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by(ran, "interrupted", 130)?;
    if ran.took.as_secs() >= 30 {
        return Err(format!("it took {:.1} s to end", ran.took.as_secs_f64()));
    }
    let untold = |fault| if ran.cli.tells == Tells::ToolsDone { estimated(ran).ok_or(fault) } else { Err(fault) };
    counts(ran).or_else(untold)
}

/// The only turn was interrupted in its tool by a CLI that had not told its count yet: it is recorded, as an estimate.
fn estimated(ran: &Ran<'_>) -> Option<String> {
    let stated: Vec<u64> = stated(&ran.seen).into_values().flatten().collect();
    let round = journal(ran).ok()?.rounds.get(&1)?;
    let [turn] = &round.turns[..] else { return None };
    let is_so = stated.len() == 1 && turn.grade == "estimated" && turn.output > 0;
    is_so.then(|| format!("the count of the turn was told by nobody: estimated {} of {}", turn.output, stated[0]))
}

pub fn stall(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by(ran, "rounds", 1)?;
    let exits: Vec<_> = journal(ran)?.rounds.values().map(|round| round.exit.as_deref()).collect();
    if exits != [Some("cut"), Some("done")] {
        return Err(format!("the rounds ended {exits:?}"));
    }
    counts(ran)
}

/// A refusal is a failure or an answer, as the CLI has it; what it cost is counted either way.
pub fn refusal(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by_any(ran, &FAILED[..2])?;
    let (sums, exits) = sums(ran)?;
    Ok(format!("{exits}; {sums} tokens, all that were stated"))
}

/// The controls that may end a loop whose rounds all fail.
const FAILED: [&str; 3] = ["agent-failures", "rounds", "requests"];

fn stopped_by_any(ran: &Ran<'_>, controls: &[&str]) -> Result<(), String> {
    if controls.iter().all(|control| stopped_by(ran, control, 1).is_err()) {
        return Err(format!("not stopped by {}", controls.join(", ")));
    }
    Ok(())
}

/// No round passes for done. One in which the CLI tries again for ever is cut, or stopped by the cap on requests.
pub fn failing(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by_any(ran, &FAILED)?;
    let (recorded, exits) = sums(ran)?;
    if exits.contains("done") {
        return Err(format!("the rounds ended {exits}"));
    }
    let requests = ran.seen.iter().filter(|seen| matches!(seen.of, For::Turn(_))).count();
    Ok(format!("{exits}; {requests} requests, {recorded} tokens"))
}

/// Streams that break off: nothing was stated in the end, and what was stated before may be counted or estimated.
pub fn dropped(ran: &Ran<'_>) -> Result<String, String> {
    stopped_by_any(ran, &FAILED)?;
    let began = ran.seen.iter().filter(|seen| matches!(seen.of, For::Turn(_))).filter_map(|seen| seen.turn.as_ref());
    let (requests, most) = began.fold((0, 0), |(count, sum), turn| (count + 1, sum + turn.output));
    let journal = journal(ran)?;
    let recorded: u64 = journal.rounds.values().map(Round::sum).sum();
    if requests > 400 || recorded > most {
        return Err(format!("{requests} requests, {recorded} tokens recorded of {most} at most"));
    }
    let exits: Vec<_> = journal.rounds.values().map(|round| round.exit.as_deref().unwrap_or("unended")).collect();
    Ok(format!("{}; {requests} requests, {recorded} tokens", exits.join(" ")))
}

/// Output of all rounds, which is what was stated or, where answers broke off, more; and how they ended. Calls without tools
/// need not be hidden: a compaction is shown by some.
fn sums(ran: &Ran<'_>) -> Result<(u64, String), String> {
    let journal = journal(ran)?;
    let exits: Vec<_> = journal.rounds.values().map(|round| round.exit.as_deref().unwrap_or("unended")).collect();
    let stated: u64 = stated(&ran.seen).into_values().flatten().sum();
    let recorded: u64 = journal.rounds.values().map(|round| round.sum()).sum();
    let estimated: u64 = journal.rounds.values().map(|round| round.estimated()).sum();
    let calls = ran.seen.iter().filter(|seen| seen.of == For::Hidden && seen.whole).count();
    let beside = HIDDEN * u64::try_from(calls).unwrap_or(u64::MAX);
    let least = stated + estimated;
    if !(least..=least + beside).contains(&recorded) {
        return Err(format!("{recorded} tokens recorded, {stated} stated, {estimated} estimated, {beside} beside"));
    }
    Ok((recorded, exits.join(" ")))
}

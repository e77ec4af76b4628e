//! An explanation in words: a table of rungs, the numbers, and sentences that say what they mean.

use std::fmt::Write as _;

use super::{Broken, ChainView, Explanation, Footing, Gap, RESOLVED, Reach, WITHIN};
use crate::engine::{LawKind, counted, one_or};
use crate::lab::fit::figures::three;

/// Beyond so many rounds nobody waits.
const NEVER: f64 = 1e6;
/// Fewer runs than this share are no reason to hope.
const RARE: f64 = 0.01;

/// The whole page.
#[must_use]
pub fn render(told: &Explanation) -> String {
    let mut text = format!(
        "{}: {} at juice {} tokens per turn, over {} s, slack {} %, rest {} s, from {}\n\n",
        told.scenario,
        told.law,
        plain(told.juice),
        plain(told.over),
        percent(told.slack),
        plain(told.rest),
        told.start
    );
    align(&rows(told), &mut text);
    text.push('\n');
    let first = told.gaps.first().map_or(0.0, |gap| gap.ratio);
    if told.gaps.len() > 1 && told.gaps.iter().all(|gap| (gap.ratio - first).abs() < 0.005 * first) {
        let _ = writeln!(text, "each rung over the next: {}", gap(&told.gaps[0]));
    } else {
        for one in &told.gaps {
            let _ = writeln!(text, "{} over {}: {}", one.harder, one.softer, gap(one));
        }
    }
    let reach: Vec<String> = told.reach.iter().map(held).collect();
    let _ = writeln!(text, "targets that a rung holds at this slack: {}", reach.join("; "));
    if let Some(chain) = &told.chain {
        text.push('\n');
        text.push_str(&chained(told, chain));
    }
    text.push('\n');
    for sentence in sentences(told) {
        let _ = writeln!(text, "- {sentence}");
    }
    text
}

/// The targets that a rung holds: a band of slack 1 and more reaches down to nothing, so that no target is too high.
fn held(reach: &Reach) -> String {
    let to = if reach.to.is_finite() { format!("to {}", three(reach.to)) } else { "and more".to_owned() };
    format!("{} {} {to}", reach.effort, three(reach.from))
}

fn gap(gap: &Gap) -> String {
    let legal = gap.legal_slack.map_or_else(
        || "the harder rung makes no more tokens than the softer".to_owned(),
        |(lo, hi)| format!("legal slack {} to {} %", percent(lo), percent(hi)),
    );
    let lost = gap.infeasible.map(|share| format!(", {} % of targets between them held by neither", percent(share)));
    let resolve = gap.resolve_rounds.map(|rounds| format!(", {} rounds to tell half of it", three(rounds)));
    format!("ratio {}, {legal}{}{}", three(gap.ratio), lost.unwrap_or_default(), resolve.unwrap_or_default())
}

const NAMES: [&str; 10] = ["", "effort", "mean", "off", "cv", "reading", "noise", "moves up", "moves down", "from"];
const UNITS: [&str; 10] = ["", "", "tok/turn", "%", "", "turns", "nats", "%", "%", ""];

fn rows(told: &Explanation) -> Vec<Vec<String>> {
    let mut rows = vec![NAMES.map(str::to_owned).to_vec(), UNITS.map(str::to_owned).to_vec()];
    for rung in &told.rungs {
        rows.push(vec![
            if rung.right { "*" } else { "" }.to_owned(),
            rung.effort.clone(),
            format!("{:.0}", rung.mean),
            format!("{:+.1}", 100.0 * rung.off),
            format!("{:.2}", rung.cv),
            format!("{:.1}", rung.read_turns),
            format!("{:.2}", rung.read_sd),
            percent(rung.below),
            percent(rung.above),
            rung.evidence.to_owned(),
        ]);
    }
    rows
}

fn align(rows: &[Vec<String>], text: &mut String) {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..NAMES.len()).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:<width$} "),
                1 | 9 => write!(line, "{cell:<width$}  "),
                _ => write!(line, "{cell:>width$}  "),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn chained(told: &Explanation, chain: &ChainView) -> String {
    let mut text = match (chain.footing, off(chain)) {
        (Footing::Exact, None) => "the chain of this law, exact".to_owned(),
        (Footing::Estimate, None) => format!(
            "the chain of this law, estimated; nothing that it takes for granted is amiss here, and on such canonical scenarios it is \
             within {WITHIN} points of a simulation"
        ),
        (Footing::Exact | Footing::Estimate, Some(points)) => format!(
            "the chain of this law, which may be far off here: by up to {points} points of rounds on canonical scenarios of which \
             this is so, too:{}",
            chain.broken.iter().map(|broken| format!("\n    {}", broken.words())).collect::<String>()
        ),
    };
    let shares = |shares: &[f64]| {
        let shares = told.rungs.iter().zip(shares).filter(|(_, share)| **share >= 5e-4);
        let shares = shares.map(|(rung, share)| format!("{} {}", rung.effort, percent(*share)));
        shares.collect::<Vec<_>>().join(", ")
    };
    let _ = write!(
        text,
        "\n  in the {} that {} planned, % of rounds: {}; on right rungs {}",
        counted(told.rounds, "round"),
        one_or(told.rounds, "is", "are"),
        shares(&chain.planned),
        percent(chain.planned_right)
    );
    if let (Some(occupancy), Some(right)) = (&chain.occupancy, chain.on_right) {
        let _ =
            write!(text, "\n  in the long run, % of rounds: {}; on right rungs {}", shares(occupancy), percent(right));
    }
    if let (Some(moves), Some(reversals)) = (chain.moves, chain.reversals) {
        let _ = write!(text, "\n  in the long run {moves:.1} moves and {reversals:.1} reversals per 100 rounds");
    }
    let _ = write!(
        text,
        "\n  in the mean, first right round after {} rounds and {} tokens; the first of {} in a row after {} rounds and {} tokens\n",
        many(chain.hit_rounds),
        many(chain.hit_tokens),
        told.hold,
        many(chain.settle_rounds),
        many(chain.settle_tokens)
    );
    text
}

/// By how many points a chain was off at most where the same is not so; none where nothing is amiss.
fn off(chain: &ChainView) -> Option<u32> {
    chain.broken.iter().map(|broken| broken.off()).max()
}

/// What the numbers mean.
#[must_use]
pub fn sentences(told: &Explanation) -> Vec<String> {
    let mut all = vec![place(told)];
    all.push(window(told));
    all.extend(noise(told));
    all.push(quiet(told));
    all.extend(slack(told).filter(|_| told.reads_slack));
    match (&told.chain, &told.no_chain) {
        (Some(chain), _) => all.push(settles(told, chain)),
        (None, Some(why)) => all.push(format!("No chain can be worked out: {why}. A sweep can say what it comes to.")),
        (None, None) => {}
    }
    all.extend(told.disorder.iter().map(|text| format!("{}.", sentence(text))));
    if told.rungs.iter().any(|rung| rung.evidence == "assumed") {
        all.push("Some rungs are assumed: each number that rests on them is as good as its prior.".to_owned());
    }
    all
}

/// Where the target lies, and whether a rung holds it: whether a rung's mean is in the band about it.
fn place(told: &Explanation) -> String {
    let (near, juice) = (&told.rungs[told.nearest], plain(told.juice));
    let holders: Vec<&str> =
        told.reach.iter().filter(|reach| reach.holds(told.juice)).map(|reach| reach.effort.as_str()).collect();
    let makes = format!("{} makes {} tokens per turn", near.effort, three(near.mean));
    if holders.is_empty() {
        let end = |reach: &&Reach| [reach.from, reach.to].contains(&told.nearest_target);
        let by = told.reach.iter().find(end).map_or("", |reach| reach.effort.as_str());
        let nearest = format!("the nearest target that a rung holds is {} ({by})", three(told.nearest_target));
        let slack = percent(told.slack);
        let side = if told.rungs.iter().all(|rung| rung.mean < told.juice) {
            "above"
        } else if told.rungs.iter().all(|rung| rung.mean > told.juice) {
            "below"
        } else {
            return format!(
                "The target of {juice} lies {}: {makes}, {}. At a slack of {slack} % no rung holds it; {nearest}.",
                between(told),
                apart(told)
            );
        };
        return format!(
            "The target of {juice} lies {side} the whole ladder, so that the loop is pinned at its end: {makes}, {}. At a slack of \
             {slack} % no rung holds it; {nearest}.",
            apart(told)
        );
    }
    if near.off.abs() < 0.005 {
        return format!(
            "The target of {juice} lies on {}, which makes {} tokens per turn.",
            near.effort,
            three(near.mean)
        );
    }
    format!(
        "The target of {juice} lies {}: {makes}, {}. At a slack of {} % {} {} it.",
        between(told),
        apart(told),
        percent(told.slack),
        holders.join(" and "),
        one_or(holders.len(), "holds", "hold")
    )
}

fn between(told: &Explanation) -> &'static str {
    if told.rungs.iter().all(|rung| rung.mean < told.juice) {
        return "a little above the whole ladder";
    }
    if told.rungs.iter().all(|rung| rung.mean > told.juice) {
        return "a little below the whole ladder";
    }
    if told.phase.map_or(0.0, f64::abs) > 0.35 {
        "about half way between two rungs on the log scale"
    } else {
        "between two rungs, near one of them"
    }
}

/// How far the nearest rung is from the target.
fn apart(told: &Explanation) -> String {
    let off = told.rungs[told.nearest].off;
    format!("{} % {} than that", percent(off.abs()), if off > 0.0 { "more" } else { "less" })
}

fn window(told: &Explanation) -> String {
    let window = &told.window;
    if !told.reads_window {
        let instead = if told.law == LawKind::Fixed.name() { "looks at nothing" } else { "learns from whole rounds" };
        let slack = if told.reads_slack { "" } else { " and no slack" };
        return format!(
            "{} {instead}: no window{slack} means anything to it. What a reading is, how it scatters and the moves in the table \
             are those of a law that reads a window of {} s, such as reference.",
            sentence(&told.law),
            plain(told.over)
        );
    }
    let round = format!("of the {} of a round, at {} s each", three(window.round_turns), three(window.turn_seconds));
    if window.rounds <= 1.0 {
        let part = if window.turns < window.round_turns { "a round's last turns" } else { "a round" };
        return format!(
            "A window of {} s holds about {} turns {round}: it reads {part}.",
            plain(told.over),
            three(window.turns)
        );
    }
    format!(
        "A window of {} s spans {} rounds and about {} turns {round}: turns of rungs that were left still weigh, unless the \
         law forgets them.",
        plain(told.over),
        three(window.rounds),
        three(window.turns)
    )
}

fn noise(told: &Explanation) -> Vec<String> {
    let near = &told.rungs[told.nearest];
    let mut all = Vec::new();
    if told.reads_window {
        all.push(format!(
        "One reading scatters by a factor of {:.2} about its mean: exactly on the target it would leave a band of {} % in {} % \
         of readings{}.",
        libm::exp(near.read_sd),
        percent(told.slack),
        percent(told.false_move),
        if told.false_move > 0.25 { ", so that moves are mostly luck" } else { "" }
    ));
    }
    if let Some(rounds) = told.resolve_rounds {
        all.push(format!(
            "It takes about {} rounds on one rung to tell a target on it from one half a gap off, at {RESOLVED:.0} standard \
             errors.",
            three(rounds.max(1.0))
        ));
    }
    all
}

fn quiet(told: &Explanation) -> String {
    let quiet = &told.quiet;
    let word = |rung: usize| told.rungs.get(rung).map_or("", |rung| rung.effort.as_str());
    match quiet.period {
        0 => format!("Without any noise {} finds no rest and no period.", told.law),
        1 => format!(
            "Without any noise {} comes to rest on {} after {}{}.",
            told.law,
            word(quiet.hardest),
            counted(quiet.since, "round"),
            if quiet.right > 0.5 { "" } else { ", which is a wrong rung" }
        ),
        period => format!(
            "Even without any noise {} goes round for ever between {} and {}, with a period of {period} rounds, {} % of them on \
             right rungs.",
            told.law,
            word(quiet.softest),
            word(quiet.hardest),
            percent(quiet.right)
        ),
    }
}

fn slack(told: &Explanation) -> Option<String> {
    let (lo, hi) = told.legal_slack?;
    let legal = format!("slacks from {} to {} % hold a rung and let go of its neighbours", percent(lo), percent(hi));
    if told.slack < lo {
        return Some(format!(
            "A slack of {} % is less than the gaps ask for: there are targets that no rung holds, and {legal}.",
            percent(told.slack)
        ));
    }
    if told.slack >= hi {
        return Some(format!(
            "A slack of {} % is so wide that a rung one step off still counts as fine: {legal}.",
            percent(told.slack)
        ));
    }
    None
}

/// How many runs settle within the plan, and when in the mean. A chain that may be off promises and denies nothing.
fn settles(told: &Explanation, chain: &ChainView) -> String {
    let run = format!("{} in a row", counted(told.hold, "right round"));
    let plan = format!("the {} that {} planned", counted(told.rounds, "round"), one_or(told.rounds, "is", "are"));
    let mean = if chain.settle_rounds.is_infinite() {
        String::new()
    } else {
        format!(
            "; in the mean they begin after {} rounds and {} tokens, however long that takes",
            many(chain.settle_rounds),
            many(chain.settle_tokens)
        )
    };
    let ladder =
        if chain.broken.contains(&Broken::Assumed) { ", on a ladder with the assumed rungs at the middle" } else { "" };
    match (chain.settled, off(chain)) {
        (Some(share), Some(_)) => format!(
            "By this chain, which may be far off here, {} of runs settle ({run}) within {plan}{mean}{ladder}. A sweep can say what is true.",
            share_of(share)
        ),
        (Some(share), None) if share < RARE => {
            format!(
                "{} of runs settle ({run}) within {plan}{mean}: expect it not to settle.",
                sentence(&share_of(share))
            )
        }
        (Some(share), None) => format!("{} of runs settle ({run}) within {plan}{mean}.", sentence(&share_of(share))),
        (None, _) => format!("How many runs settle ({run}) within {plan} takes too long to work out{mean}."),
    }
}

/// A share of runs, which is never quite none and never quite all where it is not.
fn share_of(share: f64) -> String {
    match 100.0 * share {
        none if none <= 0.0 => "none".to_owned(),
        few if few < 0.1 => "fewer than 0.1 %".to_owned(),
        most if most > 99.9 => "more than 99.9 %".to_owned(),
        percent => format!("about {percent:.1} %"),
    }
}

/// With a capital at its begin.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A count that may be beyond all patience.
fn many(count: f64) -> String {
    if count.is_infinite() {
        "endless".to_owned()
    } else if count > NEVER * 1e6 {
        "over a million million".to_owned()
    } else if count >= 1e6 {
        format!("{} million", three(count / 1e6))
    } else {
        three(count)
    }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (percent - libm::rint(percent)).abs() < 1e-9 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

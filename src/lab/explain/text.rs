//! An explanation in words: a table of rungs, the numbers, and sentences that say what they mean.

use std::fmt::Write as _;

use super::{ChainView, Explanation, Footing, Gap, RESOLVED};
use crate::engine::counted;
use crate::lab::fit::figures::three;

/// Beyond so many rounds nobody waits.
const NEVER: f64 = 1e6;

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
    let reach = told.reach.iter().map(|reach| format!("{} {} to {}", reach.effort, three(reach.from), three(reach.to)));
    let _ = writeln!(text, "targets that a rung holds at this slack: {}", reach.collect::<Vec<_>>().join("; "));
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
    let mut text = match chain.footing {
        Footing::Exact => "the chain of this law, exact".to_owned(),
        Footing::Estimate => "the chain of this law, estimated: good to a few points".to_owned(),
    };
    if let Some(occupancy) = &chain.occupancy {
        let shares = told.rungs.iter().zip(occupancy).filter(|(_, share)| **share >= 5e-4);
        let shares: Vec<String> = shares.map(|(rung, share)| format!("{} {}", rung.effort, percent(*share))).collect();
        let _ = write!(text, "\n  in the long run, % of rounds: {}", shares.join(", "));
    }
    if let (Some(right), Some(moves), Some(reversals)) = (chain.on_right, chain.moves, chain.reversals) {
        let _ = write!(
            text,
            "\n  on right rungs {} % of rounds; {moves:.1} moves and {reversals:.1} reversals per 100 rounds",
            percent(right)
        );
    }
    let _ = write!(
        text,
        "\n  first right round after {} rounds and {} tokens; the first of {} in a row after {} rounds and {} tokens\n",
        many(chain.hit_rounds),
        many(chain.hit_tokens),
        told.hold,
        many(chain.settle_rounds),
        many(chain.settle_tokens)
    );
    text
}

/// What the numbers mean.
#[must_use]
pub fn sentences(told: &Explanation) -> Vec<String> {
    let mut all = vec![place(told)];
    all.push(window(told));
    all.extend(noise(told));
    all.push(quiet(told));
    all.extend(slack(told));
    match (&told.chain, &told.no_chain) {
        (Some(chain), _) => all.extend(settles(told, chain)),
        (None, Some(why)) => all.push(format!("No chain can be worked out: {why}. A sweep can say what it comes to.")),
        (None, None) => {}
    }
    if told.gaps.iter().any(|gap| gap.ratio <= 1.0) {
        all.push("The ladder is not in order: some harder rung makes no more tokens than a softer one, and a law that climbs \
                  for more will not find it there.".to_owned());
    }
    if told.rungs.iter().any(|rung| rung.evidence == "assumed") {
        all.push("Some rungs are assumed: each number that rests on them is as good as its prior.".to_owned());
    }
    all
}

fn place(told: &Explanation) -> String {
    let (near, juice) = (&told.rungs[told.nearest], plain(told.juice));
    let held = format!("the nearest target that a rung holds is {} ({})", three(told.nearest_target), near.effort);
    let off = near.off.abs();
    let most = told.rungs.iter().map(|rung| rung.mean).fold(0.0, f64::max);
    let least = told.rungs.iter().map(|rung| rung.mean).fold(f64::INFINITY, f64::min);
    if told.juice > most * (1.0 + told.slack) || told.juice < least * (1.0 - told.slack) {
        let side = if told.juice > most { "above" } else { "below" };
        return format!(
            "The target of {juice} lies {side} the whole ladder, so that the loop is pinned at its end; {held}."
        );
    }
    if off < 0.005 {
        return format!(
            "The target of {juice} lies on {}, which makes {} tokens per turn.",
            near.effort,
            three(near.mean)
        );
    }
    let phase = told.phase.map_or(0.0, f64::abs);
    let where_ = if phase > 0.35 { "half way between two rungs" } else { "between two rungs, near one of them" };
    format!(
        "The target of {juice} lies {where_}: {} makes {} tokens per turn, {} % {} than that; {held}.",
        near.effort,
        three(near.mean),
        percent(off),
        if near.off > 0.0 { "more" } else { "less" }
    )
}

fn window(told: &Explanation) -> String {
    let window = &told.window;
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
    let mut all = vec![format!(
        "One reading scatters by a factor of {:.2} about its mean: exactly on the target it would leave a band of {} % in {} % \
         of readings{}.",
        libm::exp(near.read_sd),
        percent(told.slack),
        percent(told.false_move),
        if told.false_move > 0.25 { ", so that moves are mostly luck" } else { "" }
    )];
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

fn settles(told: &Explanation, chain: &ChainView) -> Option<String> {
    let planned = f64::from(told.rounds);
    let hold = told.hold;
    if chain.settle_rounds > planned {
        return Some(format!(
            "It takes {} rounds in the mean until {hold} right rounds in a row begin, more than the {planned} that are planned: \
             expect it not to settle.",
            many(chain.settle_rounds)
        ));
    }
    (chain.settle_rounds >= 1.0).then(|| {
        format!(
            "It settles, {hold} right rounds in a row, after {} rounds and {} tokens in the mean.",
            many(chain.settle_rounds),
            many(chain.settle_tokens)
        )
    })
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

//! A calibration as a scenario file: text in scenario format 1, written by hand with the evidence beside the numbers.
//!
//! Numbers have four significant digits: the data carry no more. What was not measured says so in a comment or as `assumed`.
//! Everything that came out of a log (names, words) is escaped. It decides nothing: see [`calibrate`](super::calibrate()).

use core::fmt::Write;

use super::Calibration;
use super::figures::{Figure, Figures};
use super::ladder::{Origin, PRIOR, RungFit};
use crate::engine::counted;

/// What stands between the model and its efforts in the sentence that says what a scenario is.
const ABOUT: &str = " as its logs show it at ";

/// The model that a scenario says it was fitted to, in the sentence that [`scenario`] writes.
#[must_use]
pub fn model_of(about: &str) -> Option<&str> {
    about.split_once(ABOUT).map(|(model, _)| model)
}

/// The text of the scenario.
#[must_use]
pub fn scenario(fit: &Calibration, figures: Option<&Figures>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = head(&mut text, fit, figures);
    for rung in &fit.rungs {
        let _ = write_rung(&mut text, rung, figures);
    }
    let _ = tail(&mut text, fit, figures);
    text
}

fn head(text: &mut String, fit: &Calibration, figures: Option<&Figures>) -> core::fmt::Result {
    let Calibration { model, name, source, start, .. } = fit;
    let measured: Vec<&str> =
        fit.rungs.iter().filter(|rung| rung.is_measured()).map(|rung| rung.effort.as_str()).collect();
    let list = measured.join(", ");
    writeln!(text, "# Made by `flyball calibrate`; make it again rather than change it here.")?;
    writeln!(text, "# Model {}, from {}.", comment(model), comment(source))?;
    writeln!(
        text,
        "# {} in {}; a round is taken to be a session.",
        counted(fit.calls, "call"),
        counted(fit.sessions, "session")
    )?;
    if let Some(figures) = figures {
        let units = if figures.blocks { "blocks of calls, there being few sessions" } else { "sessions" };
        writeln!(
            text,
            "# In brackets: 95 % intervals from {} draws of {units}, seed {}.",
            figures.resamples, figures.seed
        )?;
    }
    writeln!(text, "\nformat = 1\nname = {}", quoted(name))?;
    let rest = if measured.len() < fit.rungs.len() { "; the other efforts stand where a prior puts them" } else { "" };
    writeln!(text, "about = {}", quoted(&format!("{model}{ABOUT}{list}{rest}.")))?;
    let [soft, middle, hard] = fit.targets;
    writeln!(
        text,
        "\n[governor]\nlaw = \"reference\"\njuice = {middle}\nover = \"300s\"\nslack = 0.15\nrest = \"5s\"\nbudget = 0"
    )?;
    writeln!(text, "\n[plan]\nstart = {}\nrounds = 200\nruns = 1000\nseed = 1", quoted(start))?;
    writeln!(text, "\n# The targets lie inside the ladder: about a rung's own mean, and half way to its neighbours.")?;
    writeln!(text, "[sweep]\nlaw = [\"reference\", \"reset\"]\njuice = [{soft}, {middle}, {hard}]")?;
    writeln!(
        text,
        "over = [\"60s\", \"120s\", \"300s\", \"600s\", \"1200s\", \"3600s\"]\nslack = [0.15, 0.2, 0.25, 0.3, 0.35, 0.4]"
    )
}

fn write_rung(text: &mut String, rung: &RungFit, figures: Option<&Figures>) -> core::fmt::Result {
    let (sizes, effort) = (&rung.sizes, quoted(&rung.effort));
    writeln!(text, "\n# Mean {:.0} tokens a call.", sizes.mean())?;
    if let Origin::Assumed { from, seen, .. } = &rung.origin {
        let seen = if *seen == 0 { String::from("No calls") } else { format!("Only {}", counted(seen, "call")) };
        writeln!(text, "# {seen} at this effort: {} and the prior stand in.", comment(from))?;
    }
    let own = figures.filter(|_| rung.is_measured()).and_then(|figures| figures.effort(&rung.effort));
    if let Some(own) = own {
        let told =
            told(&own.figures, &[("mean", "mean"), ("median", "median"), ("p90", "90 % quantile"), ("cv", "cv")]);
        let units = if own.blocks {
            format!("{} of calls", counted(own.units, "block"))
        } else {
            counted(own.units, "session").to_string()
        };
        writeln!(text, "# As observed, by {units}: {told}.")?;
    }
    // Neither kind vanishes in rounding, and the other weight comes from this one, so that they add up to one.
    let weight = (sizes.weight * 1e4).round().clamp(1.0, 9999.0) / 1e4;
    let narrow = format!(
        "{{ weight = {:.4}, mu = {}, sigma = {} }}",
        weight,
        number(sizes.narrow.mu),
        number(sizes.narrow.sigma)
    );
    let wide = format!(
        "{{ weight = {:.4}, mu = {}, sigma = {} }}",
        1.0 - weight,
        number(sizes.wide.mu),
        number(sizes.wide.sigma)
    );
    writeln!(text, "[[rung]]\neffort = {effort}")?;
    writeln!(text, "size = {{ dist = \"mixture\", effort_moves = \"wide\", narrow = {narrow}, wide = {wide} }}")?;
    match &rung.origin {
        Origin::Measured(seen) => writeln!(
            text,
            "measured = {{ sessions = {}, calls = {}, ks_mixture = {}, ks_lognormal = {} }}",
            seen.sessions,
            seen.calls,
            number(seen.ks_mixture),
            number(seen.ks_lognormal)
        ),
        Origin::Assumed { shift, .. } => {
            let shift = number(*shift);
            writeln!(text, "assumed = \"{PRIOR}\"\nshift = [-{shift}, {shift}]")
        }
    }
}

fn tail(text: &mut String, fit: &Calibration, figures: Option<&Figures>) -> core::fmt::Result {
    let note = |text: &mut String, names: &[(&str, &str)]| {
        let told = figures.map(|figures| told(&figures.model, names)).filter(|told| !told.is_empty());
        told.map_or(Ok(()), |told| writeln!(text, "# {told}."))
    };
    if fit.rungs.iter().any(|rung| !rung.is_measured()) {
        writeln!(text, "\n[prior.{PRIOR}]\nsource = {}", quoted(PRIOR_TEXT))?;
    }
    writeln!(
        text,
        "\n# How a call leans on the one before: by its size within its kind (narrow, wide), and by its kind."
    )?;
    note(text, &[("rho", "rho"), ("kind_rho", "kind_rho")])?;
    note(text, &[("lag_one", "ln size, lag one"), ("trend", "ln size from a session's first call to its last")])?;
    writeln!(text, "[turn]\nrho = {}\nkind_rho = {}\n\n[session]", number(fit.lean.rho), number(fit.lean.kind_rho))?;
    match fit.memory.session_share() {
        Some(share) => writeln!(
            text,
            "# {} of the variance of ln size lies between sessions; it is taken off the sizes above.",
            number(share)
        )?,
        None => writeln!(text, "# Not measured, too few sessions: what public logs of other models show.")?,
    }
    note(text, &[("session_sd", "sd of the ln session effect"), ("session_share", "share")])?;
    writeln!(text, "tau = {}", number(fit.tau))?;
    writeln!(text, "\n# Calls in a session, of {}.", counted(fit.sessions, "session"))?;
    note(text, &[("turns_mean", "mean"), ("turns_cv", "cv"), ("empty_rounds", "sessions without output")])?;
    writeln!(text, "[turns]\nmean = {}", number(fit.memory.turns_mean))?;
    if fit.memory.turns_cv.is_none() {
        writeln!(text, "# Not measured, too few sessions: what public logs of other models show.")?;
    }
    writeln!(text, "cv = {}\nmin = {}", number(fit.turns_cv), fit.memory.turns_min.max(1))?;
    let time = &fit.timing;
    let speed = number(time.speed);
    writeln!(
        text,
        "\n# Seconds of a call = overhead + tokens / speed, a robust line through {} calls. Tool time is the gap to the",
        time.calls
    )?;
    writeln!(
        text,
        "# next request; {} gaps, and {} over two minutes left out as a person away.",
        time.gaps, time.long_gaps
    )?;
    note(
        text,
        &[
            ("overhead", "overhead"),
            ("speed", "tokens per second"),
            ("tool", "tools"),
            ("failed_requests", "requests that failed"),
        ],
    )?;
    writeln!(text, "[time]\noverhead = {{ mean = {}, cv = {} }}", number(time.overhead), number(time.overhead_cv))?;
    writeln!(
        text,
        "tool = {{ mean = {}, cv = {} }}\ntokens_per_second = {speed}",
        number(time.tool),
        number(time.tool_cv)
    )
}

/// Some of the figures as a phrase: `mean 664 (540 to 812), cv 1.9 (1.4 to 2.6)`.
fn told(figures: &[Figure], names: &[(&str, &str)]) -> String {
    let one = |(name, words): &(&str, &str)| {
        let figure = figures.iter().find(|figure| figure.name == *name)?;
        Some(format!("{words} {}", figure.told()))
    };
    names.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

const PRIOR_TEXT: &str = "By how much one step of effort moves ln output tokens per call, on the wide component: low to medium 0.05 to 0.35, \
medium to high 0.05 to 0.95, high to xhigh 0.1 to 0.65, xhigh to max -0.1 to 0.65; routine work at the low end, hard reasoning at the high end. \
From public runs at set efforts (gpt-6-luna effort bench, reasoning effort on office tasks) and public logs of gpt-5.5 at three efforts.";

/// Four significant digits, and a decimal point: TOML tells whole numbers from others.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{:?}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// A basic string of TOML.
fn quoted(raw: &str) -> String {
    let mut text = String::from("\"");
    for mark in raw.chars() {
        match mark {
            '"' | '\\' => text.extend(['\\', mark]),
            control if control.is_control() => {
                let _ = write!(text, "\\u{:04X}", u32::from(control));
            }
            plain => text.push(plain),
        }
    }
    text.push('"');
    text
}

/// Text that stays on the comment's line.
fn comment(raw: &str) -> String {
    raw.chars().map(|mark| if mark.is_control() { ' ' } else { mark }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_have_a_point() {
        let shown = [0.0, -0.0, 1.0, 0.123_456, 123_456.0, 2.5e-7, -0.45].map(number);
        assert_eq!(shown, ["0.0", "0.0", "1.0", "0.1235", "123500.0", "2.5e-7", "-0.45"]);
    }

    #[test]
    fn nothing_gets_out_of_its_quotes_or_its_comment() {
        let evil = "a\"\nb = 1\\\u{7f}";
        let table: toml::Table = toml::from_str(&format!("x = {}", quoted(evil))).unwrap();
        assert_eq!(table["x"].as_str(), Some(evil));
        assert!(!comment(evil).contains('\n'));
    }
}

//! What a fitted agent predicts beside what was recorded: a row for each effort.
//!
//! At the left the distribution of the window's mean over the session's own, recorded and simulated, with the 95 % band of
//! simulated samples. At the right every figure of the comparison on a scale of its own: the simulated mean in the middle,
//! the simulated 95 % interval as a band of width two, the recorded figure as a dot with its interval. A dot whose interval
//! does not touch the band is what the model gets wrong. Everything was worked out elsewhere.

use super::colour::{BLUE, EDGE, GRID, INK, MUTED, VERMILLION};
use super::frame::{Entry, Frame, MARGIN, PANEL, Side, TICK, grid, key};
use super::hover::with_interval;
use super::num::len;
use super::scale::Axis;
use super::scene::{Area, Pen, Scene, Type};
use super::text::{duration, fit, trimmed};
use super::{Caption, Num, Scale};
use serde::{Deserialize, Serialize};

/// A comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validate {
    /// Title and facts; a run is a simulated sample, a round a session.
    pub caption: Caption,
    /// The window, in milliseconds.
    pub over_ms: u64,
    /// The efforts.
    pub groups: Vec<ValidateGroup>,
}

/// One effort.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidateGroup {
    /// The effort.
    pub name: String,
    /// Verdict, sessions and turns.
    pub told: String,
    /// Window means over session means, recorded, at evenly spaced shares from 0 to 1.
    pub real: Vec<Num>,
    /// The same simulated: lower end, middle and upper end over samples.
    pub simulated: Vec<[Num; 3]>,
    /// The figures.
    pub figures: Vec<ValidateFigure>,
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidateFigure {
    /// What it is, with its unit.
    pub name: String,
    /// Recorded: figure, lower and upper end.
    pub real: [Num; 3],
    /// Simulated: mean, lower and upper end.
    pub simulated: [Num; 3],
    /// The recorded three where the simulated mean is 0 and its ends are -1 and 1.
    pub place: [Num; 3],
    /// Whether the intervals do not touch.
    pub apart: bool,
}

const WIDE: f64 = 1040.0;
const LEFT: f64 = 62.0;
const CURVES: f64 = 330.0;
const NAMES: f64 = 196.0;
const FOREST: f64 = 190.0;
const LINE: f64 = 19.0;
/// Above a row's panels and below them.
const HEAD: f64 = 34.0;
const FOOT: f64 = 62.0;
/// The least and the largest ratio drawn.
const RATIOS: (f64, f64) = (0.1, 10.0);
/// How many half widths of the simulated interval are drawn each way.
const REACH: f64 = 4.0;
/// Shares of the curves that are told.
const SHARES: u32 = 20;
const DASH: &str = "7 4";

impl ValidateGroup {
    fn high(&self) -> f64 {
        (LINE * len(self.figures.len())).max(200.0)
    }
}

impl Validate {
    /// Draws the rows.
    #[must_use]
    pub fn svg(&self) -> String {
        let facts = [format!("window {}", duration(self.over_ms))];
        let frame = Frame::new(&self.caption, &facts, WIDE);
        let mut bottom = frame.top() + 24.0;
        let rows: Vec<(f64, &ValidateGroup)> = self
            .groups
            .iter()
            .map(|group| {
                let top = bottom + HEAD;
                bottom = top + group.high() + FOOT;
                (top, group)
            })
            .collect();
        if rows.is_empty() {
            bottom += 40.0;
        }
        let mut scene = Scene::new(WIDE, bottom + frame.foot());
        keys(&mut scene, frame.top() + 6.0);
        if rows.is_empty() {
            scene.text((MARGIN, bottom - 16.0), "no sessions to compare", Type::new(TICK, MUTED));
        }
        for (top, group) in rows {
            row(&mut scene, top, group);
        }
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }
}

fn keys(scene: &mut Scene, y: f64) {
    let real = |scene: &mut Scene, x: f64, y: f64| {
        scene.line((x + 2.0, y), (x + 28.0, y), Pen::solid(VERMILLION, 2.2));
        scene.disc((x + 15.0, y), 4.0, VERMILLION);
    };
    let simulated =
        |scene: &mut Scene, x: f64, y: f64| scene.line((x + 2.0, y), (x + 28.0, y), Pen::dashed(BLUE, 2.2, DASH));
    let band = |scene: &mut Scene, x: f64, y: f64| scene.rect(Area::new(x + 4.0, y - 7.0, 24.0, 14.0), BLUE, 0.16);
    let entries: [Entry<'_>; 3] = [
        ("recorded, with its 95 % interval", &real),
        ("simulated", &simulated),
        ("95 % of simulated samples of the same sessions", &band),
    ];
    key(scene, (MARGIN, y), WIDE - MARGIN, &entries);
}

fn row(scene: &mut Scene, top: f64, group: &ValidateGroup) {
    scene.text((MARGIN, top - 12.0), &fit(&group.name, PANEL, 160.0), Type::new(PANEL, INK).heavy());
    scene.text(
        (MARGIN + 176.0, top - 12.0),
        &fit(&group.told, TICK, WIDE - 2.0 * MARGIN - 176.0),
        Type::new(TICK, MUTED),
    );
    curves(scene, Area::new(MARGIN + LEFT, top, CURVES, group.high()), group);
    let left = MARGIN + LEFT + CURVES + 28.0 + NAMES;
    forest(scene, Area::new(left, top, FOREST, LINE * len(group.figures.len())), group);
}

/// The two distributions.
fn curves(scene: &mut Scene, area: Area, group: &ValidateGroup) {
    let x = Axis::around([RATIOS.0, RATIOS.1].into_iter(), Scale::Log, 5).over(area.left, area.right);
    let y = Axis::exact(0.0, 1.0).over(area.bottom, area.top);
    let mut up = Side::new(&y, "share of moments below", 5);
    up.say = Some(|share| format!("{} %", trimmed(share * 100.0, 0)));
    grid(scene, area, &Side::new(&x, "mean of the window / mean of the session (log)", 5), &up);
    scene.line((x.at(1.0), area.top), (x.at(1.0), area.bottom), Pen::dashed(EDGE, 1.0, "2 3"));
    let points = |values: &[Option<f64>]| -> Vec<(f64, f64)> {
        let steps = len(values.len().saturating_sub(1)).max(1.0);
        let place = |(step, value): (usize, &Option<f64>)| value.map(|value| (x.at(value), y.at(len(step) / steps)));
        values.iter().enumerate().filter_map(place).collect()
    };
    let side = |at: usize| points(&group.simulated.iter().map(|three| three[at].get()).collect::<Vec<_>>());
    scene.band(&side(0), &side(2), BLUE, 0.16);
    scene.path(&side(1), Pen::dashed(BLUE, 2.2, DASH));
    scene.path(&points(&group.real.iter().map(|value| value.get()).collect::<Vec<_>>()), Pen::solid(VERMILLION, 2.2));
    // lying strips: both curves are known at the same shares, and not at the same ratios
    let high = area.height() / f64::from(SHARES);
    let strips = (0..=SHARES).map(|at| {
        let share = f64::from(at) / f64::from(SHARES);
        let strip = Area { top: y.at(share) - high / 2.0, bottom: y.at(share) + high / 2.0, ..area };
        (strip, told_at(group, at))
    });
    scene.unseen(strips.filter(|(_, told)| !told.is_empty()));
}

/// What both distributions come to at a share, counted in [`SHARES`].
fn told_at(group: &ValidateGroup, at: u32) -> String {
    let step = |length: usize| length.checked_sub(1).map(|last| last * at as usize / SHARES as usize);
    let real = step(group.real.len()).and_then(|step| group.real[step].get()).map(number);
    let simulated = step(group.simulated.len()).and_then(|step| {
        let [low, middle, high] = group.simulated[step].map(Num::get);
        Some(with_interval(number(middle?), low.zip(high).map(|(low, high)| (number(low), number(high)))))
    });
    let told = [("recorded", real), ("simulated", simulated)];
    let told: Vec<String> = told.into_iter().filter_map(|(who, told)| Some(format!("{who} {}", told?))).collect();
    if told.is_empty() {
        return String::new();
    }
    let (effort, percent) = (&group.name, 100 * at / SHARES);
    format!(
        "{effort}: {percent} % of moments lie below this mean of the window / mean of the session: {}",
        told.join("; ")
    )
}

/// The figures, each on its own scale.
fn forest(scene: &mut Scene, area: Area, group: &ValidateGroup) {
    let x = Axis::exact(-REACH, REACH).over(area.left, area.right);
    let numbers = area.right + 12.0;
    scene.text((numbers, area.top - 12.0), "recorded, and what is simulated", Type::new(11.0, MUTED));
    scene.rect(Area::new(x.at(-1.0), area.top, x.at(1.0) - x.at(-1.0), area.height()), BLUE, 0.16);
    scene.line((x.at(0.0), area.top), (x.at(0.0), area.bottom), Pen::dashed(BLUE, 1.4, DASH));
    for (at, figure) in group.figures.iter().enumerate() {
        let y = area.top + LINE * (len(at) + 0.5);
        scene.line((area.left, y + LINE / 2.0), (area.right, y + LINE / 2.0), Pen::solid(GRID, 1.0));
        let ink = if figure.apart { INK } else { MUTED };
        let set = if figure.apart { Type::new(11.5, ink).heavy() } else { Type::new(11.5, ink) };
        scene.text((area.left - 8.0, y + 4.0), &fit(&figure.name, 11.5, NAMES - 8.0), set.end());
        let [place, low, high] = figure.place.map(Num::get);
        scene.told(&hovered(figure), |scene| {
            if let Some((low, high)) = low.zip(high) {
                scene.line((x.at(low), y), (x.at(high), y), Pen::solid(VERMILLION, 2.0));
            }
            if let Some(place) = place {
                scene.disc((x.at(place), y), if figure.apart { 5.0 } else { 3.6 }, VERMILLION);
            }
        });
        scene.text((numbers, y + 4.0), &fit(&told(figure), 11.0, WIDE - MARGIN - numbers), Type::new(11.0, ink));
    }
    let name = "half widths of the simulated interval";
    scene.text(((area.left + area.right) / 2.0, area.bottom + 32.0), name, Type::new(11.0, MUTED).middle());
    for value in [-4.0, -2.0, 0.0, 2.0, 4.0] {
        scene.text((x.at(value), area.bottom + 16.0), &trimmed(value, 0), Type::new(11.0, MUTED).middle());
    }
}

/// What a figure says when pointed at.
fn hovered(figure: &ValidateFigure) -> String {
    let one = |[value, low, high]: [Num; 3]| {
        let value = value.get().map_or_else(|| "n/a".to_owned(), number);
        with_interval(value, low.get().zip(high.get()).map(|(low, high)| (number(low), number(high))))
    };
    let apart = if figure.apart { "; they do not touch" } else { "" };
    format!("{}: recorded {}; simulated {}{apart}", figure.name, one(figure.real), one(figure.simulated))
}

fn told(figure: &ValidateFigure) -> String {
    let one = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    let [real, ..] = figure.real.map(Num::get);
    let [mean, low, high] = figure.simulated.map(Num::get);
    format!("{}, {} ({} to {})", one(real), one(mean), one(low), one(high))
}

/// Three digits or so.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    trimmed(value, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Validate {
        let three = |at: f64| [at * 0.9, at, at * 1.1].map(Num::from);
        let shares: Vec<f64> = (0..=100).map(|step| 0.2 + f64::from(step) / 50.0).collect();
        let figure = |name: &str, apart| ValidateFigure {
            name: name.to_owned(),
            real: [0.5, 0.4, 0.6].map(Num::from),
            simulated: [0.3, 0.2, 0.35].map(Num::from),
            place: [4.0, 2.0, 6.0].map(Num::from),
            apart,
        };
        let group = ValidateGroup {
            name: "high".to_owned(),
            told: "fail: 5 sessions, 512 turns".to_owned(),
            real: shares.iter().map(|value| Num::from(*value)).collect(),
            simulated: shares.iter().map(|value| three(*value)).collect(),
            figures: vec![figure("cv of the window mean", true), figure("tokens per turn, median", false)],
        };
        let caption = Caption { title: "The agent is too calm".to_owned(), runs: 400, rounds: 5, ..Caption::default() };
        Validate { caption, over_ms: 300_000, groups: vec![group] }
    }

    #[test]
    fn everything_that_is_compared_is_named() {
        let svg = sample().svg();
        for words in [
            "The agent is too calm",
            "window 5 min",
            "high",
            "fail: 5 sessions",
            "cv of the window mean",
            "0.5, 0.3 (0.2 to 0.35)",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        let told = "cv of the window mean: recorded 0.5 (95 %: 0.4 to 0.6); simulated 0.3 (95 %: 0.2 to 0.35); they do not touch";
        assert!(svg.contains(&format!("<title>{told}</title>")), "{svg}");
        let told = "mean of the session: recorded 1.2; simulated 1.2 (95 %: 1.08 to 1.32)</title>";
        assert_eq!((svg.matches(told).count(), svg.matches(" % of moments lie").count()), (1, 21));
        assert_eq!(svg.matches("r=\"5\"").count(), 1, "only what is apart is drawn large");
    }

    #[test]
    fn hostile_data_is_drawn() {
        let missing = ValidateFigure { name: "<&\">".repeat(40), ..ValidateFigure::default() };
        let far = ValidateFigure { place: [1e300, -1e300, f64::NAN].map(Num::from), ..ValidateFigure::default() };
        let group = ValidateGroup {
            real: vec![Num::MISSING, Num::from(-5.0), Num::from(1e300)],
            simulated: vec![[Num::MISSING; 3], [Num::from(0.0); 3]],
            figures: vec![missing, far],
            ..ValidateGroup::default()
        };
        for groups in [vec![], vec![group; 9], vec![ValidateGroup::default()]] {
            let svg = Validate { groups, ..Validate::default() }.svg();
            assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn the_data_reads_back() {
        let text = serde_json::to_string(&sample()).unwrap();
        assert_eq!(serde_json::from_str::<Validate>(&text).unwrap(), sample());
    }
}

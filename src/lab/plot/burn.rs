//! Budget burn: how many tokens were spent by each round, and how many of them off the right rung, as fans of quantiles.
//!
//! The outer fan is from the 5 % to the 95 % quantile of the runs, the inner from 25 % to 75 %, the line the median. A
//! quantile at one round and at the next need not be the same run.

use super::colour::{BLUE, INK, MUTED, VERMILLION};
use super::frame::{Entry, Frame, MARGIN, PANEL, Side, TICK, grid, key};
use super::hover::strips;
use super::num::{len, real};
use super::scale::Axis;
use super::scene::{Area, Pen, Scene, Type};
use super::text::{fit, fixed, trimmed};
use super::{Caption, Num, Scale};
use serde::{Deserialize, Serialize};

/// Fans of spending, side by side on the same axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burn {
    /// Title and facts.
    pub caption: Caption,
    /// The budget, output tokens; missing draws no line.
    #[serde(default)]
    pub budget: Num,
    /// The cells, left to right; four to a row.
    pub panels: Vec<BurnPanel>,
}

/// The fan of one law or cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurnPanel {
    /// Law or cell.
    pub name: String,
    /// The rounds in order; any may be left out.
    pub points: Vec<BurnPoint>,
}

/// Quantiles over runs at one round: 5, 25, 50, 75 and 95 %, output tokens spent up to and including it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurnPoint {
    /// The round.
    pub round: u64,
    /// Tokens of rounds that ran on a rung outside the acceptable set.
    pub off: [Num; 5],
    /// Tokens of all rounds.
    pub total: [Num; 5],
}

const PER_ROW: usize = 4;
const HIGH: f64 = 320.0;
const LEFT: f64 = 66.0;
const GAP: f64 = 40.0;
/// Above a panel: its name and what it cost.
const HEAD: f64 = 50.0;

/// One of a panel's two fans.
#[derive(Clone, Copy)]
struct Fan {
    of: fn(&BurnPoint) -> [Num; 5],
    colour: &'static str,
    dash: &'static str,
    words: &'static str,
}

const FANS: [Fan; 2] = [
    Fan {
        of: |point| point.total,
        colour: BLUE,
        dash: "7 4",
        words: "all tokens (median, 25 to 75 %, 5 to 95 % of runs)",
    },
    Fan { of: |point| point.off, colour: VERMILLION, dash: "", words: "tokens off the right rung (same)" },
];

impl Burn {
    /// Draws the fans.
    #[must_use]
    pub fn svg(&self) -> String {
        let per_row = self.panels.len().clamp(1, PER_ROW);
        let bands = self.panels.len().max(1).div_ceil(PER_ROW);
        let wide = [620.0, 420.0, 340.0, 280.0][per_row - 1];
        let page = 2.0 * MARGIN + LEFT + len(per_row) * (wide + GAP) - GAP + 30.0;
        let budget = self.budget.get().map(|budget| format!("budget {} output tokens", millions(budget, false)));
        let frame = Frame::new(&self.caption, &budget.into_iter().collect::<Vec<_>>(), page);
        let pitch = HEAD + HIGH + 58.0;
        let bottom = frame.top() + len(bands) * pitch + 34.0;
        let mut scene = Scene::new(page, bottom + frame.foot());
        let values =
            self.panels.iter().flat_map(|panel| &panel.points).flat_map(|point| [point.off, point.total]).flatten();
        let up = Axis::around(values.filter_map(Num::get).chain(self.budget.get()), Scale::Linear, 6);
        let last = self.panels.iter().flat_map(|panel| panel.points.iter().map(|point| point.round));
        let across = Axis::exact(0.0, real(last.chain([self.caption.rounds]).max().unwrap_or(1)));
        for (at, panel) in self.panels.iter().enumerate() {
            let (column, band) = (at % PER_ROW, at / PER_ROW);
            let left = MARGIN + LEFT + len(column) * (wide + GAP);
            let area = Area::new(left, frame.top() + HEAD + len(band) * pitch, wide, HIGH);
            let (x, y) = (across.over(area.left, area.right), up.over(area.bottom, area.top));
            self.panel(&mut scene, panel, area, (&x, &y), column == 0);
        }
        if self.panels.is_empty() {
            scene.text((MARGIN, frame.top() + 20.0), "nothing to draw", Type::new(PANEL, MUTED));
        }
        self.keys(&mut scene, bottom - 20.0);
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }

    fn panel(&self, scene: &mut Scene, panel: &BurnPanel, area: Area, (x, y): (&Axis, &Axis), first: bool) {
        scene.text((area.left, area.top - 32.0), &fit(&panel.name, PANEL, area.width()), Type::new(PANEL, INK).heavy());
        scene.text((area.left, area.top - 14.0), &fit(&panel.told(), TICK, area.width()), Type::new(TICK, MUTED));
        let mut side = Side::new(y, "output tokens so far, millions", 6);
        side.say = Some(|tokens| trimmed(tokens / 1e6, 3));
        side.told = first;
        grid(scene, area, &Side::new(x, "round", 4), &side);
        for fan in FANS {
            panel.fan(scene, fan, x, y);
        }
        if let Some(budget) = self.budget.get() {
            let at = y.at(budget);
            scene.line((area.left, at), (area.right, at), Pen::dashed(INK, 1.6, "2 3"));
        }
        strips(scene, area, x, panel.points.iter().map(|point| real(point.round)), |round| panel.told_at(round));
    }

    fn keys(&self, scene: &mut Scene, y: f64) {
        let sample = |fan: Fan| {
            move |scene: &mut Scene, x: f64, y: f64| {
                scene.rect(Area::new(x, y - 8.0, 26.0, 16.0), fan.colour, 0.16);
                scene.rect(Area::new(x, y - 4.0, 26.0, 8.0), fan.colour, 0.28);
                scene.line((x, y), (x + 26.0, y), Pen::dashed(fan.colour, 2.2, fan.dash));
            }
        };
        let (all, off) = (sample(FANS[0]), sample(FANS[1]));
        let limit = |scene: &mut Scene, x: f64, y: f64| scene.line((x, y), (x + 26.0, y), Pen::dashed(INK, 1.6, "2 3"));
        let mut entries: Vec<Entry<'_>> = vec![(FANS[0].words, &all), (FANS[1].words, &off)];
        if self.budget.get().is_some() {
            entries.push(("budget", &limit));
        }
        key(scene, (MARGIN, y), scene.width() - MARGIN, &entries);
    }
}

/// Tokens in millions, with two decimals or with those that are needed.
fn millions(tokens: f64, even: bool) -> String {
    format!("{} M", if even { fixed(tokens / 1e6, 2) } else { trimmed(tokens / 1e6, 3) })
}

impl BurnPanel {
    /// What was spent in the end: the median of what was off the right rung, of the median of all.
    fn told(&self) -> String {
        let end = self.points.last().and_then(|point| Some((point.off[2].get()?, point.total[2].get()?)));
        end.map_or_else(
            || "no runs".to_owned(),
            |(off, total)| format!("median {} of {} off the right rung", millions(off, true), millions(total, true)),
        )
    }

    /// What a round says when pointed at: both fans, in millions of tokens.
    fn told_at(&self, round: f64) -> String {
        let Some(point) = self.points.iter().find(|point| real(point.round) >= round) else { return String::new() };
        let fan = |[least, low, middle, high, most]: [Num; 5]| {
            let [least, low, middle, high, most] = [least, low, middle, high, most]
                .map(|tokens| tokens.get().map_or_else(|| "n/a".to_owned(), |tokens| trimmed(tokens / 1e6, 3)));
            format!("{middle} (25 to 75 %: {low} to {high}; 5 to 95 %: {least} to {most})")
        };
        format!(
            "{}, round {}, M tokens so far: all {}; off the right rung {}",
            self.name,
            point.round,
            fan(point.total),
            fan(point.off)
        )
    }

    fn fan(&self, scene: &mut Scene, fan: Fan, x: &Axis, y: &Axis) {
        let line = |quantile: usize| -> Vec<(f64, f64)> {
            let values = self.points.iter().filter_map(|point| Some((point.round, (fan.of)(point)[quantile].get()?)));
            values.map(|(round, value)| (x.at(real(round)), y.at(value))).collect()
        };
        scene.band(&line(4), &line(0), fan.colour, 0.16);
        scene.band(&line(3), &line(1), fan.colour, 0.28);
        let median = line(2);
        scene.path(&median, Pen::dashed(fan.colour, 2.2, fan.dash));
        if let [only] = median[..] {
            scene.disc(only, 3.0, fan.colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn fans_name_axes_sample_cells_and_budget() {
        let burn = sample::burn();
        let svg = burn.svg();
        for words in [
            "output tokens so far, millions",
            ">round<",
            "200 runs of 200 rounds",
            "seed 42",
            "budget 10 M output tokens",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        for panel in &burn.panels {
            assert!(svg.contains(&panel.name) && svg.contains(&panel.told()), "{}", panel.name);
        }
        // Two bands for each of two fans of each panel.
        assert_eq!(svg.matches("Z\" fill").count(), 4 * burn.panels.len());
    }

    #[test]
    fn panels_share_their_axis() {
        let svg = sample::burn().svg();
        assert_eq!(svg.matches(">output tokens so far").count(), 1);
    }

    #[test]
    fn hostile_data_is_drawn() {
        let point = BurnPoint { round: u64::MAX, off: [Num::from(f64::NAN); 5], total: [Num::from(-1e300); 5] };
        let panel = BurnPanel { name: "<&\">".repeat(80), points: vec![point; 2] };
        for panels in [vec![], vec![BurnPanel::default()], vec![panel; 9]] {
            let svg = Burn { panels, budget: Num::from(0.0), ..Burn::default() }.svg();
            assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}

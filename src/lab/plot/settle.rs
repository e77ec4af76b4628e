//! Settling curves: the share of runs that have not settled yet, round by round (Kaplan and Meier 1958).
//!
//! A run whose rounds ran out before it settled is censored, not settled late: it leaves the number at risk and is
//! marked with a tick on its line. The estimate and its band come with the data; nothing is estimated here.

use super::colour::{GRID, INK, LINES, MUTED};
use super::frame::{Entry, Frame, MARGIN, Side, TICK, grid, key, spread};
use super::hover::{strips, with_interval};
use super::num::{len, real};
use super::scale::Axis;
use super::scene::{Area, Pen, Scene, Type};
use super::text::{fit, grouped, trimmed};
use super::{Caption, Num, Scale};
use crate::engine::counted;
use serde::{Deserialize, Serialize};

/// Settling curves of several laws or cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settle {
    /// Title and facts.
    pub caption: Caption,
    /// How many acceptable rounds in a row count as settled.
    pub hold: u64,
    /// Half width of the band of evaluation, a share of the target; not the law's slack.
    pub band: Num,
    /// How the axis of rounds runs; a log axis begins at round 1.
    #[serde(default)]
    pub scale: Scale,
    /// The curves, up to six.
    pub lines: Vec<SettleLine>,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettleLine {
    /// Law or cell.
    pub name: String,
    /// Runs behind it.
    pub runs: u64,
    /// The rounds at which it drops, in order. Before the first it is 1.
    pub steps: Vec<SettleStep>,
    /// Rounds at which runs were censored, in order; a round may occur more than once.
    #[serde(default)]
    pub censored: Vec<u64>,
    /// The round by which half the runs had settled; `None` where they never did.
    #[serde(default)]
    pub median: Option<u64>,
}

/// A drop of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettleStep {
    /// The round.
    pub round: u64,
    /// Share of runs not yet settled from this round on.
    pub share: Num,
    /// Lower end of its 95 % interval; the band is drawn where both ends are given.
    #[serde(default)]
    pub low: Num,
    /// Upper end of its 95 % interval.
    #[serde(default)]
    pub high: Num,
}

const WIDE: f64 = 1040.0;
const HIGH: f64 = 400.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 250.0;
const DASHES: [&str; 6] = ["", "8 4", "2 3", "12 4 2 4", "5 2", "1 4"];
/// Between the entries at the right; each has two lines of text.
const ENTRY: f64 = 38.0;

impl SettleLine {
    /// The share not settled at a round, from the steps at or before it.
    fn share_at(&self, round: u64) -> f64 {
        let mut passed = self.steps.iter().filter(|step| step.round <= round).filter_map(|step| step.share.get());
        passed.next_back().unwrap_or(1.0)
    }

    /// The corners of a staircase that starts at `start` and takes `value` at each step.
    fn stairs(&self, start: f64, last: f64, value: impl Fn(&SettleStep) -> Option<f64>) -> Vec<(f64, f64)> {
        let mut height = 1.0;
        let mut points = vec![(start, height)];
        for (step, next) in self.steps.iter().filter_map(|step| Some((step, value(step)?))) {
            points.push((real(step.round), height));
            height = next;
            points.push((real(step.round), height));
        }
        points.push((last, height));
        points
    }

    fn told(&self) -> String {
        let median = match self.median {
            Some(1) => "median 1 round".to_owned(),
            Some(rounds) => format!("median {} rounds", grouped(rounds)),
            None => "median not reached".to_owned(),
        };
        let censored = 100.0 * len(self.censored.len()) / real(self.runs.max(1));
        format!("{median}, {} % censored", trimmed(censored, 0))
    }
}

impl Settle {
    /// Draws the curves.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut facts = vec![format!("settled = {} acceptable rounds in a row", self.hold)];
        facts.extend(self.band.get().map(|band| format!("band ±{} %", trimmed(band * 100.0, 1))));
        let frame = Frame::new(&self.caption, &facts, WIDE);
        let high = HIGH.max(ENTRY * (len(self.lines.len()) + 1.0));
        let area = Area::new(MARGIN + LEFT, frame.top() + 6.0, WIDE - 2.0 * MARGIN - LEFT - RIGHT, high);
        let bottom = area.bottom + 84.0;
        let mut scene = Scene::new(WIDE, bottom + frame.foot());
        let x = self.across(area);
        let y = Axis::exact(0.0, 1.0).over(area.bottom, area.top);
        let mut up = Side::new(&y, "runs not yet settled", 5);
        up.say = Some(|share| format!("{} %", trimmed(share * 100.0, 0)));
        let name = if self.scale == Scale::Log { "round (log)" } else { "round" };
        grid(&mut scene, area, &Side::new(&x, name, 8), &up);
        scene.line((area.left, y.at(0.5)), (area.right, y.at(0.5)), Pen::dashed(MUTED, 1.0, "2 3"));
        for (at, line) in self.lines.iter().enumerate() {
            self.band_of(&mut scene, line, at, &x, &y);
        }
        for (at, line) in self.lines.iter().enumerate() {
            self.line(&mut scene, line, at, &x, &y);
        }
        let rounds = self.lines.iter().flat_map(|line| line.steps.iter().map(|step| real(step.round)));
        strips(&mut scene, area, &x, rounds.chain([real(self.last())]), |round| self.told_at(round));
        for (at, line) in self.lines.iter().enumerate() {
            marks(&mut scene, line, at, &x, &y);
        }
        self.names(&mut scene, area, &y);
        self.keys(&mut scene, bottom - 20.0);
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }

    /// The last round drawn.
    fn last(&self) -> u64 {
        let steps = self
            .lines
            .iter()
            .flat_map(|line| line.steps.iter().map(|step| step.round).chain(line.censored.iter().copied()));
        steps.chain([self.caption.rounds, 1]).max().unwrap_or(1)
    }

    fn across(&self, area: Area) -> Axis {
        let last = real(self.last());
        let axis = match self.scale {
            Scale::Linear => Axis::exact(0.0, last),
            Scale::Log => Axis::log_from_one(last),
        };
        axis.over(area.left, area.right)
    }

    fn band_of(&self, scene: &mut Scene, line: &SettleLine, at: usize, x: &Axis, y: &Axis) {
        let both = |step: &SettleStep| step.low.get().zip(step.high.get());
        if !line.steps.iter().any(|step| both(step).is_some()) {
            return;
        }
        let last = real(self.last());
        let map = |points: Vec<(f64, f64)>| points.into_iter().map(|(a, b)| (x.at(a), y.at(b))).collect::<Vec<_>>();
        let high = map(line.stairs(0.0, last, |step| both(step).map(|(_, high)| high)));
        let low = map(line.stairs(0.0, last, |step| both(step).map(|(low, _)| low)));
        scene.band(&high, &low, LINES[at % LINES.len()], 0.14);
    }

    fn line(&self, scene: &mut Scene, line: &SettleLine, at: usize, x: &Axis, y: &Axis) {
        let colour = LINES[at % LINES.len()];
        let points = line.stairs(0.0, real(self.last()), |step| step.share.get());
        let points: Vec<(f64, f64)> = points.into_iter().map(|(a, b)| (x.at(a), y.at(b))).collect();
        scene.path(&points, Pen::dashed(colour, 2.2, DASHES[at % DASHES.len()]));
    }

    /// What a round says when pointed at: the share of each curve that is not settled yet.
    fn told_at(&self, round: f64) -> String {
        let line = |line: &SettleLine| {
            let step = line.steps.iter().rev().find(|step| real(step.round) <= round);
            let percent = |share: f64| trimmed(100.0 * share, 1);
            let share = step.map_or(Some(1.0), |step| step.share.get()).map_or_else(|| "n/a".to_owned(), percent);
            let ends = step.and_then(|step| step.low.get().zip(step.high.get()));
            format!("{} {}", line.name, with_interval(share, ends.map(|(low, high)| (percent(low), percent(high)))))
        };
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        if lines.is_empty() {
            return String::new();
        }
        format!("round {}, % of runs not yet settled: {}", trimmed(round, 0), lines.join("; "))
    }

    fn keys(&self, scene: &mut Scene, y: f64) {
        let median = |scene: &mut Scene, x: f64, y: f64| scene.disc((x + 20.0, y), 4.0, MUTED);
        let censored = |scene: &mut Scene, x: f64, y: f64| {
            scene.line((x + 10.0, y), (x + 28.0, y), Pen::solid(MUTED, 2.2));
            scene.line((x + 19.0, y - 6.0), (x + 19.0, y + 6.0), Pen::solid(MUTED, 1.4));
        };
        let band = |scene: &mut Scene, x: f64, y: f64| scene.rect(Area::new(x + 4.0, y - 7.0, 24.0, 14.0), MUTED, 0.18);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        if self.lines.iter().any(|line| line.median.is_some()) {
            entries.push(("median", &median));
        }
        if self.lines.iter().any(|line| !line.censored.is_empty()) {
            entries.push(("runs censored here", &censored));
        }
        let bounded = |step: &SettleStep| step.low.get().is_some() && step.high.get().is_some();
        if self.lines.iter().any(|line| line.steps.iter().any(bounded)) {
            entries.push(("95 % interval", &band));
        }
        key(scene, (MARGIN, y), WIDE - MARGIN, &entries);
    }

    /// Names at the right, each as near to the end of its line as the others allow.
    fn names(&self, scene: &mut Scene, area: Area, y: &Axis) {
        let last = self.last();
        let mut order: Vec<(f64, usize)> =
            self.lines.iter().enumerate().map(|(at, line)| (y.at(line.share_at(last)), at)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let wanted: Vec<f64> = order.iter().map(|(end, _)| *end).collect();
        let places = spread(&wanted, ENTRY, area.top + 8.0, area.bottom - 18.0);
        for ((end, at), place) in order.into_iter().zip(places) {
            let Some(line) = self.lines.get(at) else { continue };
            let colour = LINES[at % LINES.len()];
            scene.line((area.right + 2.0, end), (area.right + 18.0, place), Pen::solid(GRID, 1.0));
            let pen = Pen::dashed(colour, 2.4, DASHES[at % DASHES.len()]);
            scene.line((area.right + 20.0, place), (area.right + 50.0, place), pen);
            let room = RIGHT - 60.0;
            scene.text((area.right + 60.0, place + 4.5), &fit(&line.name, 13.5, room), Type::new(13.5, INK).heavy());
            scene.text((area.right + 60.0, place + 20.0), &fit(&line.told(), 11.0, room), Type::new(11.0, MUTED));
        }
        if self.lines.is_empty() {
            scene.text((area.left + 12.0, area.top + 24.0), "no runs", Type::new(TICK, MUTED));
        }
    }
}

/// A curve's ticks of censored runs and its median, each with what it says.
fn marks(scene: &mut Scene, line: &SettleLine, at: usize, x: &Axis, y: &Axis) {
    let colour = LINES[at % LINES.len()];
    for alike in line.censored.chunk_by(|one, next| one == next) {
        let Some(round) = alike.first().copied() else { continue };
        let (across, up) = (x.at(real(round)), y.at(line.share_at(round)));
        let runs = counted(alike.len(), "run");
        scene.told(&format!("{}: {runs} censored at round {round}", line.name), |scene| {
            scene.line((across, up - 6.0), (across, up + 6.0), Pen::solid(colour, 1.6));
        });
    }
    if let Some(median) = line.median {
        let place = (x.at(real(median)), y.at(0.5));
        scene.told(&format!("{}: half of the runs had settled by round {median}", line.name), |scene| {
            scene.disc(place, 5.5, super::colour::PAPER);
            scene.disc(place, 4.0, colour);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn curves_say_what_settled_means_and_what_was_censored() {
        let settle = sample::settle();
        let svg = settle.svg();
        for words in
            ["10 acceptable rounds in a row", "band ±15 %", "runs not yet settled", "round", "seed 42", "200 runs"]
        {
            assert!(svg.contains(words), "{words}");
        }
        for line in &settle.lines {
            assert!(svg.contains(&format!(">{}<", line.name)) && svg.contains(&line.told()), "{}", line.name);
        }
        assert!(svg.contains("median not reached"));
    }

    #[test]
    fn a_share_holds_from_its_step_to_the_next() {
        let step = |round, share| SettleStep { round, share: Num::from(share), ..SettleStep::default() };
        let line = SettleLine { steps: vec![step(3, 0.5), step(7, 0.25)], ..SettleLine::default() };
        let shares = [0, 2, 3, 6, 7, 99].map(|round| Num::from(line.share_at(round)));
        assert_eq!(shares, [1.0, 1.0, 0.5, 0.5, 0.25, 0.25].map(Num::from));
        let stairs = line.stairs(0.0, 10.0, |step| step.share.get());
        let stairs: Vec<[Num; 2]> = stairs.into_iter().map(|(round, share)| [round, share].map(Num::from)).collect();
        let want = [[0.0, 1.0], [3.0, 1.0], [3.0, 0.5], [7.0, 0.5], [7.0, 0.25], [10.0, 0.25]];
        assert_eq!(stairs, want.map(|corner| corner.map(Num::from)));
    }

    #[test]
    fn one_tick_for_each_round_with_a_censored_run() {
        let ticks = |censored: Vec<u64>| {
            let line = SettleLine { censored, ..SettleLine::default() };
            let settle = Settle { lines: vec![line], ..Settle::default() };
            settle.svg().matches("stroke-width=\"1.6\"").count()
        };
        assert_eq!([ticks(vec![]), ticks(vec![200, 200]), ticks(vec![50, 200])], [0, 1, 2]);
    }

    #[test]
    fn hostile_data_is_drawn() {
        let step = SettleStep { round: u64::MAX, share: Num::from(7.0), low: Num::from(-1.0), high: Num::MISSING };
        let line = SettleLine {
            name: "<&\">".repeat(80),
            runs: 0,
            steps: vec![step; 2],
            censored: vec![0, u64::MAX],
            median: Some(0),
        };
        for scale in [Scale::Linear, Scale::Log] {
            for lines in [vec![], vec![line.clone(); 20]] {
                let svg = Settle { scale, lines, ..Settle::default() }.svg();
                assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }
}

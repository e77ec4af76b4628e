//! One run, round by round: the rung above, the reading below, and between them why each move was made or not.
//!
//! The reading is what the law was shown *after* the round it stands at; the rung is the one the round ran on, so a move
//! appears one round later than its reason.

use super::colour::{BLUE, EDGE, GREEN, GRID, INK, MUTED, VERMILLION};
use super::frame::{Entry, Frame, MARGIN, Side, TICK, grid, key, rounds, upright};
use super::hover::number;
use super::num::{len, real};
use super::scale::Axis;
use super::scene::{Area, Pen, Scene, Type};
use super::text::{fit, trimmed, width};
use super::{Caption, Num, Scale};
use serde::{Deserialize, Serialize};

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Title and facts; `runs` is 1.
    pub caption: Caption,
    /// Effort words, hardest first.
    pub rungs: Vec<String>,
    /// Which rungs were acceptable when; shaded.
    #[serde(default)]
    pub acceptable: Vec<Shade>,
    /// The target, tokens per turn.
    pub target: Num,
    /// Half width of the band, a share of the target.
    pub slack: Num,
    /// How the axis of readings runs.
    #[serde(default)]
    pub scale: Scale,
    /// The rounds in order, the first being round 1.
    pub rounds: Vec<TraceRound>,
    /// The control that stopped the run, by its name; `None` where the run merely ended.
    #[serde(default)]
    pub stop: Option<String>,
}

/// A rung that was acceptable from one round to another, both included and counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shade {
    /// Index into [`Trace::rungs`].
    pub rung: usize,
    /// First round.
    pub from: u64,
    /// Last round.
    pub to: u64,
}

/// One round of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceRound {
    /// The rung it ran on, an index into [`Trace::rungs`].
    pub rung: usize,
    /// The reading after it, tokens per turn; missing where there was none.
    pub reading: Num,
    /// What the law then did, and why.
    pub why: Why,
}

/// What a law did after a round, as the picture tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Moved towards the hardest rung.
    Harder,
    /// Moved towards the softest rung.
    Softer,
    /// Would have moved, and was at the end of the ladder.
    Pinned,
    /// No turn in the window, so no reading and no move.
    NoTurn,
    /// Stayed.
    Hold,
}

impl Why {
    const ALL: [Self; 5] = [Self::Harder, Self::Softer, Self::Pinned, Self::NoTurn, Self::Hold];

    const fn words(self) -> &'static str {
        match self {
            Self::Harder => "moved harder",
            Self::Softer => "moved softer",
            Self::Pinned => "pinned at the end",
            Self::NoTurn => "no turn",
            Self::Hold => "held",
        }
    }

    const fn colour(self) -> &'static str {
        match self {
            Self::Harder => VERMILLION,
            Self::Softer => BLUE,
            Self::Pinned | Self::NoTurn => INK,
            Self::Hold => MUTED,
        }
    }
}

const WIDE: f64 = 1120.0;
const RIGHT: f64 = 96.0;
/// What stands over the rungs of a run without noise.
const STILL: &str = "the same without noise: every turn as large and as long as its mean";
const LANE: f64 = 17.0;
const READINGS: f64 = 280.0;
/// Rounds nearer than this are drawn without a mark each: the lanes tell them.
const MARK_FROM: f64 = 4.5;

impl Trace {
    /// Draws the run.
    #[must_use]
    pub fn svg(&self) -> String {
        self.drawn(None)
    }

    /// Draws the run, and under it the rungs of `still`: the same run without its noise, as far as this one went.
    #[must_use]
    pub fn svg_over(&self, still: &Self) -> String {
        let rounds = still.rounds.iter().take(self.rounds.len()).copied().collect();
        self.drawn(Some(&Self { rounds, ..still.clone() }))
    }

    fn drawn(&self, still: Option<&Self>) -> String {
        let frame = Frame::new(&self.caption, &self.facts(), WIDE);
        let rung_high = (220.0 / len(self.rungs.len().max(1))).clamp(12.0, 34.0);
        let left = MARGIN + 46.0 + self.rung_words().iter().map(|word| width(word, TICK)).fold(64.0, f64::max);
        let across = WIDE - MARGIN - RIGHT - left;
        let ladder = Area::new(left, frame.top() + 20.0, across, rung_high * len(self.rungs.len().max(1)));
        let lanes = Area::new(left, ladder.bottom + 18.0, across, LANE * len(Why::ALL.len()));
        let readings = Area::new(left, lanes.bottom + 18.0, across, READINGS);
        let under = Area::new(left, readings.bottom + 84.0, across, ladder.height());
        let bottom = if still.is_some() { under.bottom } else { readings.bottom } + 88.0;
        let last = len(self.rounds.len().max(1));
        let x = Axis::exact(0.5, last + 0.5).over(left, left + across);
        let mut scene = Scene::new(WIDE, bottom + frame.foot());
        self.ladder(&mut scene, ladder, &x);
        self.lanes(&mut scene, lanes, &x);
        self.readings(&mut scene, readings, &x);
        self.end(&mut scene, ladder, readings, &x);
        self.tell(&mut scene, Area { bottom: readings.bottom, ..ladder }, &x, "");
        if let Some(still) = still {
            scene.text((left, under.top - 10.0), STILL, Type::new(TICK, INK));
            still.ladder(&mut scene, under, &x);
            rounds(&mut scene, under, &Side::new(&x, "round", 10));
            still.tell(&mut scene, under, &x, "without noise, ");
        }
        self.keys(&mut scene, bottom - 22.0);
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }

    fn facts(&self) -> Vec<String> {
        let target = self.target.get().map(|target| format!("target {} tokens per turn", trimmed(target, 1)));
        let slack = self.slack.get().map(|slack| format!("slack {}", trimmed(slack, 3)));
        target.into_iter().chain(slack).collect()
    }

    fn rung_words(&self) -> Vec<String> {
        self.rungs.iter().map(|word| fit(word, TICK, 150.0)).collect()
    }

    /// Both edges of the band, where target and slack are known.
    fn band(&self) -> Option<(f64, f64)> {
        let (target, slack) = (self.target.get()?, self.slack.get()?);
        Some((target * (1.0 - slack), target * (1.0 + slack)))
    }

    fn ladder(&self, scene: &mut Scene, area: Area, x: &Axis) {
        let high = area.height() / len(self.rungs.len().max(1));
        let middle = |rung: usize| area.top + (len(rung) + 0.5) * high;
        let known = self.rungs.len();
        for shade in self.acceptable.iter().filter(|shade| shade.rung < known && shade.from <= shade.to) {
            let (from, to) = (x.at(real(shade.from) - 0.5), x.at(real(shade.to) + 0.5));
            scene.rect(
                Area { left: from, right: to, ..Area::new(0.0, middle(shade.rung) - high / 2.0, 0.0, high) },
                GREEN,
                0.16,
            );
        }
        for (rung, word) in self.rung_words().iter().enumerate() {
            let y = middle(rung);
            scene.line((area.left, y), (area.right, y), Pen::solid(GRID, 1.0));
            scene.text((area.left - 10.0, y + TICK * 0.36), word, Type::new(TICK, MUTED).end());
        }
        let widest = self.rung_words().iter().map(|word| width(word, TICK)).fold(0.0, f64::max);
        upright(scene, area, area.left - widest - 24.0, "effort");
        if known > 1 {
            scene.text((area.right + 10.0, middle(0) + 4.0), "hardest", Type::new(11.0, MUTED));
            scene.text((area.right + 10.0, middle(known - 1) + 4.0), "softest", Type::new(11.0, MUTED));
        }
        let mut stairs = Vec::new();
        for (at, round) in self.rounds.iter().enumerate().filter(|(_, round)| round.rung < known) {
            let y = middle(round.rung);
            stairs.extend([(x.at(len(at) + 0.5), y), (x.at(len(at) + 1.5), y)]);
        }
        scene.path(&stairs, Pen::solid(INK, if self.rounds.len() > 400 { 0.9 } else { 2.0 }));
    }

    /// A row for each reason, a stroke in it for each round that had it, and how many there were.
    fn lanes(&self, scene: &mut Scene, area: Area, x: &Axis) {
        let stroke = (area.width() / len(self.rounds.len().max(1)) * 0.55).clamp(0.8, 5.0);
        for (at, why) in Why::ALL.into_iter().enumerate() {
            let top = area.top + len(at) * LANE;
            let y = top + LANE / 2.0;
            scene.line((area.left, y), (area.right, y), Pen::solid(GRID, 1.0));
            scene.text((area.left - 10.0, y + 4.0), why.words(), Type::new(11.0, MUTED).end());
            let mut count = 0_u64;
            for (round, _) in self.rounds.iter().enumerate().filter(|(_, round)| round.why == why) {
                let middle = x.at(len(round) + 1.0);
                let high = if why == Why::Hold { 5.0 } else { 11.0 };
                scene.rect(Area::new(middle - stroke / 2.0, y - high / 2.0, stroke, high), why.colour(), 1.0);
                count += 1;
            }
            let share = 100.0 * real(count) / len(self.rounds.len().max(1));
            let told = format!("{count}  ({} %)", trimmed(share, 0));
            scene.text((area.right + 10.0, y + 4.0), &told, Type::new(11.0, MUTED));
        }
    }

    fn readings(&self, scene: &mut Scene, area: Area, x: &Axis) {
        let values = self.rounds.iter().filter_map(|round| round.reading.get());
        let edges = self.band().into_iter().flat_map(|(low, high)| [low, high]);
        let y = Axis::around(values.chain(edges).chain(self.target.get()), self.scale, 6).over(area.bottom, area.top);
        let name = if self.scale == Scale::Log { "reading, tokens per turn (log)" } else { "reading, tokens per turn" };
        let mut across = Side::new(x, "round", 10);
        across.told = false;
        grid(scene, area, &across, &Side::new(&y, name, 6));
        rounds(scene, area, &Side::new(x, "round", 10));
        if let Some((low, high)) = self.band() {
            let (low, high) = (y.at(low), y.at(high));
            scene.rect(Area { left: area.left, right: area.right, top: high, bottom: low }, GREEN, 0.16);
        }
        let pitch = area.width() / len(self.rounds.len().max(1));
        // A round without a reading breaks the line.
        for piece in self.pieces() {
            let points: Vec<(f64, f64)> = piece.iter().map(|(at, value)| (x.at(*at), y.at(*value))).collect();
            let colour = if pitch < MARK_FROM { MUTED } else { EDGE };
            scene.path(&points, Pen::solid(colour, if pitch < 2.0 { 0.8 } else { 1.3 }));
            if let [only] = points[..] {
                scene.disc(only, 1.6, colour);
            }
        }
        // Above the line of readings, which would hide it where it is dense.
        self.target_line(scene, area, &y);
        if pitch >= MARK_FROM {
            let radius = (pitch * 0.5).clamp(2.6, 5.0);
            for (at, round) in self.rounds.iter().enumerate() {
                let height = round.reading.get().map_or(area.bottom - radius, |value| y.at(value));
                mark(scene, round.why, (x.at(len(at) + 1.0), height), radius);
            }
        }
    }

    /// The target, and the edges of its band.
    fn target_line(&self, scene: &mut Scene, area: Area, y: &Axis) {
        for edge in self.band().into_iter().flat_map(|(low, high)| [low, high]) {
            scene.line((area.left, y.at(edge)), (area.right, y.at(edge)), Pen::solid(GREEN, 0.8));
        }
        if let Some(target) = self.target.get() {
            let at = y.at(target);
            scene.line((area.left, at), (area.right, at), Pen::dashed(GREEN, 2.0, "7 4"));
            scene.text((area.right + 10.0, at + 4.0), "target", Type::new(TICK, INK));
        }
    }

    /// The readings as unbroken runs of (round, reading).
    fn pieces(&self) -> Vec<Vec<(f64, f64)>> {
        let mut pieces = vec![Vec::new()];
        for (at, round) in self.rounds.iter().enumerate() {
            match (round.reading.get(), pieces.last_mut()) {
                (Some(value), Some(piece)) => piece.push((len(at) + 1.0, value)),
                _ => pieces.push(Vec::new()),
            }
        }
        pieces
    }

    fn end(&self, scene: &mut Scene, top: Area, bottom: Area, x: &Axis) {
        let Some(stop) = &self.stop else { return };
        let at = x.at(len(self.rounds.len().max(1)) + 0.5);
        scene.line((at, top.top - 4.0), (at, bottom.bottom), Pen::solid(INK, 1.6));
        scene.text((at, top.top - 10.0), &fit(&format!("stopped: {stop}"), TICK, 400.0), Type::new(TICK, INK).end());
    }

    /// What each round says when pointed at, from the ladder down to the readings.
    fn tell(&self, scene: &mut Scene, area: Area, x: &Axis, how: &str) {
        let told = |(at, round): (usize, &TraceRound)| {
            let effort = self.rungs.get(round.rung).map_or("no rung of the ladder", String::as_str);
            let reading = round.reading.get().map_or_else(|| "none".to_owned(), number);
            let place = Area { left: x.at(len(at) + 0.5), right: x.at(len(at) + 1.5), ..area };
            (
                place,
                format!("{how}round {}: {effort}, reading {reading} tokens per turn, {}", at + 1, round.why.words()),
            )
        };
        scene.unseen(self.rounds.iter().enumerate().map(told));
    }

    fn keys(&self, scene: &mut Scene, y: f64) {
        let marked = (WIDE - 300.0) / len(self.rounds.len().max(1)) >= MARK_FROM;
        let shown = |why: &Why| marked && self.rounds.iter().any(|round| round.why == *why);
        let marks: Vec<_> = Why::ALL
            .into_iter()
            .filter(shown)
            .map(|why| (why, move |scene: &mut Scene, x: f64, y: f64| mark(scene, why, (x + 24.0, y), 4.5)))
            .collect();
        let shaded =
            |scene: &mut Scene, x: f64, y: f64| scene.rect(Area::new(x + 6.0, y - 7.0, 22.0, 14.0), GREEN, 0.16);
        let mut entries: Vec<Entry<'_>> = vec![("acceptable rung; band of readings", &shaded)];
        for (why, draw) in &marks {
            entries.push((why.words(), draw));
        }
        key(scene, (MARGIN, y), WIDE - MARGIN, &entries);
    }
}

/// The mark of a reason: triangles point where the move went, the others differ in shape.
fn mark(scene: &mut Scene, why: Why, (x, y): (f64, f64), radius: f64) {
    let r = radius;
    match why {
        Why::Harder => scene.shape(&[(x - r, y + r * 0.8), (x + r, y + r * 0.8), (x, y - r)], why.colour(), 1.0),
        Why::Softer => scene.shape(&[(x - r, y - r * 0.8), (x + r, y - r * 0.8), (x, y + r)], why.colour(), 1.0),
        Why::Pinned => {
            scene.outline(Area::new(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6), Pen::solid(why.colour(), 1.4))
        }
        Why::NoTurn => {
            let (pen, r) = (Pen::solid(why.colour(), 1.4), r * 0.8);
            scene.line((x - r, y - r), (x + r, y + r), pen);
            scene.line((x - r, y + r), (x + r, y - r), pen);
        }
        Why::Hold => scene.disc((x, y), r * 0.55, why.colour()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_run_names_its_axes_rungs_reasons_and_end() {
        let svg = sample::trace(80).svg();
        for words in ["effort", "xhigh", "reading, tokens per turn (log)", ">round<", "target", "stopped: budget"] {
            assert!(svg.contains(words), "{words}");
        }
        for words in ["1 run, 80 rounds", "seed 42", "law reference", "slack 0.15", "moved harder", "no turn"] {
            assert!(svg.contains(words), "{words}");
        }
    }

    #[test]
    fn the_run_without_noise_stands_under_the_run() {
        let (trace, mut still) = (sample::trace(80), sample::trace(200));
        still
            .rounds
            .iter_mut()
            .for_each(|round| *round = TraceRound { rung: 2, reading: Num::whole(2048), why: Why::Hold });
        let svg = trace.svg_over(&still);
        assert!(svg.contains(STILL) && !trace.svg().contains(STILL));
        let told = svg.matches("<title>without noise, round ").count();
        assert_eq!((told, svg.matches("<title>round ").count()), (80, 80), "as far as the run went");
        assert!(svg.contains("without noise, round 80: high, reading 2048 tokens per turn, held"));
        assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
        assert!(Trace::default().svg_over(&Trace::default()).contains(STILL));
    }

    #[test]
    fn counts_beside_the_lanes_are_of_the_data() {
        let trace = sample::trace(80);
        let held = trace.rounds.iter().filter(|round| round.why == Why::Hold).count();
        assert!(held > 0);
        assert!(trace.svg().contains(&format!(">{held}  (")));
    }

    #[test]
    fn a_missing_reading_breaks_the_line() {
        let round = |reading| TraceRound { rung: 0, reading, why: Why::Hold };
        let trace =
            Trace { rounds: [1.0, f64::NAN, 2.0, 3.0].map(|value| round(Num::from(value))).into(), ..Trace::default() };
        let sizes: Vec<usize> = trace.pieces().iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 2]);
    }

    #[test]
    fn a_thousand_rounds_are_a_line_without_marks() {
        let trace = sample::trace(1000);
        let svg = trace.svg();
        let alone = trace.pieces().iter().filter(|piece| piece.len() == 1).count();
        assert_eq!(svg.matches("<circle").count(), alone);
        assert!(alone < 10);
        assert!(svg.contains(">1000<"));
        assert_eq!(svg, trace.svg());
    }

    #[test]
    fn hostile_data_is_drawn() {
        let odd = TraceRound { rung: 99, reading: Num::from(f64::INFINITY), why: Why::Pinned };
        let all = Trace {
            rungs: vec!["<&\">".repeat(60); 40],
            acceptable: vec![Shade { rung: 0, from: 9, to: 1 }, Shade { rung: 1, from: 0, to: u64::MAX }],
            target: Num::from(-5.0),
            slack: Num::from(1e300),
            scale: Scale::Log,
            rounds: vec![odd, TraceRound { rung: 0, reading: Num::from(0.0), ..odd }],
            stop: Some("<stop>".repeat(99)),
            ..Trace::default()
        };
        for trace in [Trace::default(), all] {
            let svg = trace.svg();
            assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}

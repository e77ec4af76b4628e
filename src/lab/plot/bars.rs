//! Horizontal bars, or dots with intervals, one row a thing: shares of rungs beside what theory says, differences of settings,
//! indices of factors.

use serde::{Deserialize, Serialize};

use super::Num;
use super::colour::{EDGE, GRID, INK, LINES, MUTED};
use super::frame::{Entry, Frame, MARGIN, TICK, key};
use super::hover::with_interval;
use super::num::len;
use super::scale::{Axis, Scale};
use super::scene::{Area, Pen, Scene, Type};
use super::text::{fit, trimmed, width};

/// Rows of bars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bars {
    /// One line, the largest text.
    pub title: String,
    /// What was looked at, how much of it, where it is from.
    pub facts: Vec<String>,
    /// A line of explanation at the foot.
    #[serde(default)]
    pub note: String,
    /// What is across, with its unit.
    pub x: String,
    /// The names of a row's values, in order.
    pub names: Vec<String>,
    /// What the marks are, where a row has one.
    pub mark: String,
    /// Dots with intervals instead of bars: for what may lie on both sides of zero.
    pub dots: bool,
    /// Decimals of the numbers that are printed.
    pub decimals: u8,
    /// From the top down.
    pub rows: Vec<BarRow>,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarRow {
    /// What it is of.
    pub label: String,
    /// Its values, in the order of the names.
    pub values: Vec<Bar>,
    /// What stands beside them.
    pub mark: Num,
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// The value.
    pub value: Num,
    /// The interval's lower end.
    pub low: Num,
    /// Its upper end.
    pub high: Num,
}

impl Bar {
    /// A value with its interval, if it has one.
    #[must_use]
    pub fn new(value: f64, interval: Option<(f64, f64)>) -> Self {
        let end = |end: fn((f64, f64)) -> f64| interval.map(end).map_or(Num::MISSING, Num::from);
        Self { value: value.into(), low: end(|(low, _)| low), high: end(|(_, high)| high) }
    }
}

/// The least and the most room for what the rows are of.
const LABELS: (f64, f64) = (250.0, 420.0);
const WIDE: f64 = 560.0;
/// Room for the numbers at the right.
const NUMBERS: f64 = 150.0;
const THICK: f64 = 13.0;
const GAP: f64 = 12.0;
/// Sample bars of the key, by their place among the names.
const FILLS: usize = LINES.len();

impl Bars {
    /// Draws it.
    #[must_use]
    pub fn svg(&self) -> String {
        let room = self.room();
        let page = 2.0 * MARGIN + room + WIDE + NUMBERS;
        let frame = Frame::plain(&self.title, &self.facts, &self.note, page);
        let pitch = THICK * len(self.names.len().max(1)) + GAP;
        let high = pitch * len(self.rows.len().max(1));
        let bottom = frame.top() + 8.0 + high + 90.0;
        let mut scene = Scene::new(page, bottom + frame.foot());
        let area = Area::new(MARGIN + room, frame.top() + 8.0, WIDE, high);
        let numbers = self.rows.iter().flat_map(|row| {
            let ends = row.values.iter().flat_map(|bar| [bar.value, bar.low, bar.high]);
            ends.chain([row.mark]).filter_map(Num::get).collect::<Vec<_>>()
        });
        let axis = Axis::around(numbers, Scale::Linear, 6).over(area.left, area.right);
        for (value, label) in axis.ticks(6) {
            let at = axis.at(value);
            scene.line((at, area.top), (at, area.bottom), Pen::solid(GRID, 1.0));
            scene.text((at, area.bottom + 18.0), &label, Type::new(TICK, MUTED).middle());
        }
        let zero = axis.at(0.0);
        // where dots lie on both sides of it, zero is what is looked at
        let ink = if self.dots { INK } else { EDGE };
        scene.line((zero, area.top), (zero, area.bottom), Pen::solid(ink, 1.5));
        scene.text(
            (f64::midpoint(area.left, area.right), area.bottom + 40.0),
            &self.x,
            Type::new(TICK + 1.0, INK).middle(),
        );
        for (at, row) in self.rows.iter().enumerate() {
            self.row(&mut scene, row, area.top + pitch * len(at), &axis, zero, pitch);
        }
        if self.rows.is_empty() {
            scene.text((MARGIN, area.top + 20.0), "nothing to draw", Type::new(TICK, MUTED));
        }
        self.key(&mut scene, bottom - 30.0);
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }

    /// Room for the longest label, within bounds.
    fn room(&self) -> f64 {
        let widest = self.rows.iter().map(|row| width(&row.label, TICK + 1.0)).fold(0.0, f64::max);
        (widest + 17.0).ceil().clamp(LABELS.0, LABELS.1)
    }

    fn row(&self, scene: &mut Scene, row: &BarRow, top: f64, axis: &Axis, zero: f64, pitch: f64) {
        let middle = top + pitch / 2.0;
        let room = self.room();
        let label = fit(&row.label, TICK + 1.0, room - 16.0);
        scene.text((MARGIN + room - 10.0, middle + TICK * 0.36), &label, Type::new(TICK + 1.0, INK).end());
        let mut told = Vec::new();
        for (place, bar) in row.values.iter().enumerate() {
            let y = top + GAP / 2.0 + THICK * (len(place) + 0.5);
            let colour = LINES[place % FILLS];
            let Some(value) = bar.value.get() else { continue };
            let name = self.names.get(place).map_or("", String::as_str);
            let ends = bar.low.get().zip(bar.high.get());
            let words = ends.map(|(low, high)| (self.number(low), self.number(high)));
            scene.told(&self.told(row, name, &with_interval(self.number(value), words)), |scene| {
                self.bar(
                    scene,
                    (axis.at(value), ends.map(|(low, high)| (axis.at(low), axis.at(high)))),
                    y,
                    zero,
                    colour,
                );
            });
            told.push(self.number(value));
        }
        if let Some(mark) = row.mark.get() {
            let at = axis.at(mark);
            scene.told(&self.told(row, &self.mark, &self.number(mark)), |scene| {
                scene.shape(
                    &[(at, middle - 6.0), (at + 6.0, middle), (at, middle + 6.0), (at - 6.0, middle)],
                    INK,
                    1.0,
                );
            });
            told.push(self.number(mark));
        }
        let text = fit(&told.join(" · "), TICK, NUMBERS - 14.0);
        scene.text((MARGIN + room + WIDE + 12.0, middle + TICK * 0.36), &text, Type::new(TICK, MUTED));
    }

    fn number(&self, value: f64) -> String {
        trimmed(value, self.decimals.into())
    }

    /// What a bar or a mark says when pointed at.
    fn told(&self, row: &BarRow, name: &str, value: &str) -> String {
        let name = if name.is_empty() { String::new() } else { format!(", {name}") };
        format!("{}{name}: {value}; {}", row.label, self.x)
    }

    /// A bar or a dot, with its interval.
    fn bar(&self, scene: &mut Scene, (at, ends): (f64, Option<(f64, f64)>), y: f64, zero: f64, colour: &str) {
        if self.dots {
            scene.disc((at, y), 4.5, colour);
        } else {
            let (left, right) = (zero.min(at), zero.max(at));
            scene.rect(Area::new(left, y - THICK / 2.0 + 1.0, (right - left).max(0.5), THICK - 2.0), colour, 0.85);
        }
        let Some((low, high)) = ends else { return };
        let pen = Pen::solid(if self.dots { colour } else { INK }, 1.5);
        scene.line((low, y), (high, y), pen);
        for end in [low, high] {
            scene.line((end, y - 3.5), (end, y + 3.5), pen);
        }
    }

    fn key(&self, scene: &mut Scene, y: f64) {
        let samples: Vec<_> = (0..self.names.len())
            .map(|place| {
                move |scene: &mut Scene, x: f64, y: f64| {
                    scene.rect(Area::new(x, y - 5.0, 26.0, 10.0), LINES[place % FILLS], 0.85)
                }
            })
            .collect();
        let diamond = |scene: &mut Scene, x: f64, y: f64| {
            scene.shape(&[(x + 13.0, y - 6.0), (x + 19.0, y), (x + 13.0, y + 6.0), (x + 7.0, y)], INK, 1.0);
        };
        let mut entries: Vec<Entry<'_>> = Vec::new();
        if self.names.len() > 1 || !self.mark.is_empty() {
            entries.extend(self.names.iter().zip(&samples).map(|(name, draw)| -> Entry<'_> { (name.as_str(), draw) }));
        }
        if !self.mark.is_empty() && width(&self.mark, TICK) > 0.0 {
            entries.push((self.mark.as_str(), &diamond));
        }
        key(scene, (MARGIN, y), scene.width() - MARGIN, &entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_intervals_and_marks_are_drawn_and_told() {
        let row = |label: &str, value: f64| BarRow {
            label: label.to_owned(),
            values: vec![Bar::new(value, Some((value - 0.1, value + 0.1))), Bar::new(0.2, None)],
            mark: 0.4.into(),
        };
        let bars = Bars {
            title: "What matters".to_owned(),
            x: "share".to_owned(),
            names: vec!["first".to_owned(), "total".to_owned()],
            mark: "exact".to_owned(),
            decimals: 2,
            rows: vec![row("over", 0.38), row("slack", -0.3)],
            ..Bars::default()
        };
        let svg = bars.svg();
        for words in ["What matters", ">over<", ">slack<", ">first<", ">total<", ">exact<", "0.38 · 0.2 · 0.4"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        for told in
            ["over, first: 0.38 (95 %: 0.28 to 0.48); share", "slack, total: 0.2; share", "slack, exact: 0.4; share"]
        {
            assert!(svg.contains(&format!("<g><title>{told}</title>")), "{told}: {svg}");
        }
        let text = serde_json::to_string(&bars).unwrap();
        assert_eq!(serde_json::from_str::<Bars>(&text).unwrap(), bars);
    }

    #[test]
    fn hostile_rows_are_drawn() {
        let wild = Bar::new(f64::NAN, Some((f64::NEG_INFINITY, 1e300)));
        let rows = vec![BarRow { label: "<&\">".repeat(50), values: vec![wild; 9], mark: f64::INFINITY.into() }; 3];
        for (rows, dots) in [(vec![], false), (rows.clone(), true), (rows, false)] {
            let svg = Bars { rows, dots, ..Bars::default() }.svg();
            assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}

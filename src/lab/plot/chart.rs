//! Dots and lines on two axes, in panels side by side that have the axes in common: what fits are shown by.

use super::Num;
use super::Scale;
use super::colour::{EDGE, INK, LINES, MUTED};
use super::frame::{Entry, Frame, MARGIN, PANEL, Side, TICK, grid, key};
use super::hover::{number, strips};
use super::num::len;
use super::scale::Axis;
use super::scene::{Area, Pen, Scene, Type};
use super::text::fit;
use serde::{Deserialize, Serialize};

/// Panels of dots and lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// One line, the largest text.
    pub title: String,
    /// What was looked at, how much of it, where it is from.
    pub facts: Vec<String>,
    /// A line of explanation at the foot.
    #[serde(default)]
    pub note: String,
    /// What is across, with its unit.
    pub x: String,
    /// What is up, with its unit.
    pub y: String,
    /// How the axis across runs.
    pub x_scale: Scale,
    /// How the axis up runs.
    pub y_scale: Scale,
    /// Left to right, three to a row.
    pub panels: Vec<ChartPanel>,
}

/// One panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartPanel {
    /// What it is of.
    pub name: String,
    /// What it comes to, in numbers.
    pub told: String,
    /// Its lines, the first at the back.
    pub lines: Vec<ChartLine>,
    /// Its dots.
    pub dots: Vec<ChartDots>,
}

/// A line through points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartLine {
    /// Its name in the key, once for all panels.
    pub name: String,
    /// Which colour of the palette; past its end, grey.
    pub colour: u8,
    /// Whether it is dashed; colours beside each other differ in their dashes.
    pub dashed: bool,
    /// Across and up.
    pub points: Vec<[Num; 2]>,
}

/// Dots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartDots {
    /// Their name in the key, once for all panels.
    pub name: String,
    /// As for a line.
    pub colour: u8,
    /// Across and up.
    pub points: Vec<[Num; 2]>,
}

fn nums(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<[Num; 2]> {
    points.into_iter().map(|(x, y)| [Num::from(x), Num::from(y)]).collect()
}

impl ChartLine {
    /// A line through these points.
    #[must_use]
    pub fn new(name: &str, colour: u8, dashed: bool, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.to_owned(), colour, dashed, points: nums(points) }
    }

    /// The points that are drawn.
    fn drawn(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().filter_map(|point| both(*point))
    }

    /// How high the line is drawn at a value across; nothing before its beginning and after its end.
    fn at(&self, across: f64) -> Option<f64> {
        let mut before = None;
        for (x, y) in self.drawn() {
            match before {
                _ if x < across => before = Some((x, y)),
                Some((from, low)) if x > across => return Some(low + (y - low) * ((across - from) / (x - from))),
                None if x > across => return None,
                _ => return Some(y),
            }
        }
        None
    }

    fn pen(&self) -> Pen<'static> {
        let (colour, width) = (colour(self.colour), if self.colour < 6 { 2.0 } else { 1.6 });
        let dash = ["5 3", "8 4", "2 3"][usize::from(self.colour % 3)];
        if self.dashed { Pen::dashed(colour, width, dash) } else { Pen::solid(colour, width) }
    }
}

impl ChartDots {
    /// These dots.
    #[must_use]
    pub fn new(name: &str, colour: u8, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.to_owned(), colour, points: nums(points) }
    }

    fn few(&self) -> bool {
        self.points.len() <= FEW
    }
}

/// What is told of a line or of dots: its name, where it has one, and its value.
fn named(name: &str, value: String) -> String {
    if name.is_empty() { value } else { format!("{name} {value}") }
}

fn colour(at: u8) -> &'static str {
    LINES.get(usize::from(at)).copied().unwrap_or(EDGE)
}

/// Both numbers, where there are two.
fn both([x, y]: [Num; 2]) -> Option<(f64, f64)> {
    x.get().zip(y.get())
}

const PER_ROW: usize = 3;
const HIGH: f64 = 320.0;
const LEFT: f64 = 74.0;
const GAP: f64 = 40.0;
/// Above a panel: its name and what it comes to.
const HEAD: f64 = 50.0;
const DOT: f64 = 2.2;
/// Up to so many dots of a kind are large and differ in shape.
const FEW: usize = 40;

impl Chart {
    /// Draws it.
    #[must_use]
    pub fn svg(&self) -> String {
        let per_row = self.panels.len().clamp(1, PER_ROW);
        let bands = self.panels.len().max(1).div_ceil(PER_ROW);
        let wide = [640.0, 440.0, 360.0][per_row - 1];
        let page = 2.0 * MARGIN + LEFT + len(per_row) * (wide + GAP) - GAP + 20.0;
        let frame = Frame::plain(&self.title, &self.facts, &self.note, page);
        let pitch = HEAD + HIGH + 58.0;
        let bottom = frame.top() + len(bands) * pitch + 50.0;
        let mut scene = Scene::new(page, bottom + frame.foot());
        let points = || {
            let each = |panel: &'_ ChartPanel| -> Vec<(f64, f64)> {
                let lines = panel.lines.iter().flat_map(|line| &line.points);
                lines.chain(panel.dots.iter().flat_map(|dots| &dots.points)).filter_map(|point| both(*point)).collect()
            };
            self.panels.iter().flat_map(each)
        };
        let across = Axis::around(points().map(|point| point.0), self.x_scale, 6);
        let up = Axis::around(points().map(|point| point.1), self.y_scale, 6);
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
        self.keys(&mut scene, bottom - 34.0);
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }

    fn panel(&self, scene: &mut Scene, panel: &ChartPanel, area: Area, (x, y): (&Axis, &Axis), first: bool) {
        scene.text((area.left, area.top - 32.0), &fit(&panel.name, PANEL, area.width()), Type::new(PANEL, INK).heavy());
        scene.text((area.left, area.top - 14.0), &fit(&panel.told, TICK, area.width()), Type::new(TICK, MUTED));
        let mut side = Side::new(y, &self.y, 6);
        side.told = first;
        grid(scene, area, &Side::new(x, &self.x, 5), &side);
        // a cloud lies behind the lines, and single dots before them
        for dots in panel.dots.iter().filter(|dots| !dots.few()) {
            self.dots(scene, dots, x, y);
        }
        for line in &panel.lines {
            let points: Vec<(f64, f64)> = line.drawn().map(|(across, up)| (x.at(across), y.at(up))).collect();
            scene.path(&points, line.pen());
        }
        // strips would lie over a cloud, whose dots say more
        if panel.dots.iter().all(ChartDots::few) {
            let places = panel.lines.iter().flat_map(ChartLine::drawn).map(|point| point.0);
            strips(scene, area, x, places, |across| self.told(panel, across));
        }
        for dots in panel.dots.iter().filter(|dots| dots.few()) {
            self.dots(scene, dots, x, y);
        }
    }

    /// Dots, each with its values.
    fn dots(&self, scene: &mut Scene, dots: &ChartDots, x: &Axis, y: &Axis) {
        for (across, up) in dots.points.iter().filter_map(|point| both(*point)) {
            let (at, fill) = ((x.at(across), y.at(up)), colour(dots.colour));
            if dots.few() {
                let told = format!("{}: {}; {}: {}", self.x, number(across), self.y, named(&dots.name, number(up)));
                scene.mark_told(at, 2.0 * DOT, dots.colour, fill, &told);
            } else {
                // the axes have the units: of a thousand dots each would be told them again
                scene.mark_told(at, DOT, 0, fill, &named(&dots.name, format!("{}, {}", number(across), number(up))));
            }
        }
    }

    /// What a panel's lines come to at a value across. Lines of one name are the two ends of an interval.
    fn told(&self, panel: &ChartPanel, across: f64) -> String {
        let mut lines: Vec<(&str, String)> = Vec::new();
        for line in &panel.lines {
            let Some(up) = line.at(across).map(number) else { continue };
            match lines.iter_mut().find(|(name, _)| !name.is_empty() && *name == line.name) {
                Some((_, told)) => *told = format!("{told} to {up}"),
                None => lines.push((&line.name, up)),
            }
        }
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = lines.into_iter().map(|(name, told)| named(name, told)).collect();
        format!("{}: {}; {}: {}", self.x, number(across), self.y, lines.join("; "))
    }

    fn keys(&self, scene: &mut Scene, y: f64) {
        let (mut lines, mut dots): (Vec<&ChartLine>, Vec<&ChartDots>) = (Vec::new(), Vec::new());
        for panel in &self.panels {
            for line in &panel.lines {
                if !line.name.is_empty() && lines.iter().all(|known| known.name != line.name) {
                    lines.push(line);
                }
            }
            for some in &panel.dots {
                if !some.name.is_empty() && dots.iter().all(|known| known.name != some.name) {
                    dots.push(some);
                }
            }
        }
        let strokes: Vec<_> = lines
            .iter()
            .map(|line| {
                let pen = line.pen();
                move |scene: &mut Scene, x: f64, y: f64| scene.line((x, y), (x + 26.0, y), pen)
            })
            .collect();
        let discs: Vec<_> = dots
            .iter()
            .map(|some| {
                let (fill, few) = (colour(some.colour), some.few());
                move |scene: &mut Scene, x: f64, y: f64| match few {
                    true => scene.mark_told((x + 13.0, y), 2.0 * DOT, some.colour, fill, &some.name),
                    false => scene.disc((x + 13.0, y), DOT * 1.6, fill),
                }
            })
            .collect();
        let mut entries: Vec<Entry<'_>> = Vec::new();
        entries.extend(lines.iter().zip(&strokes).map(|(line, draw)| -> Entry<'_> { (line.name.as_str(), draw) }));
        entries.extend(dots.iter().zip(&discs).map(|(some, draw)| -> Entry<'_> { (some.name.as_str(), draw) }));
        key(scene, (MARGIN, y), scene.width() - MARGIN, &entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let panel = |name: &str| ChartPanel {
            name: name.to_owned(),
            told: "KS 0.03".to_owned(),
            lines: vec![ChartLine::new("a line", 0, true, [(1.0, 2.0), (10.0, 20.0), (f64::NAN, 1.0)])],
            dots: vec![ChartDots::new("some dots", 1, [(2.0, 3.0), (3.0, 4.0)])],
        };
        Chart {
            title: "What is seen".to_owned(),
            facts: vec!["522 calls".to_owned()],
            x: "tokens".to_owned(),
            y: "seconds".to_owned(),
            x_scale: Scale::Log,
            panels: vec![panel("high"), panel("low")],
            ..Chart::default()
        }
    }

    #[test]
    fn axes_panels_facts_and_key_are_named() {
        let svg = chart().svg();
        for words in ["What is seen", "522 calls", ">tokens<", ">seconds<", ">high<", ">low<", "KS 0.03"] {
            assert!(svg.contains(words), "{words}");
        }
        // two dots in each panel, and one in the key; the key names each thing once
        let texts = svg.matches(">some dots</text>").count();
        assert_eq!((svg.matches("<path transform").count(), texts), (5, 1));
        assert_eq!(svg.matches("<title>tokens: 2; seconds: some dots 3</title>").count(), 2, "values are told");
        assert_eq!(svg.matches("<title>tokens: 10; seconds: a line 20</title>").count(), 2, "of lines too");
        assert_eq!(svg.matches(">seconds<").count(), 1, "panels share their axis");
        let text = serde_json::to_string(&chart()).unwrap();
        assert_eq!(serde_json::from_str::<Chart>(&text).unwrap(), chart());
    }

    #[test]
    fn hostile_data_is_drawn() {
        let wild = [(f64::INFINITY, 1.0), (-1e200, 1e200), (0.0, -3.0), (5.0, 5.0)];
        let panel = ChartPanel {
            name: "<&\">".repeat(80),
            lines: vec![ChartLine::new("", 200, false, wild)],
            dots: vec![ChartDots::new("", 7, wild)],
            ..ChartPanel::default()
        };
        for panels in [vec![], vec![ChartPanel::default()], vec![panel; 8]] {
            for scale in [Scale::Linear, Scale::Log] {
                let svg = Chart { panels: panels.clone(), x_scale: scale, y_scale: scale, ..Chart::default() }.svg();
                assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }
}

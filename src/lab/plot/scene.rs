//! A page of SVG: rectangles, lines, paths and text, written in the order they are drawn.
//!
//! Only what the pictures need, and only what browsers and the rasteriser draw alike: no style sheets, no clip paths,
//! no transforms but the turning of text. Pixels; the origin is the top left corner.

use super::colour;
use super::text::{escape, trimmed};
use core::fmt::Write as _;

/// The families asked for: the bundled font first, then what looks most like it.
const FAMILY: &str = "Roboto, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// A rectangle by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn new(left: f64, top: f64, width: f64, height: f64) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    pub(super) fn width(self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// The same, smaller by `by` on each side.
    pub(super) fn inset(self, by: f64) -> Self {
        Self { left: self.left + by, top: self.top + by, right: self.right - by, bottom: self.bottom - by }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen<'a> {
    pub(super) colour: &'a str,
    pub(super) width: f64,
    /// An SVG dash array; empty for a solid line.
    pub(super) dash: &'a str,
}

impl<'a> Pen<'a> {
    pub(super) const fn solid(colour: &'a str, width: f64) -> Self {
        Self { colour, width, dash: "" }
    }

    pub(super) const fn dashed(colour: &'a str, width: f64, dash: &'a str) -> Self {
        Self { colour, width, dash }
    }
}

/// Which point of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'a> {
    pub(super) size: f64,
    pub(super) colour: &'a str,
    pub(super) anchor: Anchor,
    /// Drawn heavier, by a thin outline: there is one font, and it has one weight.
    pub(super) heavy: bool,
    /// Set reading upwards.
    pub(super) upright: bool,
    /// Outlined in the paper's colour, so that lines beneath do not disturb it.
    pub(super) halo: bool,
}

impl<'a> Type<'a> {
    pub(super) const fn new(size: f64, colour: &'a str) -> Self {
        Self { size, colour, anchor: Anchor::Start, heavy: false, upright: false, halo: false }
    }

    pub(super) const fn middle(mut self) -> Self {
        self.anchor = Anchor::Middle;
        self
    }

    pub(super) const fn end(mut self) -> Self {
        self.anchor = Anchor::End;
        self
    }

    pub(super) const fn heavy(mut self) -> Self {
        self.heavy = true;
        self
    }

    pub(super) const fn upright(mut self) -> Self {
        self.upright = true;
        self
    }

    pub(super) const fn halo(mut self) -> Self {
        self.halo = true;
        self
    }
}

/// A page being drawn.
#[derive(Debug)]
pub(super) struct Scene {
    width: f64,
    height: f64,
    body: String,
}

impl Scene {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width: width.ceil(), height: height.ceil(), body: String::new() }
    }

    pub(super) fn width(&self) -> f64 {
        self.width
    }

    fn put(&mut self, element: core::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// A filled rectangle. `fill` is a colour or `url(#hatch)`.
    pub(super) fn rect(&mut self, area: Area, fill: &str, opacity: f64) {
        let opacity = if opacity < 1.0 { format!(" fill-opacity=\"{}\"", px(opacity)) } else { String::new() };
        let Area { left, top, .. } = area;
        let (width, height) = (px(area.width().max(0.0)), px(area.height().max(0.0)));
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{opacity}/>",
            px(left),
            px(top)
        ));
    }

    /// The outline of a rectangle.
    pub(super) fn outline(&mut self, area: Area, pen: Pen<'_>) {
        let (width, height) = (px(area.width().max(0.0)), px(area.height().max(0.0)));
        let (left, top, stroke) = (px(area.left), px(area.top), stroke(pen));
        self.put(format_args!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\"{stroke}/>"
        ));
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen<'_>) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        let stroke = stroke(pen);
        self.put(format_args!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{stroke}/>"));
    }

    /// A line through points; nothing where there are fewer than two.
    pub(super) fn path(&mut self, points: &[(f64, f64)], pen: Pen<'_>) {
        if points.len() > 1 {
            let (through, stroke) = (through(points), stroke(pen));
            self.put(format_args!(
                "<path d=\"{through}\" fill=\"none\"{stroke} stroke-linejoin=\"round\" stroke-linecap=\"butt\"/>"
            ));
        }
    }

    /// The area between two lines through points of the same order.
    pub(super) fn band(&mut self, upper: &[(f64, f64)], lower: &[(f64, f64)], fill: &str, opacity: f64) {
        let all: Vec<(f64, f64)> = upper.iter().chain(lower.iter().rev()).copied().collect();
        self.shape(&all, fill, opacity);
    }

    /// A filled polygon; nothing where there are fewer than three points.
    pub(super) fn shape(&mut self, points: &[(f64, f64)], fill: &str, opacity: f64) {
        if points.len() > 2 {
            let (through, opacity) = (through(points), px(opacity));
            self.put(format_args!("<path d=\"{through}Z\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>"));
        }
    }

    /// A filled disc.
    pub(super) fn disc(&mut self, at: (f64, f64), radius: f64, fill: &str) {
        let (x, y, radius) = (px(at.0), px(at.1), px(radius));
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>"));
    }

    /// What `draw` draws, as one mark that says something when pointed at.
    pub(super) fn told(&mut self, told: &str, draw: impl FnOnce(&mut Self)) {
        self.put(format_args!("<g><title>{}</title>", escape(told)));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// Rectangles that nobody sees, each with what it says when pointed at.
    pub(super) fn unseen(&mut self, strips: impl IntoIterator<Item = (Area, String)>) {
        // painted, and so pointed at, but without any ink
        self.body.push_str("<g fill-opacity=\"0\">\n");
        for (area, told) in strips {
            let (left, top, told) = (px(area.left), px(area.top), escape(&told));
            let (width, height) = (px(area.width().max(0.0)), px(area.height().max(0.0)));
            self.put(format_args!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"><title>{told}</title></rect>"
            ));
        }
        self.body.push_str("</g>\n");
    }

    /// A mark that says something when pointed at: a disc, square, diamond or triangle, so that kinds differ without colour.
    pub(super) fn mark_told(&mut self, at: (f64, f64), size: f64, kind: u8, fill: &str, told: &str) {
        let (x, y, told) = (px(at.0), px(at.1), escape(told));
        let (low, high) = (px(-size), px(size));
        let shape = match kind % 4 {
            0 => format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{high}\" fill=\"{fill}\">"),
            1 => format!(
                "<path transform=\"translate({x} {y})\" d=\"M{low} {low}H{high}V{high}H{low}Z\" fill=\"{fill}\">"
            ),
            2 => format!(
                "<path transform=\"translate({x} {y})\" d=\"M0 {low}L{high} 0L0 {high}L{low} 0Z\" fill=\"{fill}\">"
            ),
            _ => format!("<path transform=\"translate({x} {y})\" d=\"M0 {low}L{high} {high}H{low}Z\" fill=\"{fill}\">"),
        };
        let end = if kind.is_multiple_of(4) { "circle" } else { "path" };
        self.put(format_args!("{shape}<title>{told}</title></{end}>"));
    }

    /// One line of text, its baseline at `at`.
    pub(super) fn text(&mut self, at: (f64, f64), text: &str, set: Type<'_>) {
        if text.is_empty() {
            return;
        }
        let (x, y, size) = (px(at.0), px(at.1), px(set.size));
        let anchor = match set.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let turn = if set.upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        let edge = if set.heavy {
            format!(" stroke=\"{}\" stroke-width=\"{}\"", set.colour, px(set.size * 0.03))
        } else if set.halo {
            format!(" stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"", colour::PAPER)
        } else {
            String::new()
        };
        let (fill, text) = (set.colour, escape(text));
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{edge}{turn}>{text}</text>"
        ));
    }

    /// The finished file. `title` and `told` are what a screen reader says.
    pub(super) fn finish(self, title: &str, told: &str) -> String {
        let (width, height) = (px(self.width), px(self.height));
        let (title, told, paper, edge) = (escape(title), escape(told), colour::PAPER, colour::EDGE);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILY}\">\n\
             <title>{title}</title>\n<desc>{told}</desc>\n\
             <defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
             <rect width=\"6\" height=\"6\" fill=\"#f3f4f6\"/>\
             <path d=\"M-1.5 1.5L1.5 -1.5M0 6L6 0M4.5 7.5L7.5 4.5\" stroke=\"{edge}\" stroke-width=\"1\"/></pattern></defs>\n\
             <rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// The path through points.
fn through(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if at == 0 { 'M' } else { 'L' }, px(*x), px(*y));
    }
    out
}

fn stroke(pen: Pen<'_>) -> String {
    let dash = if pen.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", pen.dash) };
    format!(" stroke=\"{}\" stroke-width=\"{}\"{dash}", pen.colour, px(pen.width))
}

/// A coordinate, two decimals at most; what is not finite never reaches the file.
fn px(value: f64) -> String {
    if value.is_finite() { trimmed(value, 2) } else { "0".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_finite() {
        assert_eq!([1.0, 0.126, -0.001, f64::NAN].map(px), ["1", "0.13", "0", "0"]);
    }

    #[test]
    fn a_page_is_one_well_formed_document() {
        let mut scene = Scene::new(100.2, 50.0);
        scene.rect(Area::new(1.0, 2.0, 3.0, 4.0), colour::GRID, 0.5);
        scene.text((1.0, 1.0), "<&\">", Type::new(12.0, colour::INK).middle().heavy());
        scene.path(&[(0.0, 0.0)], Pen::solid(colour::INK, 1.0));
        let svg = scene.finish("a<b", "");
        assert!(svg.starts_with("<svg ") && svg.contains("width=\"101\"") && svg.contains("&lt;&amp;&quot;&gt;"));
        assert!(!svg.contains("M0 0\""), "a single point is no line");
        assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
    }
}

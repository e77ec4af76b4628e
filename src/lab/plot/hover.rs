//! What a picture says where it is pointed at: strips that nobody sees, from the bottom of a panel to its top, one for each place across.
//!
//! A strip is hit where a thin line is not, and tells all lines of its panel at once. It is a title of SVG and so needs no script and
//! no style; it takes no ink, in print or in a raster. Marks that are large enough say their values themselves
//! ([`Scene::told`](super::scene::Scene::told)).

use super::scale::Axis;
use super::scene::{Area, Scene};
use super::text::trimmed;

/// The most strips of a panel: more are too thin to be hit, and make the file heavy.
pub(super) const MOST: usize = 40;

/// Lays strips over `area`, one for each of these values across, with what `told` says of it; evenly spread ones where there are too
/// many, the first and the last among them.
pub(super) fn strips(
    scene: &mut Scene,
    area: Area,
    x: &Axis,
    places: impl IntoIterator<Item = f64>,
    told: impl Fn(f64) -> String,
) {
    let mut all: Vec<f64> = places.into_iter().filter(|place| place.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|one, next| one.total_cmp(next).is_eq());
    let kept = thinned(&all);
    let at = |place: usize| kept.get(place).map(|value| x.at(*value));
    let between = |place: usize| Some(f64::midpoint(at(place)?, at(place + 1)?));
    let strips = kept.iter().enumerate().map(|(place, value)| {
        let left = place.checked_sub(1).and_then(between).unwrap_or(area.left);
        let right = between(place).unwrap_or(area.right);
        (Area { left, right, ..area }, told(*value))
    });
    scene.unseen(strips.filter(|(_, told)| !told.is_empty()));
}

/// At most [`MOST`] of the values.
fn thinned(all: &[f64]) -> Vec<f64> {
    if all.len() <= MOST {
        return all.to_vec();
    }
    (0..MOST).filter_map(|place| all.get(place * (all.len() - 1) / (MOST - 1))).copied().collect()
}

/// A number as it is told: about as many digits as anybody reads.
pub(super) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if !size.is_finite() => return "n/a".to_owned(),
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 0.1 => 3,
        _ => 5,
    };
    trimmed(value, decimals)
}

/// A value with its interval, where it has both ends.
pub(super) fn with_interval(value: String, ends: Option<(String, String)>) -> String {
    match ends {
        Some((low, high)) => format!("{value} (95 %: {low} to {high})"),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_meet_half_way_and_fill_the_panel() {
        let area = Area::new(0.0, 10.0, 100.0, 50.0);
        let mut scene = Scene::new(100.0, 60.0);
        let x = Axis::exact(0.0, 10.0).over(area.left, area.right);
        strips(&mut scene, area, &x, [8.0, 2.0, 2.0, f64::NAN], |value| {
            if value > 1.0 { number(value) } else { String::new() }
        });
        let svg = scene.finish("", "");
        assert!(svg.contains("<rect x=\"0\" y=\"10\" width=\"50\" height=\"50\"><title>2</title></rect>"), "{svg}");
        assert!(svg.contains("<rect x=\"50\" y=\"10\" width=\"50\" height=\"50\"><title>8</title></rect>"), "{svg}");
        assert_eq!(svg.matches("<title>").count(), 3, "and that of the page");
    }

    #[test]
    fn too_many_are_thinned_and_keep_their_ends() {
        let all: Vec<f64> = (0_u16..1000).map(f64::from).collect();
        let kept = thinned(&all);
        assert_eq!((kept.len(), kept.first(), kept.last()), (MOST, all.first(), all.last()));
        assert_eq!(thinned(&all[..MOST]), all[..MOST]);
    }

    #[test]
    fn numbers_are_short() {
        let told = [1234.5678, 123.456, 1.23456, 0.012_345_6, 0.0, f64::NAN].map(number);
        assert_eq!(told, ["1235", "123.5", "1.235", "0.01235", "0", "n/a"]);
    }
}

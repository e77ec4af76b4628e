//! Colours, chosen to survive colour blindness and a grey printer.

/// Text and axes.
pub(super) const INK: &str = "#1f2328";
/// Secondary text.
pub(super) const MUTED: &str = "#59636e";
/// Hairlines behind the data.
pub(super) const GRID: &str = "#e4e7eb";
/// Frames and ticks.
pub(super) const EDGE: &str = "#b4bcc6";
/// The page.
pub(super) const PAPER: &str = "#ffffff";

/// Okabe and Ito's palette in an order whose neighbours differ in lightness too; yellow is left out, being unreadable
/// as a line on white.
pub(super) const LINES: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#000000"];
/// Blue of that palette.
pub(super) const BLUE: &str = LINES[0];
/// Vermillion of that palette.
pub(super) const VERMILLION: &str = LINES[1];
/// Bluish green of that palette.
pub(super) const GREEN: &str = LINES[2];

/// Viridis at ten even steps, red, green and blue; darkest first.
const VIRIDIS: [[f64; 3]; 10] = [
    [68.0, 1.0, 84.0],
    [72.0, 40.0, 120.0],
    [62.0, 74.0, 137.0],
    [49.0, 104.0, 142.0],
    [38.0, 130.0, 142.0],
    [31.0, 158.0, 137.0],
    [53.0, 183.0, 121.0],
    [109.0, 205.0, 89.0],
    [180.0, 222.0, 44.0],
    [253.0, 231.0, 37.0],
];

/// A colour of the ramp, and the ink that is readable on it.
pub(super) struct Shade {
    /// Fill, `#rrggbb`.
    pub(super) fill: String,
    /// Text on it.
    pub(super) ink: &'static str,
}

/// The ramp at `share`, 0 darkest and 1 lightest; out of range is clamped.
pub(super) fn ramp(share: f64) -> Shade {
    let place = share.clamp(0.0, 1.0) * 9.0;
    let mut at = 0;
    let mut rest = place;
    while rest > 1.0 && at < 8 {
        rest -= 1.0;
        at += 1;
    }
    let mixed = |channel: usize| VIRIDIS[at][channel] + rest * (VIRIDIS[at + 1][channel] - VIRIDIS[at][channel]);
    let [red, green, blue] = [mixed(0), mixed(1), mixed(2)];
    let light = 0.299 * red + 0.587 * green + 0.114 * blue;
    Shade {
        fill: format!("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue)),
        ink: if light > 128.0 { INK } else { PAPER },
    }
}

/// A colour channel, rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte first")]
fn byte(channel: f64) -> u8 {
    channel.clamp(0.0, 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_ends_where_viridis_does_and_only_lightens() {
        assert_eq!(ramp(0.0).fill, "#440154");
        assert_eq!(ramp(1.0).fill, "#fde725");
        assert_eq!((ramp(-3.0).fill, ramp(9.0).fill), (ramp(0.0).fill, ramp(1.0).fill));
        let light = |share: f64| {
            let fill = ramp(share).fill;
            let of = |at: usize| f64::from(u8::from_str_radix(&fill[at..at + 2], 16).unwrap());
            0.299 * of(1) + 0.587 * of(3) + 0.114 * of(5)
        };
        let steps: Vec<f64> = (0..=50).map(|step| light(f64::from(step) / 50.0)).collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }

    #[test]
    fn ink_is_dark_on_light_and_light_on_dark() {
        assert_eq!((ramp(0.0).ink, ramp(1.0).ink), (PAPER, INK));
    }
}

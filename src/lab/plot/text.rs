//! Text of a picture: what is safe to write into XML, how wide it is, and how it is cut to fit.
//!
//! Widths come from a table of the bundled font (Roboto Regular, `hmtx`), so that a picture is laid out alike
//! everywhere; kerning is left out, which overstates a width by a few per cent at most. Sizes are pixels of the em.

use core::fmt::Write as _;

/// Units of the em in the bundled font.
const EM: f64 = 2048.0;

/// Advance widths of ASCII 32 to 126 in the bundled font.
const WIDTHS: [u16; 95] = [
    508, 528, 656, 1261, 1151, 1500, 1274, 358, 701, 713, 882, 1162, 403, 566, 540, 845, 1151, 1151, 1151, 1151, 1151,
    1151, 1151, 1151, 1151, 1151, 496, 433, 1041, 1124, 1071, 968, 1839, 1336, 1276, 1333, 1344, 1164, 1132, 1395,
    1461, 557, 1130, 1285, 1103, 1788, 1461, 1409, 1292, 1409, 1262, 1216, 1222, 1328, 1304, 1817, 1284, 1230, 1227,
    543, 841, 543, 856, 924, 633, 1114, 1150, 1072, 1155, 1086, 712, 1150, 1128, 498, 490, 1038, 498, 1796, 1131, 1168,
    1150, 1164, 694, 1057, 670, 1129, 992, 1539, 1016, 969, 1016, 693, 500, 693, 1393,
];

/// Width of a character that the table does not hold; wider than most, so that a layout errs to the safe side.
const OTHER: u16 = 1400;

/// Width of `text` at `size`, pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| f64::from(advance(c))).sum::<f64>() * size / EM
}

fn advance(c: char) -> u16 {
    match c {
        '·' => 535,
        '±' => 1095,
        '≥' => 1071,
        _ => usize::try_from(u32::from(c)).ok().and_then(|c| WIDTHS.get(c.checked_sub(32)?)).copied().unwrap_or(OTHER),
    }
}

/// `text` itself where it is at most `room` wide, else its beginning and an ellipsis.
pub(super) fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size);
    let mut kept = String::new();
    let mut used = 0.0;
    for c in text.chars() {
        used += f64::from(advance(c)) * size / EM;
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// `text` broken at spaces into at most `lines` lines of at most `room`; what is left over ends in an ellipsis.
pub(super) fn wrap(text: &str, size: f64, room: f64, lines: usize) -> Vec<String> {
    let mut words = text.split_whitespace().peekable();
    let mut out = Vec::new();
    while words.peek().is_some() && out.len() < lines {
        let last = out.len() + 1 == lines;
        let mut line = String::new();
        while let Some(word) = words.peek() {
            let longer = if line.is_empty() { (*word).to_owned() } else { format!("{line} {word}") };
            if !last && !line.is_empty() && width(&longer, size) > room {
                break;
            }
            line = longer;
            words.next();
        }
        out.push(fit(&line, size, room));
    }
    out
}

/// `text` with the five characters of XML escaped and those that XML 1.0 forbids replaced.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number with `decimals` decimals and no `-0`.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let zero = text.starts_with('-') && !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// A number with at most `decimals` decimals, its trailing zeros dropped.
pub(super) fn trimmed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number short enough for an axis: `0.25`, `300`, `2500`, `12k`, `1.5M`.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 1e9 {
        format!("{}G", trimmed(value / 1e9, 2))
    } else if size >= 1e6 {
        format!("{}M", trimmed(value / 1e6, 2))
    } else if size >= 1e4 {
        format!("{}k", trimmed(value / 1e3, 1))
    } else if size >= 100.0 {
        trimmed(value, 0)
    } else {
        trimmed(value, 3)
    }
}

/// A whole number with its thousands set apart, `12 000`.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A duration in the largest unit that leaves it whole: `60 s`, `5 min`, `1 h`; a minute stays `60 s`.
pub(super) fn duration(ms: u64) -> String {
    let mut out = String::new();
    let told = match ms {
        ms if ms >= 3_600_000 && ms.is_multiple_of(3_600_000) => write!(out, "{} h", ms / 3_600_000),
        ms if ms >= 120_000 && ms.is_multiple_of(60_000) => write!(out, "{} min", ms / 60_000),
        ms => write!(out, "{} s", trimmed(super::num::real(ms) / 1000.0, 3)),
    };
    // Writing to a String cannot fail.
    told.map_or_else(|_| String::new(), |()| out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        let told: Vec<String> =
            [0, 1500, 60_000, 90_000, 300_000, 1_200_000, 3_600_000, 5_400_000].map(duration).into();
        assert_eq!(told, ["0 s", "1.5 s", "60 s", "90 s", "5 min", "20 min", "1 h", "90 min"]);
    }

    #[test]
    fn numbers_are_short_and_unsigned_at_zero() {
        let told: Vec<String> = [0.0, 0.25, -0.0001, 300.0, 2500.0, 12_000.0, 1.5e6, 2e9].map(short).into();
        assert_eq!(told, ["0", "0.25", "0", "300", "2500", "12k", "1.5M", "2G"]);
        assert_eq!(fixed(-0.04, 1), "0.0");
        assert_eq!([999, 1000, 12_000, 1_234_567].map(grouped), ["999", "1000", "12 000", "1 234 567"]);
    }

    #[test]
    fn forbidden_characters_never_reach_the_file() {
        assert_eq!(escape("<&\">'\0\n\u{ffff}"), "&lt;&amp;&quot;&gt;&#39;\u{fffd} \u{fffd}");
    }

    #[test]
    fn text_is_cut_to_its_room() {
        let long = "a very long name of a law that nobody can read".repeat(20);
        let cut = fit(&long, 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
        assert_eq!(fit("short", 12.0, 100.0), "short");
        assert_eq!(fit("x", 12.0, 0.0), "…");
    }

    #[test]
    fn wrapping_keeps_words_and_bounds() {
        let lines = wrap("one two three four five six seven eight nine ten", 12.0, 90.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'));
        assert!(lines.iter().all(|line| width(line, 12.0) <= 90.0));
        assert!(wrap("  ", 12.0, 90.0, 2).is_empty());
        assert_eq!(wrap("a b", 12.0, 90.0, 3), ["a b"]);
    }
}

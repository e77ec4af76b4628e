//! Whole numbers of flags, refused in words.

/// A whole number from `LEAST` to `MOST`, for a flag's `value_parser`.
///
/// # Errors
/// What it must be, for people.
pub fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match MOST {
        u64::MAX => format!("it must be a whole number, {LEAST} or more"),
        _ => format!("it must be a whole number from {LEAST} to {MOST}"),
    })
}

/// Any whole number that the bounds of the command then look at, or that has none.
///
/// # Errors
/// As [`whole`].
pub fn any(text: &str) -> Result<u64, String> {
    whole::<_, 0, { u64::MAX }>(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_within_and_everything_else_is_told_what_it_must_be() {
        let read = whole::<u32, 2, 9>;
        assert_eq!((read("2"), read("9")), (Ok(2), Ok(9)));
        for text in ["1", "10", "-1", "2.5", "nan", "", " 3", "0x3", "18446744073709551616"] {
            assert_eq!(read(text), Err("it must be a whole number from 2 to 9".to_owned()), "{text}");
        }
        assert_eq!(any("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(any("-1"), Err("it must be a whole number, 0 or more".to_owned()));
    }
}

//! The book, by hand: what is laid where, and what is refused.

use super::*;

fn row(id: &str, output: u64, last: bool) -> Row<'_> {
    let usage = Usage { output: Count::Of(output), ..Usage::default() };
    let (session, model) = (Some("s"), Some("m"));
    Row { key: Key::Message(id), session, start: None, end: None, model, effort: None, usage, last, side: false }
}

fn total(output: Vec<(Option<&str>, Count)>, extent: Extent) -> Total<'_> {
    Total { session: Some("s"), output, extent, ok: Some(true), result: true, ..Total::default() }
}

/// The records of the log once its sums are laid.
fn shown(log: &Log) -> Vec<(u64, Grade, bool)> {
    let joined = crate::agents::join(core::slice::from_ref(log));
    joined.turns.iter().map(|turn| (turn.output.count(), turn.grade, turn.counts_as_turn)).collect()
}

#[test]
fn a_total_goes_to_the_calls_of_its_stretch_and_model_that_are_not_known() {
    let mut book = Book::default();
    book.row(&row("a", 40, true));
    book.row(&row("b", 1, false));
    book.row(&Row { model: Some("other"), ..row("c", 1, false) });
    book.total(&total(
        vec![(Some("m"), Count::Of(100)), (Some("other"), Count::Of(9))],
        Extent::Running(Fall::Restart),
    ));
    book.row(&row("d", 1, false));
    book.total(&total(
        vec![(Some("m"), Count::Of(130)), (Some("other"), Count::Of(9))],
        Extent::Running(Fall::Restart),
    ));
    let log = book.close(Format::ClaudeStream);
    let est = Grade::Estimated;
    assert_eq!(shown(&log), [(40, Grade::Known, true), (60, est, true), (9, est, true), (30, est, true)]);
    assert_eq!(log.stated, Some(Coverage { counted: Tokens::new(40), stated: Tokens::new(139) }));
}

#[test]
fn what_no_call_can_take_is_a_record_that_is_no_turn() {
    let mut book = Book::default();
    book.row(&row("a", 30, true));
    book.total(&total(vec![(None, Count::Of(49))], Extent::Stretch));
    assert_eq!(shown(&book.close(Format::ClaudeStream)), [(30, Grade::Known, true), (19, Grade::Known, false)]);
}

#[test]
fn a_total_below_what_is_counted_takes_nothing_away_and_is_said() {
    let mut book = Book::default();
    book.row(&row("a", 30, true));
    book.row(&row("b", 1, false));
    book.total(&total(vec![(None, Count::Of(20))], Extent::Stretch));
    let log = book.close(Format::ClaudeStream);
    assert_eq!(shown(&log), [(30, Grade::Known, true), (0, Grade::Estimated, true)]);
    assert_eq!((log.health.surplus, log.stated.unwrap().ppm()), (10, 1_000_000));
}

#[test]
fn a_row_after_the_total_may_still_make_its_call_known() {
    let mut book = Book::default();
    book.row(&row("a", 1, false));
    book.row(&row("b", 1, false));
    book.total(&total(vec![(None, Count::Of(50))], Extent::Stretch));
    book.row(&row("a", 20, true));
    assert_eq!(shown(&book.close(Format::ClaudeStream)), [(20, Grade::Known, true), (30, Grade::Estimated, true)]);
}

#[test]
fn a_total_that_is_no_number_is_refused() {
    let mut book = Book::default();
    book.row(&row("a", 1, false));
    book.total(&total(vec![(None, Count::Bad)], Extent::Stretch));
    let log = book.close(Format::ClaudeStream);
    assert_eq!((shown(&log), log.stated), (vec![(0, Grade::Unknown, true)], None));
    assert_eq!((log.health.bad_numbers, log.results), (1, 1));
}

#[test]
fn a_stretch_that_has_more_than_the_totals_grew_by_is_of_a_new_process() {
    let add = |figures: [(u64, u64); 3]| {
        let mut book = Book::default();
        for (figure, stretch) in figures {
            let running = total(vec![(Some("m"), Count::Of(figure))], Extent::Running(Fall::Restart));
            book.total(&Total { stretch: Count::Of(stretch), ..running });
        }
        book.close(Format::ClaudeStream).sums.iter().map(|sum| sum.output.count()).sum::<u64>()
    };
    assert_eq!(add([(1000, 1000), (2000, 2000), (3000, 3000)]), 6000);
    assert_eq!(add([(1000, 1000), (2000, 1000), (3000, 1000)]), 3000);
    assert_eq!(add([(1000, 1000), (2000, 1001), (2000, 78)]), 2000, "a broken try's tokens tell nothing");
}

#[test]
fn a_total_is_for_its_own_session_and_for_its_model_by_any_of_its_names() {
    let mut book = Book::default();
    book.row(&Row { session: Some("killed"), ..row("a", 1, false) });
    book.row(&Row { model: Some("claude-x"), ..row("b", 1, false) });
    book.row(&Row { model: Some("claude-y-20260101"), ..row("c", 1, false) });
    let models = vec![(Some("claude-x[1m]"), Count::Of(70)), (Some("claude-y"), Count::Of(30))];
    book.total(&total(models, Extent::Running(Fall::Restart)));
    let log = book.close(Format::ClaudeStream);
    let est = Grade::Estimated;
    assert_eq!(shown(&log), [(0, Grade::Unknown, true), (70, est, true), (30, est, true)]);
}

#[test]
fn names_that_would_move_a_cursor_are_made_plain() {
    let mut book = Book::default();
    book.row(&Row { model: Some("evil\u{1b}[31m\nx"), ..row("a", 1, true) });
    let log = book.close(Format::ClaudeStream);
    assert_eq!(log.turns.at(0).record.model.as_deref(), Some("evil\u{FFFD}[31m\u{FFFD}x"));
}

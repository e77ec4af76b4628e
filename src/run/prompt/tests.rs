//! Tests of templates and of what is made of them.

use proptest::prelude::*;

use super::*;
use crate::engine::MicroUsd;

fn facts() -> Facts {
    Facts {
        task: "mend {it}".to_owned(),
        round: 3,
        effort: "high".to_owned(),
        done: "cargo test passes".to_owned(),
        kill_on: vec!["2 more rounds without progress".to_owned()],
        diff: "-old\n+new\n".to_owned(),
        oracle: Some(Failure { why: "exit 101".to_owned(), output: "thread panicked".to_owned() }),
        check: Some(Check { name: "unit".to_owned(), task: "make the unit tests pass".to_owned() }),
        constraints: vec!["no new crates".to_owned(), "keep it small".to_owned()],
        left: Caps { rounds: Some(4), cost: Some(MicroUsd::new(1_500_000)), ..Caps::default() },
        notes: vec!["features.json was restored".to_owned()],
    }
}

fn text(template: &str) -> String {
    Template::parse(template).unwrap().render(&facts(), usize::MAX).text
}

#[test]
fn every_placeholder_is_filled() {
    for (template, want) in [
        ("{task}", "mend {it}"),
        ("{round}/{rounds_left}", "3/4"),
        ("{effort}", "high"),
        ("{done}", "cargo test passes"),
        ("{kill_on}", "- 2 more rounds without progress"),
        ("{diff}", "-old\n+new\n"),
        ("{oracle}", "exit 101\n\nthread panicked"),
        ("{check}", "unit: make the unit tests pass"),
        ("{constraints}", "- no new crates\n- keep it small"),
        ("{caps}", "- 4 rounds, this one among them\n- $1.50"),
        ("{notes}", "- features.json was restored"),
    ] {
        assert_eq!(text(template), want, "{template}");
    }
    let all: String = Field::ALL.iter().map(|field| format!("{{{}}} ", field.name())).collect();
    let empty = Template::parse(&all).unwrap().render(&Facts::default(), usize::MAX).text;
    assert_eq!(empty, " 0 no cap none none none none none none none none none ");
}

#[test]
fn braces_are_doubled_and_a_task_is_taken_as_it_is() {
    assert_eq!(text("{{task}} is {task}, {{}}"), "{task} is mend {it}, {}");
    assert_eq!(Prompts::default().render(&facts(), usize::MAX).text, "mend {it}");
}

#[test]
fn a_byte_order_mark_and_other_ends_of_lines_make_no_difference() {
    assert_eq!(text("\u{feff}a {round}\r\nb\r\n"), "a 3\nb\n");
}

#[test]
fn what_is_no_template_is_refused_by_its_line_with_what_was_meant() {
    let fails = |text: &str| Template::parse(text).unwrap_err();
    let unknown = fails("a\nb {orcale} c");
    assert_eq!(unknown, TemplateError::Unknown { line: 2, name: "orcale".to_owned(), nearest: Some("oracle") });
    assert!(unknown.to_string().starts_with("line 2: {orcale} is no placeholder; did you mean {oracle}?"), "{unknown}");
    assert!(unknown.to_string().ends_with("{notes}"), "{unknown}");
    let nothing_near = fails("{0123456789}");
    assert!(!nothing_near.to_string().contains("did you mean"), "{nothing_near}");
    assert_eq!(fails("x\n\n}"), TemplateError::Alone { line: 3, brace: '}' });
    assert_eq!(fails("{task"), TemplateError::Alone { line: 1, brace: '{' });
    assert_eq!(fails("{\ntask}"), TemplateError::Alone { line: 1, brace: '{' });
    assert_eq!(fails("{a{task}}"), TemplateError::Alone { line: 1, brace: '{' });
    assert_eq!(fails("\u{feff} \r\n"), TemplateError::Empty);
    assert!(matches!(fails("{}"), TemplateError::Unknown { .. }));
    assert!(matches!(fails("{ task }"), TemplateError::Unknown { nearest: Some("task"), .. }));
}

#[test]
fn the_built_in_templates_are_templates_and_ask_for_what_they_should() {
    let (init, continuation) = (Template::parse(INIT).unwrap(), Template::parse(CONTINUATION).unwrap());
    for field in [Field::Task, Field::Done, Field::Constraints, Field::KillOn] {
        assert!(init.asks(field), "{field:?}");
    }
    for field in [Field::Task, Field::Diff, Field::Oracle, Field::Check, Field::Constraints, Field::KillOn, Field::Caps]
    {
        assert!(continuation.asks(field), "{field:?}");
    }
    let prompts = Prompts { init, continuation: Some(continuation) };
    let first = prompts.render(&Facts { round: 1, ..facts() }, usize::MAX).text;
    let later = prompts.render(&facts(), usize::MAX).text;
    assert!(first.contains("How this loop works") && !later.contains("How this loop works"));
    assert!(later.contains("thread panicked") && later.contains("+new"));
}

#[test]
fn a_long_prompt_loses_the_diff_first_then_output_then_its_end_and_says_so() {
    let facts = Facts {
        diff: "é".repeat(500),
        oracle: Some(Failure { why: "exit 1".to_owned(), output: format!("{}end", "ü".repeat(500)) }),
        ..facts()
    };
    let template = Template::parse("{task} {oracle} {diff} bye").unwrap();
    let whole = template.render(&facts, usize::MAX);
    assert_eq!(whole.cut, None);
    assert_eq!(template.render(&facts, whole.text.len()).cut, None);

    let most = whole.text.len() - 1;
    let some = template.render(&facts, most);
    assert!(some.text.len() <= most && some.text.ends_with(" bytes, the rest of the diff] bye"), "{}", some.text);
    assert!(some.text.contains(&format!("{}end", "ü".repeat(500))), "the output is whole");
    let note = some.cut.unwrap();
    assert!(note.contains("bytes of the diff") && !note.contains("oracle"), "{note}");

    let less = template.render(&facts, 700);
    assert!(less.text.len() <= 700 && less.text.len() > 690, "{}", less.text.len());
    assert!(less.text.contains("[cut: 1000 bytes, the rest of the diff]"), "{}", less.text);
    assert!(less.text.contains("the beginning of the output]\n\nü") && less.text.contains("end "), "{}", less.text);
    let note = less.cut.unwrap();
    assert!(note.contains("1000 bytes of the diff, ") && note.contains("of the oracle's output"), "{note}");

    let least = template.render(&facts, 60);
    assert!(
        least.text.starts_with("mend {it} exit 1") && least.text.ends_with(" bytes, the rest]\n"),
        "{}",
        least.text
    );
    assert!(least.cut.unwrap().contains("bytes of its end"));
    let nothing = template.render(&facts, 5);
    assert_eq!(nothing.text, "mend ");
    assert!(nothing.cut.unwrap().contains("may have 5"));
}

#[test]
fn the_size_is_said_as_an_estimate() {
    let rendered = Template::task().render(&facts(), 100);
    assert_eq!(rendered.size(), "9 bytes, about 3 tokens (estimated at 4 bytes a token)");
}

proptest! {
    #[test]
    fn no_text_breaks_it_and_what_is_read_writes_back(text in "(\\{|\\}|\\{task\\}|\\{diff\\}|é|a|\r\n|\n| ){0,12}") {
        if let Ok(template) = Template::parse(&text) {
            let again = Template::parse(&template.to_string()).unwrap();
            prop_assert_eq!(&again, &template);
        }
    }

    #[test]
    fn it_is_never_longer_than_it_may_be_and_never_cut_without_a_word(
        diff in "[aé\n]{0,80}", output in "[bü\n]{0,80}", task in "[c𝄞\n]{0,80}", most in 0_usize..400, twice: bool,
    ) {
        let template = if twice { "{diff}{task}{oracle}{diff}" } else { "{task}{oracle}{diff}{{}}" };
        let facts = Facts { task, diff, oracle: Some(Failure { why: "no".to_owned(), output }), ..Facts::default() };
        let template = Template::parse(template).unwrap();
        let (whole, got) = (template.render(&facts, usize::MAX), template.render(&facts, most));
        prop_assert!(got.text.len() <= most);
        prop_assert_eq!(got.cut.is_none(), whole.text.len() <= most);
        if got.cut.is_none() {
            prop_assert_eq!(got.text, whole.text);
        }
    }
}

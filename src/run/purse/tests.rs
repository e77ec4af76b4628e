//! Tests of caps over several runs.

use super::*;

const TODAY: &str = "2026-12-01";
const YESTERDAY: &str = "2026-11-30";

fn plain(_: Kind, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is no number".to_owned())
}

fn caps(text: &str) -> SharedCaps {
    SharedCaps::parse(text, plain).unwrap()
}

fn spent(rounds: u64, cost: u64, wall: u64) -> Spent {
    let tokens = Tokens::new(cost);
    Spent { rounds, output: tokens, tokens, cost: MicroUsd::new(cost), wall: Millis::new(wall) }
}

/// A file of a run that spent this on these days.
fn file(name: &str, days: &[(&str, u64)]) -> Found {
    let (mut purse, mut all) = (Purse::begin(name, &Spent::default()), 0);
    for (day, cost) in days {
        all += cost;
        purse.reach(day, &spent(1, all, 0));
    }
    (name.to_owned(), Ok(purse.bytes().unwrap()))
}

#[test]
fn caps_are_read_and_what_is_none_is_refused_with_what_was_meant() {
    let two = caps(" day.cost=20 ,group.wall=5,");
    assert_eq!(two.all()[0], SharedCap { scope: Scope::Day, kind: Kind::Cost, most: 20 });
    assert_eq!(two.all()[1], SharedCap { scope: Scope::Group, kind: Kind::Wall, most: 5 });
    assert!(two.has(Scope::Group) && !two.has(Scope::Project) && two.bounds_spend());
    assert!(!caps("day.rounds=1,group.wall=1").bounds_spend() && caps("").all().is_empty());
    for (text, words) in [
        ("day.cots=1", "did you mean day.cost? scopes are project, day, group; kinds are rounds, budget"),
        ("week.cost=1", "\"week.cost\"; "),
        ("zzzzzzzzzz=1", "\"zzzzzzzzzz\"; scopes are"),
        ("cost=1", "no cap is called"),
        ("day.cost", "write SCOPE.KIND=VALUE"),
        ("day.cost=x", "day.cost: it is no number"),
        ("day.cost=0", "above 0"),
        ("day.cost=1,day.cost=2", "given twice"),
    ] {
        let error = SharedCaps::parse(text, plain).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn groups_have_safe_names_and_lie_in_the_users_state() {
    for name in ["a", "Nightly-2026.12_x", "0"] {
        assert_eq!(GroupName::new(name).unwrap().as_str(), name);
    }
    for name in ["", ".", "..", "../x", "a/b", "a b", "-a", "ä", "a.", "a\0", &"a".repeat(65)] {
        assert!(GroupName::new(name).unwrap_err().contains("cannot name a group"), "{name:?}");
    }
    let group = GroupName::new("g").unwrap();
    let folder = |variables: &[(&str, &str)]| {
        let found =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        group.folder(found).map(|path| path.display().to_string())
    };
    assert_eq!(folder(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]).unwrap(), "/s/flyball/groups/g");
    assert_eq!(folder(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]).unwrap(), "/h/.local/state/flyball/groups/g");
    assert_eq!(folder(&[("HOME", "/h")]).unwrap(), "/h/.local/state/flyball/groups/g");
    assert_eq!(folder(&[("HOME", "")]), None);
}

#[test]
fn runs_of_one_name_in_two_projects_have_two_files() {
    let (a, b) = (file_name("20261201-100000", Path::new("/a")), file_name("20261201-100000", Path::new("/b")));
    assert!(a != b && a.starts_with("20261201-100000-") && a.ends_with(ENDING), "{a} {b}");
    assert_eq!(day(Timestamp::from_millis(1_796_169_599_999)), TODAY);
    assert_eq!(day(Timestamp::from_millis(1_796_169_600_000)), "2026-12-02");
}

#[test]
fn a_run_spends_once_what_it_spends_also_when_it_goes_on_or_takes_over() {
    let mut purse = Purse::begin("b", &spent(10, 1000, 77));
    purse.reach(YESTERDAY, &spent(11, 1100, 5));
    purse.reach(TODAY, &spent(13, 1400, 9));
    assert_eq!(purse.spent(None), spent(3, 400, 9));
    assert_eq!((purse.spent(Some(YESTERDAY)), purse.spent(Some(TODAY))), (spent(1, 100, 5), spent(2, 300, 4)));
    let mut again = Purse::go_on("b.json", &purse.bytes().unwrap()).unwrap();
    again.reach(TODAY, &spent(14, 1450, 3));
    assert_eq!(again.spent(Some(TODAY)), spent(3, 350, 7), "another process counts its wall time from nothing");
    again.reach(TODAY, &spent(0, 0, 3));
    again.reach(TODAY, &spent(1, 5, 4));
    assert_eq!(
        again.spent(Some(TODAY)),
        spent(4, 355, 8),
        "a spent budget clears the loop's counts and not what was paid"
    );
}

#[test]
fn what_others_spent_is_summed_by_day_and_ones_own_is_left_out() {
    let files = [file("a", &[(YESTERDAY, 5), (TODAY, 7)]), file("b", &[(TODAY, 100)]), file("c", &[(TODAY, 11)])];
    assert_eq!(others(&files, "b", None).unwrap().cost, MicroUsd::new(23));
    assert_eq!(others(&files, "b", Some(TODAY)).unwrap().cost, MicroUsd::new(18));
    assert_eq!(others(&files, "", Some("2026-12-02")).unwrap(), Spent::default());
    assert_eq!(others(&[], "b", None).unwrap(), Spent::default());
}

#[test]
fn what_cannot_be_read_is_an_error_and_no_zero() {
    let sound = file("a", &[(TODAY, 5)]);
    let text = String::from_utf8(sound.1.as_ref().unwrap().clone()).unwrap();
    for (bytes, words) in [
        (Ok(Vec::new()), "EOF"),
        (Ok(text.as_bytes()[..text.len() / 2].to_vec()), "EOF"),
        (Ok(text.replace("flyball-purse", "other").into_bytes()), "other"),
        (Ok(text.replace("\"version\": 1", "\"version\": 2").into_bytes()), "version 2"),
        (Ok(text.replace("\"rounds\": 1", "\"rounds\": -1").into_bytes()), "-1"),
        (Err(std::io::Error::other("no permission")), "no permission"),
    ] {
        let error =
            others(&[file("c", &[(TODAY, 1)]), ("b.json".to_owned(), bytes)], "own", None).unwrap_err().to_string();
        assert!(error.contains("b.json") && error.contains(words) && error.contains("mend it"), "{error}");
    }
    let own = [("own.json".to_owned(), Ok(b"spoilt".to_vec()))];
    assert_eq!(others(&own, "own.json", None).unwrap(), Spent::default(), "one's own is known from the journal");
}

#[test]
fn what_is_left_is_what_others_and_this_run_did_not_spend() {
    let mut own = Purse::begin("b", &spent(10, 1000, 0));
    own.reach(YESTERDAY, &spent(11, 1100, 0));
    own.reach(TODAY, &spent(12, 1250, 60));
    let others = Others { project: spent(5, 2000, 0), day: spent(1, 500, 0), group: spent(50, 9000, 1000) };
    let all = caps("day.cost=1000,project.cost=4000,group.rounds=60,group.wall=2000");
    let bounds = left(&all, &others, &own, TODAY);
    let most: Vec<u64> = bounds.all().iter().map(|bound| bound.most).collect();
    // come to already, and the room: 1000-500-150, 4000-2000-250, 60-50-2, 2000-1000-60
    assert_eq!(most, [1250 + 350, 1250 + 1750, 12 + 8, 60 + 940]);
    let limits = bounds.caps();
    assert_eq!(
        (limits.cost, limits.rounds, limits.wall),
        (Some(MicroUsd::new(1600)), Some(20), Some(Millis::new(1000)))
    );
    assert_eq!((limits.budget, limits.tokens), (None, None));
    let words = |own: Option<u64>| {
        let own = Caps { cost: own.map(MicroUsd::new), ..Caps::default() };
        bounds.words(Control::Cost, &own).map(str::to_owned)
    };
    assert_eq!(words(None).unwrap(), "the day's cap of $0.00, of which other runs spent $0.00");
    assert!(words(Some(1601)).is_some() && words(Some(1600)).is_none(), "the loop's own is hit first");
    assert_eq!(bounds.words(Control::Blocked, &Caps::default()), None);
    let tomorrow = left(&all, &Others { day: Spent::default(), ..others }, &own, "2026-12-02");
    assert_eq!(tomorrow.all()[0].most, 1250 + 1000, "a new day");
}

#[test]
fn a_cap_that_others_have_spent_is_reached_before_the_first_round() {
    let own = Purse::begin("b", &Spent::default());
    let others = Others { project: spent(5, 15_000_000, 0), day: spent(5, 15_000_000, 0), group: Spent::default() };
    let bounds = left(&caps("day.rounds=5,project.cost=20000000"), &others, &own, TODAY);
    assert_eq!((bounds.caps().rounds, bounds.caps().reached(&Spent::default())), (Some(0), Some(Control::Rounds)));
    assert_eq!(
        bounds.words(Control::Rounds, &Caps::default()),
        Some("the day's cap of 5 rounds, of which other runs spent 5 rounds")
    );
    assert_eq!(
        bounds.of(Control::Cost).unwrap().words,
        "the project's cap of $20.00, of which other runs spent $15.00"
    );
    let room = left(&caps("day.rounds=6"), &others, &own, TODAY);
    assert_eq!(room.caps().reached(&Spent::default()), None);
}

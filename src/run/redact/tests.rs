//! Tests of what is taken for a key, and that pieces make no difference.

use proptest::prelude::*;

use super::*;

/// Keys of all forms that are known by themselves; made up, and put together here so that nobody's scanner takes this file for a leak.
fn keys() -> Vec<String> {
    let body = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3cE5";
    let mut keys: Vec<String> = PREFIXES
        .iter()
        .filter(|prefix| prefix.of != Charset::Capitals)
        .map(|prefix| format!("{}{body}", prefix.text))
        .collect();
    keys.push(format!("sk-ant-api03-{body}-{body}AA"));
    keys.push(format!("sk-proj-abcdefghijklmnopqrst_{body}"));
    keys.extend(["AKIA", "ASIA"].map(|head| format!("{head}{}", "IOSFODNN7EXAMPLE")));
    keys.push(format!("eyJhbGciOiJIUzI1NiJ9.{}{body}.{body}", "eyJzdWIi"));
    keys
}

fn block() -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
    let (begin, end) = ("-----BEGIN RSA PRIV", "-----END RSA PRIV");
    format!("{begin}ATE KEY-----\n{}{end}ATE KEY-----", line.repeat(4))
}

fn mark(secret: &str) -> String {
    let print = Sha256::digest(secret);
    format!("[redacted {:02x}{:02x}]", print[0], print[1])
}

fn whole(text: &[u8]) -> Vec<u8> {
    pieces(text, &[])
}

/// The text in pieces of these sizes, and then the rest.
fn pieces(text: &[u8], sizes: &[usize]) -> Vec<u8> {
    let (mut redactor, mut out, mut rest) = (Redactor::new(), Vec::new(), text);
    for &size in sizes {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        redactor.push(piece, &mut out);
        assert!(redactor.held() <= HELD, "{} bytes are held", redactor.held());
        rest = after;
    }
    redactor.push(rest, &mut out);
    redactor.finish(&mut out);
    out
}

#[test]
fn keys_are_replaced_wherever_they_stand_and_equal_ones_are_told() {
    for key in keys().into_iter().chain([block()]) {
        let mark = mark(&key);
        for (before, after) in
            [("", ""), ("use ", " now"), ("\"", "\","), ("x=", "\n"), ("(", ")."), ("é", "é"), ("key: ", ".")]
        {
            let text = format!("{before}{key}{after}");
            let once = redact(&text);
            assert_eq!(once, format!("{before}{mark}{after}"), "{text}");
            assert_eq!(redact(&once), once, "what was redacted stays");
        }
    }
    assert_ne!(mark(&keys()[0]), mark(&keys()[1]));
}

#[test]
fn named_values_are_replaced_and_their_names_stay() {
    for (text, secret) in [
        ("API_KEY=hunter2hunter", "hunter2hunter"),
        ("export OPENAI_API_KEY='a b c'; X_SECRET=\"correcthorse\"", "correcthorse"),
        ("{\"api_key\": \"correct-horse\"}", "correct-horse"),
        ("{\\\"password\\\":\\\"correct!horse\\\",\\\"a\\\":1}", "correct!horse"),
        ("x-api-key: abc123def456", "abc123def456"),
        ("client_secret = 'pässwörter'", "pässwörter"),
        ("STRIPE_KEY=a1b2c3d4e5", "a1b2c3d4e5"),
        ("dbPassword: s3cr3tp4ss", "s3cr3tp4ss"),
        ("Authorization: Bearer abcdefghijklmnop1/q+r", "abcdefghijklmnop1/q+r"),
        ("authorization: bearer abc.def.ghi.jkl.mno1.", "abc.def.ghi.jkl.mno1"),
        ("GITHUB_TOKEN=\"a\\backslash\"", "a\\backslash"),
    ] {
        assert_eq!(redact(text), text.replace(secret, &mark(secret)), "{text}");
    }
}

#[test]
fn passwords_in_addresses_and_arguments_are_replaced_and_what_is_around_them_stays() {
    for (text, secret) in [
        ("git clone https://user:pass@host/x.git", "pass"),
        ("postgres://app:hunter2!@db.local:5432/x?y=a@b", "hunter2!"),
        ("redis://:s3cr3t@localhost", "s3cr3t"),
        ("(https://a.b%40c:-x:y@h)", "-x:y"),
        ("{\"url\": \"https://u:p\u{e4}ss@h\"}", "p\u{e4}ss"),
        ("[\"tool\", \"--token\",\"correct-horse\", \"x\"]", "correct-horse"),
        ("[\"--token\",\n    \"abc123def\"\n]", "abc123def"),
        ("{\"argv\":\"[\\\"t\\\",\\\"--api-key\\\",\\\"correct!horse\\\"]\"}", "correct!horse"),
        ("['--client-secret', 'correct!horse']", "correct!horse"),
        ("tool --token abc123def --verbose", "abc123def"),
        ("tool --password 'correct!horse' x", "correct!horse"),
        ("cli:tool --api-key=s3cr3t", "s3cr3t"),
        ("tool --api-key=correcthorsebattery.", "correcthorsebattery"),
    ] {
        let left = redact(text);
        assert_eq!(left, text.replacen(secret, &mark(secret), 1), "{text}");
        assert_eq!(redact(&left), left, "what was redacted stays");
    }
}

#[test]
fn addresses_without_a_password_and_flags_without_a_value_stay() {
    for text in [
        "http://localhost:8080/a@b http://h:80?x=a@b http://h:80#a@b http://h:80 a@b",
        "git@github.com:a/b.git ssh://git@host:22/x https://user@host/x mailto:a@b file:///c:/x@y",
        "https://user:$PASS@host https://user:${PASS}@host https://u:<password>@h https://u:{p}@h https://[::1]:80/@",
        "std::io::Error a::b@c :// : @",
        "pass --token whenever a token is asked for, or --password always, --secret: optional",
        "tool --token --password --api-key=$KEY --token \"$TOKEN\" --token=<TOKEN> --max-tokens 4096abc",
        "[\"--token\", \"--password\"] [\"--token\", \"GITHUB_TOKEN\"] (\"--token\", \"how it is known\")",
        "--token=TOKEN_OF_GITHUB --api-key=your-own-key-of-1 --api-key your-own-key-of-1 --password=required",
        "--output-token-budget 100000a --secret id=abc token-list,\"abcdefghijk\" --secret=tokenizer.next_token(1)",
    ] {
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}: {}", redact(text));
    }
}

#[test]
fn a_private_key_goes_whole_also_written_out_in_one_line_or_without_its_end() {
    let written_out = block().replace('\n', "\\n");
    assert_eq!(
        redact(&format!("{{\"k\": \"{written_out}\\n\"}}")),
        format!("{{\"k\": \"{}\\n\"}}", mark(&written_out))
    );
    let torn = block()[..100].to_owned();
    assert_eq!(redact(&format!("a {torn}")), format!("a {}", mark(&torn)));
    let long = format!("{}\n{}\n", &block()[..31], "a b c\n".repeat(20_000));
    let left = redact(&long);
    assert!(left.starts_with("[redacted ") && long.len() - left.len() < LONGEST_BLOCK, "{}", left.len());
}

#[test]
fn what_only_looks_a_little_like_a_key_stays() {
    for text in [
        "sk-learn-is-a-library-of-many-parts",
        "task-1234567890-1234567890-1234567890",
        "the bearer of responsibilities and bearer acknowledgements",
        "output_tokens=123456789 \"max_tokens\": \"123456789\" tokens: abcdefgh1",
        "token = tokenizer2.next_token(1)",
        "password: String::from(x)",
        "let secret = secrets2[0];",
        "API_KEY=$OPENAI_API_KEY \"token\": \"$GITHUB_TOKEN\" 'password': '<your password>' \"secret\": \"{secret2}\"",
        "\"token\": \"two words1\" password=short1 api_key: abcdefghijkl",
        "grep -r '-----BEGIN RSA PRIVATE KEY-----' .",
        "-----BEGIN CERTIFICATE-----\nMIIEvQ\n-----END CERTIFICATE-----",
        "----- BEGIN ----",
        "eyJ is how base64 of a brace begins, eyJhbGciOiJIUzI1NiJ9 too",
        "AKIA AKIAabc xoxb-1 hf_ ghp_ npm_modules AIzaX",
        "",
    ] {
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}: {}", redact(text));
    }
}

#[test]
fn bytes_that_are_no_text_pass_unchanged_and_a_flood_is_not_held() {
    let key = &keys()[0];
    let odd = [&b"\xff\xfe "[..], key.as_bytes(), b"\xc3 \x00\xff"].concat();
    assert_eq!(whole(&odd), [&b"\xff\xfe "[..], mark(key).as_bytes(), b"\xc3 \x00\xff"].concat());
    let mut redactor = Redactor::new();
    let mut out = Vec::new();
    for word in ["a", "-", "\"", "sk-1", "=", "\\", " ", "://a:", "--token ", "--token=", "\"--token\",\""] {
        redactor.push(word.repeat(200_000).as_bytes(), &mut out);
        assert!(redactor.held() <= HELD, "{word}: {}", redactor.held());
    }
    redactor.finish(&mut out);
    assert_eq!(redactor.held(), 0);
}

#[test]
fn one_redactor_takes_one_text_after_another() {
    let (mut redactor, mut out) = (Redactor::new(), Vec::new());
    for key in &keys()[..2] {
        redactor.push(&key.as_bytes()[..9], &mut out);
        redactor.push(&key.as_bytes()[9..], &mut out);
        redactor.finish(&mut out);
        out.push(b'\n');
    }
    assert_eq!(String::from_utf8(out).unwrap(), format!("{}\n{}\n", mark(&keys()[0]), mark(&keys()[1])));
    assert_eq!(redactor.found(), 2);
    assert_eq!(format!("{redactor:?}"), "Redactor { held: 0, found: 2, .. }");
}

/// Texts that are made of what the rules look at.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop_oneof![
        proptest::sample::select(keys()).prop_map(String::into_bytes),
        Just(block().into_bytes()),
        "[ \\n\"'=:.$\\\\-]{1,3}".prop_map(String::into_bytes),
        "(api_key|TOKEN|password|bearer|X_KEY|secret|name|--token|\"--api-key\",|://[a-z]{0,3}:|@|,|your)"
            .prop_map(String::into_bytes),
        "[a-z0-9]{0,14}".prop_map(String::into_bytes),
        "(sk-|ghp_|eyJ|AKIA|-----BEGIN PRIVATE KEY-----\n|-----END |xoxb-|github_pat_)[a-zA-Z0-9]{0,24}"
            .prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn pieces_and_the_whole_come_to_the_same(text in texts(), sizes in proptest::collection::vec(1_usize..40, 0..60)) {
        prop_assert_eq!(pieces(&text, &sizes), whole(&text));
    }

    #[test]
    fn single_bytes_and_the_whole_come_to_the_same(text in texts()) {
        prop_assert_eq!(pieces(&text, &vec![1; text.len()]), whole(&text));
    }

    #[test]
    fn a_key_in_the_midst_never_comes_through(key in proptest::sample::select(keys()), before in "[a-z é\n\"]{0,40}", after in "[ \n\",)]{1}[a-z é\n]{0,40}") {
        let text = format!("{before} {key}{after}");
        prop_assert!(!redact(&text).contains(&key), "{}", redact(&text));
    }

    #[test]
    fn a_text_without_keys_is_unchanged(text in "[a-zA-Zäöü ,.;()\n!?]{0,400}") {
        prop_assert!(matches!(redact(&text), Cow::Borrowed(_)));
    }
}

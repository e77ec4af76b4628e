//! The ledger as rows for a spreadsheet or a manifest: a row a file, and no total, which a column sum would count again.

use super::{Sheet, words};
use crate::cli::error::{Failure, Outcome};

const HEAD: [&str; 7] = ["file", "format", "sessions", "turns", "turns_with_final_usage", "output_tokens", "results"];

pub(super) fn of(sheet: &Sheet) -> Outcome<String> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let mut put = |row: [String; 7]| rows.write_record(row).map_err(Failure::internal);
    put(HEAD.map(str::to_owned))?;
    for (name, account) in sheet.files() {
        put([
            name.to_owned(),
            words(account.formats.iter().map(|format| format.name())),
            account.sessions.to_string(),
            account.all.turns.to_string(),
            account.all.known_turns.to_string(),
            account.all.output.count().to_string(),
            account.results.to_string(),
        ])?;
    }
    let bytes = rows.into_inner().map_err(|error| Failure::internal(error.into_error()))?;
    String::from_utf8(bytes).map_err(Failure::internal)
}

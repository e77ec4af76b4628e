//! A report as one page of HTML that needs nothing else: pictures inside, tables that sort, no network.
//!
//! It knows text, tables and pictures, and nothing of what they say. The page forbids itself every outside source by its
//! own content policy, prints without its buttons, and says nothing by colour alone. The same content gives the same bytes.

use std::fmt::Write as _;

/// A page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The first heading, and the window's title.
    pub title: String,
    /// What it is of: scenario, runs, seed, version.
    pub facts: String,
    /// What it says, in sentences; the first is the most important.
    pub lead: Vec<String>,
    /// Its parts.
    pub sections: Vec<Section>,
    /// The command that makes it again.
    pub command: String,
}

/// A part of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// A table.
    pub table: Option<Table>,
    /// Pictures as SVG.
    pub pictures: Vec<String>,
}

/// A table that sorts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns, each with its unit or nothing.
    pub columns: Vec<(String, String)>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// Rows that stand out, by place.
    pub marked: Vec<usize>,
}

impl Table {
    /// Of rows whose first holds names, and whose second, where `units`, holds units.
    #[must_use]
    pub fn of(rows: &[Vec<String>], units: bool) -> Self {
        let names = rows.first().cloned().unwrap_or_default();
        let unit = |at: usize| rows.get(1).filter(|_| units).and_then(|row| row.get(at)).cloned().unwrap_or_default();
        Self {
            columns: names.into_iter().enumerate().map(|(at, name)| (name, unit(at))).collect(),
            rows: rows.iter().skip(if units { 2 } else { 1 }).cloned().collect(),
            marked: vec![],
        }
    }
}

const STYLE: &str = "\
:root{color-scheme:light}body{margin:0;background:#fff;color:#1f2328;font:16px/1.5 system-ui,sans-serif}\
main{max-width:70rem;margin:0 auto;padding:1.5rem}h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem}\
h2{font-size:1.2rem;margin:2rem 0 .5rem}.facts{color:#59636e;margin:0 0 1rem}.lead p{margin:.3rem 0}\
.lead p:first-child{font-weight:600}.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.25rem .7rem;border-bottom:1px solid #e4e7eb;text-align:right;white-space:nowrap}\
th:first-child,td:first-child,.words{text-align:left}thead th{border-bottom:2px solid #59636e;vertical-align:bottom}\
th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid #0072b2}\
th button::after{content:' \\2195';color:#59636e}th[aria-sort=ascending] button::after{content:' \\2191'}\
th[aria-sort=descending] button::after{content:' \\2193'}.unit{display:block;font-weight:400;color:#59636e;font-size:.85em}\
tr.marked{font-weight:600;background:#f3f4f6}tr.marked td:first-child::before{content:'\\2605 '}tbody tr:hover{background:#f3f4f6}\
svg{max-width:100%;height:auto}code{background:#f3f4f6;padding:.1rem .3rem;overflow-wrap:anywhere}\
@page{margin:14mm}\
@media print{body{font-size:10pt}main{padding:0;max-width:none}th button{display:contents}th button::after{content:none}h1,h2{break-after:avoid}tr,figure{break-inside:avoid}\
thead{display:table-header-group}.wide{overflow:visible}table{font-size:8pt;width:100%}th,td{white-space:normal;padding:.15rem .3rem}\
tr.marked,code{background:none}tr.marked td{border-top:1.5px solid #1f2328;border-bottom:1.5px solid #1f2328}\
figure{margin:0 0 1rem}svg{max-height:23cm}}";

/// Sorts by the first number of a cell, or by its words; again turns round.
const SCRIPT: &str = "\
document.querySelectorAll('th button').forEach(function(button){button.addEventListener('click',function(){\
var th=button.parentNode,at=th.cellIndex,table=th.closest('table'),body=table.tBodies[0];\
var up=th.getAttribute('aria-sort')!=='ascending';\
table.querySelectorAll('th').forEach(function(other){other.removeAttribute('aria-sort')});\
th.setAttribute('aria-sort',up?'ascending':'descending');\
var key=function(row){var text=row.cells[at].textContent.trim(),number=parseFloat(text);return isNaN(number)?text:number};\
Array.from(body.rows).map(function(row,place){return{row:row,key:key(row),place:place}}).sort(function(a,b){\
var mixed=typeof a.key!==typeof b.key,order=mixed?(typeof a.key==='number'?-1:1):a.key<b.key?-1:a.key>b.key?1:0;\
return(mixed||up?order:-order)||a.place-b.place}).forEach(function(entry){body.appendChild(entry.row)})})});";

/// The page as HTML.
#[must_use]
pub fn html(page: &Page) -> String {
    let title = escape(&page.title);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <main>\n<h1>{title}</h1>\n<p class=\"facts\">{}</p>\n",
        escape(&page.facts)
    );
    if !page.lead.is_empty() {
        text.push_str("<div class=\"lead\">\n");
        page.lead.iter().for_each(|line| paragraph(line, &mut text));
        text.push_str("</div>\n");
    }
    for section in &page.sections {
        let _ = write!(text, "<section>\n<h2>{}</h2>\n", escape(&section.heading));
        section.text.iter().for_each(|line| paragraph(line, &mut text));
        if let Some(table) = &section.table {
            tabled(table, &mut text);
        }
        for picture in &section.pictures {
            // a picture that is a file of its own may begin with a declaration, which has no place inside a page
            let from = picture.find("<svg").unwrap_or(0);
            let _ = write!(text, "<figure>\n{}</figure>\n", &picture[from..]);
        }
        text.push_str("</section>\n");
    }
    if !page.command.is_empty() {
        let _ = writeln!(text, "<p>Again: <code>{}</code></p>", escape(&page.command));
    }
    let _ = write!(text, "</main>\n<script>{SCRIPT}</script>\n</html>\n");
    text
}

fn paragraph(line: &str, text: &mut String) {
    let _ = writeln!(text, "<p>{}</p>", escape(line));
}

fn tabled(table: &Table, text: &mut String) {
    // a column of which no cell begins as a number holds words
    let number =
        |cell: &String| cell.trim_start_matches(['+', '-', '<', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<bool> =
        (0..table.columns.len()).map(|at| !table.rows.iter().filter_map(|row| row.get(at)).any(number)).collect();
    let class = |at: usize| if words.get(at).copied().unwrap_or(true) { " class=\"words\"" } else { "" };
    text.push_str("<div class=\"wide\"><table>\n<thead><tr>");
    for (at, (name, unit)) in table.columns.iter().enumerate() {
        let unit =
            if unit.is_empty() { String::new() } else { format!("<span class=\"unit\">{}</span>", escape(unit)) };
        let name = if name.is_empty() { "&#160;".to_owned() } else { escape(name) };
        let _ = write!(text, "<th scope=\"col\"{}><button type=\"button\">{name}</button>{unit}</th>", class(at));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (place, row) in table.rows.iter().enumerate() {
        text.push_str(if table.marked.contains(&place) { "<tr class=\"marked\">" } else { "<tr>" });
        for (at, cell) in row.iter().enumerate() {
            let (name, unit) = table.columns.get(at).map_or(("", ""), |(name, unit)| (name.as_str(), unit.as_str()));
            let first = row.first().map_or("", String::as_str);
            let told = escape(format!("{first}: {name} {cell} {unit}").trim());
            // a line may break before a half width, and not inside it
            let cell = escape(cell).replace(" +- ", " \u{b1}&#160;");
            let _ = write!(text, "<td{} title=\"{told}\">{cell}</td>", class(at));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table></div>\n");
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_whole_and_escapes_what_it_is_given() {
        let rows: Vec<Vec<String>> = [["law", "on rung"], ["", "% rounds"], ["<b>&\"'", "75.1 +- 0.9"], ["reset", "-"]]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec();
        let page = Page {
            title: "A <title>".to_owned(),
            facts: "12 runs".to_owned(),
            lead: vec!["First.".to_owned()],
            sections: vec![Section {
                heading: "Part".to_owned(),
                table: Some(Table { marked: vec![1], ..Table::of(&rows, true) }),
                pictures: vec!["<?xml version=\"1.0\"?><svg><title>x</title></svg>\n".to_owned()],
                ..Section::default()
            }],
            command: "flyball x > y".to_owned(),
        };
        let text = html(&page);
        for want in [
            "<h1>A &lt;title&gt;</h1>",
            "<td class=\"words\" title=\"&lt;b&gt;&amp;&quot;&#39;: law &lt;b&gt;",
            "<td title=\"reset: on rung - % rounds\">-</td>",
            "<tr class=\"marked\">",
            ">75.1 \u{b1}&#160;0.9</td>",
            "<figure>\n<svg>",
            "<code>flyball x &gt; y</code>",
            "default-src 'none'",
        ] {
            assert!(text.contains(want), "{want}: {text}");
        }
        assert!(!text.contains("<?xml") && !text.contains("http://") && !text.contains("https://"));
        assert_eq!(text.matches("<tr").count(), 3);
        assert_eq!(html(&Page::default()).matches("<table").count(), 0);
    }
}

//! A page that a browser shows: one file, nothing fetched, no script.

use super::svg::escape;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; \
color: #1c1d21; background: #fff; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
p.lead { font-size: 1.1rem; } figure { margin: 1rem 0; overflow-x: auto; } img { max-width: 100%; height: auto; }
img.pixels { image-rendering: pixelated; } figcaption { color: #5b5e69; font-size: .9rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem 1rem .2rem 0; text-align: left; border-bottom: 1px solid #d8dae2; }
code { background: #eef0f5; padding: .1rem .3rem; border-radius: .2rem; }
@media (prefers-color-scheme: dark) { body { color: #e6e7ec; background: #16171b; } figcaption { color: #a3a7b5; } \
th, td { border-color: #3a3d48; } code { background: #272932; } }";

/// A page, part by part from the top.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// A page with nothing but its title and a sentence on what it is.
    pub fn new(title: &str, lead: &str) -> Self {
        let body = format!("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escape(title), escape(lead));
        Self { title: title.to_owned(), body }
    }

    /// With a heading.
    #[must_use]
    pub fn heading(mut self, text: &str) -> Self {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
        self
    }

    /// With a paragraph.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
        self
    }

    /// With lines to type.
    #[must_use]
    pub fn commands(mut self, commands: &[String]) -> Self {
        let lines: Vec<String> = commands.iter().map(|line| format!("<code>{}</code>", escape(line))).collect();
        let _ = writeln!(self.body, "<p>{}</p>", lines.join("<br>\n"));
        self
    }

    /// With a table.
    #[must_use]
    pub fn table(mut self, headings: &[&str], rows: &[Vec<String>]) -> Self {
        let line = |kind: &str, cells: Vec<String>| {
            let cells = cells.iter().map(|cell| format!("<{kind}>{}</{kind}>", escape(cell)));
            format!("<tr>{}</tr>", cells.collect::<String>())
        };
        let head = line("th", headings.iter().map(ToString::to_string).collect());
        let rows: Vec<String> = rows.iter().map(|row| line("td", row.clone())).collect();
        let _ = writeln!(self.body, "<table>{head}\n{}</table>", rows.join("\n"));
        self
    }

    /// With a picture of lines.
    #[must_use]
    pub fn svg(self, svg: &str, caption: &str) -> Self {
        self.figure("image/svg+xml", svg.as_bytes(), "", caption)
    }

    /// With a picture of pixels.
    #[must_use]
    pub fn png(self, png: &[u8], caption: &str) -> Self {
        self.figure("image/png", png, " class=\"pixels\"", caption)
    }

    fn figure(mut self, kind: &str, bytes: &[u8], class: &str, caption: &str) -> Self {
        let (data, caption) = (STANDARD.encode(bytes), escape(caption));
        let image = format!("<img{class} src=\"data:{kind};base64,{data}\" alt=\"{caption}\">");
        let _ = writeln!(self.body, "<figure>{image}<figcaption>{caption}</figcaption></figure>");
        self
    }

    /// The whole file.
    pub fn html(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n{}</body>\n</html>\n",
            escape(&self.title),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_text_and_never_markup() {
        let page = Page::new("a < b", "x & y").heading("<h>").text("\"quoted\"").commands(&["a && b".into()]);
        let html = page.table(&["<th>"], &[vec!["1 < 2".into()]]).png(b"png", "a \"b\" <c>").html();
        assert!(html.contains("<h1>a &lt; b</h1>") && html.contains("<td>1 &lt; 2</td>"), "{html}");
        assert!(!html.contains("<c>") && html.contains("alt=\"a &quot;b&quot; &lt;c&gt;\""), "{html}");
        // Every element but images and metas is closed.
        for name in ["html", "head", "body", "h1", "h2", "p", "table", "figure", "figcaption", "code", "tr"] {
            let count = |tag: String| html.matches(&tag).count();
            let open = count(format!("<{name}>")) + count(format!("<{name} "));
            assert_eq!(open, count(format!("</{name}>")), "{name}");
        }
        assert!(!html.contains("=\"http"), "nothing is fetched");
    }
}

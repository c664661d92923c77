//! A real browser that opens a page, does what a person would do, and tells what it saw.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test says that it is skipped, and ends if it cannot go on"
)]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The names that the browser goes by.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Before anything of the page runs: whatever goes wrong is remembered.
const LISTENER: &str = "<script>window.wrong = [];
addEventListener('error', (event) => wrong.push(String(event.message)), true);
addEventListener('unhandledrejection', (event) => wrong.push(String(event.reason)));
for (const kind of ['error', 'warn']) { const old = console[kind]; console[kind] = (...words) => { wrong.push(words.join(' ')); old(...words); }; }
</script>";

/// What a person would try. It ends in an element that tells what was seen.
const VISITOR: &str = r##"<script>addEventListener('load', () => {
const seen = { wrong };
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const cards = () => all('#cards > article').filter((card) => !card.hidden);
const form = document.querySelector('form.controls');
const set = (selector, value) => {
  const field = form.querySelector(selector);
  field.value = value;
  field.dispatchEvent(new Event('input', { bubbles: true }));
};
const status = () => document.querySelector('[data-status="cards"]').textContent;
if (form) {
  seen.cards = cards().length;
  seen.shown = !form.hidden;
  seen.status = status();
  seen.byUncertainty = cards().map((card) => Number(card.dataset.total));
  set('[data-sort]', 'index'); set('[data-order]', 'up');
  seen.byNumber = cards().map((card) => Number(card.dataset.index));
  // What its heading begins with: the number of the input and, where it has one, its name.
  const words = cards()[0].querySelector('h3').textContent.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 4);
  const fitting = all('#cards > article').filter((card) => words.every((word) => card.textContent.toLowerCase().includes(word)));
  set('[data-text]', words.join(' '));
  seen.found = cards().map((card) => Number(card.dataset.index));
  seen.fitting = fitting.map((card) => Number(card.dataset.index));
  seen.statusFound = status();
  set('[data-text]', 'no card has such words');
  seen.none = cards().length;
  set('[data-text]', '');
  seen.filters = all('select[data-filter]', form).map((filter) => {
    const key = filter.dataset.filter;
    return Array.from(filter.options).filter((option) => option.value).map((option) => {
      set(`[data-filter="${key}"]`, option.value);
      const right = cards().every((card) => card.dataset[key] === option.value);
      const count = all('#cards > article').filter((card) => card.dataset[key] === option.value).length;
      const whole = right && cards().length === count;
      set(`[data-filter="${key}"]`, '');
      return whole;
    });
  }).flat();
  seen.after = cards().length;
}
seen.tables = all('table.sortable').map((table) => {
  const headings = all('thead th', table);
  return headings.map((heading, column) => {
    heading.querySelector('button').click();
    const first = heading.getAttribute('aria-sort');
    const keys = () => Array.from(table.tBodies[0].rows).map((row) => row.cells[column] && row.cells[column].dataset.value)
      .filter((value) => value !== undefined).map(Number);
    const ordered = (values, sign) => values.every((value, at) => at === 0 || sign * (value - values[at - 1]) >= 0);
    const sign = first === 'ascending' ? 1 : -1;
    const once = ordered(keys(), sign);
    heading.querySelector('button').click();
    const second = heading.getAttribute('aria-sort');
    const only = headings.filter((other) => other.hasAttribute('aria-sort')).length;
    return once && ordered(keys(), -sign) && first !== second && only === 1;
  });
}).flat();
seen.unnamed = all('select, input, button, img, svg[role=img]').filter((element) => {
  const title = element.querySelector('title');
  const text = title ? title.textContent : element.textContent;
  return !(element.alt || text.trim() || (element.labels && element.labels.length));
}).length;
seen.links = all('a[href^="#"]').filter((link) => !document.getElementById(link.hash.slice(1))).length;
seen.fetched = performance.getEntriesByType('resource').filter((entry) => !entry.name.startsWith('data:')).map((entry) => entry.name);
seen.scripts = document.scripts.length;
const told = document.createElement('pre');
told.id = 'seen';
told.textContent = JSON.stringify(seen);
document.body.append(told);
});</script>"##;

/// The first browser there is.
fn browser() -> Option<&'static str> {
    NAMES.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()))
}

/// What a visitor of `page` saw; nothing, and a word about it, where there is no browser.
pub fn visit(page: &Path) -> Option<Value> {
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no browser ({}), so nobody opened {}", NAMES.join(", "), page.display());
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("visited.html");
    let text = std::fs::read_to_string(page).unwrap();
    let (head, body) = (text.find("<head>").unwrap() + 6, text.rfind("</body>").unwrap());
    let visited = format!("{}{LISTENER}{}{VISITOR}{}", &text[..head], &text[head..body], &text[body..]);
    std::fs::write(&copy, visited).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", copy.display()))
        .output()
        .unwrap();
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "the browser's console: {said:?}");
    let begin = dom.find("<pre id=\"seen\">").unwrap_or_else(|| panic!("the visitor told nothing: {log}")) + 15;
    let told = dom[begin..].split("</pre>").next().unwrap();
    let told = told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&told).unwrap())
}

/// Checks what every report must do.
pub fn check(page: &Path, cards: usize) {
    let text = std::fs::read_to_string(page).unwrap();
    for part in ["src=\"http", "href=\"http", "url(http", "@import", "src=\"//"] {
        assert!(!text.contains(part), "{part} in {}", page.display());
    }
    let Some(seen) = visit(page) else { return };
    assert_eq!(seen["wrong"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["fetched"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["scripts"], 3, "the page's own, and the two of the test: {seen}");
    assert_eq!((&seen["unnamed"], &seen["links"]), (&0.into(), &0.into()), "{seen}");
    let all_hold = |key: &str| seen[key].as_array().unwrap().iter().all(|holds| holds == true);
    assert!(all_hold("tables"), "{seen}");
    if cards == 0 {
        assert!(seen["cards"].is_null(), "{seen}");
        return;
    }
    let numbers = |key: &str| -> Vec<f64> {
        seen[key].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert_eq!(
        (&seen["cards"], &seen["shown"], &seen["after"]),
        (&cards.into(), &true.into(), &cards.into()),
        "{seen}"
    );
    assert_eq!(seen["status"], format!("{cards} of {cards} inputs shown"));
    assert!(numbers("byUncertainty").windows(2).all(|pair| pair[0] >= pair[1]), "{seen}");
    assert!(numbers("byNumber").windows(2).all(|pair| pair[0] < pair[1]), "{seen}");
    assert!(numbers("found") == numbers("fitting") && numbers("found").contains(&numbers("byNumber")[0]), "{seen}");
    let told = format!("{} of {cards} inputs shown", numbers("found").len());
    assert_eq!((&seen["statusFound"], &seen["none"]), (&told.into(), &0.into()));
    assert!(!seen["filters"].as_array().unwrap().is_empty() && all_hold("filters"), "{seen}");
}

//! How wide text is, without a font at hand, and how to make it fit.
//!
//! The viewer chooses the font, so widths are estimates on the generous side for common sans-serif fonts.

/// Width of a line of `text` in letters `size` pixels high.
pub fn text_width(text: &str, size: f64) -> f64 {
    size * text.chars().map(relative_width).sum::<f64>()
}

/// `text`, or as much of its beginning as fits into `width` with an ellipsis.
pub fn shortened(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut room = width - text_width("…", size);
    let kept = text.chars().take_while(|&c| {
        room -= size * relative_width(c);
        room >= 0.0
    });
    let mut kept: String = kept.collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// `text` broken between words into at most `most` lines no wider than `width`; the last one is shortened to fit.
pub fn wrapped(text: &str, size: f64, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if would_overflow(line, word, size, width) => lines.push(word.to_owned()),
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| shortened(line, size, width)).collect()
}

fn would_overflow(line: &str, word: &str, size: f64, width: f64) -> bool {
    text_width(line, size) + text_width(" ", size) + text_width(word, size) > width
}

fn relative_width(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.95,
        '0'..='9' | 'a'..='z' => 0.62,
        'A'..='Z' | '−' => 0.72,
        wide if wide >= '\u{1100}' => 1.05,
        _ => 0.65,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_fits_is_left_alone_and_longer_text_ends_in_an_ellipsis() {
        assert_eq!(shortened("short", 10.0, 100.0), "short");
        let long = shortened("a rather long label", 10.0, 60.0);
        assert!(long.ends_with('…') && text_width(&long, 10.0) <= 60.0, "{long}");
    }

    #[test]
    fn text_is_broken_between_words_and_bounded_in_lines() {
        // Letters are 6.2 wide and spaces 3.2: "aaa bbb" is 40.4 wide.
        assert_eq!(wrapped("aaa bbb ccc", 10.0, 41.0, 3), ["aaa bbb", "ccc"]);
        let lines = wrapped(&"word ".repeat(1000), 10.0, 80.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| text_width(line, 10.0) <= 80.0));
        assert!(lines[1].ends_with('…'));
        assert!(wrapped("  ", 10.0, 80.0, 2).is_empty());
    }
}

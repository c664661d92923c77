//! JSON Lines: one object a line, in the words of [`Explanation`].

use cluekit::error::{Error, Result};
use cluekit::explanation::Explanation;

/// One line for each explanation; a number that is not finite is `null`.
pub fn json_lines(explanations: &[Explanation]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for explanation in explanations {
        serde_json::to_writer(&mut bytes, explanation)
            .map_err(|error| Error::data(format!("an explanation cannot be written as JSON: {error}")))?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::{client, house};

    #[test]
    fn each_explanation_is_one_object_on_one_line() {
        let text = String::from_utf8(json_lines(&[client(), house()]).unwrap()).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["input"]["index"], 17);
        assert_eq!(lines[0]["clues"][0]["changes"][0]["unit"], "NT$");
        assert_eq!(lines[0]["clues"][1]["accepted"], false);
        assert_eq!(lines[1]["clues"][0]["label"], 20_500.5);
        assert_eq!(lines[0]["clues"][0]["stopped"], "max-steps");
    }
}

//! A command as its program and arguments, quoted as in a shell.

use anyhow::{Result, bail};

/// The words of a command: blanks part them, quotes and backslashes hold blanks.
pub fn words(command: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut signs = command.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if open == sign => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => match signs.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => bail!("`{command}` ends with a backslash; write it twice if it is meant"),
            },
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    if let Some(open) = quote {
        bail!("`{command}` has an open {open}; close it");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_part_words_and_quotes_hold_them_together() {
        let split = |command: &str| words(command).unwrap();
        assert_eq!(split("python  search.py runs/a"), ["python", "search.py", "runs/a"]);
        assert_eq!(split("sh -c 'echo \"a b\"' ''"), ["sh", "-c", "echo \"a b\"", ""]);
        assert_eq!(split(r#"my\ program "a \"b\"" c'd'e"#), ["my program", "a \"b\"", "cde"]);
        assert!(split("  ").is_empty());
    }

    #[test]
    fn quotes_are_closed() {
        assert_eq!(words("sh -c 'exit").unwrap_err().to_string(), "`sh -c 'exit` has an open '; close it");
        assert!(words("a\\").unwrap_err().to_string().contains("backslash"));
    }
}

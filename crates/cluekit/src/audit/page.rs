//! The files of an audit: its page, and its document under the same name.

use super::Audit;
use crate::error::{Error, Result};
use crate::model::store::files::{text_of, write_whole};
use std::path::{Path, PathBuf};

/// Refuses a page that cannot be written, or whose document would replace one of another kind.
pub fn check_page(page: &Path) -> Result<()> {
    if page.extension().is_some_and(|end| end == "json") {
        return Err(Error::setting("out", "is the page, and .json is for the document beside it; name it .html"));
    }
    if page.is_dir() {
        let problem = format!("is a folder; name the page, such as {}", page.join("report.html").display());
        return Err(Error::setting("out", problem));
    }
    if !page.extension().is_some_and(|end| end == "html" || end == "htm") {
        let problem = format!("is a page, and {} does not end as one; name it .html", page.display());
        return Err(Error::setting("out", problem));
    }
    let json = page.with_extension("json");
    if json.exists() && !Audit::is_in(&text_of(&json).unwrap_or_default()) {
        let problem = format!(
            "would replace {}, which is no document of an audit; give the page another name, or move that file away",
            json.display()
        );
        return Err(Error::setting("out", problem));
    }
    Ok(())
}

/// Writes the page and, under the same name, its document, whose path is returned.
pub fn write_page(audit: &Audit, html: &str, page: &Path) -> Result<PathBuf> {
    let json = page.with_extension("json");
    // Both are made before either replaces an older one.
    let document = audit.json()?;
    write_whole(&json, document.as_bytes())?;
    write_whole(page, html.as_bytes())?;
    Ok(json)
}

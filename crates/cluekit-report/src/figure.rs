//! Pictures as an audit holds them: their bytes in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluekit::audit::Figure;

/// A picture of lines.
pub fn svg_figure(document: &str, caption: &str) -> Figure {
    figure("image/svg+xml", document.as_bytes(), caption)
}

/// A picture of pixels.
pub fn png_figure(bytes: &[u8], caption: &str) -> Figure {
    figure("image/png", bytes, caption)
}

fn figure(kind: &str, bytes: &[u8], caption: &str) -> Figure {
    Figure { caption: caption.into(), kind: kind.into(), data: STANDARD.encode(bytes), numbers: vec![] }
}

//! Plots as self-contained SVG that reads on light and on dark paper: no identifiers, no script, no fonts, and the same
//! bytes every time.
//!
//! [`Plot`] draws any figure from [`Layer`]s, [`Grid`] puts several side by side. What other pictures are made of is
//! here too: [`svg`], [`text`], [`raster`], [`ticks`], [`layout`] and [`Heading`].
//!
//! ```text
//! svg, text, colour, raster ─► axis, ticks, layer, heatmap ─► layout, legend, draw ─► plot, grid
//! ```
//!
//! ```
//! use cluekit_plot::{Axis, Line, Plot};
//!
//! let points = (0..10).map(|i| (f64::from(i), f64::from(i * i))).collect();
//! let plot = Plot::new("Squares", Axis::new("i"), Axis::new("i²")).with(Line { points, ..Line::default() });
//! assert!(plot.to_svg().starts_with("<svg"));
//! ```

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]

mod axis;
mod colour;
mod draw;
mod grid;
mod heading;
mod heatmap;
mod layer;
pub mod layout;
mod legend;
mod plot;
pub mod raster;
pub mod svg;
pub mod text;
pub mod ticks;

pub use axis::{Axis, Scale, Ticks};
pub use colour::{Colour, ColourMap, PALETTE, palette};
pub use grid::Grid;
pub use heading::Heading;
pub use heatmap::{GridError, Heatmap};
pub use layer::{Band, Bar, Bars, Course, Layer, Line, Mark, Reference, Scatter};
pub use plot::{LABEL_SIZE, Plot, TICK_SIZE, TITLE_SIZE};

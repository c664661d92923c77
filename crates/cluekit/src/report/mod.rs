//! Pictures from plain data: each a self-contained SVG that reads on light and on dark paper.
//!
//! [`Plot`] draws any figure from [`Layer`]s; the functions here are ready-made ones. Nothing in this room knows of
//! models or files, so it would work on results from another program.
//!
//! ```text
//! svg, text, colour ─► axis, ticks, layer, heatmap ─► layout, legend, draw ─► plot, grid ─► the ready-made figures
//! ```

mod axis;
mod colour;
mod coverage;
mod draw;
mod grid;
mod heatmap;
mod layer;
mod layout;
mod legend;
mod plane;
mod plot;
mod rejection;
mod reliability;
pub mod svg;
mod text;
mod ticks;

pub use axis::{Axis, Scale, Ticks};
pub use colour::{Colour, ColourMap, PALETTE, palette};
pub use coverage::calibration_plot;
pub use grid::Grid;
pub use heatmap::Heatmap;
pub use layer::{Band, Bar, Bars, Course, Layer, Line, Mark, Reference, Scatter};
pub use plane::{Plane, PlanePoint, plane_picture};
pub use plot::Plot;
pub use rejection::rejection_plot;
pub use reliability::reliability_diagram;

//! Pictures and files from plain data; each picture is a self-contained SVG that reads on light and on dark paper.
//!
//! [`Plot`] draws any figure from [`Layer`]s; the functions here are ready-made ones. Nothing in this room knows of
//! models, so it would work on results from another program; what becomes a file is returned as its bytes.
//!
//! ```text
//! svg, text, colour, raster ─► axis, ticks, layer, heatmap, picture ─► layout, legend, draw ─► plot, grid ─► figures
//! ```

pub mod audit;
mod axis;
mod changes;
mod colour;
mod comparison;
mod coverage;
mod draw;
pub mod export;
#[cfg(test)]
mod fixture;
mod frontier;
mod grid;
mod heading;
mod heatmap;
mod histogram;
mod layer;
mod layout;
mod legend;
mod picture;
mod plane;
mod plot;
mod raster;
mod rejection;
mod reliability;
mod sheet;
mod shifts;
mod strip;
pub mod svg;
mod text;
mod ticks;
mod tiles;
mod translation;
mod wording;

pub use axis::{Axis, Scale, Ticks};
pub use changes::change_list;
pub use colour::{Colour, ColourMap, PALETTE, palette};
pub use comparison::{MethodValues, comparison};
pub use coverage::calibration_plot;
pub use frontier::{SweepRow, frontier_plot};
pub use grid::Grid;
pub use heatmap::Heatmap;
pub use layer::{Band, Bar, Bars, Course, Layer, Line, Mark, Reference, Scatter};
pub use plane::{Plane, PlanePoint, plane_picture};
pub use plot::Plot;
pub use rejection::rejection_plot;
pub use reliability::reliability_diagram;
pub use sheet::contact_sheet;
pub use shifts::{FeatureShift, ShiftKind, shift_table};
pub use strip::{strip, strip_numbers};
pub use tiles::{Content, Tile, TileRow, Tiles, tiles};
pub use translation::{TranslationExample, TranslationPicture, translation_numbers, translation_picture};

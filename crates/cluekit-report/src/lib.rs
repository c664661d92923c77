//! What cluekit finds, for people: pictures, texts, files, and the page of an audit.
//!
//! Everything here is made from plain data, so it would work on results from another program; what becomes a file is
//! returned as its bytes. Each picture is a self-contained SVG.
//!
//! | of | picture or text | file |
//! |---|---|---|
//! | an explanation | [`strip`], [`change_list`] | [`export`] |
//! | an audit | [`page()`] | |
//! | scores | [`reliability_diagram`], [`rejection_plot`], [`calibration_plot`] | |
//! | a translation of a group | [`translation_picture`], [`shift_table`] | |
//! | methods side by side | [`comparison()`] | |

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]

mod changes;
mod comparison;
mod coverage;
pub mod export;
mod figure;
mod frontier;
mod group;
mod illustration;
mod page;
mod picture;
mod plane;
mod plots;
mod rejection;
mod reliability;
mod sheet;
mod shifts;
mod strip;
mod thumbnail;
mod tiles;
mod translation;

pub use changes::change_list;
pub use comparison::{MethodValues, comparison};
pub use coverage::calibration_plot;
pub use figure::{png_figure, svg_figure};
pub use frontier::{SweepRow, frontier_plot};
pub use group::group_picture;
pub use illustration::{illustrate, illustrated};
pub use page::page;
pub use plane::{Plane, PlanePoint, heatmap, plane_picture};
pub use rejection::rejection_plot;
pub use reliability::reliability_diagram;
pub use sheet::contact_sheet;
pub use shifts::shift_table;
pub use strip::{strip, strip_numbers};
pub use tiles::{Content, Tile, TileRow, Tiles, tiles};
pub use translation::{TranslationExample, TranslationPicture, translation_numbers, translation_picture};

//! What cluekit finds, for people: pictures, texts, files, and the page of an audit.
//!
//! Everything here is made from plain data, so it would work on results from another program; what becomes a file is
//! returned as its bytes. Each picture is a self-contained SVG.
//!
//! | of | picture or text | file |
//! |---|---|---|
//! | datasets | [`datasets_table`], [`dataset_text`] | |
//! | an explanation | [`strip`], [`change_list`] | [`export`] |
//! | a document of explanations | [`explanations_text`], [`sweep_table`] | [`explanations_files`] |
//! | an audit | [`findings_text`], [`page()`] | |
//! | uncertain inputs | [`ranking_table`], [`ranking_text`] | [`ranking_csv`] |
//! | scores | [`health_table`], [`reliability_diagram`], [`rejection_plot`], [`calibration_plot`] | [`trust_pictures`] |
//! | mappers | [`fitted_text`], [`global_text`] | |
//! | a translation of a group | [`translation_picture`], [`shift_table`] | |
//! | methods side by side | [`comparison_table`], [`comparison()`] | |

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]

mod changes;
mod comparison;
mod coverage;
mod datasets;
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
mod results;
mod scores;
mod sheet;
mod shifts;
mod strip;
mod tables;
mod thumbnail;
mod tiles;
mod translation;

pub use changes::change_list;
pub use comparison::{MethodValues, compared_picture, comparison};
pub use coverage::calibration_plot;
pub use datasets::{dataset_text, datasets_table};
pub use figure::{png_figure, svg_figure};
pub use frontier::{SweepRow, frontier_plot};
pub use group::{global_text, group_picture};
pub use illustration::{illustrate, illustrated};
pub use page::{findings_text, page};
pub use plane::{Plane, PlanePoint, heatmap, plane_picture};
pub use rejection::rejection_plot;
pub use reliability::reliability_diagram;
pub use results::{each_explanations_file, explanations_files, explanations_text};
pub use scores::trust_pictures;
pub use sheet::{RECONSTRUCTED, contact_sheet, reconstruction_sheet};
pub use shifts::shift_table;
pub use strip::{strip, strip_numbers};
pub use tables::{
    TextTable, comparison_table, fitted_table, fitted_text, health_table, ranking_csv, ranking_table, ranking_text,
    rejected_text, sweep_table,
};
pub use tiles::{Content, Tile, TileRow, Tiles, tiles};
pub use translation::{TranslationExample, TranslationPicture, translation_numbers, translation_picture};

//! The subcommands, one file each.

pub mod adopt;
pub mod audit;
pub mod bench;
pub mod data;
pub mod dataset;
pub mod demo;
pub mod experiment;
pub mod explain;
pub mod glam;
pub mod meaning;
pub mod measure;
pub mod rank;
pub mod reading;
pub mod report;
pub mod run;
pub mod schema;
pub mod settings;
pub mod train;

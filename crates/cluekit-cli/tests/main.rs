//! All tests that run `clue` as a user does, in one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]

mod adopt;
mod audit;
mod bench;
mod common;
mod data;
mod errors;
mod experiment;
mod explain;
mod files;
mod forests;
mod glam;
mod licences;
mod missing;
mod rows;
mod schema;
mod schemas;
#[cfg(unix)]
mod stopping;
mod symbols;
mod train;

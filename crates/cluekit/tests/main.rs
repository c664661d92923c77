//! All tests of the public interface in one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]

mod amortise_gradients;
mod common;
mod fetch;
mod gradients;
mod laws;
mod reference;
mod rooms;
mod schemas;
mod search_gradients;
mod stopping;

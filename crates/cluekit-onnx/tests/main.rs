//! Tests against other implementations.

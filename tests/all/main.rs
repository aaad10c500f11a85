//! One test binary, one module a topic. Each test cites the rule or the law that it shows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(missing_docs)]

mod arguments;
mod bounds;
mod exhaustive;
mod golden;
mod laws;
mod scenarios;

//! Checks that tests, fuzz targets and benches share: the laws once, a naive model beside them, and the
//! text form of scenarios.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(missing_docs)]

pub mod arguments;
pub mod events;
pub mod laws;
pub mod model;
pub mod scenario;

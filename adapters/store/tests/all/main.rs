//! What both stores promise, and what each does when its ground gives way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cache;
mod child;
mod common;
mod contract;
mod copy;
mod cuts;
mod disk;
mod faults;
mod golden;
mod kill;
mod machine;
mod names;
mod others;
mod policy;
mod postgres;
mod power;
mod race;

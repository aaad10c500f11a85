//! The adapter under rig's own agent: its scripted model, and two providers over loopback HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod broken;
mod calls;
mod compaction;
mod http;
mod lanes;
mod many;
mod random;
mod resume;
mod script;
mod server;
mod stable;
mod sub;

//! Which of main's requests is known to have its response, though no call says so: a number in a file beside
//! the log. It is a hint. If it is lost, one prompt is taken for the request before it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::HookError;

pub(super) fn read(log: &Path) -> Option<u64> {
    fs::read_to_string(beside(log)).ok()?.trim_end().parse().ok()
}

pub(super) fn write(log: &Path, request: u64) -> Result<(), HookError> {
    let path = beside(log);
    fs::write(&path, format!("{request}\n")).map_err(|source| HookError::Io { path, source })
}

fn beside(log: &Path) -> PathBuf {
    log.with_extension("stopped")
}

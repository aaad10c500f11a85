//! A state as bytes.

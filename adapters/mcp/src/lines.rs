//! The arguments of a call, as the client wrote them.
//!
//! `rmcp` reads a call's arguments into a map: their order and their numbers are gone then, and a call whose
//! arguments are no object is an invalid request without an id, on which a client waits for ever. So before it
//! reads a line, the arguments in it become one string in an object.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use rmcp::model::JsonObject;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The most bytes of a line that are looked into. Far more than the most that a call may have of arguments,
/// and `rmcp` drops longer lines.
const LINE: u64 = 16 * 1024 * 1024;
/// The key of the one string.
const KEY: &str = "json";

/// Passes lines on, until there are no more, each with its call's arguments wrapped.
pub(crate) async fn pass_on(mut from: impl AsyncBufRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut from).take(LINE).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        to.write_all(&wrapped(&line)).await?;
    }
}

/// What [`wrapped`] had wrapped; nothing where the call has no arguments.
pub(crate) fn unwrapped(arguments: Option<JsonObject>) -> String {
    match arguments.and_then(|mut arguments| arguments.remove(KEY)) {
        Some(Value::String(json)) => json,
        _ => String::new(),
    }
}

fn wrapped(line: &[u8]) -> Cow<'_, [u8]> {
    match wrapped_call(line) {
        Some(mut call) => {
            call.push(b'\n');
            Cow::Owned(call)
        }
        None => Cow::Borrowed(line),
    }
}

/// None for what is no call: that is not ours to read.
fn wrapped_call(line: &[u8]) -> Option<Vec<u8>> {
    let mut message: BTreeMap<String, &RawValue> = serde_json::from_slice(line).ok()?;
    if message.get("method")?.get() != r#""tools/call""# {
        return None;
    }
    let mut params: BTreeMap<String, &RawValue> = serde_json::from_str(message.get("params")?.get()).ok()?;
    let arguments = to_raw_value(&BTreeMap::from([(KEY, params.get("arguments")?.get())])).ok()?;
    params.insert("arguments".to_owned(), &arguments);
    let params = to_raw_value(&params).ok()?;
    message.insert("params".to_owned(), &params);
    serde_json::to_vec(&message).ok()
}

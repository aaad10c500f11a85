//! The arguments of a call, as the client wrote them.
//!
//! `rmcp` reads a call's arguments into a map: their order and their numbers are gone then, and a call whose
//! arguments are no object is an invalid request without an id, on which a client waits for ever. So before it
//! reads a line, the arguments in it become one string in an object, and a call that names no tool asks for the
//! nameless one, which is refused.

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
    let method: Cow<'_, str> = serde_json::from_str(message.get("method")?.get()).ok()?;
    if method != "tools/call" {
        return None;
    }
    let params = message.get("params").and_then(|params| serde_json::from_str(params.get()).ok());
    let mut params: BTreeMap<String, &RawValue> = params.unwrap_or_default();
    let (arguments, nameless);
    if let Some(written) = params.get("arguments") {
        arguments = to_raw_value(&BTreeMap::from([(KEY, written.get())])).ok()?;
        params.insert("arguments".to_owned(), &arguments);
    }
    if !params.get("name").is_some_and(|name| name.get().starts_with('"')) {
        nameless = to_raw_value("").ok()?;
        params.insert("name".to_owned(), &nameless);
    }
    let params = to_raw_value(&params).ok()?;
    message.insert("params".to_owned(), &params);
    serde_json::to_vec(&message).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use proptest::prelude::*;
    use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};

    use super::*;

    /// What the server makes of a line.
    fn arguments(line: &str) -> String {
        let message: ClientJsonRpcMessage = serde_json::from_slice(&wrapped(line.as_bytes())).unwrap();
        let JsonRpcMessage::Request(request) = message else { panic!("{line} is no request") };
        let ClientRequest::CallToolRequest(call) = request.request else { panic!("{line} is no call") };
        unwrapped(call.params.arguments)
    }

    fn call(arguments: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#)
    }

    /// Any JSON, with white space, numbers that no machine number holds, and keys that come twice.
    fn json() -> impl Strategy<Value = String> {
        let text = "[ -~\u{e9}\u{1f600}]{0,6}".prop_map(|text| serde_json::to_string(&text).unwrap());
        let leaf = prop_oneof![Just("null".to_owned()), Just("-1E+999".to_owned()), "[1-9][0-9]{0,40}", text.clone()];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let member = (text.clone(), inner.clone()).prop_map(|(key, value)| format!("{key} :{value}"));
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
                prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        })
    }

    proptest! {
        /// Section 2: the arguments are the text as it was received, whatever they are (C1, C9).
        #[test]
        fn a_calls_arguments_keep_their_bytes(json in json()) {
            prop_assert_eq!(arguments(&call(&json)), json);
        }

        #[test]
        fn what_is_no_call_passes_as_it_is(line in "\\PC{0,80}\n?") {
            prop_assert_eq!(wrapped(line.as_bytes()), line.as_bytes());
        }
    }

    #[test]
    fn a_call_may_be_spelled_with_escapes_and_have_no_arguments() {
        assert_eq!(arguments(&call("[1]").replace("tools/call", r"tools\/call")), "[1]");
        assert_eq!(arguments(&call("[1]").replace("arguments", r"\u0061rguments")), "[1]");
        assert_eq!(arguments(&call("[1]").replace(r#","arguments":[1]"#, "")), "", "C10");
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"arguments":{}}}"#;
        assert_eq!(wrapped(list.as_bytes()), list.as_bytes());
    }
}

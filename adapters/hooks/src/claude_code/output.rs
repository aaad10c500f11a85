//! What a hook prints.

use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_specific_output: Specific<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
}

/// Words for the model, with the request that is about to leave.
pub(super) fn context(event: &str, text: &str) -> String {
    print(Specific {
        hook_event_name: event,
        additional_context: Some(text),
        permission_decision: None,
        permission_decision_reason: None,
    })
}

/// A call is not carried out, and its answer is this.
pub(super) fn denial(event: &str, reason: &str) -> String {
    print(Specific {
        hook_event_name: event,
        additional_context: None,
        permission_decision: Some("deny"),
        permission_decision_reason: Some(reason),
    })
}

fn print(specific: Specific<'_>) -> String {
    // Strings alone: this never fails.
    serde_json::to_string(&Output { hook_specific_output: specific }).unwrap_or_default()
}

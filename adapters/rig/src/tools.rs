use rig_core::message::{EmptyToolName, ToolName};
use rig_core::tool::{DynamicTool, ToolExecutionError, ToolOutput, ToolResult};
use session_todo::{Policy, ToolDef};

/// What a tool of the list's says of itself. The hook knows it, and answers in its place: only the hook
/// is told which call of which response it is.
const UNANSWERED: &str = "Nothing was done: this agent has the tools of the task list, and not its hook.";

/// The tools that a policy offers. Their names are not empty, and their schemas are JSON.
pub(crate) fn offered(policy: &Policy) -> Vec<DynamicTool> {
    policy.tools().filter_map(|tool| unanswered(&tool).ok()).collect()
}

fn unanswered(tool: &ToolDef) -> Result<DynamicTool, EmptyToolName> {
    let schema = serde_json::from_str(&tool.schema).unwrap_or_default();
    let says = || ToolExecutionError::other(UNANSWERED).with_model_output(ToolOutput::text(UNANSWERED));
    Ok(DynamicTool::new(ToolName::new(tool.name)?, tool.description, schema, move |_| {
        Box::pin(async move { Err(says()) })
    }))
}

/// Whether nobody has answered in the tool's place.
pub(crate) fn is_unanswered(result: &ToolResult) -> bool {
    result.output().as_text() == Some(UNANSWERED)
}

/// The list's answer as rig takes it.
pub(crate) fn answer(result: session_todo::ToolResult) -> ToolResult {
    let session_todo::ToolResult { text, is_error } = result;
    if is_error {
        let error = ToolExecutionError::invalid_args(text.clone()).with_model_output(ToolOutput::text(text));
        return ToolResult::failed(error);
    }
    ToolResult::success(ToolOutput::text(text))
}

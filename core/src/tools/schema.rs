use super::Tool;
use crate::policy::{Offer, Policy};

/// A tool as it is offered to a model. Constant for a session: what changes never stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolDef {
    /// The name.
    pub name: &'static str,
    /// When to use it, and when not to.
    pub description: &'static str,
    /// A flat JSON Schema of the arguments (C15).
    pub schema: &'static str,
}

const TODO_WRITE: ToolDef = ToolDef {
    name: "todo_write",
    description: "Keep the plan of this session as a list. Send the whole list each time: it replaces the last one. \
Use it for work of three steps or more, and when a step begins or ends. Not for a single step, nor for a question.",
    schema: r#"{"type":"object","properties":{"todos":{"type":"array","description":"The whole list, in order. An empty list clears it.","items":{"type":"object","properties":{"id":{"type":"string","description":"The item's id, where it has one already."},"content":{"type":"string","description":"What is to be done, in one line."},"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["content","status"]}}},"required":["todos"]}"#,
};

const TODO_WRITE_WITHOUT_IDS: ToolDef = ToolDef {
    schema: r#"{"type":"object","properties":{"todos":{"type":"array","description":"The whole list, in order. An empty list clears it.","items":{"type":"object","properties":{"content":{"type":"string","description":"What is to be done, in one line."},"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["content","status"]}}},"required":["todos"]}"#,
    ..TODO_WRITE
};

const TASK_CREATE: ToolDef = ToolDef {
    name: "TaskCreate",
    description: "Append one task to the list of this session. Use it when work of several steps begins, or when a \
new step turns up. Not for a single step.",
    schema: r#"{"type":"object","properties":{"subject":{"type":"string","description":"What is to be done, in one line."},"description":{"type":"string","description":"What it takes to call it done."}},"required":["subject","description"]}"#,
};

const TASK_UPDATE: ToolDef = ToolDef {
    name: "TaskUpdate",
    description: "Change one task: set it in_progress before the work on it, completed when it is done, deleted when \
it is no longer wanted. Name at least one field beside the id.",
    schema: r#"{"type":"object","properties":{"taskid":{"type":"string","description":"The task's id."},"status":{"type":"string","enum":["pending","in_progress","completed","deleted"]},"subject":{"type":"string"},"description":{"type":"string"}},"required":["taskid"]}"#,
};

const TASK_GET: ToolDef = ToolDef {
    name: "TaskGet",
    description: "Show one task with its description.",
    schema: r#"{"type":"object","properties":{"taskid":{"type":"string","description":"The task's id."}},"required":["taskid"]}"#,
};

const TASK_LIST: ToolDef = ToolDef {
    name: "TaskList",
    description: "Show the list, when you are not sure of it any more.",
    schema: r#"{"type":"object","properties":{},"required":[]}"#,
};

impl Tool {
    const fn definition(self, ids: bool) -> ToolDef {
        match self {
            Self::TodoWrite if ids => TODO_WRITE,
            Self::TodoWrite => TODO_WRITE_WITHOUT_IDS,
            Self::TaskCreate => TASK_CREATE,
            Self::TaskUpdate => TASK_UPDATE,
            Self::TaskGet => TASK_GET,
            Self::TaskList => TASK_LIST,
        }
    }
}

impl Offer {
    /// The tools that are offered. All are read, whatever is offered.
    #[must_use]
    pub const fn tools(self) -> &'static [Tool] {
        const TASKS: &[Tool] = &[Tool::TaskCreate, Tool::TaskUpdate, Tool::TaskGet, Tool::TaskList];
        const BOTH: &[Tool] = &[Tool::TodoWrite, Tool::TaskCreate, Tool::TaskUpdate, Tool::TaskGet, Tool::TaskList];
        match self {
            Self::TodoWrite | Self::TodoWriteWithoutIds => &[Tool::TodoWrite],
            Self::Tasks => TASKS,
            Self::Both => BOTH,
        }
    }
}

impl Policy {
    /// The definitions of the tools that this policy offers.
    pub fn tools(&self) -> impl Iterator<Item = ToolDef> {
        let ids = self.offer != Offer::TodoWriteWithoutIds;
        self.offer.tools().iter().map(move |tool| tool.definition(ids))
    }
}

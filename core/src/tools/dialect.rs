//! One table for every spelling of the list's tools. Models are trained on their own vendor's tool; the
//! list behind them is one (L3). Names and keys are the vendors', words are ours.

use super::Tool;
use super::surface::{Answer, Key, Kind, Surface};

/// A vendor's spelling of the list's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `todo_write` with ids.
    TodoWrite,
    /// `todo_write` with content and status alone.
    TodoWriteBare,
    /// `TaskCreate`, `TaskUpdate`, `TaskGet`, `TaskList`.
    Tasks,
    /// Claude Code's `TodoWrite`.
    ClaudeTodoWrite,
    /// Claude Code's Task tools.
    ClaudeTasks,
    /// `OpenCode`'s `todowrite`.
    OpenCode,
    /// Codex's `update_plan`.
    Codex,
    /// Gemini CLI's `write_todos`.
    Gemini,
    /// VS Code's `manage_todo_list`.
    VsCode,
    /// Kimi CLI's `SetTodoList`.
    KimiCli,
    /// Kimi Code's `TodoList`.
    KimiCode,
    /// `OpenHands`' `task_tracker`.
    OpenHands,
    /// Roo Code's `update_todo_list`: a Markdown checklist.
    Roo,
    /// Crush's `todos`.
    Crush,
    /// Cline's `task_progress`: a Markdown checklist.
    Cline,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 15] = [
        Self::TodoWrite,
        Self::TodoWriteBare,
        Self::Tasks,
        Self::ClaudeTodoWrite,
        Self::ClaudeTasks,
        Self::OpenCode,
        Self::Codex,
        Self::Gemini,
        Self::VsCode,
        Self::KimiCli,
        Self::KimiCode,
        Self::OpenHands,
        Self::Roo,
        Self::Crush,
        Self::Cline,
    ];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TodoWrite => "todo-write",
            Self::TodoWriteBare => "todo-write-bare",
            Self::Tasks => "tasks",
            Self::ClaudeTodoWrite => "claude-todo-write",
            Self::ClaudeTasks => "claude-tasks",
            Self::OpenCode => "opencode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::VsCode => "vs-code",
            Self::KimiCli => "kimi-cli",
            Self::KimiCode => "kimi-code",
            Self::OpenHands => "openhands",
            Self::Roo => "roo",
            Self::Crush => "crush",
            Self::Cline => "cline",
        }
    }

    /// The dialect of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    pub(crate) const fn surfaces(self) -> &'static [&'static Surface] {
        match self {
            Self::TodoWrite => &[&TODO_WRITE],
            Self::TodoWriteBare => &[&TODO_WRITE_BARE],
            Self::Tasks => &[&TASK_CREATE, &TASK_UPDATE, &TASK_GET, &TASK_LIST],
            Self::ClaudeTodoWrite => &[&CLAUDE_TODO_WRITE],
            Self::ClaudeTasks => &[&CLAUDE_TASK_CREATE, &CLAUDE_TASK_UPDATE, &CLAUDE_TASK_GET, &TASK_LIST],
            Self::OpenCode => &[&OPEN_CODE],
            Self::Codex => &[&CODEX],
            Self::Gemini => &[&GEMINI],
            Self::VsCode => &[&VS_CODE_LIST],
            Self::KimiCli => &[&KIMI_CLI],
            Self::KimiCode => &[&KIMI_CODE],
            Self::OpenHands => &[&OPEN_HANDS_LIST],
            Self::Roo => &[&ROO],
            Self::Crush => &[&CRUSH],
            Self::Cline => &[&CLINE],
        }
    }
}

/// Our own tools, which are known behind a plain server's name too.
pub(super) const OURS: [&Surface; 5] = [&TODO_WRITE, &TASK_CREATE, &TASK_UPDATE, &TASK_GET, &TASK_LIST];

/// The surface of exactly this name.
pub(super) fn exact(name: &str) -> Option<&'static Surface> {
    Some(match name {
        "todo_write" => &TODO_WRITE,
        "TaskCreate" => &TASK_CREATE,
        "TaskUpdate" => &TASK_UPDATE,
        "TaskGet" => &TASK_GET,
        "TaskList" => &TASK_LIST,
        "TodoWrite" => &CLAUDE_TODO_WRITE,
        "todowrite" => &OPEN_CODE,
        "update_plan" => &CODEX,
        "write_todos" => &GEMINI,
        "manage_todo_list" => &VS_CODE_LIST,
        "SetTodoList" => &KIMI_CLI,
        "TodoList" => &KIMI_CODE,
        "task_tracker" => &OPEN_HANDS_LIST,
        "update_todo_list" => &ROO,
        "todos" => &CRUSH,
        "task_progress" => &CLINE,
        _ => return None,
    })
}

const fn key(name: &'static str, kind: Kind, description: &'static str) -> Key {
    Key { name, kind, required: true, description }
}

const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Key {
    Key { name, kind, required: false, description }
}

const THREE: &[&str] = &["pending", "in_progress", "completed"];
const FOUR: &[&str] = &["pending", "in_progress", "completed", "deleted"];
const WITH_CANCELLED: &[&str] = &["pending", "in_progress", "completed", "cancelled"];
const FIVE: &[&str] = &["pending", "in_progress", "completed", "cancelled", "blocked"];
const KIMI: &[&str] = &["pending", "in_progress", "done"];
const VS_CODE: &[&str] = &["not-started", "in-progress", "completed"];
const OPEN_HANDS: &[&str] = &["todo", "in_progress", "done"];
const PRIORITY: &[&str] = &["high", "medium", "low"];

const LIST: &str = "The whole list, in order. An empty list clears it.";
const LINE: &str = "What is to be done, in one line.";
const ITS_ID: &str = "The item's id, where it has one already.";
const TASK_ID: &str = "The task's id.";
const DETAILS: &str = "What it takes to call it done.";
const BOXES: &str = "The whole list as a Markdown checklist, a line an item: [ ] to do, [-] in progress, [x] done.";
const FORM: &str = "The step in the form that is shown while it runs.";

const WHOLE_LIST: &str = "Keep the plan of this session as a list. Send the whole list each time: it replaces the last \
one. Use it for work of three steps or more, and when a step begins or ends. Not for a single step, nor for a question.";
const CREATE: &str = "Append one task to the list of this session. Use it when work of several steps begins, or when \
a new step turns up. Not for a single step.";
const UPDATE: &str = "Change one task: set it in_progress before the work on it, completed when it is done, deleted \
when it is no longer wanted. Name at least one field beside the id.";
const GET: &str = "Show one task with its description.";
const SHOW: &str = "Show the list, when you are not sure of it any more.";

const CONTENT: Key = key("content", Kind::Text, LINE);
const STATUS: Key = key("status", Kind::Word(THREE), "");

const fn list(name: &'static str, keys: &'static [Key], answer: Answer) -> Surface {
    Surface { name, tool: Tool::TodoWrite, description: WHOLE_LIST, keys, answer }
}

const fn task(name: &'static str, tool: Tool, description: &'static str, keys: &'static [Key]) -> Surface {
    Surface { name, tool, description, keys, answer: Answer::Lines }
}

const TODO_WRITE: Surface = list(
    "todo_write",
    &[key("todos", Kind::Items(&[optional("id", Kind::Text, ITS_ID), CONTENT, STATUS]), LIST)],
    Answer::Lines,
);
const TODO_WRITE_BARE: Surface =
    list("todo_write", &[key("todos", Kind::Items(&[CONTENT, STATUS]), LIST)], Answer::Lines);
const CLAUDE_TODO_WRITE: Surface = list(
    "TodoWrite",
    &[key("todos", Kind::Items(&[CONTENT, STATUS, key("activeForm", Kind::Text, FORM)]), LIST)],
    Answer::Lines,
);
const OPEN_CODE: Surface = list(
    "todowrite",
    &[key(
        "todos",
        Kind::Items(&[
            CONTENT,
            key("status", Kind::Word(WITH_CANCELLED), ""),
            key("priority", Kind::Word(PRIORITY), ""),
        ]),
        LIST,
    )],
    Answer::Lines,
);
const CODEX: Surface = list(
    "update_plan",
    &[
        optional("explanation", Kind::Text, "Why the plan changes."),
        key("plan", Kind::Items(&[key("step", Kind::Text, LINE), STATUS]), LIST),
    ],
    Answer::Lines,
);
const GEMINI: Surface = list(
    "write_todos",
    &[key("todos", Kind::Items(&[key("description", Kind::Text, LINE), key("status", Kind::Word(FIVE), "")]), LIST)],
    Answer::Lines,
);
const VS_CODE_LIST: Surface = list(
    "manage_todo_list",
    &[
        optional("operation", Kind::Command { words: ["read", "write"], absent_reads: false }, "Write where absent."),
        optional(
            "todoList",
            Kind::Items(&[
                key("id", Kind::Number, "The item's number, from 1."),
                key("title", Kind::Text, LINE),
                key("status", Kind::Word(VS_CODE), ""),
                optional("description", Kind::Text, DETAILS),
            ]),
            LIST,
        ),
    ],
    Answer::Worded(["not-started", "in-progress", "completed"]),
);
const KIMI_KEYS: &[Key] = &[optional(
    "todos",
    Kind::ItemsOrRead(&[key("title", Kind::Text, LINE), key("status", Kind::Word(KIMI), "")]),
    "The whole list, in order. An empty list clears it; absent or null shows it.",
)];
const KIMI_CLI: Surface = list("SetTodoList", KIMI_KEYS, Answer::Worded(["pending", "in_progress", "done"]));
const KIMI_CODE: Surface = list("TodoList", KIMI_KEYS, Answer::Worded(["pending", "in_progress", "done"]));
const OPEN_HANDS_LIST: Surface = list(
    "task_tracker",
    &[
        optional("command", Kind::Command { words: ["view", "plan"], absent_reads: true }, "View where absent."),
        optional(
            "task_list",
            Kind::Items(&[
                key("title", Kind::Text, LINE),
                optional("notes", Kind::Text, DETAILS),
                optional("status", Kind::Word(OPEN_HANDS), ""),
            ]),
            LIST,
        ),
    ],
    Answer::Worded(["todo", "in_progress", "done"]),
);
const ROO: Surface = list("update_todo_list", &[key("todos", Kind::Checklist, BOXES)], Answer::Checklist);
const CRUSH: Surface = list(
    "todos",
    &[key("todos", Kind::Items(&[CONTENT, STATUS, key("active_form", Kind::Text, FORM)]), LIST)],
    Answer::Lines,
);
const CLINE: Surface = list("task_progress", &[key("task_progress", Kind::Checklist, BOXES)], Answer::Checklist);

const TASK_CREATE: Surface = task(
    "TaskCreate",
    Tool::TaskCreate,
    CREATE,
    &[key("subject", Kind::Text, LINE), key("description", Kind::Text, DETAILS)],
);
const TASK_UPDATE: Surface = task(
    "TaskUpdate",
    Tool::TaskUpdate,
    UPDATE,
    &[
        key("taskid", Kind::Text, TASK_ID),
        optional("status", Kind::Word(FOUR), ""),
        optional("subject", Kind::Text, ""),
        optional("description", Kind::Text, ""),
    ],
);
const TASK_GET: Surface = task("TaskGet", Tool::TaskGet, GET, &[key("taskid", Kind::Text, TASK_ID)]);
const TASK_LIST: Surface = task("TaskList", Tool::TaskList, SHOW, &[]);

const CLAUDE_TASK_CREATE: Surface = task(
    "TaskCreate",
    Tool::TaskCreate,
    CREATE,
    &[
        key("subject", Kind::Text, LINE),
        key("description", Kind::Text, DETAILS),
        optional("activeForm", Kind::Text, FORM),
    ],
);
const CLAUDE_TASK_UPDATE: Surface = task(
    "TaskUpdate",
    Tool::TaskUpdate,
    UPDATE,
    &[
        key("taskId", Kind::Text, TASK_ID),
        optional("status", Kind::Word(FOUR), ""),
        optional("subject", Kind::Text, ""),
        optional("description", Kind::Text, ""),
        optional("activeForm", Kind::Text, FORM),
        optional("owner", Kind::Text, "Who works on it."),
        optional("addBlocks", Kind::Texts, "Ids of tasks that wait for this one."),
        optional("addBlockedBy", Kind::Texts, "Ids of tasks that this one waits for."),
    ],
);
const CLAUDE_TASK_GET: Surface = task("TaskGet", Tool::TaskGet, GET, &[key("taskId", Kind::Text, TASK_ID)]);

"""The MCP server of $SESSION_TODO, driven by Python's own client."""
import asyncio
import os

import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVER = StdioServerParameters(
    command=os.environ["SESSION_TODO"],
    args=["mcp", "--session", "python"],
    env={**os.environ},
)


async def served(work):
    async with stdio_client(SERVER) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        return await work(session)


async def call(session, name, arguments):
    result = await session.call_tool(name, arguments)
    [content] = result.content
    return bool(getattr(result, "is_error", None) or getattr(result, "isError", None)), content.text


async def first(session):
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert tools == {"todo_write", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"}, tools
    is_error, text = await call(session, "todo_write", {"todos": [{"content": "Read", "status": "in_progress"}]})
    assert not is_error and "#1 [in_progress] Read" in text, text
    is_error, text = await call(session, "todo_write", {"todos": 7})
    assert is_error and "todos" in text, text
    try:
        await session.call_tool("bash", {})
    except Exception as error:  # The class and its name differ between releases.
        assert "bash" in str(error), error
    else:
        raise AssertionError("a tool that is not there was called")
    return await call(session, "TaskList", {})


async def second(session):
    return await call(session, "TaskList", {})


before = asyncio.run(served(first))
after = asyncio.run(served(second))
assert before == after and "Read" in after[1], (before, after)

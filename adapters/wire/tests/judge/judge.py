"""Judges request bodies by the vendors' own types: `judge.py FOLDER`.

Each file `FORMAT-name.json` is one body. A line comes out for each: `ok FILE` or `refused FILE: why`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from google.genai import types as gemini
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
    from pydantic import TypeAdapter, ValidationError
except ImportError as absent:
    print(f"absent: {absent}")
    sys.exit(3)

# Made once and kept: a lazy iterator asks its adapter again when it is consumed.
ADAPTERS = {
    "anthropic": TypeAdapter(MessageCreateParamsNonStreaming),
    "chat": TypeAdapter(CompletionCreateParamsNonStreaming),
    "responses": TypeAdapter(ResponseCreateParamsNonStreaming),
    "contents": TypeAdapter(list[gemini.Content]),
    "tools": TypeAdapter(list[gemini.Tool]),
}


def consume(value):
    """Walks a value to its leaves: `Iterable[...]` is judged only as far as it is read."""
    if isinstance(value, dict):
        for inner in value.values():
            consume(inner)
    elif isinstance(value, (list, tuple)) or isinstance(value, Iterator) or type(value).__name__ == "ValidatorIterator":
        for inner in value:
            consume(inner)


def judge(form, body):
    if form == "gemini":
        for key in ("contents", "tools"):
            consume(ADAPTERS[key].validate_python(body[key]))
    else:
        consume(ADAPTERS[form].validate_python(body))


def main(folder):
    for path in sorted(Path(folder).glob("*.json")):
        try:
            judge(path.name.split("-")[0], json.loads(path.read_text()))
            print(f"ok {path.name}")
        except (ValidationError, KeyError, TypeError) as error:
            print(f"refused {path.name}: {str(error)[:300]!r}")


main(sys.argv[1])

#!/usr/bin/env python3
"""A scripted model on loopback (Anthropic Messages), so that the real client can be run without a model.

usage: model.py SCRIPT.json WIRE.jsonl

Prints its port, then serves until it is ended. SCRIPT names lists of steps by a word: the list is taken whose word
is in a request's first message, else "main"; its step k answers the k-th such request that offers more than three
tools. Other requests take no step and are answered with "ok". A step:

  {"text": "...", "calls": [{"name": "...", "input": {...}}]}

Past the last step the answer is "Done.". Each request is a line of WIRE: its body.
"""
import itertools
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

script = json.load(open(sys.argv[1]))
wire = open(sys.argv[2], "a")
lock = threading.Lock()
steps = {word: iter(steps) for word, steps in script.items()}
ids = itertools.count(1)


def new_id(kind):
    return f"{kind}_{next(ids):08d}"


def step_for(body):
    if len(body.get("tools") or []) <= 3:
        return {"text": "ok"}
    first = json.dumps(body["messages"][0])
    word = next((word for word in script if word in first), "main")
    with lock:
        return next(steps[word], {"text": "Done."})


def message(body):
    step = step_for(body)
    text = [{"type": "text", "text": step["text"]}] if step.get("text") else []
    calls = [{"type": "tool_use", "id": new_id("toolu"), **call} for call in step.get("calls", [])]
    return {
        "id": new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model"),
        "content": text + calls, "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }


def events(answer):
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    for at, block in enumerate(answer["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": at, "content_block": start}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def whole(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self):
        self.whole({})

    def do_GET(self):
        self.whole({"data": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("count_tokens"):
            return self.whole({"input_tokens": 100})
        if not path.endswith("/messages"):
            return self.whole({})
        with lock:
            wire.write(json.dumps(body) + "\n")
            wire.flush()
        answer = message(body)
        if not body.get("stream"):
            return self.whole(answer)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events(answer):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()

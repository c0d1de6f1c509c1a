"""An OpenAI-compatible server with planted behaviours; --behaviour names one. Prints its port."""
import argparse
import hashlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = [" red", " blue", " green", " of", " the", " a", " and", " sea", " sky", " tree"]
LOCK = threading.Lock()
STATE = {"in_flight": 0, "answers": 0, "busy": 0, "seen": set(), "keys": set(), "bodies": [], "stored": {}}


def tokens_of(prompt, count, swap=None):
    """Words and log-probabilities that follow from the prompt; `swap` replaces one token."""
    tokens, logprobs = [], []
    for i in range(count):
        byte = hashlib.sha256(f"{prompt}/{i}".encode()).digest()
        tokens.append(" otherwise" if i == swap else WORDS[byte[0] % len(WORDS)])
        logprobs.append(-byte[1] / 256 - (0.001 if i == swap else 0))
    return tokens, logprobs


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "served-model/1"
    sys_version = ""
    # One packet an answer: in two it would wait for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def reply(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/v1/models":
            models = [{"id": m} for m in ARGS.models.split(",") if m]
            return self.reply(200, {"object": "list", "data": models})
        if self.path == "/version":
            return self.reply(200, {"version": ARGS.version})
        if self.path == "/told":
            with LOCK:
                return self.reply(200, {"keys": sorted(STATE["keys"]), "bodies": STATE["bodies"][:2]})
        return self.reply(404, {"error": {"message": "no such page"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with LOCK:
            STATE["in_flight"] += 1
            STATE["answers"] += 1
            STATE["keys"].add(self.headers.get("Authorization", ""))
            STATE["bodies"].append(body)
            number = STATE["answers"]
        try:
            # Long enough that others arrive.
            time.sleep(ARGS.seconds)
            self.answer(body, number)
        finally:
            with LOCK:
                STATE["in_flight"] -= 1

    def answer(self, body, number):
        behaviour = ARGS.behaviour
        chat = self.path.endswith("/chat/completions")
        prompt = json.dumps(body["messages"]) if chat else body["prompt"]
        if behaviour == "no-logprobs" and "logprobs" in body:
            return self.reply(422, {"detail": "Unsupported fields in the request: {'logprobs'}"})
        if behaviour == "key" and self.headers.get("Authorization") != "Bearer open sesame":
            return self.reply(401, {"error": {"message": "wrong key: %s" % self.headers.get("Authorization")}})
        if behaviour == "busy" and number % 5 == 0:
            return self.reply(429, {"error": {"message": "later"}}, [("Retry-After", "1")])
        if behaviour == "refuses" and "sea" in prompt:
            return self.reply(400, {"error": {"message": "nothing about the sea"}})
        if behaviour == "down" and number > 20:
            return self.reply(503, {"error": {"message": "out of memory"}})
        if behaviour in HOSTILE and number >= ARGS.after:
            return self.hostile(behaviour)
        swap = None
        with LOCK:
            if behaviour == "one-in-7" and number % 7 == 0:
                swap = 2
            if behaviour == "batch" and STATE["in_flight"] > 1:
                swap = 4
            if behaviour == "rare" and number == 25:
                swap = 1
            if behaviour == "order" and STATE.get("last") == "the sky":
                swap = 3
            if behaviour == "prefix" and prompt in STATE["seen"] and len(prompt) > 500:
                swap = body["max_tokens"] - 1
            STATE["seen"].add(prompt)
            STATE["last"] = prompt
        if behaviour == "upgraded" and "green" in prompt:
            swap = 5
        if behaviour == "restarted" and number > ARGS.after:
            swap = 2
        tokens, logprobs = tokens_of(prompt, body["max_tokens"], swap)
        if behaviour == "upgraded-logprobs":
            logprobs[1] -= 2**-40
        if behaviour == "batch-logprobs" and STATE["in_flight"] > 1:
            logprobs[1] -= 2**-40
        fingerprint = "fp_b" if behaviour == "two-servers" and number % 2 else "fp_a"
        choice = {"index": 0, "finish_reason": "length"}
        if chat:
            choice["message"] = {"role": "assistant", "content": "".join(tokens)}
            if "logprobs" in body:
                pairs = zip(tokens, logprobs)
                choice["logprobs"] = {"content": [{"token": t, "logprob": p} for t, p in pairs]}
        else:
            choice["text"] = "".join(tokens)
            if "logprobs" in body:
                choice["logprobs"] = {"tokens": tokens, "token_logprobs": logprobs}
        answer = {"model": body["model"], "system_fingerprint": fingerprint, "choices": [choice]}
        answer["id"] = "cmpl-0" if behaviour == "one-id" else "cmpl-%d" % number
        if behaviour == "stored":
            answer = STATE["stored"].setdefault(prompt, answer)
        self.reply(200, answer)

    def hostile(self, behaviour):
        body = HOSTILE[behaviour]
        if behaviour == "chunk-lies":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"ffffff\r\n{\"choices\": [")
            self.close_connection = True
            return None
        return self.reply(200, body() if callable(body) else body)


HOSTILE = {
    "broken": b"{\"choices\": [{\"text\"",
    "deep": lambda: b"[" * 5000,
    "huge": lambda: b"\"" + b"x" * (8 << 20) + b"\"",
    "nothing": {"object": "text_completion"},
    "none": {"choices": []},
    "empty": {"choices": [{"text": "", "message": {"content": ""}}]},
    "other-model": {"model": "gpt-2-large", "choices": [{"text": "a"}]},
    "uneven": {"choices": [{"text": "a", "logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1]}}]},
    "text-logprob": {"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": ["-1"]}}]},
    "chunk-lies": None,
}

parser = argparse.ArgumentParser()
parser.add_argument("--behaviour", default="steady")
parser.add_argument("--seconds", type=float, default=0.002)
parser.add_argument("--models", default="tiny")
parser.add_argument("--version", default="1.0")
parser.add_argument("--after", type=int, default=1, help="the first hostile answer")
ARGS = parser.parse_args()
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda request, address: None  # a client that has gone
print(server.server_address[1], flush=True)
# Ends with who started it.
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()

"""For the test of alerts: serves a file of series to Prometheus, and keeps what Alertmanager posts.

    alert_world.py SERIES POSTED PORTS

PORTS gets three free ports, each in a line: its own, and two for the others. GET answers with SERIES, POST adds a
line to POSTED.
"""

import http.server
import pathlib
import socket
import sys

series, posted, ports = map(pathlib.Path, sys.argv[1:])


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(series.read_bytes())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(posted, "ab") as out:
            out.write(body + b"\n")
        self.answer(b"")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
free = [socket.socket(), socket.socket()]
for one in free:
    one.bind(("127.0.0.1", 0))
text = "".join(f"{port}\n" for port in (server.server_port, *(one.getsockname()[1] for one in free)))
for one in free:
    one.close()
beside = ports.with_suffix(".new")
beside.write_text(text, encoding="ascii")
beside.rename(ports)
server.serve_forever()

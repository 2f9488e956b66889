"""
A model behind HTTP
===================

The model may run in another process, on another machine or in another language: only its scores are needed. This
example starts a small server with the standard library, explains one prediction, and shows how many requests that takes.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import numpy as np

from pgm_explainer import HttpPredictor, PGMExplainer

# %%
# The server
# ----------
# It gets a NumPy file with ``x [B, n, F]`` and the edges of the subgraph, and answers with scores ``[B, n, 2]``.

requests = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps the connection

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with np.load(BytesIO(body), allow_pickle=False) as sent:
            x, edge_index = sent["x"], sent["edge_index"]
        requests.append(x.shape)
        load = np.zeros(x.shape[:2])
        np.add.at(load.T, edge_index[1], x[:, edge_index[0], 0].T)
        answer = BytesIO()
        np.save(answer, np.stack((3 - load, load - 3), axis=-1))
        self.send_response(200)
        self.send_header("Content-Length", str(answer.tell()))
        self.end_headers()
        self.wfile.write(answer.getvalue())

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

# %%
# The client
# ----------
# With ``send_graph=True`` the server does not need to know the graph.

rng = np.random.default_rng(1)
machines = [f"node-{letter}" for letter in "abcdefghij"]
edge_index = np.array([[1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 0, 1, 2, 9, 9]])
load = rng.uniform(0.2, 0.8, size=(10, 1))
load[[2, 4]] = 2.0

remote = HttpPredictor(f"http://127.0.0.1:{server.server_port}/", send_graph=True)
explainer = PGMExplainer(
    remote, load, edge_index, num_layers=1, names=machines, class_names=["fine", "overloaded"]
)
explanation = explainer.explain("node-a")
print(explanation.reason())
print(f"{len(requests)} requests; the largest had {max(shape[0] for shape in requests)} copies")

# %%
explanation.plot("effects")

# %%
# Closing
# -------

remote.close()
server.shutdown()
server.server_close()

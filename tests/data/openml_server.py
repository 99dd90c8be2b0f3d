"""A small OpenML v1 server on loopback: descriptions and ARFF files, nothing else."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

UNKNOWN = ["<oml:code>111</oml:code>", "<oml:message>Unknown dataset</oml:message>"]


class OpenMLServer:
    """Serves what is added with `add`, on a free port, until `stop`.

    `requests` lists the paths asked for; a `silent` server takes requests and never answers; one
    that is not `compressed` answers in plain text, of which openml warns.
    """

    def __init__(self):
        self.requests = []
        self.silent = False
        self.compressed = True
        self._bodies = {}
        self._released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def host(self):
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self):
        return f"{self.host}/api/v1/xml"

    def add(self, data_id, arff, target="class", ignore=(), row_id=None, md5=None):
        """Offer a data set; `md5` other than that of `arff` makes it a damaged one."""
        file = f"/data/v1/download/{data_id}/set.arff"
        fields = {
            "id": data_id,
            "name": f"set-{data_id}",
            "version": 3,
            "description": "made for a test",
            "format": "Sparse_ARFF" if "\n{" in arff else "ARFF",
            "url": self.host + file,
            "parquet_url": f"{self.host}/datasets/0000/{data_id}/set.pq",
            "default_target_attribute": target,
            "row_id_attribute": row_id,
            "md5_checksum": md5 or hashlib.md5(arff.encode()).hexdigest(),
        }
        pairs = [*fields.items(), *(("ignore_attribute", column) for column in ignore)]
        elements = [f"<oml:{key}>{escape(str(value))}</oml:{key}>" for key, value in pairs if value]
        self._bodies[f"/api/v1/xml/data/{data_id}"] = _xml("data_set_description", elements)
        self._bodies[file] = arff

    def remove_file(self, data_id):
        """Forget the ARFF file, but not the description."""
        del self._bodies[f"/data/v1/download/{data_id}/set.arff"]

    def stop(self):
        self._released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.partition("?")[0]
                server.requests.append(path)
                if server.silent:
                    server._released.wait()
                    return
                body = server._bodies.get(path)
                if body is not None:
                    self._answer(200, body)
                elif path.startswith("/api/"):
                    self._answer(412, _xml("error", UNKNOWN))
                else:
                    self._answer(404, "<!DOCTYPE html><p>Not found<br>")

            def _answer(self, status, text):
                body = text.encode()
                self.send_response(status)
                if server.compressed:
                    body = gzip.compress(body)
                    self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler


def _xml(root, elements):
    return f'<oml:{root} xmlns:oml="http://openml.org/openml">{"".join(elements)}</oml:{root}>'

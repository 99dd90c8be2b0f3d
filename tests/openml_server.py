"""A small OpenML v1 server on loopback, with data sets, tasks and suites."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

KINDS = {1: "Supervised Classification", 2: "Supervised Regression"}
SPLITS = """@relation splits
@attribute type {TRAIN,TEST}
@attribute rowid numeric
@attribute repeat numeric
@attribute fold numeric
@data"""
UNKNOWN = ["<oml:code>111</oml:code>", "<oml:message>Unknown dataset</oml:message>"]


class OpenMLServer:
    """Server of the added data sets, on a free port, until `stop`.

    `requests` lists the paths asked for; a `silent` server takes requests and never answers; one
    that is not `compressed` answers in plain text, of which openml warns. `failures` lists the
    status codes of the next answers, which are pages of HTML.
    """

    def __init__(self):
        self.requests = []
        self.silent = False
        self.compressed = True
        self.failures = []
        self._bodies = {}
        self._lists = {}
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

    def add(self, data_id, arff, target="class", ignore=(), row_id=None, md5=None, status="active"):
        """Offer a data set; an `md5` that does not match `arff` marks it as damaged."""
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
            "status": status,
            "md5_checksum": md5 or hashlib.md5(arff.encode()).hexdigest(),
        }
        pairs = [*fields.items(), *(("ignore_attribute", column) for column in ignore)]
        elements = [f"<oml:{key}>{escape(str(value))}</oml:{key}>" for key, value in pairs if value]
        self._bodies[f"/api/v1/xml/data/{data_id}"] = _xml("data_set_description", elements)
        self._bodies[file] = arff

    def add_task(
        self, task_id, data_id, splits, target="class", kind=1, procedure="crossvalidation"
    ):
        """Offer a task; `splits` has the row numbers of both parts by repeat and fold."""
        file = f"/api_splits/get/{task_id}/Task_{task_id}_splits.arff"
        data = [f"<oml:data_set_id>{data_id}</oml:data_set_id>"]
        data.append(f"<oml:target_feature>{target}</oml:target_feature>")
        how = [f"<oml:type>{procedure}</oml:type>"]
        how.append(f"<oml:data_splits_url>{self.host}{file}</oml:data_splits_url>")
        for name, numbers in zip(("repeats", "folds"), zip(*splits, strict=True), strict=True):
            how.append(f'<oml:parameter name="number_{name}">{len(set(numbers))}</oml:parameter>')
        inputs = [
            ("source_data", "data_set", data),
            ("estimation_procedure", "estimation_procedure", how),
        ]
        elements = [
            f"<oml:task_id>{task_id}</oml:task_id>",
            f"<oml:task_type_id>{kind}</oml:task_type_id>",
            f"<oml:task_type>{KINDS[kind]}</oml:task_type>",
            *(
                f'<oml:input name="{name}"><oml:{tag}>{"".join(inner)}</oml:{tag}></oml:input>'
                for name, tag, inner in inputs
            ),
        ]
        self._bodies[f"/api/v1/xml/task/{task_id}"] = _xml("task", elements)
        lines = [
            f"{part},{row},{repeat},{fold}"
            for (repeat, fold), parts in splits.items()
            for part, rows in zip(("TRAIN", "TEST"), parts, strict=True)
            for row in rows
        ]
        self._bodies[file] = "\n".join([SPLITS, *lines]) + "\n"

    def add_suite(self, number, tasks):
        """Offer a suite of tasks, given with the names of their data."""
        ids = "".join(f"<oml:task_id>{task}</oml:task_id>" for task in tasks)
        fields = {"id": number, "main_entity_type": "task", "name": "suite", "status": "active"}
        fields |= {"description": "made for a test", "creation_date": "today", "creator": 1}
        elements = [f"<oml:{key}>{value}</oml:{key}>" for key, value in fields.items()]
        elements.append(f"<oml:tasks>{ids}</oml:tasks>")
        self._bodies[f"/api/v1/xml/study/{number}"] = _xml("study", elements)
        listed = [
            f"<oml:task><oml:task_id>{task}</oml:task_id><oml:task_type_id>1</oml:task_type_id>"
            f"<oml:task_type>{KINDS[1]}</oml:task_type><oml:did>{task}</oml:did>"
            f"<oml:name>{name}</oml:name><oml:status>active</oml:status></oml:task>"
            for task, name in tasks.items()
        ]
        self._lists["/api/v1/xml/task/list/"] = _xml("tasks", listed)
        # Two, as openml takes one alone for its own fields.
        inner = "<oml:id>{}</oml:id><oml:ttid>1</oml:ttid>"
        inner += "<oml:name>folds</oml:name><oml:type>crossvalidation</oml:type>"
        procedures = [
            f"<oml:estimationprocedure>{inner.format(one)}</oml:estimationprocedure>"
            for one in (1, 2)
        ]
        path = "/api/v1/xml/estimationprocedure/list"
        self._bodies[path] = _xml("estimationprocedures", procedures)

    def edit_splits(self, task_id, edit):
        """Apply `edit` to the lines of the file of a task's splits."""
        file = f"/api_splits/get/{task_id}/Task_{task_id}_splits.arff"
        lines = self._bodies[file].splitlines(keepends=True)
        self._bodies[file] = "".join(edit(lines))

    def remove_file(self, data_id):
        """Remove the ARFF file, but not the description."""
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
                if server.failures:
                    self._answer(server.failures.pop(0), "<html><p>Sorry</p></html>")
                    return
                body = server._bodies.get(path)
                for start, listed in server._lists.items():
                    body = listed if path.startswith(start) else body
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

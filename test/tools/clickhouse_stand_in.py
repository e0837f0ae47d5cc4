#!/usr/bin/env python3
"""ClickHouse's embedded library behind the HTTP that its server speaks, as far as 'mmprof fleet --engine' does.

    clickhouse_stand_in.py LIBCHDB PASSWORD     prints its port, and runs until it is killed

LIBCHDB is libchdb.so of the npm package @chdb/lib-linux-x64-gnu.  Tables live in a directory of their own, which goes
with it.
"""
import base64
import ctypes
import os
import sys
import tempfile
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

library = ctypes.CDLL(sys.argv[1])
password = sys.argv[2]
for name in "connect", "query":
    getattr(library, "chdb_" + name).restype = ctypes.c_void_p
for name in "buffer", "length", "error":
    getattr(library, "chdb_result_" + name).argtypes = [ctypes.c_void_p]
library.chdb_result_buffer.restype = ctypes.c_void_p
library.chdb_result_length.restype = ctypes.c_size_t
library.chdb_result_error.restype = ctypes.c_char_p
library.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
library.chdb_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
KEPT_SETTINGS = "join_use_nulls", "cast_keep_nullable", "max_execution_time"
scratch = tempfile.TemporaryDirectory()
words = [b"clickhouse", b"--path=" + scratch.name.encode()]
connection = ctypes.cast(library.chdb_connect(len(words), (ctypes.c_char_p * len(words))(*words)),
                         ctypes.POINTER(ctypes.c_void_p))[0]


def ask(sql, form):
    result = library.chdb_query(connection, sql.encode(), form.encode())
    error = library.chdb_result_error(result)
    n = library.chdb_result_length(result)
    answer = ctypes.string_at(library.chdb_result_buffer(result), n) if n else b""
    if error:
        error = bytes(error)
        library.chdb_destroy_query_result(library.chdb_query(connection, b"SELECT 1", b"TSV"))  # the next one is empty
    library.chdb_destroy_query_result(result)
    return (500, error) if error else (200, answer)


def insert(sql, body):
    """INSERT ... FORMAT Parquet: the file's columns by name."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(body)
        file.flush()
        status, described = ask("DESCRIBE file('%s', Parquet)" % file.name, "TSVRaw")
        if status != 200:
            return status, described
        names = ", ".join(line.split("\t")[0] for line in described.decode().splitlines())
        table = sql.split()[2]
        return ask("INSERT INTO %s (%s) SELECT %s FROM file('%s', Parquet)" % (table, names, names, file.name), "TSV")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        login = self.headers.get("Authorization", "").partition(" ")[2]
        if base64.b64decode(login).decode().partition(":")[2] != password:
            status, answer = 403, b"Code: 516. DB::Exception: default: Authentication failed (AUTHENTICATION_FAILED)"
        elif "query" in query:
            status, answer = insert(query["query"], body)
        else:
            sql, _, form = body.decode().partition(" FORMAT ")
            kind = sql.split()[0].upper()
            if query.get("readonly") == "1" and kind not in ("SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN"):
                status, answer = 500, b"Code: 164. DB::Exception: Cannot execute query in readonly mode. (READONLY)"
            else:
                if "database" in query:
                    ask("USE " + query["database"], "TSV")
                settings = ["%s = %s" % (name, query[name]) for name in KEPT_SETTINGS
                            if name in query and form]
                sql += " SETTINGS " + ", ".join(settings) if settings else ""
                status, answer = ask(sql, form or "TSV")
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *words):
        pass


os.chdir(scratch.name)
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()

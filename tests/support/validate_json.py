#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads JSON documents and validates them against the schemas that ship with the program, each
against the one that it names.

    validate_json.py [--schema FILE | --lines | --many] [FILE...]
    validate_json.py --serve

Without a file, or for "-", standard input. With --lines each is what -F ndjson writes of one
snapshot, with --many of one after the other (watch). With --serve it reads names of files, one a line, and answers each with a
line: what is wrong with the document, nothing if it is valid. Says what is wrong on stderr; exit code 1 if anything is, 2 if it could not do its work. Stricter than
JSON Schema where that is lenient: 1.0 is no integer, a key stands once, NaN is no number, the text is UTF-8 and ends with a newline.
"""

import argparse
import functools
import json
import os
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTORY = os.path.join(os.environ.get("O", os.path.join(HERE, "..", "..", "build")), "schema")
SCHEMAS = ("zmem.snapshot", "zmem.compare", "zmem.system", "zmem.maps", "zmem.files",
           "zmem.incidents", "zmem.grow", "zmem.peak", "zmem.diff")


def unique_keys(pairs):
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise ValueError("a key stands twice: " + ", ".join(key for key, _ in pairs))
    return keys


def no_constant(word):
    raise ValueError(word + " is no number of JSON")


def parse(data):
    """The document in `data` (bytes). Raises ValueError."""
    if not data.endswith(b"\n"):
        raise ValueError("no newline at the end")
    return json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys,
                      parse_constant=no_constant)


def path_of(name):
    """The file of a schema."""
    return os.path.join(DIRECTORY, name + ".schema.json")


@functools.lru_cache(maxsize=None)
def validator(path):
    """A validator that accepts only integers as integers."""
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    base = jsonschema.Draft7Validator
    base.check_schema(schema)
    types = base.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool))
    return jsonschema.validators.extend(base, type_checker=types)(schema)


def problems(check, document):
    """The errors of the document, one a line."""
    errors = sorted(check.iter_errors(document), key=lambda error: list(map(str, error.path)))
    return ["%s: %s" % ("/".join(map(str, error.path)) or "document", error.message[:300])
            for error in errors]


def line_problems(check, data):
    """Likewise with the lines of one snapshot (bytes), which is the last of them."""
    found, types = [], []
    for number, line in enumerate(data.splitlines(True), 1):
        try:
            document = parse(line)
            wrong = problems(check, document)
            types.append(document.get("type") if isinstance(document, dict) else None)
        except ValueError as error:
            wrong = [str(error)]
        if len(line) >= 4096:
            wrong.append("%d bytes long" % len(line))
        found += ["line %d: %s" % (number, problem) for problem in wrong]
    last = "files" if types[-1:] == ["files"] else "snapshot"
    if types[-1:] != [last] or types.count(last) != 1:
        found.append("one snapshot, and as the last line, is not there")
    return found


def many_problems(check, data):
    """Likewise with the lines of any number of snapshots, each with its own time."""
    found, lines, times = [], [], []
    for line in data.splitlines(True):
        lines.append(line)
        if line.startswith(b'{"type":"snapshot"'):
            found += line_problems(check, b"".join(lines))
            times.append(parse(line).get("timestamp_ms"))
            lines = []
    if lines or not times:
        found.append("it does not end with a snapshot")
    if times != sorted(times):
        found.append("time goes back")
    return found


def schema_of(document):
    """The file of the schema that a document names. Raises ValueError."""
    name = document.get("schema") if isinstance(document, dict) else None
    if name not in SCHEMAS:
        raise ValueError("names none of our schemas: %r" % (name,))
    return path_of(name)


def document_problems(path, schema=None):
    """The errors of the document in a file. Raises OSError, ValueError."""
    with open(path, "rb") as file:
        document = parse(file.read())
    return problems(validator(schema or schema_of(document)), document)


def serve():
    os.closerange(3, 256)  # a process that waits for the end of a pipe must not wait for us
    for name in sys.stdin:
        try:
            found = document_problems(name[:-1])
        except (OSError, ValueError) as error:
            found = [str(error)]
        print(ascii("; ".join(found))[1:-1], flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schema")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("file", nargs="*", default=["-"])
    args = parser.parse_args()
    if args.serve:
        return serve()
    failed = False
    for name in args.file:
        try:
            if name == "-":
                data = sys.stdin.buffer.read()
            else:
                with open(name, "rb") as file:
                    data = file.read()
        except OSError as error:
            print("%s: %s" % (name, error.strerror), file=sys.stderr)
            return 2
        try:
            if args.many:
                found = many_problems(validator(path_of("zmem.ndjson")), data)
            elif args.lines:
                found = line_problems(validator(path_of("zmem.ndjson")), data)
            else:
                document = parse(data)
                found = problems(validator(args.schema or schema_of(document)), document)
        except (OSError, jsonschema.SchemaError) as error:
            print("%s: %s" % (args.schema, error), file=sys.stderr)
            return 2
        except ValueError as error:
            found = [str(error)]
        for problem in found:
            print("%s: %s" % (name, problem), file=sys.stderr)
        failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

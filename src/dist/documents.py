#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the JSON schemas and the pages of keys of what documents.txt says.

    documents.py schemas FIELDS DIRECTORY    writes DIRECTORY/NAME.schema.json of each document
    documents.py page FIELDS TEMPLATE        prints TEMPLATE with the keys of each document

FIELDS has the lists of fields, as `zmem-bpf completion fields` prints them."""
import json
import os
import re
import sys
import textwrap

MAX = 2**53 - 1
HEX = {"type": "string", "pattern": "^([0-9a-f]{2})+$"}
BASIC = {
    "count": {"type": "integer", "minimum": 0, "maximum": MAX},
    "bytes": {"type": "integer", "minimum": 0, "maximum": MAX},
    "change": {"type": "integer", "minimum": -MAX, "maximum": MAX},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "text": {"type": "string"},
    "hex": HEX,
    "{}": {"type": "object"},
}
# Of fields; a value of each may be unknown.
FIELD_TYPES = {
    "bytes": "bytes|null",
    "amount": "count|null",
    "number": "count|null",
    "percent": "number|null",
    "time": "count|null",
    "change": "change|null",
    "growth": "change|null",
    "text": "text|null",
    "bool": "bool|null",
    "ratio": "count|null",
    "object": "{}|null",
    "rows": "[]|null",
    "words": "[text]|null",
    "numbers": "[pid]|null",
    "address": "/^[0-9a-f]{8,16}$/|null",
}
STATUS_TYPES = ("status", "freed_status")
LIMITS = {"text": "Length", "hex": "Length", "[": "Items"}


class Key:
    """A key of an object, or one that stands for several: of a shape, or a line of raw schema."""

    def __init__(self, name, type_, text="", optional=False):
        self.name, self.type, self.text, self.optional = name, type_, text, optional
        self.below = Object()
        self.companions, self.most = [], 0


class Object:
    """What lies indented below a line."""

    def __init__(self):
        self.keys, self.shapes, self.raw = {}, [], {}


class Shape:
    """A document, a shape or a line, by its `kind`."""

    def __init__(self, kind, name, title, text, version=None):
        self.kind, self.name, self.title, self.text, self.version = kind, name, title, text, version
        self.object = Object()
        self.lines = []


def sentence(text):
    """The help of a field as a sentence. One that begins with a word of JSON keeps its first letter."""
    keeps = re.match("(ok|pss)\\b|[a-z]+[_.(]", text)
    return (text if keeps else text[:1].upper() + text[1:]) + "." if text else ""


class Documents:
    """documents.txt, read."""

    def __init__(self, path, fields):
        self.shapes, self.types, self.lists = {}, {}, {}
        for line in open(fields, encoding="utf-8"):
            name, key, type_, flags, most, most_hex, help_ = line.rstrip("\n").split("\t")
            known = "known" in flags
            type_ = FIELD_TYPES[type_].removesuffix("|null") if known else FIELD_TYPES[type_]
            field = Key(key, type_, sentence(help_), "optional" in flags)
            field.most = int(most)
            if "cut_true" in flags:
                field.companions.append(Key(key + "_truncated", "=true", "", True))
            if "cut_bool" in flags:
                field.companions.append(Key(key + "_truncated", "bool", "", field.optional))
            if "hex" in flags:
                field.companions.append(Key(key + "_hex", "hex", "", True))
                field.companions[-1].most = 2 * int(most_hex)
            self.lists.setdefault(name, []).append(field)
        shape, open_objects = None, []
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            body = line.strip("\t\n")
            depth = len(line) - len(line.lstrip("\t"))
            if not body or body.startswith("#"):
                continue
            try:
                if depth == 0:
                    shape = self.read_head(body, shape)
                    open_objects = [shape.object] if shape else []
                else:
                    self.read_line(body, open_objects[: depth], open_objects)
            except (KeyError, ValueError, IndexError) as error:
                sys.exit("%s:%d: %s: %r" % (path, number, body, error))

    def read_head(self, body, before):
        body, _, text = body.partition(" -- ")
        kind, rest = body.split(" ", 1)
        if kind == "type":
            name, type_ = rest.split(": ", 1)
            self.types[name] = type_
            return None
        name, title = rest.split(" ", 1)
        version = None
        if kind == "document":
            version, title = title.split(" ", 1)
        shape = Shape(kind, name, title, text, version)
        if kind == "document":
            self.document = shape
            shape.object.keys["schema"] = Key("schema", "=" + name)
            shape.object.keys["schema_version"] = Key("schema_version", "=" + version)
        elif kind == "line":
            self.document.lines.append(shape)
            shape.object.keys["type"] = Key("type", "=" + name)
            shape.object.shapes.append("line")
        elif kind != "shape":
            raise ValueError(kind)
        self.shapes[kind, name] = shape
        return shape

    def read_line(self, body, parents, open_objects):
        into = parents[-1]
        if body.startswith("! "):
            into.raw.update(json.loads(body[2:]))
            return
        if body.startswith("+"):
            into.shapes.append(body[1:])
            return
        if body.startswith("*"):
            self.add_fields(into, body[1:].rstrip("?"), body.endswith("?"))
            return
        body, _, text = body.partition(" -- ")
        names, _, type_ = body.partition(": ")
        optional = names.endswith("?")
        for name in names.rstrip("?").split(", "):
            key = into.keys.get(name)
            if key:
                key.type, key.text = type_ or key.type, text or key.text
                key.optional |= optional
                if "&" in type_:  # the keys of the shape, in place of the fields
                    key.below = Object()
            else:
                key = into.keys[name] = Key(name, type_, text, optional)
        del open_objects[len(parents):]
        open_objects.append(key.below)

    def add_fields(self, into, list_, optional=False):
        """The fields of a list, with those of the objects in them."""
        for field in self.lists[list_]:
            if field.name in self.keys_of(into):
                continue
            key = Key(field.name, field.type, field.text, optional or field.optional)
            key.companions, key.most = field.companions, field.most
            into.keys[key.name] = key
            if list_ + "." + key.name in self.lists:
                self.add_fields(key.below, list_ + "." + key.name)

    def keys_of(self, object_):
        """All keys, by name."""
        keys = {}
        for name in object_.shapes:
            keys.update(self.keys_of(self.shapes["shape", name].object))
        for key in object_.keys.values():
            keys[key.name] = key
            keys.update((companion.name, companion) for companion in key.companions)
        return keys

    # ---- schemas ----

    def schema_of_type(self, text, below, used):
        """The schema of a TYPE; adds the shapes that it names to `used`."""
        if text.startswith("["):
            inner, _, rest = text[1:].rpartition("]")
            rest, _, null = rest.partition("|")
            items = self.schema_of_type(inner, below, used) if inner else self.schema(below, used)
            schema = {"type": "array", "items": items, **self.limits("[", rest)}
        elif text.startswith("="):
            words = [None if w == "null" else True if w == "true" else w for w in text[1:].split("|")]
            return {"const": words[0]} if len(words) == 1 else {"enum": words}
        elif text.startswith("/"):
            pattern, _, null = text[1:].rpartition("/")
            schema, null = {"type": "string", "pattern": pattern}, null.lstrip("|")
        elif text.startswith("&"):
            names = [name[1:] for name in text.split("|") if name != "null"]
            used.update(names)
            refs = [{"$ref": "#/definitions/" + name} for name in names]
            refs += [{"type": "null"}] if text.endswith("|null") else []
            return refs[0] if len(refs) == 1 else {"oneOf": refs}
        else:
            text, _, null = text.partition("|")
            name, _, rest = text.partition(" ")
            if name in self.types:
                schema = self.schema_of_type(self.types[name], below, used)
            elif name == "version":
                schema = {"const": self.version}
            elif name == "{}":
                schema = self.schema(below, used)
            else:
                schema = {**BASIC[name], **self.limits(name, rest)}
        if null:
            if null != "null":
                raise ValueError(text)
            more = {"enum": [*schema["enum"], None]} if "enum" in schema else {"type": [schema["type"], "null"]}
            schema = {**schema, **more}
        return schema

    @staticmethod
    def limits(name, text):
        if not text.strip():
            return {}
        least, most = text.strip().split("..")
        if not least and not most:
            raise ValueError(text)
        end = LIMITS.get(name)
        words = ("min" + end, "max" + end) if end else ("minimum", "maximum")
        return {w: int(v) for w, v in zip(words, (least, most)) if v}

    def schema(self, object_, used):
        keys = self.keys_of(object_)
        raw = dict(object_.raw)
        for name in object_.shapes:
            raw.update(self.shapes["shape", name].object.raw)
        rules = list(self.rules_of_statuses(keys))
        if rules:
            raw["allOf"] = rules
        properties = {}
        for key in keys.values():
            schema = self.schema_of_type(key.type, key.below, used)
            if key.most:
                schema = {"maxLength": key.most, **schema}
            if key.text and "$ref" in schema:
                schema = {"allOf": [schema]}
            properties[key.name] = {**schema, **({"description": key.text} if key.text else {})}
        for name, more in raw.pop("properties", {}).items():
            properties[name].update(more)
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [key.name for key in keys.values() if not key.optional],
            "properties": properties,
            **raw,
        }

    @staticmethod
    def rules_of_statuses(keys):
        """A status is ok, or the value that it is of is null."""
        for status in (key.name for key in keys.values() if key.type in STATUS_TYPES):
            value = status.removesuffix("_status")
            name = next((value + end for end in ("_bytes", "_us") if value + end in keys), value)
            for ok in (True,) if "at_least" in keys else (True, False):
                said = {"required": [status], "properties": {status: {"const": "ok"} if ok else {"not": {"const": "ok"}}}}
                then = {"properties": {name: {"not": {"const": None}} if ok else {"const": None}}}
                yield {"if": said, "then": then}

    def document_schema(self, document):
        self.version = document.version
        used, definitions = set(), {}
        head = {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$id": document.name + ".schema.json",
            "$comment": "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause",
            "title": document.name + " " + document.version,
            "description": document.text,
        }
        if document.lines:
            body = {"oneOf": [{"$ref": "#/definitions/" + line.name} for line in document.lines]}
            for line in document.lines:
                definitions[line.name] = self.schema(line.object, used)
        else:
            body = self.schema(document.object, used)
        while used - set(definitions):
            name = min(used - set(definitions))
            shape = self.shapes["shape", name]
            definitions[name] = self.schema(shape.object, used)
            if shape.text:
                definitions[name]["description"] = shape.text
        return {**head, **body, "definitions": definitions}

    def write_schemas(self, directory):
        os.makedirs(directory, exist_ok=True)
        for document in self.of_kind("document"):
            path = os.path.join(directory, document.name + ".schema.json")
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.document_schema(document), file, indent=1, ensure_ascii=False)
                file.write("\n")
            os.replace(path + ".new", path)


    # ---- the manual page ----

    def page(self, template):
        """The template; a line "@keys NAME" becomes the keys of a document. A shape stands below the
        first document that has it, or below the lines that have it."""
        sections, printed = {}, set()
        for document in sorted(self.of_kind("document"), key=lambda document: bool(document.lines)):
            sections[document.name] = self.document_on_page(document, printed)
        return re.sub(r"(?m)^@keys (.*)$", lambda found: "\n".join(sections[found[1]]), template)

    def of_kind(self, kind):
        return [shape for (its_kind, _), shape in self.shapes.items() if its_kind == kind]

    def document_on_page(self, document, printed):
        todo, lines = [], mdoc(document.text)
        for line in document.lines:
            lines += [".Ss " + titled(line), "Its", ".Li type", "is", ".Li " + line.name + " ."]
            lines += self.object_on_page(line.object, todo)
        if not document.lines:
            lines += self.object_on_page(document.object, todo)
        while todo:
            shape = self.shapes["shape", todo.pop(0)]
            if shape.name not in printed:
                printed.add(shape.name)
                lines += [".Ss " + titled(shape), *mdoc(shape.text)]
                lines += self.object_on_page(shape.object, todo)
        return lines

    def object_on_page(self, object_, todo, compact=False):
        """Its keys as a list; adds the shapes that it names to `todo`."""
        todo += object_.shapes
        titles = ["\n.Sx " + titled(self.shapes["shape", name]) for name in object_.shapes]
        lines = ["It has the keys of" + "\nand".join(titles) + " ."] if titles else []
        keys = [key for key in object_.keys.values() if key.name not in ("schema", "schema_version", "type")]
        if not keys:
            return lines
        lines.append(".Bl -tag -width Ds" + (" -compact" if compact else ""))
        while keys:
            first, same = keys[0], []
            while keys and keys[0].text == first.text and (first.text or keys[0].type == first.type):
                same.append(keys.pop(0))
            names = [k.name for key in same for k in (key, *key.companions)]
            lines += [".It Xo", *listed(names), ".Xc"] if len(names) > 2 else [".It Li " + " , ".join(names)]
            lines += mdoc(first.text) + self.type_on_page(first.type, todo)
            lines += self.object_on_page(same[-1].below, todo, True)
        return [*lines, ".El"]

    def type_on_page(self, text, todo):
        text = self.types.get(text, text).strip("[]")
        if text.startswith("="):
            words = text[1:].split("|")
            if len(words) == 1:
                return [] if words == ["true"] else ["It is", ".Li " + words[0] + " ."]
            return ["One of", *listed(words[:-1]), "and", ".Li " + words[-1] + " ."]
        lines = []
        for name in re.findall("&([a-z_]+)", text):
            todo.append(name)
            lines += ["See", ".Sx " + titled(self.shapes["shape", name]) + " ."]
        return lines


def titled(shape):
    """Its title as arguments of mdoc: the first word may be the name of a macro."""
    return "\\&" + shape.title


def listed(words):
    """Words as lines of mdoc, with commas between them."""
    text = textwrap.wrap(" , ".join(words), 70, break_long_words=False, break_on_hyphens=False)
    return [".Li " + re.sub("^, ", "", line) for line in text]


def mdoc(text):
    """Text as lines of mdoc: a sentence begins a line, and pages are references."""
    lines = []
    for part in re.split(r"(?<=[.]) (?=[A-Z0-9a-z])", text):
        part = re.sub(r"(?<![\w-])-(?=[-\w])", r"\\-", part.replace("\\", "\\e"))
        part = re.sub(r" ?(zmem-bpf[a-z-]*)\((\d)\)([.,]?) ?", lambda m: "\n.Xr %s %s %s\n" % m.groups(), part)
        for piece in part.split("\n"):
            lines += [piece.strip()] if piece.startswith(".") else textwrap.wrap(piece, 78, break_on_hyphens=False)
    return lines


def main():
    verb, fields, argument = sys.argv[1:]
    documents = Documents(os.path.join(os.path.dirname(sys.argv[0]), "documents.txt"), fields)
    if verb == "schemas":
        documents.write_schemas(argument)
    else:
        sys.stdout.write(documents.page(open(argument, encoding="utf-8").read()))


main()

"""Hooks of schemathesis for the tunnel gateway: most ids that it makes up are those of rows that exist, few of these get
removed, and half of the texts are what their fields are for, so that requests get beyond the checks of single fields."""

import os
import zlib

import schemathesis

HIGHEST = int(os.environ["SCHEMATHESIS_HIGHEST_ID"])
PASSWORD = os.environ["SCHEMATHESIS_PASSWORD"]
# What a schema with ids allows at most.
LARGEST = 2**53 - 1

TEXTS = {
    "host": lambda number: f"h{number}.example.com",
    "url": lambda number: f"https://hooks.example.com/{number}",
    "callback_url": lambda number: f"https://verify.example.com/{number}",
    "target_addr": lambda number: f"target.example.com:{number % 65535 + 1}",
    "pattern": lambda number: f"192.0.2.{number % 256}",
    "ip": lambda number: f"192.0.2.{number % 256}",
    "listen_ip": lambda number: "127.0.0.1",
    "location": lambda number: f"/{number}",
    "current_password": lambda number: PASSWORD,
}


def existing(value):
    """Ids far away become low ones; what is no id stays as it is, for it is what is to be refused."""
    return value % HIGHEST + 1 if type(value) is int and HIGHEST < value <= LARGEST else value


def last(value):
    """The highest two ids; else nothing would be left to ask about."""
    return HIGHEST - value % 2 if type(value) is int and value > 0 else value


def fitting(name, value):
    """Only in place of a text that the schema allows: what it does not allow is there to be refused."""
    if name not in TEXTS or type(value) is not str or not 1 <= len(value) <= 40 or not value.isprintable():
        return value
    number = zlib.crc32(value.encode("utf-8", "surrogatepass"))
    return TEXTS[name](number >> 1) if number % 2 else value


def changed(fields):
    if not isinstance(fields, dict):
        return fields
    ids = {name: existing(value) if str(name).endswith("_id") else value for name, value in fields.items()}
    return {name: fitting(name, value) for name, value in ids.items()}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if not isinstance(path_parameters, dict):
        return path_parameters
    low = {name: existing(value) for name, value in path_parameters.items()}
    if context.operation.method.upper() != "DELETE":
        return low
    return {name: last(value) for name, value in low.items()}


@schemathesis.hook
def map_query(context, query):
    return changed(query)


@schemathesis.hook
def map_body(context, body):
    return changed(body)

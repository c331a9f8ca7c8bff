"""Hooks of schemathesis: most ids that it makes up are those of rows that exist."""

import os

import schemathesis

HIGHEST = int(os.environ["SCHEMATHESIS_HIGHEST_ID"])


def existing(value):
    """Ids far away become low ones; what is no id stays as it is, for it is what is to be refused."""
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value % HIGHEST + 1 if plain and value > HIGHEST else value


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if not isinstance(path_parameters, dict):
        return path_parameters
    return {name: existing(value) for name, value in path_parameters.items()}


@schemathesis.hook
def map_query(context, query):
    if not isinstance(query, dict):
        return query
    return {name: existing(value) if str(name).endswith("_id") else value for name, value in query.items()}


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    return {name: existing(value) if str(name).endswith("_id") else value for name, value in body.items()}

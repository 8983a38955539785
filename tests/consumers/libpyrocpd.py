# SPDX-License-Identifier: MIT
"""Replaces the compiled part of rocprofiler-sdk's rocpd with sqlite3. It provides the functions
that the Python part calls, so that `rocpd query` and `rocpd summary` run from a checkout.
Conversions to other formats need the compiled part and are not supported here."""

import os
import pathlib
import sqlite3


class _Names:
    def __getattr__(self, name):
        return name


class schema_jinja_variables:
    uuid = guid = ""


class output_config:
    def __init__(self, *arguments, **options):
        self.__dict__.update(options)

    def __getattr__(self, name):
        return None


sql_engine = sql_schema = sql_option = _Names()


def connect(path, *arguments, **options):
    return sqlite3.connect(path, *arguments, **options)


def load_schema(engine, kind, options, variables):
    text = (pathlib.Path(os.environ["ROCPD_SCHEMA"]) / f"{kind}.sql").read_text()
    return text.replace("{{uuid}}", variables.uuid).replace("{{guid}}", variables.guid)


def format_path(path, tag=""):
    return path


class RocpdImportData:
    def __init__(self, connection, filenames=()):
        self.connection = getattr(connection, "connection", connection)
        self.filenames = list(filenames)

#!/usr/bin/env python3
"""Compares every Parquet table of a folder with its CSV file, cell by cell, as pyarrow and pandas read them.

Usage: check_parquet.py FOLDER; prints the number of compared cells.
"""

import csv
import decimal
import math
import pathlib
import sys

import pandas
import pyarrow
import pyarrow.parquet

TYPES = {"int64", "double", "bool", "string", "decimal128(38, 0)"}
folder = pathlib.Path(sys.argv[1])
compared = 0


def same(cell, value):
    """Compares a cell of a CSV file, where blanks are nulls or empty texts and formulas are quoted, with a typed value."""
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == ("true" if value else "false")
    if isinstance(value, (int, decimal.Decimal)):
        return int(cell) == int(value)
    if isinstance(value, float):
        return float(cell) == value or math.isnan(value)
    return cell in (value, f"'{value}")


for path in sorted(folder.glob("*.parquet")):
    table = pyarrow.parquet.read_table(path)
    with open(path.with_suffix(".csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert table.column_names == rows[0], path
    assert len(set(rows[0])) == len(rows[0]), f"{path}: two columns of one name"
    assert table.num_rows == len(rows) - 1, path
    assert {str(field.type) for field in table.schema} <= TYPES, table.schema
    frame = pandas.read_parquet(path)
    assert list(frame.columns) == rows[0] and len(frame) == table.num_rows
    for index, name in enumerate(table.column_names):
        for row, value in zip(rows[1:], table.column(index).to_pylist()):
            assert same(row[index], value), f"{path} {name}: {row[index]!r} is not {value!r}"
            compared += 1
print(compared)

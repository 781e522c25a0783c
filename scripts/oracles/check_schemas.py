"""Compares guardbit's check of JSON values against its schemas with that of the package `jsonschema`.

Reads a JSON object per line. `{"schema": ...}` starts a schema; `{"value": ..., "places": [...]}` is a value with the
JSON pointers at which guardbit reports a violation. Prints the number of compared values, and exits with 1 at the first
difference.
"""

import json
import sys

from jsonschema import Draft202012Validator


def place(error):
    return "/" + "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in error.absolute_path)


validator, compared, broken = None, 0, 0
for line in sys.stdin:
    row = json.loads(line)
    if "schema" in row:
        Draft202012Validator.check_schema(row["schema"])
        validator = Draft202012Validator(row["schema"])
        continue
    errors = list(validator.iter_errors(row["value"]))
    ours, theirs = set(row["places"]), {place(error) for error in errors}
    # For alternatives, guardbit reports a pointer within the most likely one.
    choices = {place(error) for error in errors if error.validator in ("anyOf", "oneOf")}
    within = lambda at: any(at == choice or at.startswith(choice.rstrip("/") + "/") for choice in choices)
    same = {at for at in ours if not within(at)} == {at for at in theirs if not within(at)}
    if bool(ours) != bool(theirs) or not same:
        print(f"guardbit: {sorted(ours)}; jsonschema: {sorted(theirs)}; {json.dumps(row['value'])[:2000]}")
        sys.exit(1)
    compared += 1
    broken += bool(theirs)
print(f"{compared} values compared, {broken} of them break their schema")

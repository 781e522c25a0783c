"""The exception for invalid arguments and input, with messages in terms of Python."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._table import NAMES


class Place(NamedTuple):
    """Place of a problem in a text file; line and column from 1."""

    file: str
    line: int
    column: int


class GuardbitError(Exception):
    """An argument or an input is invalid.

    `code` is a stable identifier of the kind of error. `place` is its place in a file, or None. `help` is a hint on how
    to resolve it, or None.
    """

    code: str
    place: Place | None
    help: str | None

    def __init__(
        self,
        message: str,
        code: str = "guardbit::usage",
        place: tuple[str, int, int] | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.place = None if place is None else Place(*place)
        self.help = help

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.help is None else f"{text}\nhelp: {self.help}"

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are sent between processes, e.g. of a farm.
        return (type(self), (super().__str__(), self.code, self.place, self.help))


class GuardbitWarning(UserWarning):
    """An input was changed, for example real values that float32 cannot represent."""


def warn(message: str) -> None:
    """Issues a warning at the line outside this package that made the call."""
    package = os.path.dirname(__file__)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, GuardbitWarning, stacklevel=level)


#: Arguments that are mappings: the option is followed by a key with its value.
_MAPPINGS = ("set", "axes", "dim")
#: Python call that corresponds to each command.
_CALLS = {
    "hw list": "guardbit.presets()",
    "hw show": "guardbit.accelerator(hw)",
    "hw schema": "guardbit.schema('hw')",
    "graph schema": "guardbit.schema('graph')",
    "cost schema": "guardbit.schema('cost')",
    "study schema": "guardbit.schema('study')",
    "plot": "result.plot(column, x=..., by=...)",
    "inspect": "guardbit.load(model).nodes()",
    "help quantize": "help(guardbit.quantize)",
}
_COMMANDS = ("run", "sweep", "size", "explore", "vectors", "quantize", "merge", "compare")


def in_python(text: str) -> str:
    """Returns a message of the command line with names of arguments instead of options, and calls instead of commands."""

    def call(found: re.Match[str]) -> str:
        command = found[1]
        for name, python in _CALLS.items():
            if command == name or command.startswith(f"{name} "):
                return f"`{python}`"
        first = command.split(" ")[0]
        return f"`guardbit.{first}`" if first in _COMMANDS else found[0]

    def option(found: re.Match[str]) -> str:
        name = NAMES.get(found[1], found[1].replace("-", "_"))
        if found[2] is None:
            return name
        key, equals, value = found[2].partition("=")
        if name in _MAPPINGS and equals:
            return f'{name}={{"{key}": {value}}}'
        return f"{name} {found[2]}" if name in _MAPPINGS else f"{name}={found[2]}"

    text = text.replace("an axis is KEY=VALUES", "an axis is a key with its values")
    text = re.sub(r"\baxis `([^`]+)`", r"axes['\1']", text)
    text = re.sub(r"`guardbit ([^`]+)`", call, text)
    # The text that follows is a value if it is in capitals, e.g. KEY=VALUE or N, or has a key before it.
    text = re.sub(r"(?<![\w-])--([a-z][a-z-]*)(?: ([A-Z][A-Z/]*(?:\.npy|:[a-z]+)?(?:=[A-Z]+)?(?![\w])|[\w.:\[\]]+=[^\s,;:]+))?", option, text)
    return re.sub(r"(?<![\w-])-o ([A-Z]+)", r"out=\1", text)


def attributed(error: GuardbitError, arguments: Mapping[str, Any]) -> GuardbitError:
    """Returns an error that names the argument whose value it mentions, if it names none."""
    message = Exception.__str__(error)
    names = "|".join(map(re.escape, arguments))
    # Most names are words that a message may contain anyway.
    if re.search(rf"^({names})\b|`({names})`|(?<![\w./-])({names})[:=[]", message):
        return error
    for name, given in arguments.items():
        parts = {f"{name}[{key!r}]": [key, value] for key, value in given.items()} if isinstance(given, Mapping) else {name: given}
        for part, value in parts.items():
            if any(f"`{word}`" in message or message.startswith(f"{word}:") for word in _words(value)):
                return type(error)(f"{part}: {message}", error.code, error.place, error.help)
    return error


def _words(given: Any) -> Iterator[str]:
    """Returns the forms in which messages may mention a value: as a text, as a path, as the folder that contains it, or
    as part of a key.
    """
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        if isinstance(text, str) and text:
            path = os.path.abspath(text)
            yield from (text, path, os.path.dirname(path), *re.split(r"[:=.]", text))
    elif isinstance(given, (list, tuple)):
        for one in given:
            yield from _words(one)


@contextmanager
def translated(files: Mapping[str, str]) -> Iterator[None]:
    """Translates errors raised within: options, and the `files` that represent arguments, are replaced with names of arguments."""
    try:
        yield
    except GuardbitError as error:
        raise _named(error, files) from None


def _named(error: GuardbitError, files: Mapping[str, str]) -> GuardbitError:
    def named(text: str) -> str:
        for path in sorted(files, key=len, reverse=True):
            # A place in a file that was written for an argument is meaningless to the user.
            text = re.sub(re.escape(path) + r"(?::\d+)*", lambda _, path=path: files[path], text)  # type: ignore[misc]
        return in_python(text)

    place = error.place if error.place is None or error.place.file not in files else None
    message = named(Exception.__str__(error))
    if error.place is not None and place is None and not message.startswith(files[error.place.file]):
        message = f"{files[error.place.file]}: {message}"
    return type(error)(message, error.code, place, None if error.help is None else named(error.help))

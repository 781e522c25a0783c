"""The exception of everything that is wrong with what was asked for."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """Where in a text file something is wrong; line and column from 1."""

    file: str
    line: int
    column: int


class GuardbitError(Exception):
    """Something is wrong with what was asked for.

    `code` is a name of the kind of error that does not change, `place` says where in a file it is (or is None), `help` what
    may help (or is None).
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
        # Exceptions travel between processes, as those of a farm.
        return (type(self), (super().__str__(), self.code, self.place, self.help))

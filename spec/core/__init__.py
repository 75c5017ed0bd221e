"""The vocabulary of brokerlaw: one module a word."""

from .case import BadCase, Case, check_case, read_case, write_case
from .dialect import TEXT, TEXT_DIALECT, Deviation, Dialect
from .domain import Field, Shape, choice, fields_of, flag, integer, maybe
from .law import VACUOUS, Broken, Law, Vacuous, Verdict, always, sometimes, step, within
from .model import Action, Model
from .scope import Scope, every, simplest, small_scope
from .subject import NOT_OBSERVED, Cloneable, Subject, shape_problems, unobserved_by, unsupported_by
from .system import NoHistory, System

__all__ = [
    "NOT_OBSERVED",
    "TEXT",
    "TEXT_DIALECT",
    "VACUOUS",
    "Action",
    "BadCase",
    "Broken",
    "Case",
    "Cloneable",
    "Deviation",
    "Dialect",
    "Field",
    "Law",
    "Model",
    "NoHistory",
    "Scope",
    "Shape",
    "Subject",
    "System",
    "Vacuous",
    "Verdict",
    "always",
    "check_case",
    "choice",
    "every",
    "fields_of",
    "flag",
    "integer",
    "maybe",
    "read_case",
    "shape_problems",
    "simplest",
    "small_scope",
    "sometimes",
    "step",
    "unobserved_by",
    "unsupported_by",
    "within",
    "write_case",
]

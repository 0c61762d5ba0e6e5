"""Forms that agents want filled in: what they ask for, and whether an answer fits."""

from acpls.forms.checking import Unfit, fitted
from acpls.forms.document import (
    DECLINE,
    SEND,
    Filled,
    Problem,
    filled,
    is_form_file,
    is_text_of,
    written,
)
from acpls.forms.fields import Choice, Field, Form, Unreadable
from acpls.forms.reading import read
from acpls.forms.simple import answers_of, is_simple
from acpls.forms.words import described

__all__ = [
    "DECLINE",
    "SEND",
    "Choice",
    "Field",
    "Filled",
    "Form",
    "Problem",
    "Unfit",
    "Unreadable",
    "answers_of",
    "described",
    "filled",
    "fitted",
    "is_form_file",
    "is_simple",
    "is_text_of",
    "read",
    "written",
]

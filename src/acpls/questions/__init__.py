"""Questions from agents, each answered exactly once."""

from acpls.questions.about import About
from acpls.questions.broker import DECLINE, OPEN, OPENED, Questions
from acpls.questions.question import Question, SettledBy
from acpls.questions.told import Part, Told

__all__ = [
    "DECLINE",
    "OPEN",
    "OPENED",
    "About",
    "Part",
    "Question",
    "Questions",
    "SettledBy",
    "Told",
]

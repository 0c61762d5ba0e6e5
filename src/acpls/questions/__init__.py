"""Questions from agents, each answered exactly once."""

from acpls.questions.broker import ACCEPT, DECLINE, FILL, OPEN, OPENED, Questions
from acpls.questions.question import Question, SettledBy

__all__ = [
    "ACCEPT",
    "DECLINE",
    "FILL",
    "OPEN",
    "OPENED",
    "Question",
    "Questions",
    "SettledBy",
]

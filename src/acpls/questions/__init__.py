"""Questions from agents, each answered exactly once."""

from acpls.questions.broker import DECLINE, OPEN, OPENED, Questions
from acpls.questions.question import Question, SettledBy

__all__ = ["DECLINE", "OPEN", "OPENED", "Question", "Questions", "SettledBy"]

"""Claims of agents, the changes they stand for, and verdicts on their hunks. Pure."""

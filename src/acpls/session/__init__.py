"""The neutral model of a session, in the words of ACP 2."""

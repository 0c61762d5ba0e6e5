"""The rim towards agents: processes, their wire, files."""

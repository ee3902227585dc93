"""Plugins: systems and metrics from the user's Python files.

`load.py` reads a plugin, pins it by its hash, and runs it once per process. `adapters.py` turns its objects into
systems and metrics like NWS's own, and checks what they return.
"""

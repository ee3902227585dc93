"""Plugins: systems and metrics from outside, from a Python file.

`load.py` reads one, pins it by its hash, and runs it once in a process. `adapters.py` makes of it systems and metrics
like NWS's own, and checks what they return.
"""

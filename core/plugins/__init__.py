"""Plugins: systems and metrics from outside, from a Python file or from an installed package.

`load.py` finds one, pins its code, and runs it once in a process. `adapters.py` makes systems and metrics like NWS's
own of it, and checks what they return.
"""

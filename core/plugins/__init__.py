"""Plugins: systems and metrics from outside, from a Python file or from an installed package.

`load.py` finds one, pins its code, and runs it once in a process. `plugin_system.py` and `plugin_metric.py` check what
it has and what that returns, and make systems and metrics like NWS's own of it.
"""

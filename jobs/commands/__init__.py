"""The commands of `nws`, one file for each thing a person wants to do. `jobs/cli.py` puts them together.

Heavy imports (torch, transformers, spacy, matplotlib, asyncio) stay inside the commands that need them: `nws --help`
and `nws ls` answer at once.
"""

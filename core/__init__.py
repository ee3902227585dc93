"""The science of NWS: text, models, systems, metrics, learning, analysis. Usable without Ray or a database."""

import os

# MKL reads it at its first product, and any module of NWS may be the first to multiply. See core/arithmetic.py.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

# Before any other module of NWS is imported: it hashes the sources.
from nws.core import provenance as provenance

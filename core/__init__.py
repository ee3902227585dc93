"""The science of NWS: text, summarizers, metrics, analysis. Usable from a notebook without Ray or a database."""

"""The API of `import nws`: the jobs, the store and the metrics, from Python objects to pandas frames."""

import importlib
import warnings

with warnings.catch_warnings():  # transformers and others import it: in a notebook without ipywidgets it warns, once
    warnings.filterwarnings("ignore", message="IProgress not found")
    importlib.import_module("tqdm.auto")

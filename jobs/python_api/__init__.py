"""The API of `import nws`: the jobs, the store and the metrics, from Python objects to pandas frames."""

import importlib
import warnings

# transformers and others import tqdm, which warns once in a notebook without ipywidgets.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="IProgress not found")
    importlib.import_module("tqdm.auto")

"""Devices by name: the only place that makes a `torch.device`."""

import torch


def find_device(name: str) -> torch.device:
    """The device called `cpu`, or `cuda`: the GPU that this process uses, with its index.

    Without an index, some functions of `torch.cuda` take a device and others raise a ValueError.
    """
    return torch.device(name, torch.cuda.current_device()) if name == "cuda" else torch.device(name)

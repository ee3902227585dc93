"""The Ray side of NWS: the only package that imports ray."""

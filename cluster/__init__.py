"""The Ray side of NWS, which is the only package that imports ray."""

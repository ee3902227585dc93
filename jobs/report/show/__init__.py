"""`nws show`: articles of a run, with all that was written of them."""

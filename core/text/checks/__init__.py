"""Checks of users' texts for what may make results wrong without an error. `all_checks` lists them."""

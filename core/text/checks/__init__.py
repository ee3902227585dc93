"""Checks of the texts that people bring: what may make a number wrong without an error. `all_checks` lists them."""

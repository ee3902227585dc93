"""What a person runs of NWS: the command line, recipes, the Phase 1 driver, the store and the reports."""

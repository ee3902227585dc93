"""Phase 2: the environment, the policies, REINFORCE and its optimizer. `core/episodes.py` has the unit of work."""

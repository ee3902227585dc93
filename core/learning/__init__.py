"""Phase 2: the environment, the policies, REINFORCE and its optimizer. The unit of work is `core/episodes.py`."""

"""The paper's whole evaluation (section 3, and the claims of sections 2.2 and 2.3): ``python -m studies.reproduce``."""

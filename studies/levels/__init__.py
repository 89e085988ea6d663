"""Level and power of every null, and the level of the default test: ``python -m studies.levels``."""

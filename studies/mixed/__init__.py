"""Level and power of ``btests.compare`` on real tables of mixed columns: ``python -m studies.mixed``."""

"""How ``btests.compare`` does on real tables of mixed columns: ``python -m studies.mixed``."""

"""``btests.compare`` beside other tools on real pairs of tables: ``python -m studies.real_pairs``."""

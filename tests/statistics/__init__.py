# ruff: noqa: A005 (mirrors btests.statistics)

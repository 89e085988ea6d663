"""Wheels and source distributions, installed in clean environments: ``make wheel``."""

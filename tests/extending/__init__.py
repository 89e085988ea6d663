"""Statistics that are not part of the package, written against its protocols alone."""

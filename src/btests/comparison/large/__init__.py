"""Tables larger than memory: columns from rows drawn at random, the joint test on all rows."""

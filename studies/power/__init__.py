"""Power and CPU time of the default test beside other two-sample tests, on problems of many kinds."""

"""The evaluation of the paper: the problems that tests are tried on, and the studies that try them."""

"""Run the command line as ``python -m btests``."""

from btests.cli import main

if __name__ == "__main__":
    main()

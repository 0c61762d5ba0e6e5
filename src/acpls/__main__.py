"""``python -m acpls``."""

from acpls.cli import main

if __name__ == "__main__":
    main()

"""``python -m discreet.demo``, which is what ``make demo`` shows."""

from discreet.cli.demonstration import main

if __name__ == "__main__":
    main()

"""``python -m discreet.demo``."""

from discreet.demo import main

main()

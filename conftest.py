"""What holds for all tests, also for the examples in ``src``."""

pytest_plugins = ("support.tiers",)

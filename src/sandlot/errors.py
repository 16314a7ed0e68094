"""The one exception for mistakes a user can make and mend.

Its message is a single line that says what was wrong and what would be right;
the command line prints just that line and exits with status 2.
"""


class SandlotError(Exception):
    """What was wrong and what would be right, in one line, whatever it quotes."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))

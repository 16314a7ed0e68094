"""How fitted models and controllers are kept and run."""

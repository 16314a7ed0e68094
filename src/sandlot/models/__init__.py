"""How fitted models and controllers are kept on disk, each with a card, and the compiled nets among them."""

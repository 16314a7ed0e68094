"""The web page on which worlds are watched and driven, recordings replayed, studies run and logs mapped."""

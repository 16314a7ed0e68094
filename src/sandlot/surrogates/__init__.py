"""Surrogates: models fitted from recordings that stand in for physics or for a sensor."""

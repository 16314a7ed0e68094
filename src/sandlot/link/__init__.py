"""Talking to a rover over a network: protocol, server and client (`sandlot.link.client.Client`)."""

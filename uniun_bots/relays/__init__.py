"""The only door to relays: gateway, repair, sending, the local relay and its fault proxy."""

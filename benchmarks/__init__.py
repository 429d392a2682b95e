"""Measurements, each a ratio between us and what a user could pick instead. ``make bench`` runs them all."""

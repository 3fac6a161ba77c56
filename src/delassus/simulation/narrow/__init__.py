"""Contacts of two shapes that are close: one file a family of pairs."""

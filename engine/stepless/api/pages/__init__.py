"""Renders the HTML pages that the API serves itself: those of signed links, and its documentation."""

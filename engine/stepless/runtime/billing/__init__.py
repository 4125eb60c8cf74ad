"""What runs cost: what was spent so far, kept in the header, and an estimate for runs whose requests are not counted."""

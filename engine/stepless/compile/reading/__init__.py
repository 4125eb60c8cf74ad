"""Documents as text: YAML and JSON read strictly, with the line of every fault, and written back."""

"""What `stepless doctor` checks: every stored value, then what the values say of each other. It changes nothing."""

"""What a user would pick instead, each in an environment of its own (.tools/peers), measured by the same clock."""

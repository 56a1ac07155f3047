"""What is written from the tables of navd; see operations.py."""

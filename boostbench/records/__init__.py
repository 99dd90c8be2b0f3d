"""What is on record: files of records, and what is known of them."""

"""What a report consists of: its subject, sentences, tables, pictures, and how they are kept."""

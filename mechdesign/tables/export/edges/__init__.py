"""What is written about tables in each language. Runtimes (`mechdesign/runtimes`) are carried as they stand."""

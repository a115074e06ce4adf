"""How values go to files and come back: strict JSON, atomic files, doubles as whole numbers."""

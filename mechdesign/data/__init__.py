"""The one door for data about people: columns and headers of CSV and Parquet files, and what counts as a number.

Whatever reads data reads it through here, so that all commands agree on

* **headers** (`headers`): with ``column`` the first line of a CSV file holds the names of its columns. Without it the
  data are one column, and the first line is a name only where it can be no value: a word above nothing but numbers,
  or above nothing but items that are known beforehand and not like it. It is then taken for a name, with a `TakenName`
  warning. Parquet files and data frames know their names, and need ``column`` only if they have several;
* **numbers** (`numbers`): digits as files and people write them, not all that Python reads;
* **errors**: place and rule are named and values are not (`mechdesign.errors.InvalidData`);
* **limits**: files are read in pieces. A line is at most `text.LONGEST_LINE` characters long, and what is no regular
  file, such as a pipe, at most `files.MOST_PIPED`.
"""

"""What the words of a problem must have in common, and how it is said: a module a kind of loss.

`mechdesign.words.problem.FITS` lists them. A module has two functions: ``settled(problem)`` gives the fields that
follow from the other words, or raises `InvalidInput` where words do not fit; ``words(problem)`` says what is certified.
"""

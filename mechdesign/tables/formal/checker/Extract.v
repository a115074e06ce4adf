(* The checks as a program of OCaml; whole numbers are Zarith's. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Mechdesign Require Import Tables.
Extraction "checks.ml" check check_limits.

(* The checks as a program of OCaml; whole numbers are Zarith's. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Mechdesign Require Import Tables Optima Line Pairs Unbiased Workload.
Extraction "checks.ml" check check_limits check_finite check_line check_pairs check_unbiased check_workload.

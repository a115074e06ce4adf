(* What a table of whole numbers draws, and a check that makes it private.

   A table answers an input with a report, at random. Each kind of table is a formula for the chance of a report given
   an input, and [check] decides by whole numbers whether any two inputs have nearly the same chances: nearer than a
   factor e^epsilon. That it decides rightly is [private], for all tables, inputs and reports. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Binomial.
From Mechdesign Require Import Sums Exponential.
Import ListNotations.
Open Scope R_scope.

(* ---- the kinds of tables, with the numbers that a table file holds ---- *)

Inductive law :=
| Finite (outputs : nat) (rows : list (list Z))
| Window (outputs rows : nat) (base caps starts : list Z)
| Pieces (cells inside weight : Z)
| Additive (weights : list Z) (tail : Z)
| Response (count own other : Z)
| Unary (count : Z) (own_zero own_one other_zero other_one : Z)
| Hashing (count hashes own other : Z)
| Subset (count chosen own other : Z)
| Hadamard (count blocks own other : Z)
| Sketch (count functions buckets : Z) (own_zero own_one other_zero other_one : Z).

(* epsilon is num / den, and cap at most 2^96 e^epsilon *)
Record table := { num : Z; den : Z; bits : Z; cap : Z; the_law : law }.

Definition whole (t : table) : Z := 2 ^ bits t.
Definition epsilon (t : table) : R := IZR (num t) / IZR (den t).

(* ---- what comes out, and what goes in ---- *)

(* A number of an output, a cell, a place on a grid, an item; a set as one bit an item; a seed and a group. *)
Definition report (l : law) : Type :=
  match l with
  | Finite _ _ | Window _ _ _ _ _ => nat
  | Pieces _ _ _ | Additive _ _ | Response _ _ _ => Z
  | Unary _ _ _ _ _ | Subset _ _ _ _ => list bool
  | Hashing _ _ _ _ | Hadamard _ _ _ _ => Z * Z
  | Sketch _ _ _ _ _ _ _ => Z * list bool
  end.

(* Inputs are counted from 0: rows of the table, first cells of a window, steps of a grid, items. *)
Definition inputs (l : law) : Z :=
  match l with
  | Finite _ rows => Z.of_nat (length rows)
  | Window _ _ _ _ starts => Z.of_nat (length starts)
  | Pieces cells _ _ => cells
  | Additive weights _ => Z.of_nat (length weights) + 1
  | Response count _ _ | Unary count _ _ _ _ | Hashing count _ _ _ | Subset count _ _ _
  | Hadamard count _ _ _ | Sketch count _ _ _ _ _ _ => count
  end.

Definition input (t : table) (x : Z) : Prop := (0 <= x < inputs (the_law t))%Z.

(* ---- the chance of a report given an input ---- *)

Definition entry (row : list Z) (j : nat) : Z := nth j row 0%Z.
Definition sums (row : list Z) : Z := fold_right Z.add 0%Z row.

(* Row [start] of a window: from every cap the base is filled up within the stretch [start, start + room] of all that
   lies between base and caps, laid end to end. *)
Definition between (room u : Z) : Z := Z.min (Z.max u 0) room.
Fixpoint filled (start room at_ : Z) (base caps : list Z) : list Z :=
  match base, caps with
  | b :: base', c :: caps' =>
      (b + (between room (at_ + (c - b) - start) - between room (at_ - start)))%Z
        :: filled start room (at_ + (c - b)) base' caps'
  | _, _ => []
  end.

(* Noise of size b R + r, with R weights, has the chance (tail / whole)^b weights[r]; [mass_of_noise] is their sum *)
Definition noise (full : Z) (weights : list Z) (tail size : Z) : R :=
  let steps := Z.of_nat (length weights) in
  (IZR tail / IZR full) ^ Z.to_nat (size / steps) * IZR (entry weights (Z.to_nat (size mod steps))).
Definition mass_of_noise (full : Z) (weights : list Z) (tail : Z) : R :=
  2 * IZR full / (1 - IZR tail / IZR full) - IZR (entry weights 0).

(* Independent bits: one's own and all others have chances of their own. *)
Fixpoint product (chance_at : nat -> bool -> R) (i : nat) (bits : list bool) : R :=
  match bits with [] => 1 | b :: rest => chance_at i b * product chance_at (S i) rest end.
Definition coin (full zero one : Z) (b : bool) : R := IZR (if b then one else zero) / IZR full.
Definition coin_of (full own_zero own_one other_zero other_one : Z) (mine i : nat) : bool -> R :=
  if Nat.eqb i mine then coin full own_zero own_one else coin full other_zero other_one.
Definition coins (full own_zero own_one other_zero other_one : Z) (mine : Z) (bits : list bool) : R :=
  product (coin_of full own_zero own_one other_zero other_one (Z.to_nat mine)) 0 bits.

Definition ones (bits : list bool) : Z := Z.of_nat (length (filter (fun b => b) bits)).
Definition holds (bits : list bool) (x : Z) : bool := nth (Z.to_nat x) bits false.

(* Hadamard response: an item has a block and a row; whether [z] and the row have an even number of ones in common *)
Fixpoint odd_ones (p : positive) : bool :=
  match p with xH => true | xO q => odd_ones q | xI q => negb (odd_ones q) end.
Definition even_ones (z : Z) : bool := match z with Zpos p => negb (odd_ones p) | _ => true end.
Definition supports (blocks x c z : Z) : bool := (c =? x mod blocks)%Z && even_ones (Z.land z (x / blocks + 1)).
Definition rows_of (count blocks : Z) : Z := (count + blocks - 1) / blocks.
Definition half_block (count blocks : Z) : Z := 2 ^ Z.log2 (rows_of count blocks).

Definition in_range (y n : Z) : bool := ((0 <=? y) && (y <? n))%Z.
Definition if_so (so : bool) (p : R) : R := if so then p else 0.

(* [mass hash t x o]: how likely report o is, given input x. [hash] is whatever tables that hash items hash them with. *)
Definition mass (hash : Z -> Z -> Z) (t : table) (x : Z) : report (the_law t) -> R :=
  match the_law t as l return report l -> R with
  | Finite _ rows => fun j => IZR (entry (nth (Z.to_nat x) rows []) j) / IZR (whole t)
  | Window _ _ base caps starts => fun j =>
      IZR (entry (filled (entry starts (Z.to_nat x)) (whole t - sums base) 0 base caps) j) / IZR (whole t)
  | Pieces cells inside weight => fun j =>
      if_so (in_range j cells)
        (if ((j - x) mod cells <? inside)%Z then IZR weight / IZR (whole t) / IZR inside
         else IZR (whole t - weight) / IZR (whole t) / IZR (cells - inside))
  | Additive weights tail => fun z => noise (whole t) weights tail (Z.abs (z - x)) / mass_of_noise (whole t) weights tail
  | Response count own other => fun y =>
      if_so (in_range y count) (if (y =? x)%Z then IZR own / IZR (whole t) else IZR other / IZR (whole t))
  | Unary count own_zero own_one other_zero other_one => fun bits =>
      if_so (Nat.eqb (length bits) (Z.to_nat count)) (coins (whole t) own_zero own_one other_zero other_one x bits)
  | Hashing _ hashes own other => fun o =>
      let (seed, y) := o in
      if_so (in_range seed (2 ^ 64) && in_range y hashes)
        ((if (y =? hash x seed mod hashes)%Z then IZR own / IZR (whole t) else IZR other / IZR (whole t)) / IZR (2 ^ 64))
  | Subset count chosen own other => fun set =>
      if_so (Nat.eqb (length set) (Z.to_nat count) && (ones set =? chosen)%Z)
        (if holds set x then IZR own / IZR (whole t) / C (Z.to_nat count - 1) (Z.to_nat chosen - 1)
         else IZR other / IZR (whole t) / C (Z.to_nat count - 1) (Z.to_nat chosen))
  | Hadamard count blocks own other => fun o =>
      let (c, z) := o in
      if_so (in_range c blocks && in_range z (2 * half_block count blocks))
        ((if supports blocks x c z then IZR own / IZR (whole t) else IZR other / IZR (whole t))
           / IZR (half_block count blocks))
  | Sketch _ functions buckets own_zero own_one other_zero other_one => fun o =>
      let (f, bits) := o in
      if_so (in_range f functions && Nat.eqb (length bits) (Z.to_nat buckets))
        (coins (whole t) own_zero own_one other_zero other_one (hash x f mod buckets) bits / IZR functions)
  end.

(* The chance that the report is one of S. An endless set is the limit of such lists. *)
Definition chance (hash : Z -> Z -> Z) (t : table) (S : list (report (the_law t))) (x : Z) : R :=
  total (mass hash t x) S.

(* An input may lie between rows: it then takes one of several of them, at random. [draw] has their chances. *)
Definition mixture (t : table) (draw : list (R * Z)) : Prop :=
  (forall p x, In (p, x) draw -> 0 <= p /\ input t x) /\ total fst draw = 1.
Definition mixed (hash : Z -> Z -> Z) (t : table) (S : list (report (the_law t))) (draw : list (R * Z)) : R :=
  total (fun d => fst d * chance hash t S (snd d)) draw.

(* ---- the check ---- *)

Definition near (cap a b : Z) : bool := (a * 2 ^ 96 <=? cap * b)%Z.
(* two counts that are above 0 and near each other *)
Definition both_near (cap a b : Z) : bool := ((0 <? a) && (0 <? b) && near cap a b && near cap b a)%Z.

Fixpoint zip (f : Z -> Z -> Z) (a b : list Z) : list Z :=
  match a, b with x :: a', y :: b' => f x y :: zip f a' b' | _, _ => [] end.
Fixpoint every (f : Z -> Z -> bool) (a b : list Z) : bool :=
  match a, b with x :: a', y :: b' => f x y && every f a' b' | [], [] => true | _, _ => false end.
Definition extreme (f : Z -> Z -> Z) (first : list Z) (rest : list (list Z)) : list Z := fold_right (zip f) first rest.
Fixpoint falling (l : list Z) : bool :=
  match l with a :: ((b :: _) as rest) => (b <=? a)%Z && falling rest | _ => true end.

Definition check_coins (full cap own_zero own_one other_zero other_one : Z) : bool :=
  ((0 <? own_zero) && (0 <? own_one) && (0 <? other_zero) && (0 <? other_one)
   && (own_zero + own_one =? full) && (other_zero + other_one =? full))%Z
  && both_near cap (own_one * other_zero) (own_zero * other_one).
(* one's own of so many groups, and every other one *)
Definition check_groups (full cap groups own other : Z) : bool :=
  ((1 <? groups) && (own + (groups - 1) * other =? full))%Z && both_near cap own other.

Definition check_law (full cap : Z) (l : law) : bool :=
  match l with
  | Finite outputs rows =>
      match rows with
      | [] => false
      | first :: rest =>
          forallb (fun row => Nat.eqb (length row) outputs && (sums row =? full)%Z) rows
          && every (fun most least => (0 <? least)%Z && near cap most least) (extreme Z.max first rest)
               (extreme Z.min first rest)
      end
  | Window outputs rows base caps starts =>
      Nat.eqb (length base) outputs && Nat.eqb (length starts) rows
      && every (fun least most => (0 <? least)%Z && (least <=? most)%Z && near cap most least) base caps
      && ((sums base <=? full) && (full <=? sums caps) && (sums caps <? 2 ^ 63))%Z
      && forallb (fun start => (0 <=? start) && (start <=? sums caps - full))%Z starts
  | Pieces cells inside weight =>
      ((0 <? inside) && (inside <? cells) && (cells <=? 2 ^ 40))%Z
      && both_near cap (weight * (cells - inside)) ((full - weight) * inside)
  | Additive weights tail =>
      match weights with
      | [] => false
      | first :: _ =>
          let least := last weights 0%Z in
          ((sums weights =? full) && (0 <? tail) && (tail <? full) && (0 <? least))%Z
          && falling weights && near cap first least && near cap full tail
      end
  | Response count own other => (count <=? 2 ^ 16)%Z && check_groups full cap count own other
  | Unary count own_zero own_one other_zero other_one =>
      ((1 <? count) && (count <=? 2 ^ 16))%Z && check_coins full cap own_zero own_one other_zero other_one
  | Hashing count hashes own other =>
      ((1 <? count) && (count <=? 2 ^ 16))%Z && check_groups full cap hashes own other
  | Subset count chosen own other =>
      ((1 <? count) && (count <=? 2 ^ 16) && (0 <? own) && (0 <? other) && (own + other =? full))%Z
      && both_near cap (own * (count - chosen)) (other * chosen)
  | Hadamard count blocks own other =>
      ((1 <? count) && (count <=? 2 ^ 16))%Z && check_groups full cap (2 * blocks) own other
  | Sketch count functions buckets own_zero own_one other_zero other_one =>
      ((1 <? count) && (count <=? 2 ^ 16) && (1 <? buckets) && (buckets <=? 2 ^ 14) && (1 <? functions)
       && (functions <=? 2 ^ 10) && (functions =? 2 ^ Z.log2 functions))%Z
      && check_coins full cap own_zero own_one other_zero other_one
  end.

(* cap is the greatest whole number at most 2^96 e^epsilon *)
Definition cap_of (num den : Z) : Z := Z.shiftr (exp_down num den) (digits - 96).

Definition check (t : table) : bool :=
  ((0 <? num t) && (0 <? den t) && (num t <=? 64 * den t))%Z
  && ((bits t =? 16) || (bits t =? 32) || (bits t =? 53) || (bits t =? 62))%Z
  && (cap t =? cap_of (num t) (den t))%Z
  && check_law (whole t) (cap t) (the_law t).

(* Where pairs of inputs have limits of their own: [places] says for input x and input y which of the epsilons it is,
   -1 that there is none. *)
Definition place (places : list (list Z)) (x y : Z) : Z := entry (nth (Z.to_nat x) places []) (Z.to_nat y).
Definition limit (epsilons : list (Z * Z)) (p : Z) : R :=
  let e := nth (Z.to_nat p) epsilons (0%Z, 1%Z) in IZR (fst e) / IZR (snd e).

Definition check_limits (epsilons : list (Z * Z)) (places rows : list (list Z)) : bool :=
  let caps := map (fun e => cap_of (fst e) (snd e)) epsilons in
  let every_input := seq 0 (length rows) in
  forallb (fun e => (0 <? fst e) && (0 <? snd e) && (fst e <=? 64 * snd e))%Z epsilons
  && Nat.eqb (length places) (length rows)
  && forallb (fun row => Nat.eqb (length row) (length rows)) places
  && forallb (fun x => forallb (fun y =>
       let p := entry (nth x places []) y in
       (p =? -1)%Z
       || ((0 <=? p) && (p <? Z.of_nat (length epsilons)))%Z
          && every (near (entry caps (Z.to_nat p))) (nth x rows []) (nth y rows [])) every_input) every_input.

(* No mechanism is better: floors under every mechanism with k inputs, whatever it reports. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Psatz.
From Mechdesign Require Import Sums Exponential Tables Private.
Import ListNotations.
Open Scope R_scope.
Opaque exp_up exp_down scale digits halvings.

(* [q o x] is the chance of report o given input x, with m reports and k inputs: chances, and any two inputs' chances of
   one report within a factor e^eps. *)
Record mechanism (eps : R) (m k : nat) (q : nat -> nat -> R) : Prop := {
  nonneg : forall o x, (o < m)%nat -> (x < k)%nat -> 0 <= q o x;
  one : forall x, (x < k)%nat -> sum m (fun o => q o x) = 1;
  near_chances : forall o x y, (o < m)%nat -> (x < k)%nat -> (y < k)%nat -> q o x <= exp eps * q o y }.

(* The expected loss of a mechanism at input x. *)
Definition expected (m : nat) (q loss : nat -> nat -> R) (x : nat) : R := sum m (fun o => q o x * loss o x).

(* ---- a row lies between b and c b, and what is linear in it is least at a corner ---- *)

Definition phi (c t : R) : R := if Rle_dec 0 t then t else c * t.

Lemma phi_least c q b t : b <= q <= c * b -> b * phi c t <= q * t.
Proof. intros [B Q]. unfold phi. destruct (Rle_dec 0 t); nra. Qed.

Lemma row_between eps m k q c o : mechanism eps m k q -> exp eps <= c -> (0 < k)%nat -> (o < m)%nat ->
  exists b, 0 <= b /\ b <= q o 0%nat /\ forall x, (x < k)%nat -> b <= q o x <= c * b.
Proof.
  intros M C K O. destruct (least k (q o) K) as [j [J L]]. exists (q o j).
  assert (P := nonneg _ _ _ _ M o j O J). split; [auto|]. split; [apply L; auto|].
  intros x X. split; [apply L; auto|].
  apply Rle_trans with (exp eps * q o j); [apply (near_chances _ _ _ _ M); auto|].
  apply Rmult_le_compat_r; auto.
Qed.

(* ---- losses: weights w and levels v of the inputs ---- *)

Section Levels.
Variables (eps c : R) (m k : nat) (q loss : nat -> nat -> R) (w v : nat -> R) (gap : R).
Hypothesis M : mechanism eps m k q.
Hypothesis Cap : exp eps <= c.
Hypothesis K : (0 < k)%nat.
Hypothesis W : forall x, (x < k)%nat -> 0 <= w x.
Hypothesis Gap : gap <= 0.
Hypothesis Reports : forall o, (o < m)%nat -> gap <= sum k (fun x => w x * phi c (loss o x - v x)).

Lemma one_report o : (o < m)%nat -> gap * q o 0%nat <= sum k (fun x => w x * (q o x * (loss o x - v x))).
Proof.
  intros O. destruct (row_between eps m k q c o M Cap K O) as [b [B [B0 R]]].
  apply Rle_trans with (b * sum k (fun x => w x * phi c (loss o x - v x))).
  - assert (X := Reports o O). nra.
  - rewrite <- sum_times. apply sum_le. intros x X.
    assert (L := phi_least c (q o x) b (loss o x - v x) (R x X)). assert (P := W x X).
    replace (b * (w x * phi c (loss o x - v x))) with (w x * (b * phi c (loss o x - v x))) by ring.
    apply Rmult_le_compat_l; auto.
Qed.

Theorem levelled : sum k (fun x => w x * v x) + gap <= sum k (fun x => w x * expected m q loss x).
Proof.
  assert (T : gap <= sum m (fun o => sum k (fun x => w x * (q o x * (loss o x - v x))))).
  { apply Rle_trans with (sum m (fun o => gap * q o 0%nat)); [|apply sum_le; apply one_report].
    rewrite sum_times, (one _ _ _ _ M) by auto. lra. }
  rewrite sum_swap in T. unfold expected.
  assert (E : sum k (fun x => sum m (fun o => w x * (q o x * (loss o x - v x))))
              = sum k (fun x => w x * sum m (fun o => q o x * loss o x)) + -1 * sum k (fun x => w x * v x)).
  { rewrite <- sum_times, <- sum_plus. apply sum_ext. intros x X.
    rewrite (sum_ext m _ (fun o => w x * (q o x * loss o x) + (- (w x * v x)) * q o x)) by (intros; ring).
    rewrite sum_plus, !sum_times, (one _ _ _ _ M) by auto. ring. }
  rewrite E in T. lra.
Qed.
End Levels.

(* The worst case is at least every average. *)
Lemma worst_over_average k (w f : nat -> R) worst a :
  (forall x, (x < k)%nat -> 0 <= w x) -> 0 < sum k w -> a * sum k w <= sum k (fun x => w x * f x) ->
  (forall x, (x < k)%nat -> f x <= worst) -> a <= worst.
Proof.
  intros W S A F. apply Rmult_le_reg_r with (sum k w); auto. eapply Rle_trans; [exact A|].
  rewrite <- sum_times. apply sum_le. intros x X. assert (P := W x X). assert (Q := F x X). nra.
Qed.

(* ---- whole numbers ---- *)

Fixpoint zsum (n : nat) (f : nat -> Z) : Z := match n with O => 0%Z | S k => (zsum k f + f k)%Z end.

Lemma IZR_zsum n f : IZR (zsum n f) = sum n (fun i => IZR (f i)).
Proof. induction n; simpl; auto. rewrite plus_IZR, IHn. reflexivity. Qed.

Lemma zsum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> zsum n f = zsum n g.
Proof. induction n; simpl; intros; auto. rewrite IHn, H; auto. Qed.

Lemma sum_of_list {A} (d : A) (f : A -> R) : forall l, sum (length l) (fun i => f (nth i l d)) = total f l.
Proof.
  assert (Shift : forall n g, sum (S n) g = g O + sum n (fun i => g (S i))).
  { induction n; intros; simpl; [lra|]. rewrite <- Rplus_assoc. f_equal. exact (IHn g). }
  induction l; auto. change (length (a :: l)) with (S (length l)). rewrite Shift. simpl. rewrite <- IHl. reflexivity.
Qed.

(* e^eps rounded up: ratio over 2^40 *)
Definition unit40 : Z := 2 ^ 40.
Definition above (num den ratio : Z) : bool :=
  ((0 <? num) && (0 <? den) && (num <? unit_of den) && (exp_up num den * unit40 <=? ratio * scale)
   && (unit40 <=? ratio))%Z.

Lemma unit40_pos : 0 < IZR unit40.
Proof. apply IZR_lt. reflexivity. Qed.

Lemma above_ok num den ratio : above num den ratio = true ->
  exp (IZR num / IZR den) <= IZR ratio / IZR unit40 /\ 1 <= IZR ratio / IZR unit40.
Proof.
  unfold above. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le. intros [[[[N D] L] U] O].
  assert (E := exp_up_ok num den ltac:(lia) D L). apply IZR_le in U, O. rewrite !mult_IZR in U.
  assert (P := scale_real). assert (V := unit40_pos). split.
  - eapply Rle_trans; [exact E|]. set (a := IZR (exp_up num den)) in *. set (s := IZR scale) in *.
    set (u := IZR unit40) in *. set (r := IZR ratio) in *.
    apply Rmult_le_reg_r with (s * u); [nra|]. replace (a / s * (s * u)) with (a * u) by (field; lra).
    replace (r / u * (s * u)) with (r * s) by (field; lra). exact U.
  - set (u := IZR unit40) in *. set (r := IZR ratio) in *.
    apply Rmult_le_reg_r with u; [auto|]. replace (r / u * u) with r by (field; lra). lra.
Qed.

Opaque unit40.

Definition phi_z (ratio t : Z) : Z := if (0 <=? t)%Z then (unit40 * t)%Z else (ratio * t)%Z.

Lemma phi_z_ok ratio t : IZR (phi_z ratio t) = IZR unit40 * phi (IZR ratio / IZR unit40) (IZR t).
Proof.
  unfold phi_z, phi. assert (V := unit40_pos). destruct (Z.leb_spec 0 t) as [T|T].
  - apply IZR_le in T. destruct (Rle_dec 0 (IZR t)); [|lra]. apply mult_IZR.
  - apply IZR_lt in T. destruct (Rle_dec 0 (IZR t)); [lra|]. rewrite mult_IZR. field. lra.
Qed.

Lemma phi_scaled c t s : 0 < s -> phi c (t / s) = phi c t / s.
Proof.
  intros S. assert (I := Rinv_0_lt_compat _ S). unfold phi, Rdiv.
  destruct (Rle_dec 0 t), (Rle_dec 0 (t * / s)); try lra; nra.
Qed.

Lemma fraction_le a b c d : (0 < b)%Z -> 0 < d -> IZR a * d <= IZR b * c -> IZR a / IZR b <= c / d.
Proof.
  intros B D H. apply IZR_lt in B. apply Rmult_le_reg_r with (IZR b * d); [nra|].
  replace (IZR a / IZR b * (IZR b * d)) with (IZR a * d) by (field; lra).
  replace (c / d * (IZR b * d)) with (IZR b * c) by (field; lra). exact H.
Qed.

(* ---- losses in a table: one row an input, one column an answer ---- *)

Record finite_certificate := {
  f_num : Z; f_den : Z; f_ratio : Z;              (* epsilon, and e^epsilon rounded up, over 2^40 *)
  f_answers : nat;
  f_losses : list (list Z); f_levels : list Z;    (* over f_scale *)
  f_scale : Z;
  f_weights : list Z;                             (* over their sum *)
  f_gap : Z;                                      (* over f_scale 2^40 *)
  f_least_num : Z; f_least_den : Z }.

Definition f_inputs (c : finite_certificate) : nat := length (f_losses c).
Definition f_loss (c : finite_certificate) (x a : nat) : Z := entry (nth x (f_losses c) []) a.

Definition check_finite (c : finite_certificate) : bool :=
  let k := f_inputs c in
  above (f_num c) (f_den c) (f_ratio c)
  && ((0 <? f_scale c) && (0 <? f_least_den c) && (f_gap c <=? 0) && (0 <? zsum k (entry (f_weights c))))%Z
  && Nat.ltb 0 k
  && forallb (fun x => 0 <=? entry (f_weights c) x)%Z (seq 0 k)
  && forallb (fun a =>
       f_gap c <=? zsum k (fun x => entry (f_weights c) x * phi_z (f_ratio c) (f_loss c x a - entry (f_levels c) x)))%Z
       (seq 0 (f_answers c))
  && (f_least_num c * (zsum k (entry (f_weights c)) * f_scale c * unit40)
      <=? f_least_den c * (zsum k (fun x => entry (f_weights c) x * entry (f_levels c) x) * unit40 + f_gap c))%Z.

(* What certificates speak of, in real numbers. *)
Definition f_loss_of c (a x : nat) : R := IZR (f_loss c x a) / IZR (f_scale c).
Definition f_share c (x : nat) : R := IZR (entry (f_weights c) x) / sum (f_inputs c) (fun x => IZR (entry (f_weights c) x)).

Theorem finite_average c : check_finite c = true -> forall m q answer,
  mechanism (IZR (f_num c) / IZR (f_den c)) m (f_inputs c) q -> (forall o, (o < m)%nat -> (answer o < f_answers c)%nat) ->
  IZR (f_least_num c) / IZR (f_least_den c)
  <= sum (f_inputs c) (fun x => f_share c x * expected m q (fun o => f_loss_of c (answer o)) x).
Proof.
  unfold check_finite. intros H m q answer M A.
  rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le, Nat.ltb_lt in H.
  destruct H as [[[[[Ab [[[S L] G] T]] K] W] Re] Le]. destruct (above_ok _ _ _ Ab) as [Cap One].
  rewrite forallb_forall in W, Re. set (k := f_inputs c) in *.
  assert (V := unit40_pos). apply IZR_lt in S, T. apply IZR_le in G, Le.
  rewrite !mult_IZR, plus_IZR, mult_IZR, !IZR_zsum in Le. rewrite IZR_zsum in T.
  set (w := fun x => IZR (entry (f_weights c) x)) in *. set (v := fun x => IZR (entry (f_levels c) x) / IZR (f_scale c)).
  set (s := IZR (f_scale c)) in *. set (u := IZR unit40) in *.
  assert (B := levelled _ (IZR (f_ratio c) / u) m k q (fun o => f_loss_of c (answer o)) w v
                 (IZR (f_gap c) / (s * u)) M Cap K).
  assert (SU : 0 < s * u) by nra.
  assert (B' : sum k (fun x => w x * v x) + IZR (f_gap c) / (s * u)
               <= sum k (fun x => w x * expected m q (fun o => f_loss_of c (answer o)) x)).
  { apply B.
    - intros x X. assert (Y := W x ltac:(apply in_seq; lia)). apply Z.leb_le, IZR_le in Y. exact Y.
    - assert (I := Rinv_0_lt_compat _ SU). unfold Rdiv. nra.
    - intros o O. assert (Y := Re (answer o) ltac:(apply in_seq; specialize (A o O); lia)).
      apply Z.leb_le, IZR_le in Y. rewrite IZR_zsum in Y.
      apply Rmult_le_reg_r with (s * u); auto. replace (IZR (f_gap c) / (s * u) * (s * u)) with (IZR (f_gap c)) by (field; lra).
      eapply Rle_trans; [exact Y|]. right. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros x X.
      rewrite mult_IZR, phi_z_ok. fold u. unfold v, f_loss_of. fold s.
      replace (IZR (f_loss c x (answer o)) / s - IZR (entry (f_levels c) x) / s)
        with (IZR (f_loss c x (answer o) - entry (f_levels c) x) / s) by (rewrite minus_IZR; field; lra).
      rewrite phi_scaled by auto. unfold w. field. lra. }
  unfold f_share. fold k. fold w. set (e := expected m q (fun o => f_loss_of c (answer o))) in *.
  rewrite (sum_ext k _ (fun x => (w x * e x) / sum k w)) by (intros; unfold w; field; unfold w in T; lra).
  rewrite sum_over. apply fraction_le; auto.
  apply Rmult_le_reg_r with (s * u); auto.
  assert (E : sum k (fun x => w x * v x) * (s * u) = sum k (fun x => w x * IZR (entry (f_levels c) x)) * u).
  { rewrite (Rmult_comm (sum k (fun x => w x * IZR _)) u), (Rmult_comm _ (s * u)), <- !sum_times. apply sum_ext. intros. unfold v. field. lra. }
  assert (E2 : sum k (fun i => IZR (entry (f_weights c) i * entry (f_levels c) i))
               = sum k (fun x => w x * IZR (entry (f_levels c) x))).
  { apply sum_ext. intros. apply mult_IZR. }
  rewrite E2 in Le. apply IZR_lt in L. set (ln := IZR (f_least_num c)) in *. set (ld := IZR (f_least_den c)) in *.
  set (wv := sum k (fun x => w x * IZR (entry (f_levels c) x))) in *.
  set (av := sum k (fun x => w x * e x)) in *. set (tw := sum k w) in *.
  apply Rle_trans with (ld * (wv * u + IZR (f_gap c))).
  - fold tw in Le. replace (ln * tw * (s * u)) with (ln * (tw * s * u)) by ring. exact Le.
  - replace (ld * av * (s * u)) with (ld * (av * (s * u))) by ring. apply Rmult_le_compat_l; [lra|].
    rewrite <- E. replace (IZR (f_gap c)) with (IZR (f_gap c) / (s * u) * (s * u)) by (field; lra).
    rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r; lra.
Qed.

Lemma share_nonneg c : check_finite c = true -> forall x, (x < f_inputs c)%nat -> 0 <= f_share c x.
Proof.
  unfold check_finite. intros H x X. rewrite !andb_true_iff, !Z.ltb_lt in H.
  destruct H as [[[[[_ [_ T]] _] W] _] _]. rewrite forallb_forall in W.
  assert (Y := W x ltac:(apply in_seq; lia)). apply Z.leb_le, IZR_le in Y. apply IZR_lt in T. rewrite IZR_zsum in T.
  unfold f_share. apply at_least_0; auto.
Qed.

Lemma shares_add_up c : check_finite c = true -> sum (f_inputs c) (f_share c) = 1.
Proof.
  unfold check_finite. intros H. rewrite !andb_true_iff, !Z.ltb_lt in H.
  destruct H as [[[[[_ [_ T]] _] _] _] _]. apply IZR_lt in T. rewrite IZR_zsum in T.
  unfold f_share. rewrite sum_over. unfold f_inputs in *. field. lra.
Qed.

Theorem finite_worst c : check_finite c = true -> forall m q answer worst,
  mechanism (IZR (f_num c) / IZR (f_den c)) m (f_inputs c) q -> (forall o, (o < m)%nat -> (answer o < f_answers c)%nat) ->
  (forall x, (x < f_inputs c)%nat -> expected m q (fun o => f_loss_of c (answer o)) x <= worst) ->
  IZR (f_least_num c) / IZR (f_least_den c) <= worst.
Proof.
  intros H m q answer worst M A F. eapply worst_over_average; [apply share_nonneg, H| | |exact F].
  - rewrite shares_add_up by auto. lra.
  - rewrite shares_add_up by auto. rewrite Rmult_1_r. apply finite_average; auto.
Qed.

(* ---- a number is asked for, and a number reported: inputs are the atoms, reports any reals ---- *)

Record atom := { at_ : Z; radius : Z; weight : Z }.
Definition no_atom : atom := {| at_ := 0; radius := 0; weight := 0 |}.

(* [exponent]: 1 for the distance, 2 for its square *)
Record line_certificate := {
  l_num : Z; l_den : Z; l_ratio : Z;              (* epsilon, and e^epsilon rounded up, over 2^40 *)
  l_squared : bool;
  l_atoms : list atom;                            (* places and radii over l_scale, weights over their sum *)
  l_scale : Z;
  l_gap : Z;                                      (* over 2^40 l_scale, or its square *)
  l_least_num : Z; l_least_den : Z }.

Definition power (squared : bool) (d : R) : R := if squared then d * d else d.
Definition power_z (squared : bool) (d : Z) : Z := if squared then (d * d)%Z else d.

(* the sum over atoms that must nowhere be below the gap, of a report y *)
Definition wanting (squared : bool) (c : R) (atoms : list atom) (y : R) : R :=
  total (fun a => IZR (weight a) * phi c (power squared (Rabs (y - IZR (at_ a))) - power squared (IZR (radius a)))) atoms.

Definition ztotal {A} (f : A -> Z) (l : list A) : Z := fold_right (fun a s => f a + s)%Z 0%Z l.

Lemma IZR_ztotal {A} (f : A -> Z) l : IZR (ztotal f l) = total (fun a => IZR (f a)) l.
Proof. induction l; simpl; auto. rewrite plus_IZR, <- IHl. reflexivity. Qed.

Lemma total_plus {A} (f g : A -> R) l : total (fun a => f a + g a) l = total f l + total g l.
Proof. induction l; simpl; [lra|]. rewrite IHl; lra. Qed.

Lemma total_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof. induction l; simpl; intros; auto. rewrite H, IHl; auto. Qed.

(* distances: between two neighbouring atoms the sum is concave, outside it grows *)
Definition gap_at (ratio : Z) (atoms : list atom) (x : Z) : Z :=
  ztotal (fun a => weight a * phi_z ratio (Z.abs (x - at_ a) - radius a))%Z atoms.
Definition check_distances (ratio gap : Z) (atoms : list atom) : bool :=
  forallb (fun a => gap <=? gap_at ratio atoms (at_ a))%Z atoms.

(* squares: between two ends of reaches the sum is a parabola *)
Definition coefficients (factor : atom -> Z) (atoms : list atom) : Z * Z * Z :=
  (ztotal (fun a => factor a * weight a)%Z atoms,
   ztotal (fun a => factor a * weight a * at_ a)%Z atoms,
   ztotal (fun a => factor a * weight a * (at_ a * at_ a - radius a * radius a))%Z atoms).
Definition parabola_above (gap : Z) (p : Z * Z * Z) : bool :=
  let '(a, b, d) := p in ((0 <? a) && (b * b <=? (d - gap) * a))%Z.
(* the factor of an atom while the report is just below the end e of a reach *)
Definition factor_at (ratio e : Z) (a : atom) : Z :=
  if ((at_ a - radius a <? e) && (e <=? at_ a + radius a))%Z then ratio else unit40.
Definition ends (atoms : list atom) : list Z :=
  flat_map (fun a => [(at_ a - radius a)%Z; (at_ a + radius a)%Z]) atoms.
Definition check_squares (ratio gap : Z) (atoms : list atom) : bool :=
  parabola_above gap (coefficients (fun _ => unit40) atoms)
  && forallb (fun e => parabola_above gap (coefficients (factor_at ratio e) atoms)) (ends atoms).

Definition check_line (c : line_certificate) : bool :=
  above (l_num c) (l_den c) (l_ratio c)
  && ((0 <? l_scale c) && (0 <? l_least_den c) && (l_gap c <=? 0) && (0 <? ztotal weight (l_atoms c)))%Z
  && forallb (fun a => (0 <=? radius a) && (0 <=? weight a))%Z (l_atoms c)
  && (if l_squared c then check_squares (l_ratio c) (l_gap c) (l_atoms c)
      else check_distances (l_ratio c) (l_gap c) (l_atoms c))
  && (l_least_num c * (ztotal weight (l_atoms c) * power_z (l_squared c) (l_scale c) * unit40)
      <=? l_least_den c
          * (ztotal (fun a => weight a * power_z (l_squared c) (radius a)) (l_atoms c) * unit40 + l_gap c))%Z.

Section Line.
Variables (ratio : Z) (c : R).
Hypothesis C : c = IZR ratio / IZR unit40.
Hypothesis One : 1 <= c.

Lemma phi_min t : phi c t <= t /\ phi c t <= c * t.
Proof. unfold phi. destruct (Rle_dec 0 t); nra. Qed.

Lemma phi_up s t : s <= t -> phi c s <= phi c t.
Proof. unfold phi. destruct (Rle_dec 0 s), (Rle_dec 0 t); nra. Qed.

Lemma phi_concave h s t : 0 <= h <= 1 -> (1 - h) * phi c s + h * phi c t <= phi c ((1 - h) * s + h * t).
Proof.
  intros H. destruct (phi_min s), (phi_min t). set (u := (1 - h) * s + h * t).
  unfold phi at 3. destruct (Rle_dec 0 u); unfold u; nra.
Qed.

Lemma nearest_below (y : R) : forall l : list atom,
  (forall a, In a l -> y < IZR (at_ a)) \/
  exists a, In a l /\ IZR (at_ a) <= y /\ forall b, In b l -> IZR (at_ b) <= y -> IZR (at_ b) <= IZR (at_ a).
Proof.
  induction l as [|a l [IH|[b [B [By Bm]]]]]; [left; intros; contradiction| |].
  - destruct (Rle_dec (IZR (at_ a)) y).
    + right. exists a. split; [left; auto|]. split; auto. intros b [B|B] L; [subst; lra|]. specialize (IH b B). lra.
    + left. intros b [B|B]; [subst; lra|apply IH; auto].
  - right. destruct (Rle_dec (IZR (at_ a)) y); [destruct (Rle_dec (IZR (at_ b)) (IZR (at_ a)))|].
    + exists a. split; [left; auto|]. split; auto. intros d [D|D] L; [subst; lra|]. specialize (Bm d D L). lra.
    + exists b. split; [right; auto|]. split; auto. intros d [D|D] L; [subst; lra|auto].
    + exists b. split; [right; auto|]. split; auto. intros d [D|D] L; [subst; lra|auto].
Qed.

Lemma nearest_above (y : R) : forall l : list atom,
  (forall a, In a l -> IZR (at_ a) < y) \/
  exists a, In a l /\ y <= IZR (at_ a) /\ forall b, In b l -> y <= IZR (at_ b) -> IZR (at_ a) <= IZR (at_ b).
Proof.
  induction l as [|a l [IH|[b [B [By Bm]]]]]; [left; intros; contradiction| |].
  - destruct (Rle_dec y (IZR (at_ a))).
    + right. exists a. split; [left; auto|]. split; auto. intros b [B|B] L; [subst; lra|]. specialize (IH b B). lra.
    + left. intros b [B|B]; [subst; lra|apply IH; auto].
  - right. destruct (Rle_dec y (IZR (at_ a))); [destruct (Rle_dec (IZR (at_ a)) (IZR (at_ b)))|].
    + exists a. split; [left; auto|]. split; auto. intros d [D|D] L; [subst; lra|]. specialize (Bm d D L). lra.
    + exists b. split; [right; auto|]. split; auto. intros d [D|D] L; [subst; lra|auto].
    + exists b. split; [right; auto|]. split; auto. intros d [D|D] L; [subst; lra|auto].
Qed.

Lemma wanting_up atoms y z : (forall a, In a atoms -> 0 <= IZR (weight a)) ->
  (forall a, In a atoms -> Rabs (z - IZR (at_ a)) <= Rabs (y - IZR (at_ a))) ->
  wanting false c atoms z <= wanting false c atoms y.
Proof.
  intros W D. apply total_le. intros a A. apply Rmult_le_compat_l; [auto|]. apply phi_up. simpl.
  specialize (D a A). lra.
Qed.

Lemma wanting_at atoms x : IZR (gap_at ratio atoms x) = IZR unit40 * wanting false c atoms (IZR x).
Proof.
  unfold gap_at, wanting. rewrite IZR_ztotal, <- total_times. apply total_ext. intros a _.
  rewrite mult_IZR, phi_z_ok, minus_IZR, abs_IZR, minus_IZR, <- C. unfold power. ring.
Qed.

Lemma distances_ok gap atoms y : (forall a, In a atoms -> 0 <= IZR (weight a)) -> atoms <> [] ->
  check_distances ratio gap atoms = true -> IZR gap <= IZR unit40 * wanting false c atoms y.
Proof.
  intros W NE K. unfold check_distances in K. rewrite forallb_forall in K. assert (V := unit40_pos).
  assert (At : forall a, In a atoms -> IZR gap <= IZR unit40 * wanting false c atoms (IZR (at_ a))).
  { intros a A. specialize (K a A). apply Z.leb_le, IZR_le in K. rewrite wanting_at in K. exact K. }
  assert (Up : forall a, In a atoms -> (forall b, In b atoms -> Rabs (IZR (at_ a) - IZR (at_ b)) <= Rabs (y - IZR (at_ b)))
               -> IZR gap <= IZR unit40 * wanting false c atoms y).
  { intros a A D. eapply Rle_trans; [apply (At a A)|]. apply Rmult_le_compat_l; [lra|]. apply wanting_up; auto. }
  destruct (nearest_below y atoms) as [Hi|[a [A [Ay Am]]]].
  - destruct (nearest_above y atoms) as [Lo|[b [B [By Bm]]]].
    + destruct atoms as [|d r]; [contradiction|]. specialize (Hi d ltac:(left; auto)). specialize (Lo d ltac:(left; auto)). lra.
    + apply (Up b B). intros d D. assert (H := Hi d D). assert (H' := Bm d D ltac:(lra)).
      rewrite !Rabs_left1 by lra. lra.
  - destruct (nearest_above y atoms) as [Lo|[b [B [By Bm]]]].
    + apply (Up a A). intros d D. assert (H := Lo d D). assert (H' := Am d D ltac:(lra)).
      rewrite !Rabs_pos_eq by lra. lra.
    + set (p := IZR (at_ a)) in *. set (r := IZR (at_ b)) in *. destruct (Req_dec p r) as [E|E].
      * assert (y = p) by lra. subst y. apply (At a A).
      * set (h := (y - p) / (r - p)). assert (RP : 0 < r - p) by lra.
        assert (Hy : h * (r - p) = y - p) by (unfold h; field; lra).
        assert (H0 : 0 <= h <= 1) by nra.
        assert (Mix : (1 - h) * wanting false c atoms p + h * wanting false c atoms r <= wanting false c atoms y).
        { unfold wanting. rewrite <- !total_times, <- total_plus. apply total_le. intros d D. simpl.
          set (x := IZR (at_ d)). set (t := IZR (radius d)). assert (Wd := W d D).
          assert (Abs : Rabs (y - x) = (1 - h) * Rabs (p - x) + h * Rabs (r - x)).
          { destruct (Rle_dec x y) as [X|X].
            - assert (x <= p) by (apply Am; auto). rewrite !Rabs_pos_eq by lra. lra.
            - assert (r <= x) by (apply Bm; auto; unfold x in X; lra). rewrite !Rabs_left1 by lra. lra. }
          rewrite Abs. set (s := Rabs (p - x)). set (u := Rabs (r - x)).
          assert (Cc := phi_concave h (s - t) (u - t) H0).
          replace ((1 - h) * (s - t) + h * (u - t)) with ((1 - h) * s + h * u - t) in Cc by ring.
          replace ((1 - h) * (IZR (weight d) * phi c (s - t)) + h * (IZR (weight d) * phi c (u - t)))
            with (IZR (weight d) * ((1 - h) * phi c (s - t) + h * phi c (u - t))) by ring.
          apply Rmult_le_compat_l; auto. }
        assert (Ap := At a A). assert (Ar := At b B). fold p in Ap. fold r in Ar. set (v := IZR unit40) in *.
        apply Rle_trans with (v * ((1 - h) * wanting false c atoms p + h * wanting false c atoms r)); [|nra].
        replace (v * ((1 - h) * wanting false c atoms p + h * wanting false c atoms r))
          with ((1 - h) * (v * wanting false c atoms p) + h * (v * wanting false c atoms r)) by ring.
        replace (IZR gap) with ((1 - h) * IZR gap + h * IZR gap) by ring. nra.
Qed.

Lemma parabola_ok gap f atoms y : parabola_above gap (coefficients f atoms) = true ->
  IZR gap <= total (fun a => IZR (f a) * IZR (weight a)
    * ((y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a))) atoms.
Proof.
  unfold coefficients, parabola_above. rewrite andb_true_iff, Z.ltb_lt, Z.leb_le. intros [A B].
  apply IZR_lt in A. apply IZR_le in B. rewrite !mult_IZR, minus_IZR in B. rewrite !IZR_ztotal in *.
  set (a := total (fun a => IZR (f a * weight a)) atoms) in *.
  set (b := total (fun a => IZR (f a * weight a * at_ a)) atoms) in *.
  set (d := total (fun a => IZR (f a * weight a * (at_ a * at_ a - radius a * radius a))) atoms) in *.
  replace (total _ atoms) with (y * y * a + (-2 * y) * b + d).
  - assert (S := Rle_0_sqr (a * y - b)). unfold Rsqr in S.
    apply Rmult_le_reg_l with a; auto. nra.
  - unfold a, b, d. rewrite <- !total_times, <- !total_plus. apply total_ext. intros x _.
    rewrite !mult_IZR, minus_IZR, !mult_IZR. ring.
Qed.

Lemma nearest_end (y : R) : forall l : list Z,
  (forall e, In e l -> IZR e < y) \/
  exists e, In e l /\ y <= IZR e /\ forall d, In d l -> y <= IZR d -> IZR e <= IZR d.
Proof.
  induction l as [|a l [IH|[b [B [By Bm]]]]]; [left; intros; contradiction| |].
  - destruct (Rle_dec y (IZR a)).
    + right. exists a. split; [left; auto|]. split; auto. intros b [B|B] L; [subst; lra|]. specialize (IH b B). lra.
    + left. intros b [B|B]; [subst; lra|apply IH; auto].
  - right. destruct (Rle_dec y (IZR a)); [destruct (Rle_dec (IZR a) (IZR b))|].
    + exists a. split; [left; auto|]. split; auto. intros d [D|D] L; [subst; lra|]. specialize (Bm d D L). lra.
    + exists b. split; [right; auto|]. split; auto. intros d [D|D] L; [subst; lra|auto].
    + exists b. split; [right; auto|]. split; auto. intros d [D|D] L; [subst; lra|auto].
Qed.

Lemma squares_ok gap atoms y : (forall a, In a atoms -> 0 <= IZR (weight a)) ->
  (forall a, In a atoms -> 0 <= IZR (radius a)) ->
  check_squares ratio gap atoms = true -> IZR gap <= IZR unit40 * wanting true c atoms y.
Proof.
  intros W Ra K. unfold check_squares in K. apply andb_true_iff in K. destruct K as [K0 K1].
  rewrite forallb_forall in K1. assert (V := unit40_pos).
  assert (CR : IZR unit40 * c = IZR ratio) by (rewrite C; field; lra).
  assert (Sq : forall a, Rabs (y - IZR (at_ a)) * Rabs (y - IZR (at_ a)) = (y - IZR (at_ a)) * (y - IZR (at_ a))).
  { intros a. rewrite <- Rabs_mult. apply Rabs_pos_eq. assert (X := Rle_0_sqr (y - IZR (at_ a))). exact X. }
  assert (In_ends : forall a, In a atoms -> In (at_ a - radius a)%Z (ends atoms) /\ In (at_ a + radius a)%Z (ends atoms)).
  { intros a A. split; apply in_flat_map; exists a; simpl; auto. }
  assert (Branch : forall f, parabola_above gap (coefficients f atoms) = true ->
    (forall a, In a atoms -> IZR (f a) * ((y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a))
       <= IZR unit40 * phi c ((y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a))) ->
    IZR gap <= IZR unit40 * wanting true c atoms y).
  { intros f P B. eapply Rle_trans; [apply (parabola_ok _ _ _ y P)|]. unfold wanting. rewrite <- total_times.
    apply total_le. intros a A. unfold power. rewrite Sq. assert (X := B a A). assert (Y := W a A).
    set (t := (y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a)) in *.
    replace (IZR (f a) * IZR (weight a) * t) with (IZR (weight a) * (IZR (f a) * t)) by ring.
    replace (IZR unit40 * (IZR (weight a) * phi c t)) with (IZR (weight a) * (IZR unit40 * phi c t)) by ring.
    apply Rmult_le_compat_l; auto. }
  assert (Out : forall t, 0 <= t -> IZR unit40 * t <= IZR unit40 * phi c t).
  { intros t T. unfold phi. destruct (Rle_dec 0 t); lra. }
  assert (Inn : forall t, t <= 0 -> IZR ratio * t <= IZR unit40 * phi c t).
  { intros t T. unfold phi. destruct (Rle_dec 0 t); [replace t with 0 by lra; lra|]. rewrite <- CR. lra. }
  destruct (nearest_end y (ends atoms)) as [None|[e [E [Ey Em]]]].
  - apply (Branch _ K0). intros a A. apply Out. destruct (In_ends a A) as [_ I]. assert (X := None _ I).
    rewrite plus_IZR in X. assert (R0 := Ra a A). nra.
  - apply (Branch _ (K1 e E)). intros a A. destruct (In_ends a A) as [I1 I2]. assert (R0 := Ra a A).
    assert (E1 := Em _ I1). assert (E2 := Em _ I2). rewrite minus_IZR in E1. rewrite plus_IZR in E2.
    unfold factor_at. set (x := IZR (at_ a)) in *. set (r := IZR (radius a)) in *.
    destruct (Z.ltb_spec (at_ a - radius a) e) as [L|L]; simpl.
    + apply IZR_lt in L. rewrite minus_IZR in L. fold x r in L.
      destruct (Z.leb_spec e (at_ a + radius a)) as [G|G].
      * apply IZR_le in G. rewrite plus_IZR in G. fold x r in G. apply Inn.
        assert (x - r < y) by (destruct (Rlt_dec (x - r) y); lra). nra.
      * apply IZR_lt in G. rewrite plus_IZR in G. fold x r in G. apply Out.
        assert (x + r < y) by (destruct (Rlt_dec (x + r) y); lra). nra.
    + apply IZR_le in L. rewrite minus_IZR in L. fold x r in L. apply Out. nra.
Qed.
End Line.

Definition l_inputs (c : line_certificate) : nat := length (l_atoms c).
Definition l_at (c : line_certificate) (x : nat) : R := IZR (at_ (nth x (l_atoms c) no_atom)) / IZR (l_scale c).
Definition l_share (c : line_certificate) (x : nat) : R :=
  IZR (weight (nth x (l_atoms c) no_atom)) / total (fun a => IZR (weight a)) (l_atoms c).
(* |y - x| or its square *)
Definition l_loss (c : line_certificate) (y : R) (x : nat) : R := power (l_squared c) (Rabs (y - l_at c x)).

Lemma power_over squared t s : 0 < s -> power squared (t / s) = power squared t / power squared s.
Proof. intros. unfold power. destruct squared; [field; lra|reflexivity]. Qed.

Theorem line_average c : check_line c = true -> forall m q (y : nat -> R),
  mechanism (IZR (l_num c) / IZR (l_den c)) m (l_inputs c) q ->
  IZR (l_least_num c) / IZR (l_least_den c)
  <= sum (l_inputs c) (fun x => l_share c x * expected m q (fun o => l_loss c (y o)) x).
Proof.
  unfold check_line. intros H m q y M. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le in H.
  destruct H as [[[[Ab [[[S L] G] T]] Ra] K] Le]. destruct (above_ok _ _ _ Ab) as [Cap One].
  rewrite forallb_forall in Ra. set (atoms := l_atoms c) in *. set (sq := l_squared c) in *.
  assert (Wt : forall a, In a atoms -> 0 <= IZR (weight a)).
  { intros a A. specialize (Ra a A). rewrite andb_true_iff, !Z.leb_le in Ra. apply IZR_le. tauto. }
  assert (Rt : forall a, In a atoms -> 0 <= IZR (radius a)).
  { intros a A. specialize (Ra a A). rewrite andb_true_iff, !Z.leb_le in Ra. apply IZR_le. tauto. }
  assert (NE : atoms <> []) by (intros E; rewrite E in T; simpl in T; lia).
  assert (V := unit40_pos). apply IZR_lt in S, T, L. apply IZR_le in G, Le.
  assert (PZ : forall d, IZR (power_z sq d) = power sq (IZR d)) by (intros; unfold power_z, power; destruct sq; [apply mult_IZR|auto]).
  rewrite !mult_IZR, plus_IZR, mult_IZR, !IZR_ztotal, PZ in Le. rewrite IZR_ztotal in T.
  set (s := IZR (l_scale c)) in *. set (u := IZR unit40) in *.
  set (sp := power sq s) in *. assert (SP : 0 < sp) by (unfold sp, power; destruct sq; nra).
  set (r := IZR (l_ratio c) / u) in *.
  assert (Wa : forall z, IZR (l_gap c) <= u * wanting sq r atoms z).
  { intros z. destruct sq.
    - apply (squares_ok (l_ratio c) r eq_refl One _ _ _ Wt Rt K).
    - apply (distances_ok (l_ratio c) r eq_refl One _ _ _ Wt NE K). }
  set (w := fun x => IZR (weight (nth x atoms no_atom))).
  set (v := fun x => power sq (IZR (radius (nth x atoms no_atom))) / sp).
  assert (KK : (0 < l_inputs c)%nat) by (unfold l_inputs; fold atoms; destruct atoms; [contradiction|simpl; lia]).
  assert (SU : 0 < sp * u) by nra.
  assert (B : sum (l_inputs c) (fun x => w x * v x) + IZR (l_gap c) / (sp * u)
              <= sum (l_inputs c) (fun x => w x * expected m q (fun o => l_loss c (y o)) x)).
  { apply (levelled _ r m (l_inputs c) q (fun o => l_loss c (y o)) w v (IZR (l_gap c) / (sp * u)) M Cap KK).
    - intros x X. apply Wt, nth_In. exact X.
    - assert (I := Rinv_0_lt_compat _ SU). unfold Rdiv. nra.
    - intros o O. apply Rmult_le_reg_r with (sp * u); auto.
      replace (IZR (l_gap c) / (sp * u) * (sp * u)) with (IZR (l_gap c)) by (field; lra).
      eapply Rle_trans; [apply (Wa (y o * s))|]. right. unfold wanting.
      rewrite <- (sum_of_list no_atom _ atoms), (Rmult_comm _ (sp * u)), <- !sum_times.
      apply sum_ext. intros x X. unfold l_loss, l_at. fold atoms. fold sq. unfold w, v. fold s.
      set (p := IZR (at_ (nth x atoms no_atom))). set (t := IZR (radius (nth x atoms no_atom))).
      replace (Rabs (y o - p / s)) with (Rabs (y o * s - p) / s).
      2: { replace (y o - p / s) with ((y o * s - p) / s) by (field; lra). unfold Rdiv. rewrite Rabs_mult.
           f_equal. symmetry. apply Rabs_pos_eq. left. apply Rinv_0_lt_compat; auto. }
      rewrite power_over by auto. fold sp.
      replace (power sq (Rabs (y o * s - p)) / sp - power sq t / sp)
        with ((power sq (Rabs (y o * s - p)) - power sq t) / sp) by (field; lra).
      rewrite phi_scaled by auto. field. lra. }
  unfold l_share. fold atoms. set (e := expected m q (fun o => l_loss c (y o))) in *.
  rewrite (sum_ext (l_inputs c) _ (fun x => (w x * e x) / total (fun a => IZR (weight a)) atoms))
    by (intros; unfold w; field; lra).
  rewrite sum_over. apply fraction_le; [apply lt_IZR; exact L|auto|].
  apply Rmult_le_reg_r with (sp * u); auto.
  assert (E : sum (l_inputs c) (fun x => w x * v x) * (sp * u)
              = total (fun a => IZR (weight a * power_z sq (radius a))) atoms * u).
  { rewrite <- (sum_of_list no_atom _ atoms). change (length atoms) with (l_inputs c).
    rewrite (Rmult_comm _ (sp * u)), (Rmult_comm (sum _ (fun i => IZR _)) u), <- !sum_times. apply sum_ext. intros.
    rewrite mult_IZR, PZ. unfold w, v. field. lra. }
  set (ln := IZR (l_least_num c)) in *. set (ld := IZR (l_least_den c)) in *.
  set (av := sum (l_inputs c) (fun x => w x * e x)) in *. set (tw := total (fun a => IZR (weight a)) atoms) in *.
  rewrite <- E in Le.
  apply Rle_trans with (ln * (tw * sp * u)); [right; ring|]. eapply Rle_trans; [exact Le|].
  replace (ld * av * (sp * u)) with (ld * (av * (sp * u))) by ring. apply Rmult_le_compat_l; [lra|].
  replace (IZR (l_gap c)) with (IZR (l_gap c) / (sp * u) * (sp * u)) by (field; lra).
  rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r; lra.
Qed.

Theorem line_worst c : check_line c = true -> forall m q (y : nat -> R) worst,
  mechanism (IZR (l_num c) / IZR (l_den c)) m (l_inputs c) q ->
  (forall x, (x < l_inputs c)%nat -> expected m q (fun o => l_loss c (y o)) x <= worst) ->
  IZR (l_least_num c) / IZR (l_least_den c) <= worst.
Proof.
  intros H m q y worst M F. assert (A := line_average c H m q y M).
  unfold check_line in H. rewrite !andb_true_iff, !Z.ltb_lt in H. destruct H as [[[[_ [_ T]] Ra] _] _].
  rewrite forallb_forall in Ra. apply IZR_lt in T. rewrite IZR_ztotal in T.
  assert (One : sum (l_inputs c) (l_share c) = 1).
  { unfold l_share. rewrite sum_over. unfold l_inputs.
    rewrite (sum_of_list no_atom (fun a => IZR (weight a))). field. lra. }
  eapply (worst_over_average (l_inputs c) (l_share c)); [| | |exact F].
  - intros x X. unfold l_share. apply at_least_0; auto. specialize (Ra _ (nth_In (l_atoms c) no_atom X)).
    rewrite andb_true_iff, !Z.leb_le in Ra. apply IZR_le. tauto.
  - rewrite One. lra.
  - rewrite One, Rmult_1_r. exact A.
Qed.

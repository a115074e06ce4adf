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

(* e^eps rounded up: ratio over a unit *)
Definition above_over (unit num den ratio : Z) : bool :=
  ((0 <? num) && (0 <? den) && (num <? unit_of den) && (exp_up num den * unit <=? ratio * scale)
   && (unit <=? ratio))%Z.

Lemma above_over_ok unit num den ratio : 0 < IZR unit -> above_over unit num den ratio = true ->
  exp (IZR num / IZR den) <= IZR ratio / IZR unit /\ 1 <= IZR ratio / IZR unit.
Proof.
  intros V. unfold above_over. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le. intros [[[[N D] L] U] O].
  assert (E := exp_up_ok num den ltac:(lia) D L). apply IZR_le in U, O. rewrite !mult_IZR in U.
  assert (P := scale_real). split.
  - eapply Rle_trans; [exact E|]. set (a := IZR (exp_up num den)) in *. set (s := IZR scale) in *.
    set (u := IZR unit) in *. set (r := IZR ratio) in *.
    apply Rmult_le_reg_r with (s * u); [nra|]. replace (a / s * (s * u)) with (a * u) by (field; lra).
    replace (r / u * (s * u)) with (r * s) by (field; lra). exact U.
  - set (u := IZR unit) in *. set (r := IZR ratio) in *.
    apply Rmult_le_reg_r with u; [auto|]. replace (r / u * u) with r by (field; lra). lra.
Qed.

Definition phi_over (unit ratio t : Z) : Z := if (0 <=? t)%Z then (unit * t)%Z else (ratio * t)%Z.

Lemma phi_over_ok unit ratio t : 0 < IZR unit ->
  IZR (phi_over unit ratio t) = IZR unit * phi (IZR ratio / IZR unit) (IZR t).
Proof.
  intros V. unfold phi_over, phi. destruct (Z.leb_spec 0 t) as [T|T].
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

Definition unit40 : Z := 2 ^ 40.
Lemma unit40_pos : 0 < IZR unit40.
Proof. apply IZR_lt. reflexivity. Qed.
Opaque unit40.

Definition above : Z -> Z -> Z -> bool := above_over unit40.
Definition phi_z : Z -> Z -> Z := phi_over unit40.
Definition above_ok num den ratio := above_over_ok unit40 num den ratio unit40_pos.
Definition phi_z_ok ratio t := phi_over_ok unit40 ratio t unit40_pos.

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

(* Not needed by a proof: without an answer there is no mechanism to speak of, and every floor would be true; and
   [entry] is 0 beyond the end of a list. *)
Definition has_shape (k width : nat) (lists : list (list Z)) : bool :=
  Nat.ltb 0 width && Nat.eqb (length lists) k && forallb (fun l => Nat.eqb (length l) width) lists.

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
      <=? f_least_den c * (zsum k (fun x => entry (f_weights c) x * entry (f_levels c) x) * unit40 + f_gap c))%Z
  && has_shape k (f_answers c) (f_losses c).

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
  destruct H as [[[[[[Ab [[[S L] G] T]] K] W] Re] Le] _]. destruct (above_ok _ _ _ Ab) as [Cap One].
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
  destruct H as [[[[[[_ [_ T]] _] W] _] _] _]. rewrite forallb_forall in W.
  assert (Y := W x ltac:(apply in_seq; lia)). apply Z.leb_le, IZR_le in Y. apply IZR_lt in T. rewrite IZR_zsum in T.
  unfold f_share. apply at_least_0; auto.
Qed.

Lemma shares_add_up c : check_finite c = true -> sum (f_inputs c) (f_share c) = 1.
Proof.
  unfold check_finite. intros H. rewrite !andb_true_iff, !Z.ltb_lt in H.
  destruct H as [[[[[[_ [_ T]] _] _] _] _] _]. apply IZR_lt in T. rewrite IZR_zsum in T.
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

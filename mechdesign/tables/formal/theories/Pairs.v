(* Pairs of inputs with limits of their own: a floor from flows along the pairs. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Psatz.
From Mechdesign Require Import Sums Exponential Tables Private Optima.
Import ListNotations.
Open Scope R_scope.
Opaque exp_up exp_down scale digits halvings unit40.

(* [q o x] is the chance of report o given input x, with m reports and k inputs: chances, and those of a pair of inputs
   that has a limit (its place is not -1) are within a factor e^limit. *)
Record mechanism_in_pairs (epsilons : list (Z * Z)) (places : list (list Z)) (m k : nat) (q : nat -> nat -> R) : Prop := {
  nonneg_in : forall o x, (o < m)%nat -> (x < k)%nat -> 0 <= q o x;
  one_in : forall x, (x < k)%nat -> sum m (fun o => q o x) = 1;
  near_in : forall o x y, (o < m)%nat -> (x < k)%nat -> (y < k)%nat ->
    place places (Z.of_nat x) (Z.of_nat y) <> (-1)%Z ->
    q o x <= exp (limit epsilons (place places (Z.of_nat x) (Z.of_nat y))) * q o y }.

(* For a report that gives this answer: [amount], over the scale, times what the limit leaves between the two inputs. *)
Record flow := { answer_of : nat; first : nat; second : nat; amount : Z }.

Record pairs_certificate := {
  p_epsilons : list (Z * Z); p_places : list (list Z);
  p_ratios : list Z;                              (* e^epsilon rounded up, over 2^40 *)
  p_answers : nat;
  p_losses : list (list Z);                       (* over p_scale *)
  p_scale : Z;
  p_weights : list Z;                             (* over their sum *)
  p_flows : list flow;                            (* over p_scale 2^40 *)
  p_levels : list Z;                              (* over p_scale 2^40: what an input has at least, weighed *)
  p_least_num : Z; p_least_den : Z }.

Definition p_inputs (c : pairs_certificate) : nat := length (p_losses c).
Definition p_loss (c : pairs_certificate) (x a : nat) : Z := entry (nth x (p_losses c) []) a.
Definition p_place (c : pairs_certificate) (f : flow) : Z :=
  place (p_places c) (Z.of_nat (first f)) (Z.of_nat (second f)).

(* what the flows of an answer take from an input: times 2^40 *)
Definition taken (c : pairs_certificate) (f : flow) (x a : nat) : Z :=
  if Nat.eqb (answer_of f) a
  then ((if Nat.eqb x (second f) then entry (p_ratios c) (Z.to_nat (p_place c f)) * amount f else 0)
        - (if Nat.eqb x (first f) then unit40 * amount f else 0))%Z
  else 0%Z.
Definition taken_at (c : pairs_certificate) (x a : nat) : Z :=
  fold_right (fun f s => taken c f x a + s)%Z 0%Z (p_flows c).

Definition check_flow (c : pairs_certificate) (f : flow) : bool :=
  (0 <=? amount f)%Z && Nat.ltb (first f) (p_inputs c) && Nat.ltb (second f) (p_inputs c)
  && ((0 <=? p_place c f) && (p_place c f <? Z.of_nat (length (p_epsilons c))))%Z.
Definition check_ratio (c : pairs_certificate) (i : nat) : bool :=
  let e := nth i (p_epsilons c) (0%Z, 1%Z) in above (fst e) (snd e) (entry (p_ratios c) i).

Definition check_pairs (c : pairs_certificate) : bool :=
  let k := p_inputs c in
  ((0 <? p_scale c) && (0 <? p_least_den c) && (0 <? zsum k (entry (p_weights c))))%Z
  && forallb (fun x => 0 <=? entry (p_weights c) x)%Z (seq 0 k)
  && forallb (check_ratio c) (seq 0 (length (p_epsilons c)))
  && forallb (check_flow c) (p_flows c)
  && forallb (fun x => forallb (fun a =>
       entry (p_levels c) x * unit40
       <=? entry (p_weights c) x * p_loss c x a * (unit40 * unit40) - taken_at c x a)%Z (seq 0 (p_answers c))) (seq 0 k)
  && (p_least_num c * (zsum k (entry (p_weights c)) * p_scale c * unit40)
      <=? p_least_den c * zsum k (entry (p_levels c)))%Z
  && has_shape k (p_answers c) (p_losses c) && has_shape k k (p_places c).

Definition p_loss_of c (a x : nat) : R := IZR (p_loss c x a) / IZR (p_scale c).
Definition p_share c (x : nat) : R := IZR (entry (p_weights c) x) / sum (p_inputs c) (fun x => IZR (entry (p_weights c) x)).

Lemma sum_of_one k j (q : nat -> R) a : (j < k)%nat -> sum k (fun x => (if Nat.eqb x j then a else 0) * q x) = a * q j.
Proof.
  intros J. induction k; [lia|]. simpl. destruct (Nat.eq_dec j k) as [E|E].
  - subst. rewrite Nat.eqb_refl. rewrite (sum_ext k _ (fun _ => 0)).
    + rewrite sum_zero. ring.
    + intros x X. destruct (Nat.eqb_spec x k); [lia|ring].
  - rewrite IHk by lia. destruct (Nat.eqb_spec k j); [lia|]. ring.
Qed.

(* the flows of a report take no less than nothing *)
Lemma flow_ok c m q f o a : mechanism_in_pairs (p_epsilons c) (p_places c) m (p_inputs c) q ->
  forallb (check_ratio c) (seq 0 (length (p_epsilons c))) = true ->
  check_flow c f = true -> (o < m)%nat -> 0 <= sum (p_inputs c) (fun x => IZR (taken c f x a) * q o x).
Proof.
  intros M Ra F O. unfold check_flow in F. rewrite !andb_true_iff, !Nat.ltb_lt, !Z.leb_le, Z.ltb_lt in F.
  destruct F as [[[A X] Y] [P0 P1]]. assert (P : p_place c f <> (-1)%Z) by lia. rewrite forallb_forall in Ra.
  assert (Ab := Ra (Z.to_nat (p_place c f)) ltac:(apply in_seq; lia)). unfold check_ratio in Ab. destruct (above_ok _ _ _ Ab) as [Cap _]. apply IZR_le in A.
  assert (V := unit40_pos). unfold taken. destruct (Nat.eqb (answer_of f) a).
  - assert (N := near_in _ _ _ _ _ M o (first f) (second f) O X Y P). fold (p_place c f) in N. unfold limit in N.
    set (e := nth (Z.to_nat (p_place c f)) (p_epsilons c) (0%Z, 1%Z)) in *.
    set (r := entry (p_ratios c) (Z.to_nat (p_place c f))) in *.
    rewrite (sum_ext _ _ (fun x => (if Nat.eqb x (second f) then IZR (r * amount f) else 0) * q o x
      + -1 * ((if Nat.eqb x (first f) then IZR (unit40 * amount f) else 0) * q o x))).
    2: { intros x _. rewrite minus_IZR. destruct (Nat.eqb x (second f)), (Nat.eqb x (first f)); ring. }
    rewrite sum_plus, sum_times, !sum_of_one by auto. rewrite !mult_IZR.
    assert (B := nonneg_in _ _ _ _ _ M o (second f) O Y).
    assert (R : IZR unit40 * q o (first f) <= IZR r * q o (second f)).
    { apply Rle_trans with (IZR unit40 * (IZR r / IZR unit40 * q o (second f))).
      - apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact N|]. apply Rmult_le_compat_r; auto.
      - right. field. lra. }
    nra.
  - rewrite (sum_ext _ _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. lra.
Qed.

Lemma flows_ok c m q o a : mechanism_in_pairs (p_epsilons c) (p_places c) m (p_inputs c) q ->
  forallb (check_ratio c) (seq 0 (length (p_epsilons c))) = true ->
  forallb (check_flow c) (p_flows c) = true -> (o < m)%nat ->
  0 <= sum (p_inputs c) (fun x => IZR (taken_at c x a) * q o x).
Proof.
  intros M Ra F O. unfold taken_at. rewrite forallb_forall in F. induction (p_flows c) as [|f l IH]; simpl.
  - rewrite (sum_ext _ _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. lra.
  - rewrite (sum_ext _ _ (fun x => IZR (taken c f x a) * q o x
      + IZR (fold_right (fun f s => taken c f x a + s)%Z 0%Z l) * q o x)) by (intros; rewrite plus_IZR; ring).
    rewrite sum_plus. assert (A := flow_ok c m q f o a M Ra (F f (or_introl eq_refl)) O).
    assert (B := IH (fun g G => F g (or_intror G))). lra.
Qed.

Theorem pairs_average c : check_pairs c = true -> forall m q answer,
  mechanism_in_pairs (p_epsilons c) (p_places c) m (p_inputs c) q ->
  (forall o, (o < m)%nat -> (answer o < p_answers c)%nat) ->
  IZR (p_least_num c) / IZR (p_least_den c)
  <= sum (p_inputs c) (fun x => p_share c x * expected m q (fun o => p_loss_of c (answer o)) x).
Proof.
  unfold check_pairs. intros H m q answer M A. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le in H.
  destruct H as [[[[[[[[[S L] T] W] Ra] F] Lv] Le] _] _]. rewrite forallb_forall in W, Lv. set (k := p_inputs c) in *.
  assert (V := unit40_pos). apply IZR_lt in S, T, L. apply IZR_le in Le. rewrite !mult_IZR, !IZR_zsum in Le.
  rewrite IZR_zsum in T. set (w := fun x => IZR (entry (p_weights c) x)) in *.
  set (s := IZR (p_scale c)) in *. set (u := IZR unit40) in *.
  set (e := expected m q (fun o => p_loss_of c (answer o))).
  assert (SU : 0 < s * u) by nra.
  assert (B : sum k (fun x => IZR (entry (p_levels c) x)) <= sum k (fun x => w x * e x) * (s * u)).
  { apply Rle_trans with (sum m (fun o => sum k (fun x => IZR (entry (p_levels c) x) * q o x))).
    - rewrite <- (sum_swap k m (fun x o => IZR (entry (p_levels c) x) * q o x)). right. apply sum_ext. intros x X.
      rewrite sum_times, (one_in _ _ _ _ _ M) by auto. ring.
    - replace (sum k (fun x => w x * e x) * (s * u))
        with (sum m (fun o => sum k (fun x => w x * IZR (p_loss c x (answer o)) * u * q o x))).
      + apply sum_le. intros o O. assert (Fl := flows_ok c m q o (answer o) M Ra F O). fold k in Fl.
        apply Rmult_le_reg_l with u; auto. rewrite <- !sum_times.
        apply Rle_trans with (sum k (fun x => IZR (entry (p_levels c) x * unit40) * q o x
                                              + IZR (taken_at c x (answer o)) * q o x)).
        * rewrite sum_plus. rewrite (sum_ext k (fun i => u * _) (fun x => IZR (entry (p_levels c) x * unit40) * q o x)).
          -- lra.
          -- intros x X. rewrite mult_IZR. fold u. ring.
        * apply sum_le. intros x X. assert (Y := Lv x ltac:(apply in_seq; lia)). rewrite forallb_forall in Y.
          specialize (Y (answer o) ltac:(apply in_seq; specialize (A o O); lia)). apply Z.leb_le, IZR_le in Y.
          rewrite minus_IZR in Y. assert (Q := nonneg_in _ _ _ _ _ M o x O X). rewrite <- Rmult_plus_distr_r.
          replace (u * (w x * IZR (p_loss c x (answer o)) * u * q o x))
            with ((IZR (entry (p_weights c) x * p_loss c x (answer o) * (unit40 * unit40))) * q o x)
            by (rewrite !mult_IZR; unfold w, u; ring).
          apply Rmult_le_compat_r; auto. lra.
      + rewrite <- (sum_swap k m (fun x o => w x * IZR (p_loss c x (answer o)) * u * q o x)).
        rewrite (Rmult_comm (sum k _)), <- sum_times. apply sum_ext. intros x X. unfold e, expected.
        rewrite <- !sum_times. apply sum_ext. intros o O. unfold p_loss_of. fold s. field. lra. }
  unfold p_share. fold k. fold w. fold e.
  rewrite (sum_ext k _ (fun x => (w x * e x) / sum k w)) by (intros; unfold w; field; unfold w in T; lra).
  rewrite sum_over. apply fraction_le; [apply lt_IZR; exact L|auto|].
  set (ln := IZR (p_least_num c)) in *. set (ld := IZR (p_least_den c)) in *. set (tw := sum k w) in *.
  set (av := sum k (fun x => w x * e x)) in *. set (lv := sum k (fun x => IZR (entry (p_levels c) x))) in *.
  apply Rmult_le_reg_r with (s * u); auto. replace (ln * tw * (s * u)) with (ln * (tw * s * u)) by ring.
  eapply Rle_trans; [exact Le|]. replace (ld * av * (s * u)) with (ld * (av * (s * u))) by ring.
  apply Rmult_le_compat_l; [lra|exact B].
Qed.

Theorem pairs_worst c : check_pairs c = true -> forall m q answer worst,
  mechanism_in_pairs (p_epsilons c) (p_places c) m (p_inputs c) q ->
  (forall o, (o < m)%nat -> (answer o < p_answers c)%nat) ->
  (forall x, (x < p_inputs c)%nat -> expected m q (fun o => p_loss_of c (answer o)) x <= worst) ->
  IZR (p_least_num c) / IZR (p_least_den c) <= worst.
Proof.
  intros H m q answer worst M A F. assert (Av := pairs_average c H m q answer M A).
  unfold check_pairs in H. rewrite !andb_true_iff, !Z.ltb_lt in H. destruct H as [[[[[[[[_ T] W] _] _] _] _] _] _].
  rewrite forallb_forall in W. apply IZR_lt in T. rewrite IZR_zsum in T.
  assert (One : sum (p_inputs c) (p_share c) = 1).
  { unfold p_share. rewrite sum_over. unfold p_inputs in *. field. lra. }
  eapply (worst_over_average (p_inputs c) (p_share c)); [| | |exact F].
  - intros x X. unfold p_share. apply at_least_0; auto. specialize (W x ltac:(apply in_seq; lia)).
    apply Z.leb_le, IZR_le in W. exact W.
  - rewrite One. lra.
  - rewrite One, Rmult_1_r. exact Av.
Qed.

(* A number is asked for, and reported without bias: a floor under the average variance, whatever is reported. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Psatz.
From Mechdesign Require Import Sums Exponential Tables Private Optima Line.
Import ListNotations.
Open Scope R_scope.
Opaque exp_up exp_down scale digits halvings unit40.

(* An input with weight has weight (y - low) (y - high), which is below 0 between the two. One without has the line
   slope (y - low): an input where nothing counts has to be reported without bias all the same. *)
Record tangent := { place_of : Z; share : Z; low : Z; high : Z; slope : Z }.
Definition no_tangent : tangent := {| place_of := 0; share := 0; low := 0; high := 0; slope := 0 |}.

Record unbiased_certificate := {
  u_num : Z; u_den : Z; u_ratio : Z;              (* epsilon, and e^epsilon rounded up, over 2^40 *)
  u_tangents : list tangent;                      (* one an input: places over u_scale, shares over their sum *)
  u_scale : Z;
  u_gap : Z;                                      (* over 2^40 u_scale^2 *)
  u_least_num : Z; u_least_den : Z }.

Definition u_inputs (c : unbiased_certificate) : nat := length (u_tangents c).
Definition u_place (c : unbiased_certificate) (x : nat) : R :=
  IZR (place_of (nth x (u_tangents c) no_tangent)) / IZR (u_scale c).
Definition u_share (c : unbiased_certificate) (x : nat) : R :=
  IZR (share (nth x (u_tangents c) no_tangent)) / total (fun t => IZR (share t)) (u_tangents c).

Definition value (t : tangent) (y : R) : R :=
  IZR (share t) * ((y - IZR (low t)) * (y - IZR (high t))) + IZR (slope t) * (y - IZR (low t)).

(* twice the sum of all is a y^2 - 2 b y + d *)
Definition coefficients_of (factor : tangent -> Z) (l : list tangent) : Z * Z * Z :=
  (ztotal (fun t => factor t * (2 * share t))%Z l,
   ztotal (fun t => factor t * (share t * (low t + high t) - slope t))%Z l,
   ztotal (fun t => factor t * (2 * share t * (low t * high t) - 2 * slope t * low t))%Z l).

(* the factor of a tangent just below the place e: e^epsilon where it is below 0 *)
Definition factor_below (ratio e : Z) (t : tangent) : Z :=
  if (if 0 <? share t then (low t <? e) && (e <=? high t) else if 0 <? slope t then e <=? low t else low t <? e)%Z
  then ratio else unit40.
(* and above all of them *)
Definition factor_beyond (ratio : Z) (t : tangent) : Z :=
  if (negb (0 <? share t) && negb (0 <? slope t))%Z then ratio else unit40.
Definition turns (l : list tangent) : list Z := flat_map (fun t => [low t; high t]) l.

Definition is_tangent (t : tangent) : bool :=
  ((0 <=? share t) && (low t <=? high t) && ((share t =? 0) || (slope t =? 0)))%Z.

Definition u_level (c : unbiased_certificate) : Z :=
  ztotal (fun t => share t * ((place_of t - low t) * (high t - place_of t)) - slope t * (place_of t - low t))%Z
    (u_tangents c).

Definition check_unbiased (c : unbiased_certificate) : bool :=
  let l := u_tangents c in
  above (u_num c) (u_den c) (u_ratio c)
  && ((0 <? u_scale c) && (0 <? u_least_den c) && (u_gap c <=? 0) && (0 <? ztotal share l))%Z
  && forallb is_tangent l
  && parabola_above (2 * u_gap c) (coefficients_of (factor_beyond (u_ratio c)) l)
  && forallb (fun e => parabola_above (2 * u_gap c) (coefficients_of (factor_below (u_ratio c) e) l)) (turns l)
  && (u_least_num c * (ztotal share l * (u_scale c * u_scale c) * unit40)
      <=? u_least_den c * (u_level c * unit40 + u_gap c))%Z.

Lemma parabola_of gap f l y : parabola_above (2 * gap) (coefficients_of f l) = true ->
  IZR gap <= total (fun t => IZR (f t) * value t y) l.
Proof.
  unfold coefficients_of, parabola_above. rewrite andb_true_iff, Z.ltb_lt, Z.leb_le. intros [A B].
  apply IZR_lt in A. apply IZR_le in B. rewrite !mult_IZR, minus_IZR, mult_IZR in B. rewrite !IZR_ztotal in *.
  set (a := total (fun t => IZR (f t * (2 * share t))) l) in *.
  set (b := total (fun t => IZR (f t * (share t * (low t + high t) - slope t))) l) in *.
  set (d := total (fun t => IZR (f t * (2 * share t * (low t * high t) - 2 * slope t * low t))) l) in *.
  assert (E : 2 * total (fun t => IZR (f t) * value t y) l = y * y * a + (-2 * y) * b + d).
  { unfold a, b, d, value. rewrite <- !total_times, <- !total_plus. apply total_ext. intros x _.
    repeat (rewrite ?mult_IZR, ?minus_IZR, ?plus_IZR). ring. }
  assert (S := Rle_0_sqr (a * y - b)). unfold Rsqr in S. apply Rmult_le_reg_l with a; auto. nra.
Qed.

Section Tangents.
Variables (ratio : Z) (c : R).
Hypothesis C : c = IZR ratio / IZR unit40.

Lemma tangents_ok gap l y : (forall t, In t l -> is_tangent t = true) ->
  parabola_above (2 * gap) (coefficients_of (factor_beyond ratio) l) = true ->
  forallb (fun e => parabola_above (2 * gap) (coefficients_of (factor_below ratio e) l)) (turns l) = true ->
  IZR gap <= IZR unit40 * total (fun t => phi c (value t y)) l.
Proof.
  intros T K0 K1. rewrite forallb_forall in K1. assert (V := unit40_pos).
  assert (CR : IZR unit40 * c = IZR ratio) by (rewrite C; field; lra).
  assert (Branch : forall f, parabola_above (2 * gap) (coefficients_of f l) = true ->
    (forall t, In t l -> IZR (f t) * value t y <= IZR unit40 * phi c (value t y)) ->
    IZR gap <= IZR unit40 * total (fun t => phi c (value t y)) l).
  { intros f P B. eapply Rle_trans; [apply (parabola_of _ _ _ y P)|]. rewrite <- total_times. apply total_le. auto. }
  assert (Out : forall v, 0 <= v -> IZR unit40 * v <= IZR unit40 * phi c v).
  { intros v P. unfold phi. destruct (Rle_dec 0 v); lra. }
  assert (Inn : forall v, v <= 0 -> IZR ratio * v <= IZR unit40 * phi c v).
  { intros v P. unfold phi. destruct (Rle_dec 0 v); [replace v with 0 by lra; lra|]. rewrite <- CR. lra. }
  assert (In_turns : forall t, In t l -> In (low t) (turns l) /\ In (high t) (turns l)).
  { intros t I. split; apply in_flat_map; exists t; simpl; auto. }
  assert (Form : forall t, In t l -> 0 <= IZR (share t) /\ IZR (low t) <= IZR (high t)
    /\ ((0 < share t)%Z /\ value t y = IZR (share t) * ((y - IZR (low t)) * (y - IZR (high t)))
        \/ share t = 0%Z /\ value t y = IZR (slope t) * (y - IZR (low t)))).
  { intros t I. specialize (T t I). unfold is_tangent in T.
    rewrite !andb_true_iff, orb_true_iff, !Z.leb_le, !Z.eqb_eq in T. destruct T as [[S L] Z0].
    split; [apply IZR_le; auto|]. split; [apply IZR_le; auto|]. unfold value.
    destruct (Z.eq_dec (share t) 0) as [E|E]; [right|left]; (split; [lia|]).
    - rewrite E. ring.
    - destruct Z0 as [Z0|Z0]; [contradiction|]. rewrite Z0. ring. }
  destruct (nearest_end y (turns l)) as [None|[e [E [Ey Em]]]].
  - apply (Branch _ K0). intros t I. destruct (Form t I) as [S [L F]]. destruct (In_turns t I) as [I1 I2].
    assert (A := None _ I1). assert (B := None _ I2). unfold factor_beyond.
    destruct F as [[Sp F]|[Sz F]]; rewrite F.
    + destruct (Z.ltb_spec 0 (share t)); [|lia]. simpl. apply Out. apply Rmult_le_pos; nra.
    + destruct (Z.ltb_spec 0 (share t)); [lia|]. simpl. destruct (Z.ltb_spec 0 (slope t)) as [Q|Q]; simpl.
      * apply IZR_lt in Q. apply Out. nra.
      * apply IZR_le in Q. apply Inn. nra.
  - apply (Branch _ (K1 e E)). intros t I. destruct (Form t I) as [S [L F]]. destruct (In_turns t I) as [I1 I2].
    assert (E1 := Em _ I1). assert (E2 := Em _ I2). unfold factor_below.
    set (lo := IZR (low t)) in *. set (hi := IZR (high t)) in *.
    destruct F as [[Sp F]|[Sz F]]; rewrite F.
    + destruct (Z.ltb_spec 0 (share t)); [|lia].
      destruct (Z.ltb_spec (low t) e) as [Q|Q]; simpl.
      * apply IZR_lt in Q. fold lo in Q. assert (lo < y) by (destruct (Rlt_dec lo y); lra).
        destruct (Z.leb_spec e (high t)) as [G|G].
        -- apply IZR_le in G. fold hi in G. apply Inn.
           assert (0 <= (y - lo) * (hi - y)) by (apply Rmult_le_pos; lra). nra.
        -- apply IZR_lt in G. fold hi in G. assert (hi < y) by (destruct (Rlt_dec hi y); lra).
           apply Out. apply Rmult_le_pos; [auto|]. apply Rmult_le_pos; lra.
      * apply IZR_le in Q. fold lo in Q. apply Out. apply Rmult_le_pos; [auto|]. nra.
    + destruct (Z.ltb_spec 0 (share t)); [lia|]. destruct (Z.ltb_spec 0 (slope t)) as [P|P].
      * apply IZR_lt in P. destruct (Z.leb_spec e (low t)) as [Q|Q].
        -- apply IZR_le in Q. fold lo in Q. apply Inn. nra.
        -- apply IZR_lt in Q. fold lo in Q. assert (lo < y) by (destruct (Rlt_dec lo y); lra). apply Out. nra.
      * apply IZR_le in P. destruct (Z.ltb_spec (low t) e) as [Q|Q].
        -- apply IZR_lt in Q. fold lo in Q. assert (lo < y) by (destruct (Rlt_dec lo y); lra). apply Inn. nra.
        -- apply IZR_le in Q. fold lo in Q. apply Out. nra.
Qed.
End Tangents.

(* what a tangent is on average where reports are without bias *)
Lemma value_without_bias eps m k q t s (y : nat -> R) x : mechanism eps m k q -> (x < k)%nat -> 0 < s ->
  sum m (fun o => q o x * y o) = IZR (place_of t) / s ->
  sum m (fun o => q o x * value t (y o * s))
  = IZR (share t) * (sum m (fun o => q o x * ((y o - IZR (place_of t) / s) * (y o - IZR (place_of t) / s))) * (s * s))
    - (IZR (share t) * ((IZR (place_of t) - IZR (low t)) * (IZR (high t) - IZR (place_of t)))
       - IZR (slope t) * (IZR (place_of t) - IZR (low t))).
Proof.
  intros M X S U. assert (O := one _ _ _ _ M x X). set (p := IZR (place_of t)) in *. set (w := IZR (share t)).
  set (l := IZR (low t)). set (h := IZR (high t)). set (d := IZR (slope t)).
  assert (E1 : sum m (fun o => q o x * value t (y o * s))
    = w * (s * s) * sum m (fun o => q o x * (y o * y o)) + (d * s - w * s * (l + h)) * (p / s) + (w * l * h - d * l)).
  { rewrite <- U. replace (w * l * h - d * l) with ((w * l * h - d * l) * sum m (fun o => q o x)) by (rewrite O; ring).
    rewrite <- !sum_times, <- !sum_plus. apply sum_ext. intros. unfold value. fold w l h d. ring. }
  assert (E2 : sum m (fun o => q o x * ((y o - p / s) * (y o - p / s)))
    = sum m (fun o => q o x * (y o * y o)) - p / s * (p / s)).
  { replace (sum m (fun o => q o x * (y o * y o)) - p / s * (p / s))
      with (sum m (fun o => q o x * (y o * y o)) + (-2 * (p / s)) * (p / s) + p / s * (p / s) * sum m (fun o => q o x))
      by (rewrite O; ring).
    rewrite <- U at 2. rewrite <- !sum_times, <- !sum_plus. apply sum_ext. intros. ring. }
  rewrite E1, E2. field. lra.
Qed.

Theorem unbiased_average c : check_unbiased c = true -> forall m q (y : nat -> R),
  mechanism (IZR (u_num c) / IZR (u_den c)) m (u_inputs c) q ->
  (forall x, (x < u_inputs c)%nat -> sum m (fun o => q o x * y o) = u_place c x) ->
  IZR (u_least_num c) / IZR (u_least_den c)
  <= sum (u_inputs c) (fun x =>
       u_share c x * sum m (fun o => q o x * ((y o - u_place c x) * (y o - u_place c x)))).
Proof.
  unfold check_unbiased. intros H m q y M U. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le in H.
  destruct H as [[[[[Ab [[[S L] G] T]] Tg] K0] K1] Le]. destruct (above_ok _ _ _ Ab) as [Cap One].
  rewrite forallb_forall in Tg. set (l := u_tangents c) in *. assert (V := unit40_pos).
  apply IZR_lt in S, T, L. apply IZR_le in G, Le. rewrite !mult_IZR, plus_IZR, mult_IZR, !IZR_ztotal in Le.
  rewrite IZR_ztotal in T. set (s := IZR (u_scale c)) in *. set (u := IZR unit40) in *.
  set (r := IZR (u_ratio c) / u) in *. set (k := u_inputs c) in *.
  assert (KK : (0 < k)%nat).
  { unfold k, u_inputs. fold l. destruct l; [simpl in T; lra|simpl; lia]. }
  set (tx := fun x => nth x l no_tangent).
  assert (B : sum k (fun _ => 1 * 0) + IZR (u_gap c) / u
              <= sum k (fun x => 1 * expected m q (fun o x => value (tx x) (y o * s)) x)).
  { apply (levelled _ r m k q (fun o x => value (tx x) (y o * s)) (fun _ => 1) (fun _ => 0) (IZR (u_gap c) / u) M Cap KK).
    - intros. lra.
    - assert (I := Rinv_0_lt_compat _ V). fold u in I. unfold Rdiv. nra.
    - intros o O. assert (W := tangents_ok (u_ratio c) r eq_refl (u_gap c) l (y o * s) Tg K0 K1). fold u in W.
      apply Rmult_le_reg_r with u; auto. replace (IZR (u_gap c) / u * u) with (IZR (u_gap c)) by (field; unfold u in *; lra).
      eapply Rle_trans; [exact W|]. right. rewrite Rmult_comm. f_equal.
      rewrite <- (sum_of_list no_tangent _ l). apply sum_ext. intros x X. rewrite Rmult_1_l, Rminus_0_r. reflexivity. }
  rewrite (sum_ext k (fun _ => 1 * 0) (fun _ => 0)) in B by (intros; ring). rewrite sum_zero in B.
  set (v := fun x => sum m (fun o => q o x * ((y o - u_place c x) * (y o - u_place c x)))).
  assert (E : sum k (fun x => 1 * expected m q (fun o x => value (tx x) (y o * s)) x)
    = sum k (fun x => IZR (share (tx x)) * v x) * (s * s) - IZR (u_level c)).
  { unfold u_level. fold l. rewrite IZR_ztotal, <- (sum_of_list no_tangent _ l). change (length l) with k.
    replace (sum k (fun x => IZR (share (tx x)) * v x) * (s * s) - sum k _)
      with ((s * s) * sum k (fun x => IZR (share (tx x)) * v x) + -1 * sum k (fun i => IZR
        (share (tx i) * ((place_of (tx i) - low (tx i)) * (high (tx i) - place_of (tx i))) - slope (tx i) * (place_of (tx i) - low (tx i)))))
      by (unfold tx; ring).
    rewrite <- !sum_times, <- sum_plus. apply sum_ext. intros x X. rewrite Rmult_1_l. unfold expected.
    rewrite (value_without_bias _ m k q (tx x) s y x M X S (U x X)). unfold v, u_place. fold l s. fold (tx x).
    repeat (rewrite ?mult_IZR, ?minus_IZR). ring. }
  rewrite E in B. unfold u_share. fold k l. fold (tx).
  rewrite (sum_ext k _ (fun x => (IZR (share (tx x)) * v x) / total (fun t => IZR (share t)) l))
    by (intros; unfold v, tx; field; lra).
  rewrite sum_over. apply fraction_le; [apply lt_IZR; exact L|auto|].
  set (ln := IZR (u_least_num c)) in *. set (ld := IZR (u_least_den c)) in *.
  set (tw := total (fun t => IZR (share t)) l) in *. set (av := sum k (fun x => IZR (share (tx x)) * v x)) in *.
  set (lv := IZR (u_level c)) in *. set (g := IZR (u_gap c)) in *. fold u s in Le.
  assert (SU : 0 < s * s * u) by (apply Rmult_lt_0_compat; nra).
  apply Rmult_le_reg_r with (s * s * u); auto. replace (ln * tw * (s * s * u)) with (ln * (tw * (s * s) * u)) by ring.
  eapply Rle_trans; [exact Le|]. replace (ld * av * (s * s * u)) with (ld * (av * (s * s) * u)) by ring.
  apply Rmult_le_compat_l; [lra|].
  assert (Q : g / u * u <= (av * (s * s) - lv) * u) by (apply Rmult_le_compat_r; [unfold u in *; lra|lra]).
  replace (g / u * u) with g in Q by (field; unfold u in *; lra). lra.
Qed.

(* A number is asked for, and a number reported: floors under the distance or its square. Reports are any reals. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Psatz.
From Mechdesign Require Import Sums Exponential Tables Private Optima.
Import ListNotations.
Open Scope R_scope.
Opaque exp_up exp_down scale digits halvings.

(* e^epsilon is over 2^96 here, as in the files of tables. *)
Definition unit96 : Z := 2 ^ 96.
Lemma unit96_pos : 0 < IZR unit96.
Proof. apply IZR_lt. reflexivity. Qed.
Opaque unit96.

Record atom := { at_ : Z; radius : Z; weight : Z }.
Definition no_atom : atom := {| at_ := 0; radius := 0; weight := 0 |}.

(* [exponent]: 1 for the distance, 2 for its square *)
Record line_certificate := {
  l_num : Z; l_den : Z; l_ratio : Z;              (* epsilon, and e^epsilon rounded up, over 2^96 *)
  l_squared : bool;
  l_low_num : Z; l_low_den : Z;                   (* the ends of the interval that inputs lie in *)
  l_high_num : Z; l_high_den : Z;
  l_atoms : list atom;                            (* places and radii over l_scale, weights over their sum *)
  l_scale : Z;
  l_gap : Z;                                      (* over 2^96 l_scale, or its square *)
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
  ztotal (fun a => weight a * phi_over unit96 ratio (Z.abs (x - at_ a) - radius a))%Z atoms.
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
  if ((at_ a - radius a <? e) && (e <=? at_ a + radius a))%Z then ratio else unit96.
Definition ends (atoms : list atom) : list Z :=
  flat_map (fun a => [(at_ a - radius a)%Z; (at_ a + radius a)%Z]) atoms.
Definition check_squares (ratio gap : Z) (atoms : list atom) : bool :=
  parabola_above gap (coefficients (fun _ => unit96) atoms)
  && forallb (fun e => parabola_above gap (coefficients (factor_at ratio e) atoms)) (ends atoms).

Definition check_atoms (c : line_certificate) : bool :=
  above_over unit96 (l_num c) (l_den c) (l_ratio c)
  && ((0 <? l_scale c) && (0 <? l_least_den c) && (l_gap c <=? 0) && (0 <? ztotal weight (l_atoms c)))%Z
  && forallb (fun a => (0 <=? radius a) && (0 <=? weight a))%Z (l_atoms c)
  && (if l_squared c then check_squares (l_ratio c) (l_gap c) (l_atoms c)
      else check_distances (l_ratio c) (l_gap c) (l_atoms c))
  && (l_least_num c * (ztotal weight (l_atoms c) * power_z (l_squared c) (l_scale c) * unit96)
      <=? l_least_den c
          * (ztotal (fun a => weight a * power_z (l_squared c) (radius a)) (l_atoms c) * unit96 + l_gap c))%Z.

Definition check_inside (c : line_certificate) : bool :=
  ((0 <? l_low_den c) && (0 <? l_high_den c))%Z
  && forallb (fun a => (l_low_num c * l_scale c <=? at_ a * l_low_den c)
                       && (at_ a * l_high_den c <=? l_high_num c * l_scale c))%Z (l_atoms c).
Definition check_line (c : line_certificate) : bool := check_atoms c && check_inside c.

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

Section Line.
Variables (ratio : Z) (c : R).
Hypothesis C : c = IZR ratio / IZR unit96.
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

Lemma wanting_at atoms x : IZR (gap_at ratio atoms x) = IZR unit96 * wanting false c atoms (IZR x).
Proof.
  unfold gap_at, wanting. rewrite IZR_ztotal, <- total_times. apply total_ext. intros a _.
  rewrite mult_IZR, (phi_over_ok unit96) by exact unit96_pos. rewrite minus_IZR, abs_IZR, minus_IZR, <- C. unfold power. ring.
Qed.

Lemma distances_ok gap atoms y : (forall a, In a atoms -> 0 <= IZR (weight a)) -> atoms <> [] ->
  check_distances ratio gap atoms = true -> IZR gap <= IZR unit96 * wanting false c atoms y.
Proof.
  intros W NE K. unfold check_distances in K. rewrite forallb_forall in K. assert (V := unit96_pos).
  assert (At : forall a, In a atoms -> IZR gap <= IZR unit96 * wanting false c atoms (IZR (at_ a))).
  { intros a A. specialize (K a A). apply Z.leb_le, IZR_le in K. rewrite wanting_at in K. exact K. }
  assert (Up : forall a, In a atoms -> (forall b, In b atoms -> Rabs (IZR (at_ a) - IZR (at_ b)) <= Rabs (y - IZR (at_ b)))
               -> IZR gap <= IZR unit96 * wanting false c atoms y).
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
        assert (Ap := At a A). assert (Ar := At b B). fold p in Ap. fold r in Ar. set (v := IZR unit96) in *.
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

Lemma squares_ok gap atoms y : (forall a, In a atoms -> 0 <= IZR (weight a)) ->
  (forall a, In a atoms -> 0 <= IZR (radius a)) ->
  check_squares ratio gap atoms = true -> IZR gap <= IZR unit96 * wanting true c atoms y.
Proof.
  intros W Ra K. unfold check_squares in K. apply andb_true_iff in K. destruct K as [K0 K1].
  rewrite forallb_forall in K1. assert (V := unit96_pos).
  assert (CR : IZR unit96 * c = IZR ratio) by (rewrite C; field; lra).
  assert (Sq : forall a, Rabs (y - IZR (at_ a)) * Rabs (y - IZR (at_ a)) = (y - IZR (at_ a)) * (y - IZR (at_ a))).
  { intros a. rewrite <- Rabs_mult. apply Rabs_pos_eq. assert (X := Rle_0_sqr (y - IZR (at_ a))). exact X. }
  assert (In_ends : forall a, In a atoms -> In (at_ a - radius a)%Z (ends atoms) /\ In (at_ a + radius a)%Z (ends atoms)).
  { intros a A. split; apply in_flat_map; exists a; simpl; auto. }
  assert (Branch : forall f, parabola_above gap (coefficients f atoms) = true ->
    (forall a, In a atoms -> IZR (f a) * ((y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a))
       <= IZR unit96 * phi c ((y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a))) ->
    IZR gap <= IZR unit96 * wanting true c atoms y).
  { intros f P B. eapply Rle_trans; [apply (parabola_ok _ _ _ y P)|]. unfold wanting. rewrite <- total_times.
    apply total_le. intros a A. unfold power. rewrite Sq. assert (X := B a A). assert (Y := W a A).
    set (t := (y - IZR (at_ a)) * (y - IZR (at_ a)) - IZR (radius a) * IZR (radius a)) in *.
    replace (IZR (f a) * IZR (weight a) * t) with (IZR (weight a) * (IZR (f a) * t)) by ring.
    replace (IZR unit96 * (IZR (weight a) * phi c t)) with (IZR (weight a) * (IZR unit96 * phi c t)) by ring.
    apply Rmult_le_compat_l; auto. }
  assert (Out : forall t, 0 <= t -> IZR unit96 * t <= IZR unit96 * phi c t).
  { intros t T. unfold phi. destruct (Rle_dec 0 t); lra. }
  assert (Inn : forall t, t <= 0 -> IZR ratio * t <= IZR unit96 * phi c t).
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

Theorem line_average c : check_atoms c = true -> forall m q (y : nat -> R),
  mechanism (IZR (l_num c) / IZR (l_den c)) m (l_inputs c) q ->
  IZR (l_least_num c) / IZR (l_least_den c)
  <= sum (l_inputs c) (fun x => l_share c x * expected m q (fun o => l_loss c (y o)) x).
Proof.
  unfold check_atoms. intros H m q y M. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le in H.
  destruct H as [[[[Ab [[[S L] G] T]] Ra] K] Le]. destruct (above_over_ok unit96 _ _ _ unit96_pos Ab) as [Cap One].
  rewrite forallb_forall in Ra. set (atoms := l_atoms c) in *. set (sq := l_squared c) in *.
  assert (Wt : forall a, In a atoms -> 0 <= IZR (weight a)).
  { intros a A. specialize (Ra a A). rewrite andb_true_iff, !Z.leb_le in Ra. apply IZR_le. tauto. }
  assert (Rt : forall a, In a atoms -> 0 <= IZR (radius a)).
  { intros a A. specialize (Ra a A). rewrite andb_true_iff, !Z.leb_le in Ra. apply IZR_le. tauto. }
  assert (NE : atoms <> []) by (intros E; rewrite E in T; simpl in T; lia).
  assert (V := unit96_pos). apply IZR_lt in S, T, L. apply IZR_le in G, Le.
  assert (PZ : forall d, IZR (power_z sq d) = power sq (IZR d)) by (intros; unfold power_z, power; destruct sq; [apply mult_IZR|auto]).
  rewrite !mult_IZR, plus_IZR, mult_IZR, !IZR_ztotal, PZ in Le. rewrite IZR_ztotal in T.
  set (s := IZR (l_scale c)) in *. set (u := IZR unit96) in *.
  set (sp := power sq s) in *. assert (SP : 0 < sp) by (unfold sp, power; destruct sq; nra).
  set (r := IZR (l_ratio c) / u) in *.
  assert (Wa : forall z, IZR (l_gap c) <= u * wanting sq r atoms z).
  { intros z. destruct sq.
    - apply (squares_ok (l_ratio c) r eq_refl _ _ _ Wt Rt K).
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

Theorem line_worst c : check_atoms c = true -> forall m q (y : nat -> R) worst,
  mechanism (IZR (l_num c) / IZR (l_den c)) m (l_inputs c) q ->
  (forall x, (x < l_inputs c)%nat -> expected m q (fun o => l_loss c (y o)) x <= worst) ->
  IZR (l_least_num c) / IZR (l_least_den c) <= worst.
Proof.
  intros H m q y worst M F. assert (A := line_average c H m q y M).
  unfold check_atoms in H. rewrite !andb_true_iff, !Z.ltb_lt in H. destruct H as [[[[_ [_ T]] Ra] _] _].
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

(* ---- inputs are all numbers of an interval, of which the atoms are some ---- *)

Record mechanism_on (eps low high : R) (m : nat) (q : nat -> R -> R) : Prop := {
  nonneg_on : forall o x, (o < m)%nat -> low <= x <= high -> 0 <= q o x;
  one_on : forall x, low <= x <= high -> sum m (fun o => q o x) = 1;
  near_on : forall o x x', (o < m)%nat -> low <= x <= high -> low <= x' <= high -> q o x <= exp eps * q o x' }.

Lemma atoms_inside c : check_line c = true -> forall i, (i < l_inputs c)%nat ->
  IZR (l_low_num c) / IZR (l_low_den c) <= l_at c i <= IZR (l_high_num c) / IZR (l_high_den c).
Proof.
  unfold check_line, check_atoms, check_inside. intros H i X.
  rewrite !andb_true_iff, !Z.ltb_lt in H. destruct H as [[[[[_ [[[S _] _] _]] _] _] _] [[Lo Hi] I]].
  rewrite forallb_forall in I. specialize (I _ (nth_In (l_atoms c) no_atom X)).
  rewrite andb_true_iff, !Z.leb_le in I. destruct I as [A B]. apply IZR_le in A, B. rewrite !mult_IZR in A, B.
  unfold l_at. apply IZR_lt in S. apply IZR_lt in Hi as Hi'. split.
  - apply fraction_le; auto. lra.
  - apply fraction_le; [apply lt_IZR; exact S|auto|]. lra.
Qed.

Lemma at_atoms c : check_line c = true -> forall m q,
  mechanism_on (IZR (l_num c) / IZR (l_den c)) (IZR (l_low_num c) / IZR (l_low_den c))
    (IZR (l_high_num c) / IZR (l_high_den c)) m q ->
  mechanism (IZR (l_num c) / IZR (l_den c)) m (l_inputs c) (fun o i => q o (l_at c i)).
Proof.
  intros H m q M. assert (P := atoms_inside c H). constructor; intros.
  - apply (nonneg_on _ _ _ _ _ M); auto.
  - apply (one_on _ _ _ _ _ M); auto.
  - apply (near_on _ _ _ _ _ M); auto.
Qed.

Theorem line_everywhere c : check_line c = true -> forall m q (y : nat -> R) worst,
  let low := IZR (l_low_num c) / IZR (l_low_den c) in
  let high := IZR (l_high_num c) / IZR (l_high_den c) in
  mechanism_on (IZR (l_num c) / IZR (l_den c)) low high m q ->
  (forall x, low <= x <= high -> sum m (fun o => q o x * power (l_squared c) (Rabs (y o - x))) <= worst) ->
  IZR (l_least_num c) / IZR (l_least_den c) <= worst.
Proof.
  intros H m q y worst low high M F. assert (K := H). unfold check_line in K. apply andb_true_iff in K.
  apply (line_worst c (proj1 K) m _ y worst (at_atoms c H m q M)). intros x X. apply F, atoms_inside; auto.
Qed.

(* The average under a prior: the atoms are its values, with its weights. *)
Theorem line_prior c : check_line c = true -> forall m q (y : nat -> R),
  mechanism_on (IZR (l_num c) / IZR (l_den c)) (IZR (l_low_num c) / IZR (l_low_den c))
    (IZR (l_high_num c) / IZR (l_high_den c)) m q ->
  IZR (l_least_num c) / IZR (l_least_den c)
  <= sum (l_inputs c) (fun i =>
       l_share c i * sum m (fun o => q o (l_at c i) * power (l_squared c) (Rabs (y o - l_at c i)))).
Proof.
  intros H m q y M. assert (K := H). unfold check_line in K. apply andb_true_iff in K.
  exact (line_average c (proj1 K) m _ y (at_atoms c H m q M)).
Qed.

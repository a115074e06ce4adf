(* Queries answered without bias: a floor under the noise of every mechanism with any linear estimator. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Psatz.
From Mechdesign Require Import Sums Exponential Tables Private Optima.
Import ListNotations.
Open Scope R_scope.
Opaque exp_up exp_down scale digits halvings unit40.

(* With k types, r queries and m reports: V i o is what report o says of query i, W i x its answer for type x. *)
Definition unbiased (m k r : nat) (q V W : nat -> nat -> R) : Prop :=
  forall i x, (i < r)%nat -> (x < k)%nat -> sum m (fun o => q o x * V i o) = W i x.

(* What one report adds to the variance of the answers: the squared error, over queries with weights g. *)
Definition noise_at (m r : nat) (g : nat -> R) (q V W : nat -> nat -> R) (x : nat) : R :=
  sum m (fun o => q o x * sum r (fun i => g i * ((V i o - W i x) * (V i o - W i x)))).

Section Floor.
Variables (eps c : R) (m k r : nat) (q V W A : nat -> nat -> R) (p nu g : nat -> R).
Hypothesis K : (0 < k)%nat.
Hypothesis M : mechanism eps m k q.
Hypothesis U : unbiased m k r q V W.
Hypothesis Cap : exp eps <= c.
Hypothesis One : 1 <= c.
Hypothesis P : forall x, (x < k)%nat -> 0 <= p x.
Hypothesis G : forall i, (i < r)%nat -> 0 <= g i.

(* the value of a linear function at the corner where the entries of z are c, and all others 1 *)
Definition corner (z : nat -> bool) (f : nat -> R) : R := sum k (fun x => (if z x then c else 1) * f x).
Hypothesis Some_type : 0 < sum k p.
Hypothesis Corners : forall z, sum r (fun i => g i * (corner z (A i) * corner z (A i))) <= corner z nu * corner z p.

Lemma corner_plus z f h : corner z (fun x => f x + h x) = corner z f + corner z h.
Proof. unfold corner. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

Lemma corner_times z a f : corner z (fun x => a * f x) = a * corner z f.
Proof. unfold corner. rewrite <- sum_times. apply sum_ext. intros. ring. Qed.

Lemma corner_sum z n (f : nat -> nat -> R) : corner z (fun x => sum n (fun i => f i x)) = sum n (fun i => corner z (f i)).
Proof.
  induction n.
  - unfold corner. simpl. rewrite (sum_ext k _ (fun _ => 0)) by (intros; ring). apply sum_zero.
  - simpl. rewrite corner_plus, IHn. reflexivity.
Qed.

Lemma corner_prior z : 0 < corner z p.
Proof.
  unfold corner. eapply Rlt_le_trans; [exact Some_type|]. apply sum_le. intros x X. assert (H := P x X).
  destruct (z x); nra.
Qed.

(* the cost of a report that says v, as a linear function of the row *)
Definition cost (v : nat -> R) (x : nat) : R :=
  p x * sum r (fun i => g i * (v i * v i)) + -2 * sum r (fun i => g i * v i * A i x) + nu x.

Lemma corner_cost z v : 0 <= corner z (cost v).
Proof.
  unfold cost. rewrite !corner_plus, corner_times, corner_sum.
  rewrite (sum_ext r (fun i => corner z _) (fun i => g i * v i * corner z (A i))) by (intros; apply corner_times).
  assert (Q : corner z (fun x => p x * sum r (fun i => g i * (v i * v i)))
              = sum r (fun i => g i * (v i * v i)) * corner z p).
  { rewrite <- corner_times. unfold corner. apply sum_ext. intros. ring. }
  rewrite Q. assert (H := Corners z). assert (Pz := corner_prior z).
  set (pz := corner z p) in *. set (nz := corner z nu) in *.
  apply Rmult_le_reg_l with pz; auto. rewrite Rmult_0_r.
  assert (S : 0 <= sum r (fun i => g i * ((pz * v i - corner z (A i)) * (pz * v i - corner z (A i))))).
  { apply sum_nonneg. intros i I. assert (Gi := G i I).
    assert (X := Rle_0_sqr (pz * v i - corner z (A i))). unfold Rsqr in X. apply Rmult_le_pos; auto. }
  assert (E : sum r (fun i => g i * ((pz * v i - corner z (A i)) * (pz * v i - corner z (A i))))
              = pz * pz * sum r (fun i => g i * (v i * v i)) + -2 * pz * sum r (fun i => g i * v i * corner z (A i))
                + sum r (fun i => g i * (corner z (A i) * corner z (A i)))).
  { rewrite <- !sum_times, <- !sum_plus. apply sum_ext. intros. ring. }
  rewrite E in S. nra.
Qed.

Lemma row_cost o v : (o < m)%nat -> 0 <= sum k (fun x => q o x * cost v x).
Proof.
  intros O. destruct (row_between eps m k q c o M Cap K O) as [b [B [_ R]]].
  set (z := fun x : nat => if Rlt_dec (cost v x) 0 then true else false).
  apply Rle_trans with (b * corner z (cost v)).
  - apply Rmult_le_pos; [auto|apply corner_cost].
  - unfold corner. rewrite <- sum_times. apply sum_le. intros x X. destruct (R x X). unfold z.
    destruct (Rlt_dec (cost v x) 0); nra.
Qed.

(* a squared error is a second moment less the square of the answer *)
Lemma noise_is x : (x < k)%nat ->
  noise_at m r g q V W x
  = sum m (fun o => q o x * sum r (fun i => g i * (V i o * V i o))) - sum r (fun i => g i * (W i x * W i x)).
Proof.
  intros X. unfold noise_at.
  rewrite (sum_ext m _ (fun o => q o x * sum r (fun i => g i * (V i o * V i o))
      + (sum r (fun i => -2 * g i * W i x * (q o x * V i o)) + sum r (fun i => g i * (W i x * W i x)) * q o x))).
  2: { intros o O. rewrite (Rmult_comm _ (q o x)), <- !sum_times, <- !sum_plus. apply sum_ext. intros. ring. }
  rewrite !sum_plus, sum_swap.
  rewrite (sum_ext r (fun j => sum m _) (fun i => -2 * (g i * (W i x * W i x)))).
  2: { intros i I. rewrite sum_times, (U i x I X). ring. }
  rewrite !sum_times, (one _ _ _ _ M) by auto. ring.
Qed.

Theorem floor :
  2 * sum r (fun i => g i * sum k (fun x => A i x * W i x)) - sum k nu
    - sum k (fun x => p x * sum r (fun i => g i * (W i x * W i x)))
  <= sum k (fun x => p x * noise_at m r g q V W x).
Proof.
  rewrite (sum_ext k (fun x => p x * noise_at _ _ _ _ _ _ x)
    (fun x => p x * sum m (fun o => q o x * sum r (fun i => g i * (V i o * V i o)))
              + -1 * (p x * sum r (fun i => g i * (W i x * W i x))))).
  2: { intros x X. rewrite noise_is by auto. ring. }
  rewrite sum_plus, sum_times.
  assert (T : 0 <= sum m (fun o => sum k (fun x => q o x * cost (fun i => V i o) x))).
  { apply sum_nonneg. intros. apply row_cost. auto. }
  rewrite sum_swap in T.
  assert (E : sum k (fun x => sum m (fun o => q o x * cost (fun i => V i o) x))
     = sum k (fun x => p x * sum m (fun o => q o x * sum r (fun i => g i * (V i o * V i o))))
       + -2 * sum r (fun i => g i * sum k (fun x => A i x * W i x)) + sum k nu).
  { rewrite (sum_ext k _ (fun x => p x * sum m (fun o => q o x * sum r (fun i => g i * (V i o * V i o)))
        + (-2 * sum r (fun i => g i * (A i x * W i x)) + nu x))).
    - rewrite !sum_plus, sum_times. rewrite sum_swap.
      rewrite (sum_ext r (fun j => sum k _) (fun i => g i * sum k (fun x => A i x * W i x))) by (intros; apply sum_times).
      ring.
    - intros x X. unfold cost.
      rewrite (sum_ext m _ (fun o => p x * (q o x * sum r (fun i => g i * (V i o * V i o)))
          + (-2 * sum r (fun i => g i * A i x * (q o x * V i o)) + nu x * q o x))).
      + rewrite !sum_plus, !sum_times, (one _ _ _ _ M) by auto. rewrite sum_swap.
        rewrite (sum_ext r (fun j => sum m _) (fun i => g i * (A i x * W i x))).
        * ring.
        * intros i I. rewrite sum_times, (U i x I X). ring.
      + intros o O. rewrite (sum_ext r (fun i => g i * A i x * (q o x * V i o)) (fun i => q o x * (g i * V i o * A i x)))
          by (intros; ring). rewrite sum_times. ring. }
  rewrite E in T. lra.
Qed.
End Floor.

(* ---- the certificate, in whole numbers ---- *)

Record workload_certificate := {
  w_num : Z; w_den : Z; w_ratio : Z;                       (* epsilon, and e^epsilon rounded up, over 2^40 *)
  w_queries : nat;
  w_matrix : list (list Z); w_matrix_scale : Z;            (* W: one list of answers a type *)
  w_columns : list (list Z); w_column_scale : Z;           (* A: the same *)
  w_prices : list Z; w_price_scale : Z;                    (* nu: one a type *)
  w_prior : list Z;                                        (* p, over its sum *)
  w_weights : list Z; w_weight_scale : Z;                  (* g: one a query *)
  w_least_num : Z; w_least_den : Z }.

Definition w_types (c : workload_certificate) : nat := length (w_matrix c).

Definition squares (r : nat) (g a : list Z) : Z := zsum r (fun i => entry g i * (entry a i * entry a i))%Z.

(* Every corner, with the sums of all entries that are chosen so far: a of A, n of nu, p of the prior. *)
Section Walk.
Variables (r : nat) (g : list Z) (left right ratio : Z).
Fixpoint walk (columns : list (list Z)) (prices prior a : list Z) (n p : Z) : bool :=
  match columns, prices, prior with
  | col :: columns', price :: prices', share :: prior' =>
      walk columns' prices' prior' (zip (fun s t => s + unit40 * t)%Z a col) (n + unit40 * price) (p + unit40 * share)
      && walk columns' prices' prior' (zip (fun s t => s + ratio * t)%Z a col) (n + ratio * price) (p + ratio * share)
  | _, _, _ => (squares r g a * left <=? right * n * p)%Z
  end.

Definition factor (z : nat -> bool) (x : nat) : Z := if z x then ratio else unit40.
Definition at_corner (z : nat -> bool) (l : list Z) : Z := zsum (length l) (fun x => factor z x * entry l x)%Z.
Definition column (columns : list (list Z)) (i : nat) : list Z := map (fun col => entry col i) columns.

Lemma zsum_first n f : zsum (S n) f = (f O + zsum n (fun i => f (S i)))%Z.
Proof.
  induction n; [simpl; lia|]. change (zsum (S (S n)) f) with (zsum (S n) f + f (S n))%Z. rewrite IHn. simpl. lia.
Qed.

Lemma at_corner_first z a l : at_corner z (a :: l) = (factor z 0 * a + at_corner (fun x => z (S x)) l)%Z.
Proof. unfold at_corner. simpl length. rewrite zsum_first. reflexivity. Qed.

Lemma walk_ok : forall columns prices prior a n p, length prices = length columns -> length prior = length columns ->
  length a = r -> (forall col, In col columns -> length col = r) -> walk columns prices prior a n p = true ->
  forall z, (zsum r (fun i => entry g i * ((entry a i + at_corner z (column columns i))
                                           * (entry a i + at_corner z (column columns i)))) * left
             <= right * (n + at_corner z prices) * (p + at_corner z prior))%Z.
Proof.
  induction columns as [|col columns IH]; intros [|price prices] [|share prior] a n p L1 L2 L3 L4 T z; try discriminate.
  - simpl in T. apply Z.leb_le in T. unfold squares in T. unfold at_corner, column. simpl. rewrite !Z.add_0_r.
    erewrite zsum_ext; [exact T|]. intros. cbv beta. rewrite Z.add_0_r. reflexivity.
  - simpl in T. apply andb_true_iff in T. destruct T as [T0 T1].
    assert (LC := L4 col ltac:(left; auto)).
    assert (T : walk columns prices prior (zip (fun s t => s + factor z 0 * t)%Z a col)
                  (n + factor z 0 * price) (p + factor z 0 * share) = true) by (unfold factor; destruct (z O); auto).
    simpl in L1, L2. apply IH with (z := fun x => z (S x)) in T; [|lia|lia| |intros; apply L4; right; auto].
    + rewrite !at_corner_first, !Z.add_assoc. erewrite zsum_ext; [exact T|]. intros i I. cbv beta.
      unfold column. simpl map. rewrite at_corner_first, entry_zip by lia. unfold entry. rewrite Z.add_assoc. reflexivity.
    + rewrite length_zip by lia. auto.
Qed.
End Walk.

Definition w_worth (c : workload_certificate) : Z :=
  zsum (w_queries c) (fun i => entry (w_weights c) i
    * zsum (w_types c) (fun x => entry (nth x (w_columns c) []) i * entry (nth x (w_matrix c) []) i))%Z.
Definition w_known (c : workload_certificate) : Z :=
  zsum (w_types c) (fun x => entry (w_prior c) x * squares (w_queries c) (w_weights c) (nth x (w_matrix c) []))%Z.
Definition w_total (c : workload_certificate) : Z := zsum (w_types c) (entry (w_prior c)).

Definition check_workload (c : workload_certificate) : bool :=
  let k := w_types c in
  let r := w_queries c in
  above (w_num c) (w_den c) (w_ratio c)
  && ((0 <? w_matrix_scale c) && (0 <? w_column_scale c) && (0 <? w_price_scale c) && (0 <? w_weight_scale c)
      && (0 <? w_least_den c) && (0 <? w_total c))%Z
  && Nat.ltb 0 k && Nat.eqb (length (w_columns c)) k && Nat.eqb (length (w_prices c)) k && Nat.eqb (length (w_prior c)) k
  && forallb (fun col => Nat.eqb (length col) r) (w_columns c)
  && forallb (fun x => 0 <=? entry (w_prior c) x)%Z (seq 0 k)
  && forallb (fun i => 0 <=? entry (w_weights c) i)%Z (seq 0 r)
  && walk r (w_weights c) (w_price_scale c * w_total c) (w_weight_scale c * (w_column_scale c * w_column_scale c))
       (w_ratio c) (w_columns c) (w_prices c) (w_prior c) (repeat 0%Z r) 0 0
  && (w_least_num c
        * (w_weight_scale c * w_column_scale c * (w_matrix_scale c * w_matrix_scale c) * w_price_scale c * w_total c)
      <=? w_least_den c
          * (2 * w_worth c * w_matrix_scale c * w_price_scale c * w_total c
             - zsum k (entry (w_prices c))
               * (w_weight_scale c * w_column_scale c * (w_matrix_scale c * w_matrix_scale c) * w_total c)
             - w_known c * (w_column_scale c * w_price_scale c)))%Z.

(* What certificates speak of, in real numbers. *)
Definition w_answer c (i x : nat) : R := IZR (entry (nth x (w_matrix c) []) i) / IZR (w_matrix_scale c).
Definition w_share c (x : nat) : R := IZR (entry (w_prior c) x) / IZR (w_total c).
Definition w_weight c (i : nat) : R := IZR (entry (w_weights c) i) / IZR (w_weight_scale c).

Lemma entry_column columns i x : entry (column columns i) x = entry (nth x columns []) i.
Proof.
  unfold column, entry. rewrite <- (map_nth (fun col => nth i col 0%Z)). f_equal. destruct i; reflexivity.
Qed.

Lemma entry_repeat n i : entry (repeat 0%Z n) i = 0%Z.
Proof. unfold entry. revert i. induction n; destruct i; simpl; auto. Qed.

Lemma corner_is ratio k z (l : list Z) s : length l = k -> 0 < s ->
  corner (IZR ratio / IZR unit40) k z (fun x => IZR (entry l x) / s) = IZR (at_corner ratio z l) / (IZR unit40 * s).
Proof.
  intros L S. assert (V := unit40_pos). unfold corner, at_corner. rewrite L, IZR_zsum, <- sum_over.
  apply sum_ext. intros. rewrite mult_IZR. unfold factor. destruct (z i); field; lra.
Qed.

Ltac positive := repeat match goal with |- 0 < _ * _ => apply Rmult_lt_0_compat end; assumption.

Theorem workload_average c : check_workload c = true -> forall m q V,
  mechanism (IZR (w_num c) / IZR (w_den c)) m (w_types c) q ->
  unbiased m (w_types c) (w_queries c) q V (w_answer c) ->
  IZR (w_least_num c) / IZR (w_least_den c)
  <= sum (w_types c) (fun x => w_share c x * noise_at m (w_queries c) (w_weight c) q V (w_answer c) x).
Proof.
  unfold check_workload. intros H m q V M U. rewrite !andb_true_iff, !Z.ltb_lt, Nat.ltb_lt, !Nat.eqb_eq in H.
  destruct H as [[[[[[[[[[Ab [[[[[SW SA] SN] SG] SL] ST]] K] LA] LN] LP] Co] Pr] Ge] Wa] Le].
  destruct (above_ok _ _ _ Ab) as [Cap One]. rewrite forallb_forall in Co, Pr, Ge.
  assert (V40 := unit40_pos). set (k := w_types c) in *. set (r := w_queries c) in *.
  assert (Wk := walk_ok r (w_weights c) (w_price_scale c * w_total c) (w_weight_scale c * (w_column_scale c * w_column_scale c))
    (w_ratio c) (w_columns c) (w_prices c) (w_prior c) (repeat 0%Z r) 0 0 ltac:(lia) ltac:(lia) (repeat_length _ _)
    ltac:(intros col I; apply Nat.eqb_eq, Co, I) Wa).
  clear Wa. apply Z.leb_le, IZR_le in Le.
  apply IZR_lt in SW, SA, SN, SG, ST.
  set (A := fun i x => IZR (entry (nth x (w_columns c) []) i) / IZR (w_column_scale c)).
  set (nu := fun x => IZR (entry (w_prices c) x) / IZR (w_price_scale c)).
  assert (F := floor _ (IZR (w_ratio c) / IZR unit40) m k r q V (w_answer c) A (w_share c) nu (w_weight c) K M U Cap One).
  assert (Fl : 2 * sum r (fun i => w_weight c i * sum k (fun x => A i x * w_answer c i x)) - sum k nu
    - sum k (fun x => w_share c x * sum r (fun i => w_weight c i * (w_answer c i x * w_answer c i x)))
    <= sum k (fun x => w_share c x * noise_at m r (w_weight c) q V (w_answer c) x)).
  { apply F; clear F.
    - intros x X. unfold w_share. apply at_least_0; auto. specialize (Pr x ltac:(apply in_seq; lia)).
      apply Z.leb_le, IZR_le in Pr. exact Pr.
    - intros i I. unfold w_weight. apply at_least_0; auto. specialize (Ge i ltac:(apply in_seq; lia)).
      apply Z.leb_le, IZR_le in Ge. exact Ge.
    - unfold w_share. rewrite sum_over. unfold w_total. rewrite IZR_zsum. fold k.
      unfold w_total in ST. rewrite IZR_zsum in ST. fold k in ST.
      unfold Rdiv. rewrite Rinv_r by lra. lra.
    - intros z. specialize (Wk z). apply IZR_le in Wk.
      unfold nu, w_share. rewrite !corner_is by auto.
      rewrite (sum_ext r _ (fun i => IZR (entry (w_weights c) i * ((0 + at_corner (w_ratio c) z (column (w_columns c) i))
            * (0 + at_corner (w_ratio c) z (column (w_columns c) i))))
          / (IZR (w_weight_scale c) * (IZR unit40 * IZR (w_column_scale c) * (IZR unit40 * IZR (w_column_scale c)))))).
      2: { intros i I. unfold A.
           assert (Q : corner (IZR (w_ratio c) / IZR unit40) k z
                         (fun x => IZR (entry (nth x (w_columns c) []) i) / IZR (w_column_scale c))
                       = IZR (at_corner (w_ratio c) z (column (w_columns c) i)) / (IZR unit40 * IZR (w_column_scale c))).
           { rewrite <- corner_is with (k := k); [|unfold column; rewrite map_length; auto|auto].
             unfold corner. apply sum_ext. intros. rewrite entry_column. reflexivity. }
           rewrite Q, !Z.add_0_l, !mult_IZR. unfold w_weight. field. lra. }
      rewrite sum_over, <- IZR_zsum. rewrite !mult_IZR, !Z.add_0_l in Wk.
      assert (E : zsum r (fun i => entry (w_weights c) i * ((entry (repeat 0%Z r) i + at_corner (w_ratio c) z (column (w_columns c) i))
                    * (entry (repeat 0%Z r) i + at_corner (w_ratio c) z (column (w_columns c) i))))%Z
                  = zsum r (fun i => entry (w_weights c) i * ((0 + at_corner (w_ratio c) z (column (w_columns c) i))
                    * (0 + at_corner (w_ratio c) z (column (w_columns c) i))))%Z)
        by (apply zsum_ext; intros; rewrite entry_repeat; reflexivity).
      rewrite E in Wk.
      set (sq := IZR (zsum r _)) in *. set (nz := IZR (at_corner (w_ratio c) z (w_prices c))) in *.
      set (pz := IZR (at_corner (w_ratio c) z (w_prior c))) in *. set (u := IZR unit40) in *.
      set (sn := IZR (w_price_scale c)) in *. set (st := IZR (w_total c)) in *. set (sg := IZR (w_weight_scale c)) in *.
      set (sa := IZR (w_column_scale c)) in *. clear - Wk V40 SN ST SG SA.
      assert (D : 0 < sg * (sa * sa) * (sn * st) * (u * u)) by positive.
      apply Rmult_le_reg_r with (sg * (sa * sa) * (sn * st) * (u * u)); auto.
      replace (sq / (sg * (u * sa * (u * sa))) * (sg * (sa * sa) * (sn * st) * (u * u))) with (sq * (sn * st)) by (field; lra).
      replace (nz / (u * sn) * (pz / (u * st)) * (sg * (sa * sa) * (sn * st) * (u * u)))
        with (sg * (sa * sa) * nz * pz) by (field; lra). exact Wk. }
  clear F Wk. eapply Rle_trans; [|exact Fl].
  assert (E1 : sum r (fun i => w_weight c i * sum k (fun x => A i x * w_answer c i x))
               = IZR (w_worth c) / (IZR (w_weight_scale c) * IZR (w_column_scale c) * IZR (w_matrix_scale c))).
  { unfold w_worth. rewrite IZR_zsum, <- sum_over. apply sum_ext. intros i I. rewrite mult_IZR, IZR_zsum. fold k.
    rewrite (sum_ext k (fun x => A i x * w_answer c i x)
      (fun x => IZR (entry (nth x (w_columns c) []) i * entry (nth x (w_matrix c) []) i)
                / (IZR (w_column_scale c) * IZR (w_matrix_scale c)))).
    - rewrite sum_over. unfold w_weight. field. lra.
    - intros x X. rewrite mult_IZR. unfold A, w_answer. field. lra. }
  assert (E2 : sum k nu = IZR (zsum k (entry (w_prices c))) / IZR (w_price_scale c)).
  { rewrite IZR_zsum, <- sum_over. reflexivity. }
  assert (E3 : sum k (fun x => w_share c x * sum r (fun i => w_weight c i * (w_answer c i x * w_answer c i x)))
               = IZR (w_known c) / (IZR (w_total c) * IZR (w_weight_scale c) * (IZR (w_matrix_scale c) * IZR (w_matrix_scale c)))).
  { unfold w_known. rewrite IZR_zsum, <- sum_over. fold k. fold r. apply sum_ext. intros x X. unfold squares.
    rewrite mult_IZR, IZR_zsum.
    rewrite (sum_ext r (fun i => w_weight c i * (w_answer c i x * w_answer c i x))
      (fun i => IZR (entry (w_weights c) i * (entry (nth x (w_matrix c) []) i * entry (nth x (w_matrix c) []) i))
                / (IZR (w_weight_scale c) * (IZR (w_matrix_scale c) * IZR (w_matrix_scale c))))).
    - rewrite sum_over. unfold w_share. field. lra.
    - intros i I. rewrite !mult_IZR. unfold w_weight, w_answer. field. lra. }
  rewrite E1, E2, E3. clear E1 E2 E3 Fl. rewrite !mult_IZR, !minus_IZR, !mult_IZR in Le.
  set (ln := IZR (w_least_num c)) in *. set (wo := IZR (w_worth c)) in *. set (kn := IZR (w_known c)) in *.
  set (pr := IZR (zsum k (entry (w_prices c)))) in *.
  set (sn := IZR (w_price_scale c)) in *. set (st := IZR (w_total c)) in *. set (sg := IZR (w_weight_scale c)) in *.
  set (sa := IZR (w_column_scale c)) in *. set (sw := IZR (w_matrix_scale c)) in *.
  apply IZR_lt in SL. set (ld := IZR (w_least_den c)) in *. clear - Le SW SA SN SG SL ST.
  assert (D : 0 < sg * sa * (sw * sw) * sn * st) by positive.
  apply Rmult_le_reg_r with (ld * (sg * sa * (sw * sw) * sn * st)); [nra|].
  replace (ln / ld * (ld * (sg * sa * (sw * sw) * sn * st))) with (ln * (sg * sa * (sw * sw) * sn * st)) by (field; lra).
  eapply Rle_trans; [exact Le|]. right. field. lra.
Qed.

Theorem workload_worst c : check_workload c = true -> forall m q V worst,
  mechanism (IZR (w_num c) / IZR (w_den c)) m (w_types c) q ->
  unbiased m (w_types c) (w_queries c) q V (w_answer c) ->
  (forall x, (x < w_types c)%nat -> noise_at m (w_queries c) (w_weight c) q V (w_answer c) x <= worst) ->
  IZR (w_least_num c) / IZR (w_least_den c) <= worst.
Proof.
  intros H m q V worst M U F. assert (A := workload_average c H m q V M U).
  unfold check_workload in H. rewrite !andb_true_iff, !Z.ltb_lt in H.
  destruct H as [[[[[[[[[[_ [_ T]] _] _] _] _] _] Pr] _] _] _]. rewrite forallb_forall in Pr.
  apply IZR_lt in T. assert (T' := T). unfold w_total in T'. rewrite IZR_zsum in T'.
  assert (One : sum (w_types c) (w_share c) = 1).
  { unfold w_share. rewrite sum_over. unfold w_total. rewrite IZR_zsum. field. lra. }
  eapply (worst_over_average (w_types c) (w_share c)); [| | |exact F].
  - intros x X. unfold w_share. apply at_least_0; auto. specialize (Pr x ltac:(apply in_seq; lia)).
    apply Z.leb_le, IZR_le in Pr. exact Pr.
  - rewrite One. lra.
  - rewrite One, Rmult_1_r. exact A.
Qed.

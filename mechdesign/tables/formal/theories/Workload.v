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

Lemma zsum_first n f : zsum (S n) f = (f O + zsum n (fun i => f (S i)))%Z.
Proof.
  induction n; [simpl; lia|]. change (zsum (S (S n)) f) with (zsum (S n) f + f (S n))%Z. rewrite IHn. simpl. lia.
Qed.

Lemma zsum_plus n f g : zsum n (fun i => f i + g i)%Z = (zsum n f + zsum n g)%Z.
Proof. induction n; simpl; lia. Qed.

Lemma zsum_times n a f : zsum n (fun i => a * f i)%Z = (a * zsum n f)%Z.
Proof. induction n; simpl; lia. Qed.

(* Every corner: right (nu.z)(p.z) - left sum_i g_i (A_i.z)^2 is a form in z, whose value is added up along the way. *)
Section Walk.
Variables (r : nat) (g : list Z) (left right ratio : Z).

Definition factor (z : nat -> bool) (x : nat) : Z := if z x then ratio else unit40.
Definition at_corner (z : nat -> bool) (l : list Z) : Z := zsum (length l) (fun x => factor z x * entry l x)%Z.
Definition column (columns : list (list Z)) (i : nat) : list Z := map (fun col => entry col i) columns.

(* what a type has with each of those after it *)
Fixpoint crosses (a : list Z) (price share : Z) (columns : list (list Z)) (prices prior : list Z) : list Z :=
  match columns, prices, prior with
  | b :: columns', price' :: prices', share' :: prior' =>
      (right * (price * share' + share * price') - 2 * left * zsum r (fun i => entry g i * (entry a i * entry b i)))%Z
        :: crosses a price share columns' prices' prior'
  | _, _, _ => []
  end.
Fixpoint form (columns : list (list Z)) (prices prior : list Z) : list (Z * list Z) :=
  match columns, prices, prior with
  | a :: columns', price :: prices', share :: prior' =>
      ((right * (price * share) - left * squares r g a)%Z, crosses a price share columns' prices' prior')
        :: form columns' prices' prior'
  | _, _, _ => []
  end.

(* [v] is the value of the types that are chosen, [h] what they add to each of the others *)
Fixpoint walk (v : Z) (h : list Z) (rows : list (Z * list Z)) : bool :=
  match rows, h with
  | (d, others) :: rows', own :: rest =>
      walk (v + unit40 * (own + unit40 * d)) (zip (fun s t => s + unit40 * t)%Z rest others) rows'
      && walk (v + ratio * (own + ratio * d)) (zip (fun s t => s + ratio * t)%Z rest others) rows'
  | _, _ => (0 <=? v)%Z
  end.

Definition value_at (z : nat -> bool) (columns : list (list Z)) (prices prior : list Z) : Z :=
  (right * at_corner z prices * at_corner z prior
   - left * zsum r (fun i => entry g i * (at_corner z (column columns i) * at_corner z (column columns i))))%Z.

Lemma at_corner_first z a l : at_corner z (a :: l) = (factor z 0 * a + at_corner (fun x => z (S x)) l)%Z.
Proof. unfold at_corner. simpl length. rewrite zsum_first. reflexivity. Qed.

Lemma at_corner_zip f : forall l m z, length l = length m ->
  at_corner z (zip (fun s t => s + f * t)%Z l m) = (at_corner z l + f * at_corner z m)%Z.
Proof.
  induction l as [|a l IH]; intros [|b m] z L; try discriminate; [unfold at_corner; simpl; lia|].
  simpl zip. rewrite !at_corner_first, IH by (simpl in L; lia). ring.
Qed.

Lemma length_crosses a price share : forall columns prices prior, length prices = length columns ->
  length prior = length columns -> length (crosses a price share columns prices prior) = length columns.
Proof.
  induction columns; intros [|? ?] [|? ?] L M; try discriminate; auto. simpl in *. rewrite IHcolumns; lia.
Qed.

Lemma crosses_ok a price share : forall columns prices prior z, length prices = length columns ->
  length prior = length columns ->
  at_corner z (crosses a price share columns prices prior)
  = (right * (price * at_corner z prior + share * at_corner z prices)
     - 2 * left * zsum r (fun i => entry g i * (entry a i * at_corner z (column columns i))))%Z.
Proof.
  induction columns as [|b columns IH]; intros [|price' prices] [|share' prior] z L M; try discriminate.
  - unfold at_corner. simpl. rewrite (zsum_ext r _ (fun i => 0 * 0)%Z) by (intros; lia). rewrite zsum_times. ring.
  - cbn [crosses]. rewrite !at_corner_first, IH by (simpl in L, M; lia).
    rewrite (zsum_ext r (fun i => entry g i * (entry a i * at_corner z (column (b :: columns) i)))%Z
      (fun i => factor z 0 * (entry g i * (entry a i * entry b i))
                + entry g i * (entry a i * at_corner (fun x => z (S x)) (column columns i)))%Z).
    + rewrite zsum_plus, zsum_times. ring.
    + intros i I. unfold column at 1. simpl map. rewrite at_corner_first. fold (column columns i). ring.
Qed.

Lemma value_first a price share columns prices prior z : length prices = length columns ->
  length prior = length columns ->
  value_at z (a :: columns) (price :: prices) (share :: prior)
  = (factor z 0 * (factor z 0 * (right * (price * share) - left * squares r g a)
                   + at_corner (fun x => z (S x)) (crosses a price share columns prices prior))
     + value_at (fun x => z (S x)) columns prices prior)%Z.
Proof.
  intros L M. unfold value_at. rewrite !at_corner_first, crosses_ok by auto. unfold squares.
  rewrite (zsum_ext r (fun i => entry g i * (at_corner z (column (a :: columns) i) * at_corner z (column (a :: columns) i)))%Z
    (fun i => factor z 0 * factor z 0 * (entry g i * (entry a i * entry a i))
              + (2 * factor z 0 * (entry g i * (entry a i * at_corner (fun x => z (S x)) (column columns i)))
                 + entry g i * (at_corner (fun x => z (S x)) (column columns i) * at_corner (fun x => z (S x)) (column columns i))))%Z).
  - rewrite !zsum_plus, !zsum_times. ring.
  - intros i I. unfold column at 1 2. simpl map. rewrite at_corner_first. fold (column columns i). ring.
Qed.

Lemma walk_ok : forall columns prices prior v h, length prices = length columns -> length prior = length columns ->
  length h = length columns -> walk v h (form columns prices prior) = true ->
  forall z, (0 <= v + at_corner z h + value_at z columns prices prior)%Z.
Proof.
  induction columns as [|a columns IH]; intros [|price prices] [|share prior] v [|own h] L M H T z; try discriminate.
  - simpl in T. apply Z.leb_le in T. unfold value_at, at_corner. simpl.
    rewrite (zsum_ext r _ (fun i => 0 * 0)%Z) by (intros; lia). rewrite zsum_times. lia.
  - simpl in T. apply andb_true_iff in T. destruct T as [T0 T1]. simpl in L, M, H.
    assert (LC := length_crosses a price share columns prices prior ltac:(lia) ltac:(lia)).
    set (d := (right * (price * share) - left * squares r g a)%Z) in *.
    set (others := crosses a price share columns prices prior) in *.
    assert (T : walk (v + factor z 0 * (own + factor z 0 * d)) (zip (fun s t => s + factor z 0 * t)%Z h others)
                  (form columns prices prior) = true) by (unfold factor; destruct (z O); auto).
    apply IH with (z := fun x => z (S x)) in T; [|lia|lia|rewrite length_zip by lia; lia].
    rewrite value_first, at_corner_first by lia. fold d others. rewrite at_corner_zip in T by lia. lia.
Qed.

Lemma walked columns prices prior : length prices = length columns -> length prior = length columns ->
  walk 0 (repeat 0%Z (length columns)) (form columns prices prior) = true ->
  forall z, (zsum r (fun i => entry g i * (at_corner z (column columns i) * at_corner z (column columns i))) * left
             <= right * at_corner z prices * at_corner z prior)%Z.
Proof.
  intros L M T z. assert (W := walk_ok columns prices prior 0 _ L M (repeat_length _ _) T z). unfold value_at in W.
  assert (Z0 : forall n z', at_corner z' (repeat 0%Z n) = 0%Z).
  { induction n; intros; [reflexivity|]. simpl repeat. rewrite at_corner_first, IHn. ring. }
  rewrite Z0 in W. lia.
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
  && walk (w_ratio c) 0 (repeat 0%Z (length (w_columns c)))
       (form r (w_weights c) (w_price_scale c * w_total c) (w_weight_scale c * (w_column_scale c * w_column_scale c))
          (w_columns c) (w_prices c) (w_prior c))
  && (w_least_num c
        * (w_weight_scale c * w_column_scale c * (w_matrix_scale c * w_matrix_scale c) * w_price_scale c * w_total c)
      <=? w_least_den c
          * (2 * w_worth c * w_matrix_scale c * w_price_scale c * w_total c
             - zsum k (entry (w_prices c))
               * (w_weight_scale c * w_column_scale c * (w_matrix_scale c * w_matrix_scale c) * w_total c)
             - w_known c * (w_column_scale c * w_price_scale c)))%Z
  && has_shape k r (w_matrix c).

(* What certificates speak of, in real numbers. *)
Definition w_answer c (i x : nat) : R := IZR (entry (nth x (w_matrix c) []) i) / IZR (w_matrix_scale c).
Definition w_share c (x : nat) : R := IZR (entry (w_prior c) x) / IZR (w_total c).
Definition w_weight c (i : nat) : R := IZR (entry (w_weights c) i) / IZR (w_weight_scale c).

Lemma entry_column columns i x : entry (column columns i) x = entry (nth x columns []) i.
Proof.
  unfold column, entry. rewrite <- (map_nth (fun col => nth i col 0%Z)). f_equal. destruct i; reflexivity.
Qed.

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
  destruct H as [[[[[[[[[[[Ab [[[[[SW SA] SN] SG] SL] ST]] K] LA] LN] LP] Co] Pr] Ge] Wa] Le] _].
  destruct (above_ok _ _ _ Ab) as [Cap One]. rewrite forallb_forall in Co, Pr, Ge.
  assert (V40 := unit40_pos). set (k := w_types c) in *. set (r := w_queries c) in *.
  assert (Wk := walked r (w_weights c) (w_price_scale c * w_total c) (w_weight_scale c * (w_column_scale c * w_column_scale c))
    (w_ratio c) (w_columns c) (w_prices c) (w_prior c) ltac:(lia) ltac:(lia) Wa).
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
      rewrite (sum_ext r _ (fun i => IZR (entry (w_weights c) i * (at_corner (w_ratio c) z (column (w_columns c) i)
            * at_corner (w_ratio c) z (column (w_columns c) i)))
          / (IZR (w_weight_scale c) * (IZR unit40 * IZR (w_column_scale c) * (IZR unit40 * IZR (w_column_scale c)))))).
      2: { intros i I. unfold A.
           assert (Q : corner (IZR (w_ratio c) / IZR unit40) k z
                         (fun x => IZR (entry (nth x (w_columns c) []) i) / IZR (w_column_scale c))
                       = IZR (at_corner (w_ratio c) z (column (w_columns c) i)) / (IZR unit40 * IZR (w_column_scale c))).
           { rewrite <- corner_is with (k := k); [|unfold column; rewrite map_length; auto|auto].
             unfold corner. apply sum_ext. intros. rewrite entry_column. reflexivity. }
           rewrite Q, !mult_IZR. unfold w_weight. field. lra. }
      rewrite sum_over, <- IZR_zsum. rewrite !mult_IZR in Wk.
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
  destruct H as [[[[[[[[[[[_ [_ T]] _] _] _] _] _] Pr] _] _] _] _]. rewrite forallb_forall in Pr.
  apply IZR_lt in T. assert (T' := T). unfold w_total in T'. rewrite IZR_zsum in T'.
  assert (One : sum (w_types c) (w_share c) = 1).
  { unfold w_share. rewrite sum_over. unfold w_total. rewrite IZR_zsum. field. lra. }
  eapply (worst_over_average (w_types c) (w_share c)); [| | |exact F].
  - intros x X. unfold w_share. apply at_least_0; auto. specialize (Pr x ltac:(apply in_seq; lia)).
    apply Z.leb_le, IZR_le in Pr. exact Pr.
  - rewrite One. lra.
  - rewrite One, Rmult_1_r. exact A.
Qed.

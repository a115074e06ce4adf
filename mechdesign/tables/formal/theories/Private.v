(* Whatever table [check] passes is private. *)
From Coq Require Import ZArith Reals List Lia Lra Bool Binomial Psatz.
From Mechdesign Require Import Sums Exponential Tables.
Import ListNotations.
Open Scope R_scope.
Opaque exp_down exp_up scale digits halvings.

(* ---- from whole numbers to reals ---- *)

Lemma rescaled (q w v e x : R) : 0 < w -> 0 < v -> q * w <= e -> e / (w * v) <= x -> q <= x * v.
Proof.
  intros W V Q E. apply Rmult_le_reg_r with w; auto. apply Rle_trans with e; auto.
  replace e with (e / (w * v) * (w * v)) by (field; lra). replace (x * v * w) with (x * (w * v)) by ring.
  apply Rmult_le_compat_r; [nra|auto].
Qed.

Lemma cap_ok n d : (0 <= n)%Z -> (0 < d)%Z -> IZR (cap_of n d) <= exp (IZR n / IZR d) * IZR (2 ^ 96).
Proof.
  intros N D. assert (E := exp_down_ok n d N D). rewrite scale_splits, mult_IZR in E.
  unfold cap_of. rewrite Z.shiftr_div_pow2 by (vm_compute; discriminate).
  assert (W : (0 < 2 ^ (digits - 96))%Z) by (vm_compute; reflexivity).
  assert (Q := below_quotient (exp_down n d) _ W).
  apply IZR_lt in W. refine (rescaled _ _ _ _ _ W _ Q E). apply IZR_lt. reflexivity.
Qed.

Section Ratio.
Variables (c : R) (cap : Z).
Hypothesis Cap : IZR cap <= c * IZR (2 ^ 96).
Hypothesis One : 1 <= c.

Lemma near_ok a b : (0 <= b)%Z -> near cap a b = true -> IZR a <= c * IZR b.
Proof.
  unfold near. intros B N. apply Z.leb_le, IZR_le in N. rewrite !mult_IZR in N. apply IZR_le in B.
  assert (V : 0 < IZR (2 ^ 96)) by (apply IZR_lt; reflexivity). set (v := IZR (2 ^ 96)) in *.
  apply Rmult_le_reg_r with v; auto. nra.
Qed.

Lemma both_near_ok a b : both_near cap a b = true ->
  0 < IZR a /\ 0 < IZR b /\ IZR a <= c * IZR b /\ IZR b <= c * IZR a.
Proof.
  unfold both_near. rewrite !andb_true_iff, !Z.ltb_lt. intros [[[A B] N] M].
  repeat split; try (apply IZR_lt; auto); apply near_ok; auto; lia.
Qed.

Lemma either (a b : R) (p q : bool) : 0 <= a -> 0 <= b -> a <= c * b -> b <= c * a ->
  (if p then a else b) <= c * (if q then a else b).
Proof. intros. destruct p, q; nra. Qed.

Lemma guarded (so : bool) (a b : R) : a <= c * b -> if_so so a <= c * if_so so b.
Proof. unfold if_so. destruct so; intros; lra. Qed.

Lemma divided (a b d : R) : 0 < d -> a <= c * b -> a / d <= c * (b / d).
Proof.
  intros. unfold Rdiv. replace (c * (b * / d)) with (c * b * / d) by ring.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|auto].
Qed.

Lemma at_least_0 (a d : R) : 0 <= a -> 0 < d -> 0 <= a / d.
Proof. intros. apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]. Qed.

(* ---- groups: one's own, or any other ---- *)

Lemma groups_ok full groups own other (p q : bool) d : 0 < d -> 0 < IZR full ->
  check_groups full cap groups own other = true ->
  (if p then IZR own / IZR full else IZR other / IZR full) / d
  <= c * ((if q then IZR own / IZR full else IZR other / IZR full) / d).
Proof.
  unfold check_groups. rewrite !andb_true_iff. intros D F [_ N].
  destruct (both_near_ok _ _ N) as [A [B [U V]]].
  apply divided; auto. apply either; try (apply at_least_0; lra); apply divided; auto.
Qed.

(* ---- independent bits ---- *)

Lemma product_pos f : (forall i b, 0 < f i b) -> forall bits i, 0 < product f i bits.
Proof. intros P. induction bits; intros; simpl; [lra|]. apply Rmult_lt_0_compat; auto. Qed.

Lemma product_others full a b y z v : forall bits i, (v < i)%nat ->
  product (coin_of full a b y z v) i bits = product (fun _ => coin full y z) i bits.
Proof.
  induction bits; intros; simpl; auto. rewrite IHbits by lia. unfold coin_of at 1.
  destruct (Nat.eqb_spec i v); [lia|auto].
Qed.

Lemma product_mine full a b y z v : forall bits i, (i <= v < i + length bits)%nat ->
  product (coin_of full a b y z v) i bits * coin full y z (nth (v - i) bits false)
  = product (fun _ => coin full y z) i bits * coin full a b (nth (v - i) bits false).
Proof.
  induction bits; intros i H; simpl in *; [lia|].
  destruct (Nat.eq_dec v i).
  - subst. rewrite Nat.sub_diag. rewrite product_others by lia. unfold coin_of. rewrite Nat.eqb_refl. ring.
  - replace (v - i)%nat with (S (v - S i)) by lia. specialize (IHbits (S i)).
    unfold coin_of at 1. destruct (Nat.eqb_spec i v); [lia|].
    rewrite !Rmult_assoc, IHbits by lia. ring.
Qed.

Lemma coins_ok full a b y z u v bits : 0 < IZR full ->
  check_coins full cap a b y z = true ->
  (0 <= u < Z.of_nat (length bits))%Z -> (0 <= v < Z.of_nat (length bits))%Z ->
  coins full a b y z u bits <= c * coins full a b y z v bits.
Proof.
  intros F K U V. unfold check_coins in K. rewrite !andb_true_iff, !Z.ltb_lt in K.
  destruct K as [[[[[[A B] Y] Z] _] _] N]. destruct (both_near_ok _ _ N) as [_ [_ [N1 N2]]].
  rewrite !mult_IZR in N1, N2. apply IZR_lt in A, B, Y, Z.
  assert (I : 0 < / IZR full) by (apply Rinv_0_lt_compat; auto).
  assert (Po : forall s t b', 0 < IZR s -> 0 < IZR t -> 0 < coin full s t b').
  { intros. unfold coin, Rdiv. destruct b'; apply Rmult_lt_0_compat; auto. }
  assert (G : 0 < product (fun _ => coin full y z) 0 bits) by (apply product_pos; intros; auto).
  unfold coins.
  assert (MU := product_mine full a b y z (Z.to_nat u) bits 0 ltac:(lia)).
  assert (MV := product_mine full a b y z (Z.to_nat v) bits 0 ltac:(lia)).
  rewrite Nat.sub_0_r in MU, MV.
  set (g := product (fun _ => coin full y z) 0 bits) in *.
  set (pu := product (coin_of full a b y z (Z.to_nat u)) 0 bits) in *.
  set (pv := product (coin_of full a b y z (Z.to_nat v)) 0 bits) in *.
  set (bu := nth (Z.to_nat u) bits false) in *. set (bv := nth (Z.to_nat v) bits false) in *.
  assert (OU := Po y z bu Y Z). assert (OV := Po y z bv Y Z).
  apply Rmult_le_reg_r with (coin full y z bu * coin full y z bv); [nra|].
  replace (pu * (coin full y z bu * coin full y z bv)) with (pu * coin full y z bu * coin full y z bv) by ring.
  replace (c * pv * (coin full y z bu * coin full y z bv)) with (c * (pv * coin full y z bv * coin full y z bu)) by ring.
  rewrite MU, MV.
  replace (g * coin full a b bu * coin full y z bv) with (g * (coin full a b bu * coin full y z bv)) by ring.
  replace (c * (g * coin full a b bv * coin full y z bu)) with (g * (c * (coin full a b bv * coin full y z bu))) by ring.
  apply Rmult_le_compat_l; [lra|]. unfold coin.
  assert (H : IZR (if bu then b else a) * IZR (if bv then z else y)
              <= c * (IZR (if bv then b else a) * IZR (if bu then z else y))).
  { destruct bu, bv; try assumption.
    - assert (0 < IZR b * IZR z) by (apply Rmult_lt_0_compat; auto). nra.
    - assert (0 < IZR a * IZR y) by (apply Rmult_lt_0_compat; auto). nra. }
  set (p := IZR (if bu then b else a)) in *. set (q := IZR (if bv then z else y)) in *.
  set (r := IZR (if bv then b else a)) in *. set (s := IZR (if bu then z else y)) in *. unfold Rdiv.
  replace (p * / IZR full * (q * / IZR full)) with (p * q * (/ IZR full * / IZR full)) by ring.
  replace (c * (r * / IZR full * (s * / IZR full))) with (c * (r * s) * (/ IZR full * / IZR full)) by ring.
  apply Rmult_le_compat_r; [nra|exact H].
Qed.

(* ---- lists of counts ---- *)

Lemma length_zip f : forall a b, length a = length b -> length (zip f a b) = length a.
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. Qed.

Lemma entry_zip f : forall a b j, length a = length b -> (j < length a)%nat ->
  entry (zip f a b) j = f (entry a j) (entry b j).
Proof.
  unfold entry. induction a; destruct b; simpl; intros; try discriminate; [lia|].
  destruct j; auto. apply IHa; lia.
Qed.

Lemma every_ok f : forall a b, every f a b = true ->
  length a = length b /\ forall j, (j < length a)%nat -> f (entry a j) (entry b j) = true.
Proof.
  unfold entry. induction a; destruct b; simpl; intros H; try discriminate; [split; [auto|lia]|].
  apply andb_true_iff in H. destruct H as [F E]. destruct (IHa _ E). split; [lia|].
  intros. destruct j; auto. apply H0; lia.
Qed.

Lemma length_extreme f n first : forall rest, length first = n -> (forall row, In row rest -> length row = n) ->
  length (extreme f first rest) = n.
Proof.
  induction rest; simpl; intros; auto. rewrite length_zip; [auto|]. rewrite H0 by auto. symmetry. apply IHrest; auto.
Qed.

Lemma extreme_max n first : forall rest, length first = n -> (forall row, In row rest -> length row = n) ->
  forall j row, (j < n)%nat -> In row (first :: rest) -> (entry row j <= entry (extreme Z.max first rest) j)%Z.
Proof.
  induction rest; simpl; intros L R j row J I.
  - destruct I as [I|[]]. subst. lia.
  - assert (LR := length_extreme Z.max n first rest L ltac:(auto)).
    change (entry row j <= entry (zip Z.max a (extreme Z.max first rest)) j)%Z.
    assert (LA := R a ltac:(auto)).
    rewrite entry_zip by lia. destruct I as [I|[I|I]].
    + assert (X := IHrest L ltac:(auto) j row J ltac:(simpl; auto)). lia.
    + subst. lia.
    + assert (X := IHrest L ltac:(auto) j row J ltac:(simpl; auto)). lia.
Qed.

Lemma extreme_min n first : forall rest, length first = n -> (forall row, In row rest -> length row = n) ->
  forall j row, (j < n)%nat -> In row (first :: rest) -> (entry (extreme Z.min first rest) j <= entry row j)%Z.
Proof.
  induction rest; simpl; intros L R j row J I.
  - destruct I as [I|[]]. subst. lia.
  - assert (LR := length_extreme Z.min n first rest L ltac:(auto)).
    change (entry (zip Z.min a (extreme Z.min first rest)) j <= entry row j)%Z.
    assert (LA := R a ltac:(auto)).
    rewrite entry_zip by lia. destruct I as [I|[I|I]].
    + assert (X := IHrest L ltac:(auto) j row J ltac:(simpl; auto)). lia.
    + subst. lia.
    + assert (X := IHrest L ltac:(auto) j row J ltac:(simpl; auto)). lia.
Qed.

(* a row of which one entry lies where all entries of this place lie *)
Lemma apart (most least : Z) (a b : Z) : (0 < least)%Z -> near cap most least = true ->
  (a <= most)%Z -> (least <= b)%Z -> IZR a <= c * IZR b.
Proof.
  intros L N A B. assert (H := near_ok most least ltac:(lia) N). apply IZR_le in A, B. nra.
Qed.

Lemma entry_out (row : list Z) j : (length row <= j)%nat -> entry row j = 0%Z.
Proof. apply nth_overflow. Qed.

Lemma finite_ok full outputs rows x y j : check_law full cap (Finite outputs rows) = true ->
  (0 <= x < Z.of_nat (length rows))%Z -> (0 <= y < Z.of_nat (length rows))%Z ->
  IZR (entry (nth (Z.to_nat x) rows []) j) <= c * IZR (entry (nth (Z.to_nat y) rows []) j).
Proof.
  intros K X Y. simpl in K. destruct rows as [|first rest]; [discriminate|].
  apply andb_true_iff in K. destruct K as [K E]. rewrite forallb_forall in K.
  assert (L : forall row, In row (first :: rest) -> length row = outputs).
  { intros row I. specialize (K row I). apply andb_true_iff in K. apply Nat.eqb_eq. tauto. }
  assert (LF := L first ltac:(left; auto)).
  assert (LR : forall row, In row rest -> length row = outputs) by (intros; apply L; right; auto).
  assert (IX : In (nth (Z.to_nat x) (first :: rest) []) (first :: rest)) by (apply nth_In; lia).
  assert (IY : In (nth (Z.to_nat y) (first :: rest) []) (first :: rest)) by (apply nth_In; lia).
  destruct (every_ok _ _ _ E) as [_ Ej]. rewrite (length_extreme Z.max outputs) in Ej by auto.
  destruct (lt_dec j outputs) as [J|J].
  - specialize (Ej j J). apply andb_true_iff in Ej. destruct Ej as [P N]. apply Z.ltb_lt in P.
    eapply apart; eauto using extreme_max, extreme_min.
  - rewrite !entry_out by (rewrite L; auto; lia). lra.
Qed.

(* ---- windows ---- *)

Lemma between_step room u g : (0 <= room)%Z -> (0 <= g)%Z ->
  (0 <= between room (u + g) - between room u <= g)%Z.
Proof. unfold between. lia. Qed.

Lemma filled_between start room : (0 <= room)%Z -> forall base caps at_,
  length base = length caps -> (forall j, (j < length base)%nat -> (entry base j <= entry caps j)%Z) ->
  length (filled start room at_ base caps) = length base /\
  forall j, (j < length base)%nat ->
    (entry base j <= entry (filled start room at_ base caps) j <= entry caps j)%Z.
Proof.
  intros R. induction base; destruct caps; simpl; intros at_ L H; try discriminate; [split; [auto|lia]|].
  assert (H0 := H O ltac:(lia)). unfold entry in H0. simpl in H0.
  destruct (IHbase caps (at_ + (z - a))%Z ltac:(lia)) as [Le B].
  { intros j J. apply (H (S j)). lia. }
  split; [lia|]. intros j J. destruct j.
  - unfold entry; simpl. assert (X := between_step room (at_ - start) (z - a) R ltac:(lia)).
    replace (at_ - start + (z - a))%Z with (at_ + (z - a) - start)%Z in X by lia. lia.
  - apply (B j). lia.
Qed.

Lemma window_ok full outputs rows base caps starts x y j :
  check_law full cap (Window outputs rows base caps starts) = true ->
  IZR (entry (filled (entry starts x) (full - sums base) 0 base caps) j)
  <= c * IZR (entry (filled (entry starts y) (full - sums base) 0 base caps) j).
Proof.
  intros K. simpl in K. rewrite !andb_true_iff in K. destruct K as [[[[_ _] E] [[S _] _]] _].
  apply Z.leb_le in S. destruct (every_ok _ _ _ E) as [L Ej].
  assert (Ej' : forall j, (j < length base)%nat ->
    (0 < entry base j)%Z /\ (entry base j <= entry caps j)%Z /\ near cap (entry caps j) (entry base j) = true).
  { intros i I. specialize (Ej i I). rewrite !andb_true_iff, Z.ltb_lt, Z.leb_le in Ej. tauto. }
  assert (F := fun s => filled_between s (full - sums base) ltac:(lia) base caps 0 L
                          ltac:(intros i I; apply (Ej' i I))).
  destruct (lt_dec j (length base)) as [J|J].
  - destruct (Ej' j J) as [P [_ N]]. destruct (F (entry starts x)) as [_ FX]. destruct (F (entry starts y)) as [_ FY].
    specialize (FX j J). specialize (FY j J). eapply apart; eauto; lia.
  - rewrite !entry_out by (rewrite (proj1 (F _)); lia). lra.
Qed.

(* ---- noise on a grid ---- *)

Lemma falling_ok : forall l, falling l = true -> forall i j, (i <= j < length l)%nat -> (entry l j <= entry l i)%Z.
Proof.
  unfold entry. induction l as [|a l IH]; intros H i j I; [simpl in *; lia|].
  destruct l as [|b l].
  - simpl in *. destruct i, j; try lia.
  - change (((b <=? a)%Z && falling (b :: l)) = true) in H. apply andb_true_iff in H. destruct H as [B F].
    apply Z.leb_le in B. destruct j; [destruct i; [lia|lia]|].
    destruct i.
    + change (nth j (b :: l) 0 <= a)%Z. assert (X := IH F O j ltac:(simpl in *; lia)). change (nth 0 (b :: l) 0%Z) with b in X. lia.
    + apply (IH F i j). simpl in *. lia.
Qed.

Lemma last_entry : forall l, last l 0%Z = entry l (length l - 1).
Proof.
  unfold entry. induction l as [|a l IH]; auto. destruct l; auto.
  change (last (z :: l) 0%Z = nth (length (a :: z :: l) - 1) (a :: z :: l) 0%Z). rewrite IH.
  simpl. rewrite Nat.sub_0_r. reflexivity.
Qed.

Lemma noise_ok full weights tail a b : 0 < IZR full ->
  check_law full cap (Additive weights tail) = true ->
  (0 <= a)%Z -> (0 <= b)%Z -> (Z.abs (a - b) <= Z.of_nat (length weights))%Z ->
  noise full weights tail a <= c * noise full weights tail b.
Proof.
  intros F K A B D. simpl in K. destruct weights as [|first rest] eqn:W; [discriminate|]. rewrite <- W in *.
  rewrite !andb_true_iff, !Z.ltb_lt in K. destruct K as [[[[[[_ T0] T1] L] Fa] N] M].
  rewrite last_entry in L, N. set (n := length weights) in *.
  assert (P : (0 < n)%nat) by (unfold n; rewrite W; simpl; lia).
  assert (E0 : first = entry weights 0) by (rewrite W; reflexivity). rewrite E0 in N.
  assert (Mo := falling_ok _ Fa). fold n in Mo.
  assert (M' := near_ok full tail ltac:(lia) M).
  apply IZR_lt in T0, T1. set (r := IZR tail / IZR full).
  assert (R0 : 0 < r) by (unfold r; apply Rmult_lt_0_compat; [auto|apply Rinv_0_lt_compat; auto]).
  assert (RF : r * IZR full = IZR tail) by (unfold r; field; lra).
  assert (R1 : r < 1) by nra.
  assert (RC : 1 <= c * r) by nra.
  unfold noise. fold n. fold r.
  assert (Da := Z.div_mod a (Z.of_nat n) ltac:(lia)). assert (Ma := Z.mod_pos_bound a (Z.of_nat n) ltac:(lia)).
  assert (Db := Z.div_mod b (Z.of_nat n) ltac:(lia)). assert (Mb := Z.mod_pos_bound b (Z.of_nat n) ltac:(lia)).
  assert (Qa := Z.div_pos a (Z.of_nat n) A ltac:(lia)). assert (Qb := Z.div_pos b (Z.of_nat n) B ltac:(lia)).
  set (qa := (a / Z.of_nat n)%Z) in *. set (ma := (a mod Z.of_nat n)%Z) in *.
  set (qb := (b / Z.of_nat n)%Z) in *. set (mb := (b mod Z.of_nat n)%Z) in *.
  set (wa := entry weights (Z.to_nat ma)). set (wb := entry weights (Z.to_nat mb)).
  assert (WA : (0 < wa)%Z) by (assert (X := Mo (Z.to_nat ma) (n - 1)%nat ltac:(lia)); unfold wa; lia).
  assert (WB : (0 < wb)%Z) by (assert (X := Mo (Z.to_nat mb) (n - 1)%nat ltac:(lia)); unfold wb; lia).
  assert (AB : IZR wa <= c * IZR wb).
  { eapply apart; [exact L|exact N| |].
    - apply Mo. lia.
    - apply Mo. lia. }
  apply IZR_lt in WA, WB.
  assert (Pow : forall k, 0 < r ^ k) by (intros; apply pow_lt; auto).
  destruct (Z_le_gt_dec qb qa) as [Q|Q].
  - assert (S : (Z.to_nat qa = Z.to_nat qb + (Z.to_nat qa - Z.to_nat qb))%nat) by lia. rewrite S, pow_add.
    set (k := (Z.to_nat qa - Z.to_nat qb)%nat).
    assert (K : r ^ k <= 1) by (rewrite <- (pow1 k); apply pow_incr; lra).
    assert (Pk := Pow k). assert (Pb := Pow (Z.to_nat qb)).
    replace (c * (r ^ Z.to_nat qb * IZR wb)) with (r ^ Z.to_nat qb * (c * IZR wb)) by ring.
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra.
  - assert (Q1 : (qb = qa + 1)%Z) by nia. assert (Mm : (mb <= ma)%Z) by nia.
    assert (Wm : IZR wa <= IZR wb) by (apply IZR_le; apply Mo; lia).
    replace (Z.to_nat qb) with (S (Z.to_nat qa)) by lia. simpl. assert (Pa := Pow (Z.to_nat qa)).
    replace (c * (r * r ^ Z.to_nat qa * IZR wb)) with (r ^ Z.to_nat qa * (c * r * IZR wb)) by ring.
    apply Rmult_le_compat_l; [lra|]. nra.
Qed.

Lemma sums_nonneg : forall l, (forall j, (j < length l)%nat -> (0 <= entry l j)%Z) -> (0 <= sums l)%Z.
Proof.
  induction l; simpl; intros; [lia|]. assert (X := H O ltac:(lia)). unfold entry in X. simpl in X.
  assert (0 <= sums l)%Z by (apply IHl; intros j J; apply (H (S j)); lia). unfold sums in *. lia.
Qed.

Lemma mass_of_noise_pos full weights tail : 0 < IZR full ->
  check_law full cap (Additive weights tail) = true -> 0 < mass_of_noise full weights tail.
Proof.
  intros F K. simpl in K. destruct weights as [|first rest] eqn:W; [discriminate|]. rewrite <- W in *.
  rewrite !andb_true_iff, !Z.ltb_lt in K. destruct K as [[[[[[S T0] T1] L] Fa] _] _]. apply Z.eqb_eq in S.
  rewrite last_entry in L. assert (Mo := falling_ok _ Fa).
  assert (F0 : (entry weights 0 <= full)%Z).
  { rewrite <- S, W. unfold entry. simpl.
    assert (0 <= sums rest)%Z; [|unfold sums in *; lia]. apply sums_nonneg. intros j J.
    assert (X := Mo (Datatypes.S j) (length weights - 1)%nat ltac:(rewrite W; simpl; lia)).
    change (entry rest j) with (entry (first :: rest) (Datatypes.S j)). rewrite <- W. lia. }
  unfold mass_of_noise. apply IZR_le in F0. apply IZR_lt in T0, T1. set (r := IZR tail / IZR full).
  assert (R0 : 0 < r) by (unfold r; apply Rmult_lt_0_compat; [auto|apply Rinv_0_lt_compat; auto]).
  assert (RF : r * IZR full = IZR tail) by (unfold r; field; lra).
  assert (R1 : r < 1) by nra.
  assert (X : 2 * IZR full <= 2 * IZR full / (1 - r)).
  { apply Rmult_le_reg_r with (1 - r); [lra|]. replace (2 * IZR full / (1 - r) * (1 - r)) with (2 * IZR full) by (field; lra). nra. }
  lra.
Qed.

(* ---- sets ---- *)

Lemma binomial_step n p : (p < n)%nat -> C n (S p) * INR (S p) = C n p * INR (n - p).
Proof.
  intros. unfold C. replace (n - p)%nat with (S (n - S p)) by lia. rewrite !fact_simpl, !mult_INR.
  assert (X := INR_fact_neq_0 p). assert (Y := INR_fact_neq_0 (n - S p)).
  assert (INR (S p) <> 0) by (apply not_0_INR; lia). assert (INR (S (n - S p)) <> 0) by (apply not_0_INR; lia).
  field. auto.
Qed.

Lemma binomial_pos n p : 0 < C n p.
Proof.
  unfold C. apply Rmult_lt_0_compat; [apply lt_0_INR, lt_O_fact|]. apply Rinv_0_lt_compat.
  apply Rmult_lt_0_compat; apply lt_0_INR, lt_O_fact.
Qed.

Lemma subset_ok full count chosen own other (p q : bool) : 0 < IZR full ->
  check_law full cap (Subset count chosen own other) = true ->
  (if p then IZR own / IZR full / C (Z.to_nat count - 1) (Z.to_nat chosen - 1)
   else IZR other / IZR full / C (Z.to_nat count - 1) (Z.to_nat chosen))
  <= c * (if q then IZR own / IZR full / C (Z.to_nat count - 1) (Z.to_nat chosen - 1)
          else IZR other / IZR full / C (Z.to_nat count - 1) (Z.to_nat chosen)).
Proof.
  intros F K. simpl in K. rewrite !andb_true_iff, !Z.ltb_lt in K. destruct K as [[[[[K1 _] O] T] _] N].
  assert (N' := N). unfold both_near in N'. rewrite !andb_true_iff, !Z.ltb_lt in N'. destruct N' as [[[A B] _] _].
  assert (Ch : (0 < chosen < count)%Z) by nia.
  destruct (both_near_ok _ _ N) as [_ [_ [U V]]]. rewrite !mult_IZR in U, V.
  assert (St := binomial_step (Z.to_nat count - 1) (Z.to_nat chosen - 1) ltac:(lia)).
  replace (S (Z.to_nat chosen - 1)) with (Z.to_nat chosen) in St by lia.
  replace (Z.to_nat count - 1 - (Z.to_nat chosen - 1))%nat with (Z.to_nat (count - chosen)) in St by lia.
  rewrite !INR_IZR_INZ, !Z2Nat.id in St by lia.
  assert (P1 := binomial_pos (Z.to_nat count - 1) (Z.to_nat chosen - 1)).
  assert (P2 := binomial_pos (Z.to_nat count - 1) (Z.to_nat chosen)).
  set (c1 := C (Z.to_nat count - 1) (Z.to_nat chosen - 1)) in *. set (c2 := C (Z.to_nat count - 1) (Z.to_nat chosen)) in *.
  apply IZR_lt in O, T. destruct Ch as [Ch1 Ch2]. assert (Ch3 : 0 < IZR (count - chosen)) by (apply IZR_lt; lia).
  apply IZR_lt in Ch1. set (o := IZR own) in *. set (t := IZR other) in *. set (d := IZR chosen) in *.
  set (e := IZR (count - chosen)) in *. set (f := IZR full) in *.
  assert (Q : c2 = c1 * e / d) by (apply Rmult_eq_reg_r with d; [rewrite St; field; lra|lra]).
  assert (X : t / f / c2 = (t * d) / (f * c1 * e)) by (rewrite Q; field; repeat split; lra).
  assert (Y : o / f / c1 = (o * e) / (f * c1 * e)) by (field; repeat split; lra).
  assert (W : 0 < f * c1 * e) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; auto|auto]).
  rewrite X, Y. apply either; try (apply at_least_0; auto; nra); apply divided; auto.
Qed.
End Ratio.

(* ---- the theorem ---- *)

Lemma half_block_pos count blocks : 0 < IZR (half_block count blocks).
Proof. apply IZR_lt. unfold half_block. apply Z.pow_pos_nonneg; [lia|apply Z.log2_nonneg]. Qed.

Theorem private_at t : check t = true -> forall hash x y o, input t x -> input t y ->
  mass hash t x o <= exp (epsilon t) * mass hash t y o.
Proof.
  intros K. unfold check in K. rewrite !andb_true_iff, !Z.ltb_lt in K.
  destruct K as [[[[[N D] _] Bi] Ca] La].
  apply Z.eqb_eq in Ca. assert (Cap := cap_ok (num t) (den t) ltac:(lia) D). rewrite <- Ca in Cap.
  change (IZR (num t) / IZR (den t)) with (epsilon t) in Cap.
  assert (One : 1 <= exp (epsilon t)).
  { assert (X := exp_ineq1_le (epsilon t)). assert (0 <= epsilon t); [|lra]. unfold epsilon.
    apply at_least_0; [apply IZR_le; lia|apply IZR_lt; auto]. }
  assert (Full : 0 < IZR (whole t)).
  { apply IZR_lt. unfold whole. rewrite !orb_true_iff, !Z.eqb_eq in Bi. apply Z.pow_pos_nonneg; lia. }
  clear Ca Bi N D. set (c := exp (epsilon t)) in *. set (full := whole t) in *.
  unfold input, mass. fold full. intros hash x y.
  destruct (the_law t) as [outputs rows|outputs rows base caps starts|cells inside weight|weights tail|count own other
    |count a b a' b'|count hashes own other|count chosen own other|count blocks own other
    |count functions buckets a b a' b'] eqn:E; simpl report; simpl inputs; intros o X Y.
  - apply divided; auto. eapply finite_ok; eauto.
  - apply divided; auto. eapply window_ok; eauto.
  - simpl in La. rewrite !andb_true_iff, !Z.ltb_lt in La. destruct La as [[[I J] _] Ne].
    destruct (both_near_ok c _ Cap _ _ Ne) as [A [B [U V]]]. rewrite mult_IZR in A, B. rewrite !mult_IZR in U. rewrite !mult_IZR in V.
    assert (J' : 0 < IZR (cells - inside)) by (apply IZR_lt; lia). apply IZR_lt in I.
    apply guarded. set (w := IZR weight) in *. set (v := IZR (full - weight)) in *.
    set (i := IZR inside) in *. set (k := IZR (cells - inside)) in *. set (f := IZR full) in *.
    replace (w / f / i) with (w * k / (f * i * k)) by (field; repeat split; lra).
    replace (v / f / k) with (v * i / (f * i * k)) by (field; repeat split; lra).
    assert (0 < f * i * k) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; auto|auto]).
    apply either; auto; try (apply at_least_0; auto; lra); apply divided; auto.
  - apply divided; [eapply mass_of_noise_pos; eauto|]. eapply noise_ok; eauto; lia.
  - simpl in La. apply andb_true_iff in La. destruct La as [_ G]. apply guarded.
    assert (H := groups_ok c _ Cap One full count own other (o =? x)%Z (o =? y)%Z 1 ltac:(lra) Full G).
    unfold Rdiv in H. rewrite Rinv_1, !Rmult_1_r in H. exact H.
  - simpl in La. rewrite !andb_true_iff in La. destruct La as [_ G].
    unfold if_so. destruct (Nat.eqb_spec (length o) (Z.to_nat count)) as [L|L]; [|lra].
    eapply coins_ok; eauto; lia.
  - simpl in La. rewrite !andb_true_iff in La. destruct La as [_ G]. destruct o as [seed z]. apply guarded.
    eapply groups_ok; eauto. apply IZR_lt. reflexivity.
  - apply guarded. eapply subset_ok; eauto.
  - simpl in La. rewrite !andb_true_iff in La. destruct La as [_ G]. destruct o as [k z]. apply guarded.
    eapply groups_ok; eauto. apply half_block_pos.
  - simpl in La. rewrite !andb_true_iff, !Z.ltb_lt in La.
    destruct La as [[[[[[_ B] _] F] _] _] G]. destruct o as [f bits]. unfold if_so.
    destruct (in_range f functions); simpl; [|lra].
    destruct (Nat.eqb_spec (length bits) (Z.to_nat buckets)) as [L|L]; [|lra].
    apply divided; [apply IZR_lt; lia|].
    assert (M := Z.mod_pos_bound (hash x f) buckets ltac:(lia)).
    assert (M' := Z.mod_pos_bound (hash y f) buckets ltac:(lia)). eapply coins_ok; eauto; lia.
Qed.

(* No set of reports is more than e^epsilon times as likely under one input as under another. *)
Theorem private t : check t = true -> forall hash S x y, input t x -> input t y ->
  chance hash t S x <= exp (epsilon t) * chance hash t S y.
Proof.
  intros. unfold chance. rewrite <- total_times. apply total_le. intros. apply private_at; auto.
Qed.

(* The same where inputs take one of several rows at random. *)
Theorem private_mixed t : check t = true -> forall hash S draw draw', mixture t draw -> mixture t draw' ->
  mixed hash t S draw <= exp (epsilon t) * mixed hash t S draw'.
Proof.
  intros K hash S draw draw' [I T] [I' T']. unfold mixed. set (c := exp (epsilon t)).
  assert (A : forall y, input t y -> total (fun d => fst d * chance hash t S (snd d)) draw <= c * chance hash t S y).
  { intros y Y. apply Rle_trans with (total (fun d => c * chance hash t S y * fst d) draw).
    - apply total_le. intros [p x] P. destruct (I p x P). simpl. assert (H1 := private t K hash S x y H0 Y). fold c in H1. nra.
    - rewrite total_times, T. lra. }
  set (m := total (fun d => fst d * chance hash t S (snd d)) draw) in *.
  rewrite <- total_times. apply Rle_trans with (total (fun d => m * fst d) draw').
  - rewrite total_times, T'. lra.
  - apply total_le. intros [p x] P. destruct (I' p x P). simpl. assert (B := A x H0). nra.
Qed.

(* And for sets without end, listed one after the other, whose chances are limits. *)
Theorem private_limit t : check t = true -> forall hash (S : nat -> report (the_law t)) x y p q,
  input t x -> input t y ->
  infinite_sum (fun n => mass hash t x (S n)) p -> infinite_sum (fun n => mass hash t y (S n)) q ->
  p <= exp (epsilon t) * q.
Proof.
  intros K hash S x y p q X Y P Q. set (c := exp (epsilon t)).
  apply Rle_cv_lim with (fun n => sum_f_R0 (fun n => mass hash t x (S n)) n)
    (fun n => c * sum_f_R0 (fun n => mass hash t y (S n)) n).
  - intros n. rewrite scal_sum. apply sum_Rle. intros. rewrite Rmult_comm. apply private_at; auto.
  - exact P.
  - apply (CV_mult (fun _ => c)); [|exact Q]. intros e E. exists O. intros. unfold R_dist.
    rewrite Rminus_diag_eq, Rabs_R0; auto.
Qed.

(* ---- limits of pairs ---- *)

Lemma counts_nonneg full cap outputs rows x j : check_law full cap (Finite outputs rows) = true ->
  (x < length rows)%nat -> (0 <= entry (nth x rows []) j)%Z.
Proof.
  intros K X. simpl in K. destruct rows as [|first rest]; [discriminate|].
  apply andb_true_iff in K. destruct K as [K E]. rewrite forallb_forall in K.
  assert (L : forall row, In row (first :: rest) -> length row = outputs).
  { intros row I. specialize (K row I). apply andb_true_iff in K. apply Nat.eqb_eq. tauto. }
  assert (LF := L first ltac:(left; auto)).
  assert (LR : forall row, In row rest -> length row = outputs) by (intros; apply L; right; auto).
  assert (IX : In (nth x (first :: rest) []) (first :: rest)) by (apply nth_In; auto).
  destruct (every_ok _ _ _ E) as [_ Ej]. rewrite (length_extreme Z.max outputs) in Ej by auto.
  destruct (lt_dec j outputs) as [J|J].
  - specialize (Ej j J). apply andb_true_iff in Ej. destruct Ej as [P _]. apply Z.ltb_lt in P.
    assert (M := extreme_min outputs first rest LF LR j _ J IX). lia.
  - rewrite entry_out by (rewrite L; auto; lia). lia.
Qed.

Theorem private_in_pairs t outputs rows epsilons places :
  check t = true -> the_law t = Finite outputs rows -> check_limits epsilons places rows = true ->
  forall hash S x y, input t x -> input t y -> place places x y <> (-1)%Z ->
  chance hash t S x <= exp (limit epsilons (place places x y)) * chance hash t S y.
Proof.
  intros K E L hash S x y X Y P. unfold chance. rewrite <- total_times. apply total_le. intros o _. revert o.
  unfold check in K. rewrite !andb_true_iff in K. destruct K as [[[_ Bi] _] La].
  assert (Full : 0 < IZR (whole t)).
  { apply IZR_lt. unfold whole. rewrite !orb_true_iff, !Z.eqb_eq in Bi. apply Z.pow_pos_nonneg; lia. }
  unfold input in X, Y. unfold mass. rewrite E in *. simpl in X, Y |- *. intros j. apply divided; auto.
  unfold check_limits in L. rewrite !andb_true_iff in L. destruct L as [[[Eps _] _] All].
  rewrite forallb_forall in All. specialize (All (Z.to_nat x) ltac:(apply in_seq; lia)).
  rewrite forallb_forall in All. specialize (All (Z.to_nat y) ltac:(apply in_seq; lia)). unfold place in *.
  set (p := entry (nth (Z.to_nat x) places []) (Z.to_nat y)) in *.
  apply orb_true_iff in All. destruct All as [All|All]; [apply Z.eqb_eq in All; contradiction|].
  rewrite !andb_true_iff, Z.leb_le, Z.ltb_lt in All. destruct All as [[P0 P1] N].
  destruct (every_ok _ _ _ N) as [Le Nj]. unfold limit. set (e := nth (Z.to_nat p) epsilons (0%Z, 1%Z)) in *.
  rewrite forallb_forall in Eps. specialize (Eps e ltac:(apply nth_In; lia)).
  rewrite !andb_true_iff, !Z.ltb_lt in Eps. destruct Eps as [[E0 E1] _].
  assert (Cap := cap_ok (fst e) (snd e) ltac:(lia) E1).
  assert (EC : entry (map (fun e => cap_of (fst e) (snd e)) epsilons) (Z.to_nat p) = cap_of (fst e) (snd e)).
  { unfold entry, e. rewrite (nth_indep _ 0%Z ((fun e => cap_of (fst e) (snd e)) (0%Z, 1%Z)))
      by (rewrite map_length; lia). apply (map_nth (fun e => cap_of (fst e) (snd e))). }
  rewrite EC in *. destruct (lt_dec j (length (nth (Z.to_nat x) rows []))) as [J|J].
  - eapply near_ok; [exact Cap| |apply Nj; auto]. eapply counts_nonneg; eauto. lia.
  - rewrite !entry_out by lia. lra.
Qed.

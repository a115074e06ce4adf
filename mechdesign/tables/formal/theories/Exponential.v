(* e^(num / den) between whole numbers over 2^448: 1 + h <= e^h <= 1 / (1 - h), squared again and again. *)
From Coq Require Import ZArith Reals Lia Lra.
Open Scope R_scope.

Definition digits : Z := 448%Z.
Definition scale : Z := (2 ^ digits)%Z.

Lemma scale_pos : (0 < scale)%Z.
Proof. reflexivity. Qed.

Lemma scale_real : 0 < IZR scale.
Proof. apply IZR_lt. exact scale_pos. Qed.

Definition shrink (a : Z) : Z := Z.shiftr a digits.

Lemma shrink_is a : shrink a = (a / scale)%Z.
Proof. unfold shrink, scale. apply Z.shiftr_div_pow2. discriminate. Qed.

Lemma scale_splits : scale = (2 ^ (digits - 96) * 2 ^ 96)%Z.
Proof. vm_compute. reflexivity. Qed.

Opaque scale digits.

Fixpoint squared_down (k : nat) (low : Z) : Z :=
  match k with O => low | S j => squared_down j (shrink (low * low)) end.
Fixpoint squared_up (k : nat) (high : Z) : Z :=
  match k with O => high | S j => squared_up j (shrink (high * high) + 1)%Z end.

Lemma exp_double x : exp (2 * x) = exp x * exp x.
Proof. replace (2 * x) with (x + x) by lra. apply exp_plus. Qed.

Lemma below_quotient a b : (0 < b)%Z -> IZR (a / b) * IZR b <= IZR a.
Proof. intros. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. apply Z.mul_div_le; auto. Qed.

Lemma above_quotient a b : (0 < b)%Z -> IZR a <= IZR (a / b + 1) * IZR b.
Proof.
  intros. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. apply Z.lt_le_incl.
  apply Z.mul_succ_div_gt. auto.
Qed.

Lemma over_scale a b : a * IZR scale <= b -> a / IZR scale <= b / (IZR scale * IZR scale).
Proof.
  intros. assert (P := scale_real). apply Rmult_le_reg_r with (IZR scale * IZR scale); [nra|].
  replace (a / IZR scale * (IZR scale * IZR scale)) with (a * IZR scale) by (field; lra).
  replace (b / (IZR scale * IZR scale) * (IZR scale * IZR scale)) with b by (field; lra). auto.
Qed.

Lemma under_scale a b : b <= a * IZR scale -> b / (IZR scale * IZR scale) <= a / IZR scale.
Proof.
  intros. assert (P := scale_real). apply Rmult_le_reg_r with (IZR scale * IZR scale); [nra|].
  replace (a / IZR scale * (IZR scale * IZR scale)) with (a * IZR scale) by (field; lra).
  replace (b / (IZR scale * IZR scale) * (IZR scale * IZR scale)) with b by (field; lra). auto.
Qed.

Lemma square_of_quotient a :
  IZR (a * a) / (IZR scale * IZR scale) = (IZR a / IZR scale) * (IZR a / IZR scale).
Proof. rewrite mult_IZR. assert (P := scale_real). field. lra. Qed.

Lemma quotient_nonneg a : (0 <= a)%Z -> 0 <= IZR a / IZR scale.
Proof.
  intros. apply Rmult_le_pos; [apply IZR_le; auto|]. left. apply Rinv_0_lt_compat, scale_real.
Qed.

Lemma shrink_nonneg a : (0 <= a)%Z -> (0 <= shrink a)%Z.
Proof. intros. rewrite shrink_is. apply Z.div_pos; [auto|exact scale_pos]. Qed.

Lemma squared_down_ok k : forall low x, (0 <= low)%Z -> IZR low / IZR scale <= exp x ->
  IZR (squared_down k low) / IZR scale <= exp (2 ^ k * x).
Proof.
  induction k; intros; simpl.
  - rewrite Rmult_1_l; auto.
  - replace (2 * 2 ^ k * x) with (2 ^ k * (2 * x)) by ring. apply IHk.
    + apply shrink_nonneg. nia.
    + rewrite shrink_is. eapply Rle_trans.
      * apply over_scale, below_quotient, scale_pos.
      * rewrite square_of_quotient, exp_double. apply Rmult_le_compat; auto using quotient_nonneg.
Qed.

Lemma squared_up_ok k : forall high x, (0 <= high)%Z -> exp x <= IZR high / IZR scale ->
  exp (2 ^ k * x) <= IZR (squared_up k high) / IZR scale.
Proof.
  induction k; intros; simpl.
  - rewrite Rmult_1_l; auto.
  - replace (2 * 2 ^ k * x) with (2 ^ k * (2 * x)) by ring. apply IHk.
    + assert (0 <= shrink (high * high))%Z by (apply shrink_nonneg; nia). lia.
    + rewrite shrink_is. eapply Rle_trans; [|apply under_scale, above_quotient, scale_pos].
      rewrite square_of_quotient, exp_double. assert (0 < exp x) by apply exp_pos.
      apply Rmult_le_compat; lra.
Qed.

Definition halvings : nat := 224.
Definition unit_of (den : Z) : Z := (den * 2 ^ Z.of_nat halvings)%Z.
(* h = num / unit, which is num / den halved that often *)
Definition exp_down (num den : Z) : Z := squared_down halvings (scale + scale * num / unit_of den)%Z.
Definition exp_up (num den : Z) : Z :=
  squared_up halvings (scale * unit_of den / (unit_of den - num) + 1)%Z.

Opaque halvings.

Lemma unit_pos den : (0 < den)%Z -> (0 < unit_of den)%Z.
Proof. intros. apply Z.mul_pos_pos; [auto|apply Z.pow_pos_nonneg; lia]. Qed.

Lemma halved num den : (0 < den)%Z -> 2 ^ halvings * (IZR num / IZR (unit_of den)) = IZR num / IZR den.
Proof.
  intros. unfold unit_of. rewrite mult_IZR, <- pow_IZR. assert (0 < IZR den) by (apply IZR_lt; auto).
  assert (0 < 2 ^ halvings) by (apply pow_lt; lra). field. split; lra.
Qed.

Lemma exp_down_ok num den : (0 <= num)%Z -> (0 < den)%Z ->
  IZR (exp_down num den) / IZR scale <= exp (IZR num / IZR den).
Proof.
  intros N D. assert (U := unit_pos _ D). assert (P := scale_real). assert (S := scale_pos).
  rewrite <- (halved num den) by auto. unfold exp_down. apply squared_down_ok.
  - assert (0 <= scale * num / unit_of den)%Z by (apply Z.div_pos; [nia|auto]). lia.
  - assert (UR : 0 < IZR (unit_of den)) by (apply IZR_lt; auto).
    assert (Q := below_quotient (scale * num) _ U). rewrite mult_IZR in Q.
    eapply Rle_trans; [|apply exp_ineq1_le].
    apply Rmult_le_reg_r with (IZR scale * IZR (unit_of den)); [nra|]. rewrite plus_IZR.
    set (q := IZR (scale * num / unit_of den)) in *.
    replace ((IZR scale + q) / IZR scale * (IZR scale * IZR (unit_of den)))
      with (IZR scale * IZR (unit_of den) + q * IZR (unit_of den)) by (field; lra).
    replace ((1 + IZR num / IZR (unit_of den)) * (IZR scale * IZR (unit_of den)))
      with (IZR scale * IZR (unit_of den) + IZR scale * IZR num) by (field; lra). lra.
Qed.

Lemma exp_at_most h : h < 1 -> exp h <= 1 / (1 - h).
Proof.
  intros. assert (E := exp_ineq1_le (- h)). rewrite exp_Ropp in E. assert (X := exp_pos h).
  apply Rmult_le_reg_r with (1 - h); [lra|]. replace (1 / (1 - h) * (1 - h)) with 1 by (field; lra).
  apply Rmult_le_reg_l with (/ exp h); [apply Rinv_0_lt_compat; auto|].
  replace (/ exp h * (exp h * (1 - h))) with (1 - h) by (field; lra). lra.
Qed.

Lemma exp_up_ok num den : (0 <= num)%Z -> (0 < den)%Z -> (num < unit_of den)%Z ->
  exp (IZR num / IZR den) <= IZR (exp_up num den) / IZR scale.
Proof.
  intros N D L. assert (U := unit_pos _ D). assert (P := scale_real). assert (S := scale_pos).
  rewrite <- (halved num den) by auto. unfold exp_up.
  assert (V : (0 < unit_of den - num)%Z) by lia. apply squared_up_ok.
  - assert (0 <= scale * unit_of den / (unit_of den - num))%Z by (apply Z.div_pos; nia). lia.
  - assert (UR : 0 < IZR (unit_of den)) by (apply IZR_lt; auto).
    assert (VR : 0 < IZR (unit_of den) - IZR num) by (rewrite <- minus_IZR; apply IZR_lt; auto).
    assert (H : IZR num / IZR (unit_of den) < 1).
    { apply Rmult_lt_reg_r with (IZR (unit_of den)); auto. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    eapply Rle_trans; [apply exp_at_most, H|].
    assert (Q := above_quotient (scale * unit_of den) _ V). rewrite mult_IZR, minus_IZR in Q.
    set (q := IZR (scale * unit_of den / (unit_of den - num) + 1)) in *.
    apply Rmult_le_reg_r with (IZR scale * (IZR (unit_of den) - IZR num)); [nra|].
    replace (1 / (1 - IZR num / IZR (unit_of den)) * (IZR scale * (IZR (unit_of den) - IZR num)))
      with (IZR scale * IZR (unit_of den)) by (field; split; lra).
    replace (q / IZR scale * (IZR scale * (IZR (unit_of den) - IZR num)))
      with (q * (IZR (unit_of den) - IZR num)) by (field; lra). exact Q.
Qed.

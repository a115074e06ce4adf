(* Finite sums of reals, by index and over lists. *)
From Coq Require Import ZArith Reals List Lia Lra.
Import ListNotations.
Open Scope R_scope.

(* f 0 + ... + f (n - 1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => sum k f + f k end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros; auto. rewrite IHn, H; auto. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros; [lra|].
  assert (f n <= g n) by auto. assert (sum n f <= sum n g) by auto. lra.
Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_times n a f : sum n (fun i => a * f i) = a * sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn; lra. Qed.

Lemma sum_over n f s : sum n (fun i => f i / s) = sum n f / s.
Proof. unfold Rdiv. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros. ring. Qed.

Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n; simpl; lra. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros. rewrite <- (sum_zero n). apply sum_le; auto. Qed.

Lemma sum_swap n m f :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl; [symmetry; apply sum_zero|]. rewrite IHn, <- sum_plus. reflexivity.
Qed.

(* the sum of f over the members of a list *)
Fixpoint total {A} (f : A -> R) (l : list A) : R :=
  match l with [] => 0 | a :: rest => f a + total f rest end.

Lemma total_le {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> total f l <= total g l.
Proof.
  induction l; simpl; intros; [lra|].
  assert (f a <= g a) by auto. assert (total f l <= total g l) by auto. lra.
Qed.

Lemma total_times {A} c (f : A -> R) l : total (fun a => c * f a) l = c * total f l.
Proof. induction l; simpl; [lra|]. rewrite IHl; lra. Qed.

(* the least of finitely many numbers is one of them *)
Lemma least k (q : nat -> R) :
  (0 < k)%nat -> exists j, (j < k)%nat /\ forall x, (x < k)%nat -> q j <= q x.
Proof.
  induction k; [lia|]. intros _. destruct k.
  - exists 0%nat. split; [lia|]. intros. replace x with 0%nat by lia. lra.
  - destruct IHk as [j [J Q]]; [lia|]. destruct (Rle_dec (q j) (q (S k))).
    + exists j. split; [lia|]. intros x X. destruct (Nat.eq_dec x (S k)); [subst; auto|apply Q; lia].
    + exists (S k). split; [lia|]. intros x X.
      destruct (Nat.eq_dec x (S k)); [subst; lra|]. assert (q j <= q x) by (apply Q; lia). lra.
Qed.

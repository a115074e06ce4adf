(* mechdesign-verify FILE ... : PASS or FAIL for each table and each certificate, by the checks that are proven in
   theories/Private.v, and in Optima.v, Line.v, Pairs.v, Unbiased.v and Workload.v.

   What is here only reads: JSON of whole numbers and texts, and where a file has which numbers. *)

module Whole = Z
open Checks

exception Refused of string

type json = Null | Truth of bool | Number of Whole.t | Text of string | List of json list | Object of (string * json) list

let refuse reason = raise (Refused reason)

let decimal said =
  match Whole.of_string said with
  | n when Whole.to_string n = said -> n
  | _ | (exception Invalid_argument _) -> refuse "file: no whole number"

let parse text =
  let at = ref 0 in
  let peek () = if !at < String.length text then text.[!at] else '\000' in
  let expect c = if peek () = c then incr at else refuse (Printf.sprintf "file: not canonical JSON at byte %d" !at) in
  let word w = String.iter expect w in
  let items close item =
    if peek () = close then (incr at; [])
    else
      let rec rest found =
        if peek () = ',' then (incr at; rest (item () :: found)) else (expect close; List.rev found) in
      rest [ item () ] in
  let string () =
    expect '"';
    let start = !at in
    while peek () <> '"' && peek () <> '\000' do if peek () = '\\' then incr at; incr at done;
    if !at > String.length text then refuse "file: ends within a text";
    let found = String.sub text start (!at - start) in
    expect '"'; found in
  let name () =  (* an escaped one may be another name, and then an entry stands there twice *)
    let found = string () in
    if String.contains found '\\' then refuse "file: an escape in a name" else found in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    while peek () >= '0' && peek () <= '9' do incr at done;
    decimal (String.sub text start (!at - start)) in
  let rec value () =
    match peek () with
    | '{' -> incr at; Object (items '}' (fun () -> let key = name () in expect ':'; (key, value ())))
    | '[' -> incr at; List (items ']' value)
    | '"' -> Text (string ())
    | 'n' -> word "null"; Null
    | 't' -> word "true"; Truth true
    | 'f' -> word "false"; Truth false
    | _ -> Number (number ()) in
  let found = value () in
  expect '\n';
  if !at < String.length text then refuse "file: more than one object";
  found

let field name = function
  | Object fields -> (
      match List.filter (fun (key, _) -> key = name) fields with
      | [ (_, value) ] -> value
      | _ -> refuse (name ^ ": missing, or twice"))
  | _ -> refuse (name ^ ": not in an object")

let whole = function Number n -> n | _ -> refuse "file: a whole number is missing"
let text = function Text t -> t | _ -> refuse "file: a text is missing"
let list item = function List l -> List.map item l | _ -> refuse "file: a list is missing"

let natural n =
  let rec after found n = if n = 0 then found else after (S found) (n - 1) in
  after O n

let most_places = 1 lsl 20
let place said =
  let n = whole said in
  if Whole.sign n < 0 || Whole.gt n (Whole.of_int most_places) then refuse "file: no place in a list";
  natural (Whole.to_int n)

let fraction said =
  match String.split_on_char '/' said with
  | [ n ] -> (decimal n, Whole.one)
  | [ n; d ] -> (decimal n, decimal d)
  | _ -> refuse "file: no fraction"

(* a double, in all its digits *)
let double said =
  let digits = String.concat "" (String.split_on_char '.' said) in
  let after = match String.index_opt said '.' with Some i -> String.length said - i - 1 | None -> 0 in
  let is_digit c = (c >= '0' && c <= '9') || c = '-' in
  if digits = "" || not (String.for_all is_digit digits) then refuse "file: no decimal";
  match Q.make (Whole.of_string digits) (Whole.pow (Whole.of_int 10) after) with
  | exact when Q.equal exact (Q.of_float (float_of_string said)) -> exact
  | _ | (exception Invalid_argument _) | (exception Failure _) -> refuse "file: no exact double"

let pair said = match list whole said with [ zero; one ] -> (zero, one) | _ -> refuse "law: no two counts"

let law kind law domain =
  let at name = whole (field name law) and counts name = list whole (field name law) in
  let length name = List.length (list Fun.id (field name law)) in
  let count () =
    if text (field "kind" domain) <> "items" then refuse "domain.kind: must be items";
    whole (field "count" domain) in
  let coins make =
    let own_zero, own_one = pair (field "own_bit" law) and other_zero, other_one = pair (field "other_bit" law) in
    make own_zero own_one other_zero other_one in
  let window rows = Window (natural (length "outputs"), natural rows, counts "base", counts "caps", counts "starts") in
  match kind with
  | "finite" ->
      let rows = list (list whole) (field "rows" law) in
      if List.length (list Fun.id (field "points" domain)) <> List.length rows then refuse "law.rows: not one a point";
      Finite (natural (length "outputs"), rows)
  | "window" -> window (length "thresholds" + 1)
  | "unbiased" -> window (length "means")
  | "pieces" -> Pieces (at "cells", at "inside", at "weight")
  | "additive" -> Additive (counts "weights", at "tail")
  | "response" -> Response (count (), at "own", at "other")
  | "unary" -> coins (fun a b c d -> Unary (count (), a, b, c, d))
  | "hashing" -> Hashing (count (), at "hashes", at "own", at "other")
  | "subset" -> Subset (count (), at "subset", at "own", at "other")
  | "hadamard" -> Hadamard (count (), at "blocks", at "own", at "other")
  | "sketch" -> coins (fun a b c d -> Sketch (count (), at "functions", at "buckets", a, b, c, d))
  | _ -> refuse "kind: not known"

let certificate kind numbers =
  let part name = field name numbers in
  let at name = whole (part name) and row name = list whole (part name) in
  let rows name = list (list whole) (part name) in
  let truth name = match part name with Truth b -> b | _ -> refuse (name ^ ": true or false is missing") in
  let ratio said = pair said in
  match kind with
  | "finite" ->
      check_finite
        { f_num = at "f_num"; f_den = at "f_den"; f_ratio = at "f_ratio"; f_answers = place (part "f_answers");
          f_losses = rows "f_losses"; f_levels = row "f_levels"; f_scale = at "f_scale"; f_weights = row "f_weights";
          f_gap = at "f_gap"; f_least_num = at "f_least_num"; f_least_den = at "f_least_den" }
  | "line" ->
      let atom a = { at_ = whole (field "at_" a); radius = whole (field "radius" a); weight = whole (field "weight" a) } in
      check_line
        { l_num = at "l_num"; l_den = at "l_den"; l_ratio = at "l_ratio"; l_squared = truth "l_squared";
          l_low_num = at "l_low_num"; l_low_den = at "l_low_den"; l_high_num = at "l_high_num";
          l_high_den = at "l_high_den"; l_atoms = list atom (part "l_atoms"); l_scale = at "l_scale"; l_gap = at "l_gap";
          l_least_num = at "l_least_num"; l_least_den = at "l_least_den" }
  | "pairs" ->
      let flow f =
        { answer_of = place (field "answer_of" f); first = place (field "first" f); second = place (field "second" f);
          amount = whole (field "amount" f) } in
      check_pairs
        { p_epsilons = list ratio (part "p_epsilons"); p_places = rows "p_places"; p_ratios = row "p_ratios";
          p_answers = place (part "p_answers"); p_losses = rows "p_losses"; p_scale = at "p_scale";
          p_weights = row "p_weights"; p_flows = list flow (part "p_flows"); p_levels = row "p_levels";
          p_least_num = at "p_least_num"; p_least_den = at "p_least_den" }
  | "unbiased" ->
      let tangent t =
        { place_of = whole (field "place_of" t); share = whole (field "share" t); low = whole (field "low" t);
          high = whole (field "high" t); slope = whole (field "slope" t) } in
      check_unbiased
        { u_num = at "u_num"; u_den = at "u_den"; u_ratio = at "u_ratio"; u_tangents = list tangent (part "u_tangents");
          u_scale = at "u_scale"; u_gap = at "u_gap"; u_least_num = at "u_least_num"; u_least_den = at "u_least_den" }
  | "workload" ->
      check_workload
        { w_num = at "w_num"; w_den = at "w_den"; w_ratio = at "w_ratio"; w_queries = place (part "w_queries");
          w_matrix = rows "w_matrix"; w_matrix_scale = at "w_matrix_scale"; w_columns = rows "w_columns";
          w_column_scale = at "w_column_scale"; w_prices = row "w_prices"; w_price_scale = at "w_price_scale";
          w_prior = row "w_prior"; w_weights = row "w_weights"; w_weight_scale = at "w_weight_scale";
          w_least_num = at "w_least_num"; w_least_den = at "w_least_den" }
  | _ -> refuse "kind: no certificate that is known"

(* The certificate in a table's file, with what it has to leave for its [lower] to be proven: c is (cap + 1) / 2^96.
   Weights are times the denominator of [lower]: then that is a whole number. *)
let on_line num den cap said domain =
  if text (field "criterion" said) <> "worst case" then refuse "certificate.criterion: must be the worst case";
  let squared = match Whole.to_int (whole (field "exponent" said)) with
    | 1 -> false | 2 -> true | _ | (exception Whole.Overflow) -> refuse "certificate.exponent: must be 1 or 2" in
  let triple a = match list (fun n -> double (text n)) a with
    | [ x; r; w ] -> (x, r, w) | _ -> refuse "certificate.atoms: no three numbers" in
  let atoms = list triple (field "atoms" said) and least_num, least_den = fraction (text (field "lower" said)) in
  if Whole.sign least_den <= 0 then refuse "certificate.lower: no fraction";
  let least_common numbers = List.fold_left Whole.lcm Whole.one (List.map Q.den numbers) in
  let scale = least_common (List.concat_map (fun (x, r, _) -> [ x; r ]) atoms) in
  let shares = least_common (List.map (fun (_, _, w) -> w) atoms) in
  let over unit n = Whole.divexact (Whole.mul (Q.num n) unit) (Q.den n) in
  let atom (x, r, w) = { at_ = over scale x; radius = over scale r; weight = Whole.mul least_den (over shares w) } in
  let l_atoms = List.map atom atoms and power n = if squared then Whole.mul n n else n in
  let sum f = List.fold_left (fun s a -> Whole.add s (f a)) Whole.zero l_atoms in
  let level = sum (fun a -> Whole.mul a.weight (power a.radius)) and total = sum (fun a -> a.weight) in
  let wanted = Whole.divexact (Whole.mul least_num (Whole.mul total (power scale))) least_den in
  let low = double (text (field "lower" domain)) and high = double (text (field "upper" domain)) in
  check_line
    { l_num = num; l_den = den; l_ratio = Whole.succ cap; l_squared = squared; l_low_num = Q.num low;
      l_low_den = Q.den low; l_high_num = Q.num high; l_high_den = Q.den high; l_atoms; l_scale = scale;
      l_gap = Whole.shift_left (Whole.sub wanted level) 96; l_least_num = least_num; l_least_den = least_den }

let table t =
  let num, den = fraction (text (field "epsilon" t)) in
  let cap = decimal (text (field "cap" t)) in
  let said = field "law" t and domain = field "domain" t in
  let the_law = law (text (field "kind" t)) said domain in
  if not (check { num; den; bits = whole (field "bits" t); cap; the_law }) then refuse "law: the check does not pass it";
  (match (the_law, said) with
  | Finite (_, rows), Object fields when List.mem_assoc "pairs" fields ->
      let pairs = field "pairs" said in
      let epsilons = list (fun e -> fraction (text e)) (field "epsilons" pairs) in
      if not (check_limits epsilons (list (list whole) (field "of" pairs)) rows) then
        refuse "law.pairs: the check does not pass them"
  | _ -> ());
  match field "certificate" t with
  | Null -> ()
  | certificate ->
      if not (on_line num den cap certificate domain) then refuse "certificate: the check does not pass it"

let decide content =
  let t = parse content in
  match text (field "format" t) with
  | "mechdesign certificate" ->
      if not (certificate (text (field "kind" t)) (field "numbers" t)) then refuse "numbers: the check does not pass them"
  | "mechdesign table" when whole (field "version" t) = Whole.of_int 2 -> table t
  | _ -> refuse "format, version: no certificate, and no table of version 2"

let read path =
  let stream = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in stream) (fun () -> really_input_string stream (in_channel_length stream))

let () =
  let paths = List.tl (Array.to_list Sys.argv) in
  if paths = [] then (prerr_endline "usage: mechdesign-verify FILE.json ..."; exit 2);
  let verdict path =
    match decide (read path) with
    | () -> print_endline ("PASS " ^ path); true
    | exception Refused reason -> print_endline ("FAIL " ^ path ^ ": " ^ reason); false
    | exception Stack_overflow -> print_endline ("FAIL " ^ path ^ ": file: nested too deeply"); false
    | exception Sys_error reason -> print_endline ("FAIL " ^ reason); false in
  exit (if List.for_all Fun.id (List.map verdict paths) then 0 else 1)

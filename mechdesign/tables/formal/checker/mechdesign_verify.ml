(* mechdesign-verify TABLE.json ... : PASS or FAIL for each file, by the check that is proven in theories/Private.v.

   What is here only reads: JSON of whole numbers and texts, and where a table file has the numbers of its law. *)

module Whole = Z
open Checks

exception Refused of string

type json = Null | Number of Whole.t | Text of string | List of json list | Object of (string * json) list

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
    let found = String.sub text start (!at - start) in
    expect '"'; found in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    while peek () >= '0' && peek () <= '9' do incr at done;
    decimal (String.sub text start (!at - start)) in
  let rec value () =
    match peek () with
    | '{' -> incr at; Object (items '}' (fun () -> let key = string () in expect ':'; (key, value ())))
    | '[' -> incr at; List (items ']' value)
    | '"' -> Text (string ())
    | 'n' -> word "null"; Null
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

let rec natural n = if n = 0 then O else S (natural (n - 1))

let fraction said =
  match String.split_on_char '/' said with
  | [ n ] -> (decimal n, Whole.one)
  | [ n; d ] -> (decimal n, decimal d)
  | _ -> refuse "file: no fraction"

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

let decide content =
  let t = parse content in
  if text (field "format" t) <> "mechdesign table" || whole (field "version" t) <> Whole.of_int 2 then
    refuse "format, version: no table of version 2";
  let num, den = fraction (text (field "epsilon" t)) in
  let cap = decimal (text (field "cap" t)) in
  let said = field "law" t in
  let the_law = law (text (field "kind" t)) said (field "domain" t) in
  let table = { num; den; bits = whole (field "bits" t); cap; the_law } in
  if not (check table) then refuse "law: the check does not pass it";
  match (the_law, said) with
  | Finite (_, rows), Object fields when List.mem_assoc "pairs" fields ->
      let pairs = field "pairs" said in
      let epsilons = list (fun e -> fraction (text e)) (field "epsilons" pairs) in
      if not (check_limits epsilons (list (list whole) (field "of" pairs)) rows) then
        refuse "law.pairs: the check does not pass them"
  | _ -> ()

let read path =
  let stream = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in stream) (fun () -> really_input_string stream (in_channel_length stream))

let () =
  let paths = List.tl (Array.to_list Sys.argv) in
  if paths = [] then (prerr_endline "usage: mechdesign-verify TABLE.json ..."; exit 2);
  let verdict path =
    match decide (read path) with
    | () -> print_endline ("PASS " ^ path); true
    | exception Refused reason -> print_endline ("FAIL " ^ path ^ ": " ^ reason); false
    | exception Stack_overflow -> print_endline ("FAIL " ^ path ^ ": file: nested too deeply"); false
    | exception Sys_error reason -> print_endline ("FAIL " ^ reason); false in
  exit (if List.for_all Fun.id (List.map verdict paths) then 0 else 1)

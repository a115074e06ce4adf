/// The input labels.
pub static INPUT_LABELS: [&str; @input_count@] = [
@input_texts@,
];
/// Their places, in the order of their bytes.
static SORTED: [u32; @input_count@] = [
@input_order@,
];

/// The place of an input label, found in as many steps for one label as for another.
pub fn place_of(x: &str) -> Option<usize> {
    let reached = SORTED.partition_point(|place| INPUT_LABELS[*place as usize] <= x);
    let place = SORTED[reached.checked_sub(1)?] as usize;
    (INPUT_LABELS[place] == x).then_some(place)
}

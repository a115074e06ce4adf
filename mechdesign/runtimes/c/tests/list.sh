# The tests for a folder of vectors: a line each, a program of this folder and what it is given.
cd "$(dirname "$0")/.." || exit 1
folder=$1
again() {
    if grep -q '"again":null' "$1_device.json"; then return; fi
    if [ -f "$1_again.json" ]; then echo "$1_again.json"; else echo "$1.json"; fi
}
for table in "$folder"/*.json; do
    name=${table%.json}
    case $name in */collection) continue ;; esac
    case $name in
    *_device)
        name=${name%_device}
        echo replay_device states "${name}_device.txt" "$table" "$name.json" $(again "$name")
        echo replay_device envelopes "${name}_device_envelopes.txt" "$table" "$name.json" $(again "$name")
        echo storage "$table" "$name.json" $(again "$name")
        echo fuzz "$name.json" 300 "$table"
        ;;
    *)
        echo replay table "$name.txt" "$table"
        echo replay envelopes "${name}_envelopes.txt" "$table"
        echo no_randomness "$table"
        echo refused "$table"
        echo fuzz "$table" 300
        ;;
    esac
done
echo randomness "$folder/hashing.json"
number=0
for name in labels unary_labels pieces; do
    echo replay envelopes "$folder/collection_${number}_envelopes.txt" "$folder/$name.json" "$folder/collection.json" $number
    number=$((number + 1))
done

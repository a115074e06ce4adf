fn vectors() -> std::io::Result<String> {
    if let Some(path) = std::env::args_os().nth(1) {
        return std::fs::read_to_string(path);
    }
    eprintln!("reading test vectors from standard input");
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn main() {
    let text = vectors().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    });
    let mut cases = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        cases += 1;
        if replay(line) != Some(true) {
            println!("FAIL case {cases}");
            std::process::exit(1);
        }
    }
    if cases == 0 {
        println!("FAIL no cases");
        std::process::exit(1);
    }
    println!("PASS {cases}");
}

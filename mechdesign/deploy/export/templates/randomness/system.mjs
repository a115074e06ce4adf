function osRandom(bytes) {
  const system = globalThis.crypto;
  if (typeof system?.getRandomValues !== "function") {
    const rule = "no secure randomness: crypto.getRandomValues is missing (browsers and Node 19 or later have it)";
    throw new NoRandomness(rule);
  }
  try {
    system.getRandomValues(bytes);
  } catch (error) {
    throw new NoRandomness("no secure randomness: crypto.getRandomValues failed", { cause: error });
  }
}

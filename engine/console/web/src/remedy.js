// remedies finds the statements that a text shows: whole ones, and a hint that the statement at hand
// can be asked with. They are put into the editor when they are wanted, and never run.
export function remedies(text, statement) {
  const out = [];
  const hint = /\/\*\+ (SET_VAR\([^)]*\)) \*\/ …/.exec(text);
  if (hint && /^\s*SELECT\b/i.test(statement)) {
    const bare = statement.replace(/\/\*\+ SET_VAR\([^)]*\) \*\/\s*/g, "");
    out.push({ label: "Ask with " + hint[1].slice(8, -1), statement: bare.replace(/^\s*SELECT\b/i, (s) => `${s} /*+ ${hint[1]} */`) });
  }
  for (const m of text.matchAll(/\b(?:SELECT|CALL|SET|WITH|EXPLAIN) [A-Z_a-z(/`@](?:'[^']*'|"[^"]*"|[^'";…])*?(?=\.(?:\s|$)|;|$|, or |: )/g)) {
    const found = m[0].trim();
    if (/\b(FROM|CALL|SET)\b/.test(found) && !found.includes("…") && !found.startsWith("SET_VAR")) out.push({ label: "Put into the editor: " + (found.length > 60 ? found.slice(0, 60) + "…" : found), statement: found });
  }
  return out;
}

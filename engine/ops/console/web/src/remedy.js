// remedies finds the statements that a text shows: whole ones, and a hint that the statement at hand
// can be asked with. They are put into the editor when they are wanted, and never run. What only a
// DBA may do is left out; the table t of an example is that of the statement at hand.
export function remedies(text, statement) {
  const out = [];
  const hint = /\/\*\+ (SET_VAR\([^)]*\)) \*\/ …/.exec(text);
  if (hint && /^\s*SELECT\b/i.test(statement)) {
    const bare = statement.replace(/\/\*\+ SET_VAR\([^)]*\) \*\/\s*/g, "");
    out.push({ label: "Ask with " + hint[1].slice(8, -1), statement: bare.replace(/^\s*SELECT\b/i, (s) => `${s} /*+ ${hint[1]} */`) });
  }
  const add = (found) => out.push({ label: "Put into the editor: " + (found.length > 60 ? found.slice(0, 60) + "…" : found), statement: found });
  for (const m of text.matchAll(/\bSET [a-z_]+ = (?:'[^']*'|[\w.]*\w)/g)) if (!m[0].startsWith("SET dp_raw")) add(m[0]);
  const table = /\bFROM\s+([\w$.`]+)/i.exec(statement)?.[1];
  for (const m of text.matchAll(/\b(?:SELECT|CALL|WITH|EXPLAIN) [A-Z_a-z(/`@*](?:'[^']*'|"[^"]*"|[^'";…])*?(?=\.(?:\s|$)|;|$|, or |: )/g)) {
    const found = m[0].trim();
    if (!/\b(FROM|CALL)\b/.test(found) || found.includes("…")) continue;
    if (!/\bFROM t$/.test(found)) add(found);
    else if (table) add(found.replace(/t$/, table));
  }
  return out;
}

import { EditorView, keymap, lineNumbers, drawSelection, highlightActiveLine, placeholder } from "@codemirror/view";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { sql, MySQL, schemaCompletionSource, keywordCompletionSource } from "@codemirror/lang-sql";
import { autocompletion, completionKeymap, completeFromList, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting, bracketMatching } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)" }, { tag: tags.operatorKeyword, color: "var(--keyword)" },
  { tag: tags.string, color: "var(--string)" }, { tag: tags.number, color: "var(--number)" },
  { tag: tags.comment, color: "var(--comment)" }, { tag: tags.typeName, color: "var(--accent)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "15px", backgroundColor: "var(--card)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace", minHeight: "9rem", maxHeight: "24rem" },
  ".cm-content": { caretColor: "var(--text)" }, ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--quiet)", borderRight: "1px solid var(--grid)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-placeholder": { color: "var(--quiet)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--area)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--edge)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
});

// makeEditor puts the editor into the page. Its styles carry the page's nonce.
export function makeEditor(parent, nonce, actions) {
  const language = new Compartment();
  const keys = Prec.highest(keymap.of([
    { key: "Mod-Enter", run: () => { actions.run(); return true; } },
    { key: "Mod-Shift-Enter", run: () => { actions.price(); return true; } },
  ]));
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: sessionStorage.getItem("statement") ?? "",
      extensions: [
        keys, lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion({ icons: false }), highlightActiveLine(), EditorView.lineWrapping,
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        language.of(sql({ dialect: MySQL })), syntaxHighlighting(colours), look, EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ "aria-label": "Statement", "aria-multiline": "true" }),
        placeholder("SELECT …"),
        EditorView.updateListener.of((u) => { if (u.docChanged) sessionStorage.setItem("statement", u.state.doc.toString()); }),
      ],
    }),
  });
  const replace = (from, to, insert) => { view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length } }); view.focus(); };
  return {
    text: () => view.state.doc.toString(),
    // chosen is the selection, or all.
    chosen: () => { const { from, to } = view.state.selection.main; return from < to ? view.state.sliceDoc(from, to) : view.state.doc.toString(); },
    set: (text) => replace(0, view.state.doc.length, text),
    insert: (text) => { const { from, to } = view.state.selection.main; replace(from, to, text); },
    complete: (schema, database, functions) => {
      const namespace = Object.fromEntries(Object.entries(schema).map(([db, tables]) => [db, Object.fromEntries(Object.entries(tables).map(([t, cols]) => [t, cols.map(([label, detail]) => ({ label, detail: detail.toLowerCase(), type: "property" }))]))]));
      const config = { dialect: MySQL, schema: namespace, defaultSchema: database, upperCaseKeywords: true };
      const columns = Object.entries(schema[database] ?? {}).flatMap(([table, cols]) => cols.map(([label]) => ({ label, detail: table, type: "property" })));
      const words = functions.map(([label, detail]) => ({ label, detail, type: "function" }));
      view.dispatch({ effects: language.reconfigure([MySQL.language, ...[schemaCompletionSource(config), keywordCompletionSource(MySQL, true), completeFromList([...columns, ...words])]
        .map((autocomplete) => MySQL.language.data.of({ autocomplete }))]) });
    },
  };
}

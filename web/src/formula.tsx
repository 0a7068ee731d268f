// Formulas as text with a little colour: connectives and quantifiers apart from names.

const TOKEN = /([∀∃]\S?)|([¬∧∨⊕→↔⊤⊥=⊢]|:=)|([\p{L}\p{N}_'’-]+)(?=\()/gu;

export function Formula({ text }: { text: string }) {
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > done) parts.push(text.slice(done, match.index));
    const kind = match[1] !== undefined ? "quantifier" : match[2] !== undefined ? "connective" : "predicate";
    parts.push(<span class={kind}>{match[0]}</span>);
    done = match.index + match[0].length;
  }
  parts.push(text.slice(done));
  return <code class="formula">{parts}</code>;
}

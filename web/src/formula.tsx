// Formulas as text with a little colour: connectives and quantifiers apart from names. Lines break at connectives.

const TOKEN = /([∀∃]\S?)|([¬∧∨⊕→↔⊤⊥=⊢]|:=)|([\p{L}\p{N}_'’-]+)(\([^()∧∨⊕→↔]{0,40}\))?/gu;

export function Formula({ text }: { text: string }) {
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > done) parts.push(text.slice(done, match.index));
    if (match[1] !== undefined) parts.push(<span class="quantifier">{match[1]}</span>);
    else if (match[2] !== undefined) parts.push(<span class="connective">{match[2]}</span>);
    else if (match[4] === undefined) parts.push(match[0]);
    else parts.push(<span class="atom"><span class="predicate">{match[3]}</span>{match[4]}</span>);
    done = match.index + match[0].length;
  }
  parts.push(text.slice(done));
  return <code class="formula">{parts}</code>;
}

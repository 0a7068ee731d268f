// Which traces the list shows: text to search for, and filters.

import { index, outcome, problemOf, type Outcome, type TraceRow } from "./data";

export interface Filter {
  text: string;
  outcome: Outcome | "";
  rule: string;
  code: string;
  difficulty: string;
}

export const NO_FILTER: Filter = { text: "", outcome: "", rule: "", code: "", difficulty: "" };

const texts = new Map<number, string>();

/** What a search looks through: the problem's id, question and premises; made when first needed. */
function searchable(number: number): string {
  let text = texts.get(number);
  if (text === undefined) {
    const problem = index.problems[number]!;
    const premises = problem.premises.map((premise) => `${premise.text ?? ""}\n${premise.formula}`);
    text = [problem.id, problem.question ?? "", ...premises].join("\n").toLowerCase();
    texts.set(number, text);
  }
  return text;
}

/** The numbers of the traces that pass, in order. Every word of the text must occur. */
export function selected(filter: Filter): number[] {
  const wanted = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const passes = (row: TraceRow): boolean =>
    (filter.outcome === "" || outcome(row) === filter.outcome) &&
    (filter.rule === "" || (row.rules ?? []).includes(filter.rule)) &&
    (filter.code === "" || (row.codes ?? []).includes(filter.code)) &&
    (filter.difficulty === "" || (problemOf(row).difficulty ?? "") === filter.difficulty) &&
    wanted.every((word) => searchable(row.problem).includes(word));
  return index.traces.flatMap((row, number) => (passes(row) ? [number] : []));
}

/** The values that occur, the most frequent first, with how many traces have each. */
export function counted(values: (row: TraceRow) => readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of index.traces) for (const value of values(row)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

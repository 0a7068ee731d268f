// Which traces the list shows, and in which order: text to search for, filters, sorting; and all of it as an address.

import { changeOf, type Change } from "./compare";
import { index, outcome, OUTCOMES, problemOf, type Outcome, type TraceRow } from "./data";

export interface Filter {
  text: string;
  outcome: Outcome | "";
  rule: string;
  code: string;
  difficulty: string;
  change: Change | "";
  order: Order | "";
}

export const NO_FILTER: Filter = { text: "", outcome: "", rule: "", code: "", difficulty: "", change: "", order: "" };

export type Order = "problem" | "outcome" | "longest" | "signal";

export const ORDERS: Record<Order, string> = {
  problem: "by problem",
  outcome: "worst answer first",
  signal: "lowest mean signal first",
  longest: "most actions first",
};

const WORST: readonly Outcome[] = ["malformed", "silent", "wrong", "unverified", "verified", "rule_verified"];
const SIGNALS = [0, 0.1, 0.3, 1];
const meanSignal = (row: TraceRow) =>
  row.steps === "" ? 0 : [...row.steps].reduce((sum, digit) => sum + SIGNALS[Number(digit) & 3]!, 0) / row.steps.length;
const byProblem = (one: TraceRow, other: TraceRow) =>
  problemOf(one).id.localeCompare(problemOf(other).id, "en", { numeric: true }) || one.sample - other.sample;

const COMPARED: Record<Order, (one: TraceRow, other: TraceRow) => number> = {
  problem: byProblem,
  outcome: (one, other) => WORST.indexOf(outcome(one)) - WORST.indexOf(outcome(other)),
  signal: (one, other) => meanSignal(one) - meanSignal(other),
  longest: (one, other) => other.steps.length - one.steps.length,
};

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

type Test = (row: TraceRow) => boolean;

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&");

/** `#7`: the sample 7, or a problem whose id ends in 7. `"red cat"`: these whole words. Other words: any part of a text. */
function tests(text: string): Test[] {
  return [...text.toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)].map(([, exact, word]) => {
    if (exact !== undefined) {
      const whole = new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(exact)}(?![\\p{L}\\p{N}_])`, "u");
      return (row) => whole.test(searchable(row.problem));
    }
    const number = /^#(\d+)$/.exec(word!)?.[1];
    if (number !== undefined) {
      return (row) => `${row.sample}` === number || /(\d+)$/.exec(problemOf(row).id)?.[1] === number;
    }
    return (row) => searchable(row.problem).includes(word!);
  });
}

/** The numbers of the traces that pass, in the order that is chosen. */
export function selected(filter: Filter): number[] {
  const wanted = tests(filter.text);
  const passes = (row: TraceRow): boolean =>
    (filter.outcome === "" || outcome(row) === filter.outcome) &&
    (filter.rule === "" || (row.rules ?? []).includes(filter.rule)) &&
    (filter.code === "" || (row.codes ?? []).includes(filter.code)) &&
    (filter.difficulty === "" || (problemOf(row).difficulty ?? "") === filter.difficulty) &&
    (filter.change === "" || changeOf(row) === filter.change) &&
    wanted.every((test) => test(row));
  const found = index.traces.flatMap((row, number) => (passes(row) ? [number] : []));
  if (filter.order === "") return found;
  const compared = COMPARED[filter.order];
  return found.sort((one, other) => compared(index.traces[one]!, index.traces[other]!));
}

/** The values that occur, the most frequent first, with how many traces have each. */
export function counted(values: (row: TraceRow) => readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of index.traces) for (const value of values(row)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

// -- addresses --------------------------------------------------------------------------------------------------------

/** What the page shows: a trace by problem and sample, or the overview; a node of its graph; and the filters. */
export interface Place {
  problem: string | null;
  sample: number;
  node: string | null;
  filter: Filter;
}

export function placeOf(address: string): Place {
  const [path, query] = address.replace(/^#/, "").split("?", 2) as [string, string?];
  const given = new URLSearchParams(query ?? "");
  const filter = { ...NO_FILTER };
  for (const name of Object.keys(NO_FILTER) as (keyof Filter)[]) (filter as Record<string, string>)[name] = given.get(name) ?? "";
  if (!(filter.outcome in OUTCOMES)) filter.outcome = "";
  if (!(filter.order in ORDERS)) filter.order = "";
  filter.change = ""; // the other run is not part of the address
  const match = /^\/trace\/([^/]+)\/(\d+)(?:\/(.+))?$/.exec(path);
  const nowhere = { problem: path.startsWith("/trace/") ? decoded(path.slice(7)) : null, sample: 0, node: null, filter };
  if (match === null) return nowhere;
  return { problem: decoded(match[1]!), sample: Number(match[2]), node: match[3] === undefined ? null : decoded(match[3]), filter };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // someone's own address
  }
}

export function addressOf({ problem, sample, node, filter }: Place): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([name, value]) => value !== "" && name !== "change")).toString();
  const trace = problem === null ? "/" : `/trace/${encodeURIComponent(problem)}/${sample}${node === null ? "" : `/${encodeURIComponent(node)}`}`;
  return `#${trace}${query === "" ? "" : `?${query}`}`;
}

// The data of the page, as `proof_r1_formal/report/page.py` writes it: an index, and
// traces in compressed chunks that are read on demand.

export interface Premise {
  id: string;
  formula: string;
  text?: string;
}

export interface Option {
  id: string;
  label: string;
  formula: string;
}

export interface Problem {
  id: string;
  premises: Premise[];
  options: Option[];
  question?: string;
  difficulty?: string;
  answer?: string;
  notes?: string[];
}

export interface TraceRow {
  problem: number;
  sample: number;
  parsed: boolean;
  verified: boolean;
  rule_verified: boolean;
  steps: string; // a digit per action: its signal as 0 to 3, and 4 more if the answer rests on it
  answer?: string;
  correct?: boolean;
  codes?: string[];
  rules?: string[];
}

export interface Estimate {
  value: number | null; // null: nothing was counted
  numerator: number;
  denominator: number;
  spread: number | null;
  interval: [number, number] | null;
}

export interface Table {
  title: string;
  rows: Record<string, string | number | Estimate>[];
}

/** The commonest kind of first error, and the first trace that has it. */
export interface FirstError {
  code: string;
  count: number; // traces of which it is the first error
  flawed: number; // traces with an error
  trace: number;
  action: number;
  message: string;
  step?: string;
  rule?: string;
  dependencies?: string[];
  conclusion?: string;
}

export interface Index {
  title: string;
  package: string;
  rules: string;
  solver: string;
  evidence: "none" | "checked" | "kernel";
  unsupported: number; // steps whose verdict on entailment has no evidence
  certificates: number;
  chunk: number;
  problems: Problem[];
  traces: TraceRow[];
  tables: Table[];
  first?: FirstError; // none if all steps pass
  catalogue: {
    rules: Record<string, string>;
    schemata: Record<string, { premises: string[]; conclusion: string; kernels: string[] }>;
  };
}

/** The codes of findings that make no verdict false. */
export const NOTES = new Set(["UNUSED_DEPENDENCY", "COMPOUND_STEP"]);

export interface Finding {
  code: string;
  message: string;
  dependencies?: string[];
}

export interface Model {
  domains: Record<string, number>;
  predicates: Record<string, number[][]>;
  functions: Record<string, [number[], number][]>;
}

export interface Report {
  id?: string;
  declared_rule?: string;
  dependencies?: string[];
  conclusion?: string;
  schema: boolean;
  semantic: boolean;
  rule: boolean;
  progress: boolean;
  in_closure: boolean;
  terminal: boolean;
  signal: number;
  findings?: Finding[];
  instance?: { schema: string; substitution: Record<string, string>; principal: string[]; minor: string[] };
  countermodel?: Model;
  evidence?: "kernel" | "checked" | "unsupported";
  used?: string[];
}

/** number, depth, text, reason, numbers of the lines used, first and last line of the block used */
export type ProofRow = [number, number, string, string, number[], [number, number] | null];

export interface Step {
  report: Report;
  formula?: string;
  proof?: ProofRow[];
  repairs?: string[]; // each alone, as a further dependency, would make the step follow
}

export interface Theorem {
  lean: string;
  isabelle?: string;
  accepted?: boolean;
  said?: string;
}

export interface Trace {
  segments: [string, number][];
  steps: Step[];
  closure: string[];
  used_closure: string[];
  consistency: string;
  faults?: string[]; // why the answer is not verified, or not rule-verified
  cut?: boolean; // the budget for proofs and repairs was spent, so some are missing
  open?: [Model, Model];
  certificate?: Theorem;
  no_certificate?: string;
}

function text(id: string): string {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no data ${id}`);
  return element.textContent ?? "";
}

export const index = JSON.parse(text("index")) as Index;

const chunks = new Map<number, Promise<Trace[]>>();

async function unpacked(chunk: number): Promise<Trace[]> {
  const bytes = Uint8Array.from(atob(text(`traces-${chunk}`)), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(plain).json()) as Trace[];
}

/** The trace of that number; the document must have been read to its end. */
export async function load(number: number): Promise<Trace> {
  const chunk = Math.floor(number / index.chunk);
  if (!chunks.has(chunk)) chunks.set(chunk, unpacked(chunk));
  return (await chunks.get(chunk)!)[number % index.chunk]!;
}

// -- what is said of a trace and of a step ---------------------------------------------------------------------------

export type Level = 0 | 1 | 2 | 3;

export const LEVELS: readonly { signal: string; name: string; mark: string; meaning: string }[] = [
  { signal: "0", name: "malformed", mark: "∅", meaning: "not well formed" },
  { signal: "0.1", name: "failed", mark: "✗", meaning: "not entailed by its accepted dependencies" },
  { signal: "0.3", name: "partial", mark: "~", meaning: "entailed, but not an instance of its rule, or no progress" },
  { signal: "1", name: "passed", mark: "✓", meaning: "passes all four checks" },
];

export const levelOf = (signal: number): Level => (signal >= 1 ? 3 : signal >= 0.3 ? 2 : signal > 0 ? 1 : 0);

export type Outcome = "rule_verified" | "verified" | "unverified" | "wrong" | "silent" | "malformed";

export const OUTCOMES: Record<Outcome, { label: string; meaning: string }> = {
  rule_verified: { label: "rule-verified", meaning: "the last action states the answer, and every step that it rests on is entailed and an instance of its rule; the answer is not wrong" },
  verified: { label: "verified", meaning: "every step that the answer rests on is entailed, but not each is an instance of its rule; the answer is not wrong" },
  unverified: { label: "unverified", meaning: "the answer is not wrong, but it is not verified" },
  wrong: { label: "wrong", meaning: "the reference answer is another option" },
  silent: { label: "no answer", meaning: "no option is selected" },
  malformed: { label: "malformed", meaning: "there is no summary that is one JSON array" },
};

export function outcome(row: TraceRow): Outcome {
  if (!row.parsed) return "malformed";
  if (row.answer === undefined) return "silent";
  if (row.correct === false) return "wrong";
  return row.rule_verified ? "rule_verified" : row.verified ? "verified" : "unverified";
}

const numbers = new Map<string, number>();
index.traces.forEach((row, number) => {
  const key = JSON.stringify([index.problems[row.problem]!.id, row.sample]);
  if (!numbers.has(key)) numbers.set(key, number);
});

/** The number of the trace of a problem and sample. */
export const numberOf = (problem: string, sample: number): number | undefined => numbers.get(JSON.stringify([problem, sample]));

export const problemOf = (row: TraceRow): Problem => index.problems[row.problem]!;

export const optionLabel = (problem: Problem, id: string | undefined): string | undefined =>
  id === undefined ? undefined : (problem.options.find((option) => option.id === id)?.label ?? id);

export const words = (name: string): string => name.replaceAll("_", " ").toLowerCase();
